import { Kind, parse, visit, type ConstDirectiveNode, type ObjectTypeDefinitionNode, type ObjectTypeExtensionNode } from 'graphql';
import type { ServiceDeclaration } from '../../runtime/service.js';
import { subgraphSdl } from '../../runtime/subgraph.js';

const isResolved = ({ arguments: given = [] }: ConstDirectiveNode): boolean => given.every(arg => arg.name.value !== 'resolvable');

const fieldsOf = ({ arguments: given = [] }: ConstDirectiveNode): string[] =>
  given.flatMap(({ value }) => (value.kind === Kind.STRING ? value.value.split(/[\s{}]+/) : []));

/** The fields of each key of the entities that a service resolves, by type, from its SDL: an executable schema does not keep them. */
export function entityKeys(declaration: ServiceDeclaration): ReadonlyMap<string, readonly (readonly string[])[]> {
  const found = new Map<string, string[][]>();
  const enter = ({ name, directives = [] }: ObjectTypeDefinitionNode | ObjectTypeExtensionNode): void => {
    const keys = directives.filter(one => one.name.value === 'key');
    if (keys.some(isResolved)) found.set(name.value, keys.map(fieldsOf));
  };
  visit(parse(subgraphSdl(declaration)), { ObjectTypeDefinition: enter, ObjectTypeExtension: enter });
  return found;
}
