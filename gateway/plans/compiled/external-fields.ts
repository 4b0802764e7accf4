import {
  isInterfaceType,
  isObjectType,
  Kind,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type ConstDirectiveNode,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import { noPlan } from './errors.js';
import { graphNames } from './graph-names.js';

const valueOf = (directive: ConstDirectiveNode, name: string): string | boolean | null => {
  const value = directive.arguments?.find(one => one.name.value === name)?.value;
  return value?.kind === Kind.ENUM || value?.kind === Kind.STRING || value?.kind === Kind.BOOLEAN ? value.value : null;
};

const directivesOf = (
  node: { directives?: readonly ConstDirectiveNode[] } | null | undefined,
  name: string,
): readonly ConstDirectiveNode[] => (node?.directives ?? []).filter(one => one.name.value === name);

/** Fields that a subgraph declares as `@external`, so that it does not resolve them. */
export class ExternalFields {
  /** `Type.field` by subgraph. */
  readonly #fields = new Map<string, Set<string>>();

  constructor(private readonly supergraph: GraphQLSchema) {
    const names = graphNames(supergraph);
    const types = Object.values(supergraph.getTypeMap()).filter(type => isObjectType(type) || isInterfaceType(type));
    const provided = new Set(
      types.flatMap(type => Object.values(type.getFields()).flatMap(({ astNode }) => this.#inSets(astNode, 'join__field', 'provides'))),
    );
    for (const type of types) {
      const keys = new Set(this.#inSets(type.astNode, 'join__type', 'key'));
      for (const { name, astNode } of Object.values(type.getFields()))
        for (const directive of directivesOf(astNode, 'join__field'))
          if (valueOf(directive, 'external') === true && !provided.has(name) && !keys.has(name))
            this.#add(names.get(String(valueOf(directive, 'graph')))!, type, name);
    }
  }

  #inSets(
    node: GraphQLObjectType['astNode'] | GraphQLInterfaceType['astNode'] | { directives?: readonly ConstDirectiveNode[] },
    directive: string,
    argument: string,
  ): string[] {
    const texts = directivesOf(node, directive).map(one => valueOf(one, argument));
    return texts.flatMap(text => (typeof text === 'string' ? text.match(/[_A-Za-z]\w*/g) : null) ?? []);
  }

  #add(service: string, type: GraphQLObjectType | GraphQLInterfaceType, field: string): void {
    const fields = this.#fields.get(service) ?? new Set();
    this.#fields.set(service, fields.add(`${type.name}.${field}`));
  }

  /** @throws GraphQLError for a fetch that asks a subgraph for a field which it declares as external. */
  check(service: string, operation: string): void {
    const fields = this.#fields.get(service);
    if (!fields) return;
    const types = new TypeInfo(this.supergraph);
    const enter = ({ name }: { name: { value: string } }): void => {
      const coordinate = `${types.getParentType()?.name}.${name.value}`;
      if (fields.has(coordinate)) throw noPlan(`${service} does not resolve ${coordinate}`);
    };
    visit(parse(operation, { noLocation: true }), visitWithTypeInfo(types, { Field: enter }));
  }
}
