import {
  isTypeExtensionNode,
  Kind,
  type ConstDirectiveNode,
  type ConstValueNode,
  type DefinitionNode,
  type DocumentNode,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
} from 'graphql';

/** Directives that clients see. Source: GraphQL specification 3.13. */
const BUILT_IN: ReadonlySet<string> = new Set(['deprecated', 'specifiedBy', 'oneOf']);

interface Described {
  readonly directives?: readonly ConstDirectiveNode[];
}

const visible = <T extends Described>(node: T): T =>
  node.directives?.length ? { ...node, directives: node.directives.filter(({ name }) => BUILT_IN.has(name.value)) } : node;

const visibleField = (field: FieldDefinitionNode): FieldDefinitionNode =>
  visible(field.arguments?.length ? { ...field, arguments: field.arguments.map(visible<InputValueDefinitionNode>) } : field);

function visibleDefinition(node: DefinitionNode): DefinitionNode {
  switch (node.kind) {
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_DEFINITION:
      return visible({ ...node, fields: node.fields?.map(visibleField) });
    case Kind.INPUT_OBJECT_TYPE_DEFINITION:
      return visible({ ...node, fields: node.fields?.map(visible) });
    case Kind.ENUM_TYPE_DEFINITION:
      return visible({ ...node, values: node.values?.map(visible) });
    default:
      return visible(node as DefinitionNode & Described);
  }
}

const stringOf = (value: ConstValueNode | undefined): string | undefined => (value?.kind === Kind.STRING ? value.value : undefined);

/** Of `https://specs.apollo.dev/join/v0.5` it is `join`. */
const nameOf = (url: string): string | undefined => /([^/]+)\/v\d+\.\d+\/?$/.exec(url)?.[1];

/** Names that `@link` brings in: of the specification, which is the prefix of its elements, and of what is imported. */
function linkedNames({ definitions }: DocumentNode): ReadonlySet<string> {
  const links = definitions.flatMap(node =>
    node.kind === Kind.SCHEMA_DEFINITION ? (node.directives ?? []).filter(({ name }) => name.value === 'link') : [],
  );
  const namesOf = ({ arguments: given = [] }: ConstDirectiveNode): (string | undefined)[] => {
    const value = (name: string): ConstValueNode | undefined => given.find(one => one.name.value === name)?.value;
    const imports = value('import');
    const imported = imports?.kind === Kind.LIST ? imports.values.map(one => stringOf(one)?.replace('@', '') ?? '') : []; // '': renamed
    return [stringOf(value('as')) ?? nameOf(stringOf(value('url')) ?? ''), ...imported];
  };
  return new Set(links.flatMap(namesOf).filter(name => name !== undefined));
}

/**
 * The part of a supergraph's document that clients may see: without what `@link` brings in, and its directives. Of a supergraph that hides
 * elements or renames imported ones it is left to the federation's own code.
 * @returns null for such a supergraph.
 */
export function apiDocument(supergraph: DocumentNode): DocumentNode | null {
  const linked = linkedNames(supergraph);
  if (linked.has('inaccessible') || linked.has('') || supergraph.definitions.some(isTypeExtensionNode)) return null;
  const isLinked = (name: string): boolean => linked.has(name) || linked.has(name.slice(0, Math.max(0, name.indexOf('__'))));
  const definitions = supergraph.definitions.filter(node => !('name' in node && node.name && isLinked(node.name.value)));
  return { kind: Kind.DOCUMENT, definitions: definitions.map(visibleDefinition) };
}
