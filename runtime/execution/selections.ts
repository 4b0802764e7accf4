import {
  getDirectiveValues,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  isAbstractType,
  Kind,
  typeFromAST,
  visit,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type InlineFragmentNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Source, Variables } from './run.js';

/** Field nodes by response name, in the order of the answer. */
type Fields = ReadonlyMap<string, readonly FieldNode[]>;

const nameOf = ({ alias, name }: FieldNode): string => (alias ?? name).value;

/** Fields of selection sets on an object type. Source: `CollectFields` of the GraphQL specification. */
export class Selections {
  /** @param conditions values of the variables of `@skip` and `@include`, all booleans. */
  constructor(
    private readonly source: Source,
    private readonly conditions: Variables,
  ) {}

  fieldsOf(type: GraphQLObjectType, sets: readonly SelectionSetNode[]): Fields {
    const [fields, seen] = [new Map<string, FieldNode[]>(), new Set<string>()];
    for (const set of sets) this.#collect(type, set, fields, seen);
    return fields;
  }

  #collect(type: GraphQLObjectType, { selections }: SelectionSetNode, fields: Map<string, FieldNode[]>, seen: Set<string>): void {
    for (const one of selections) {
      if (!this.#isIncluded(one)) continue;
      if (one.kind === Kind.FIELD) fields.set(nameOf(one), [...(fields.get(nameOf(one)) ?? []), one]);
      else if (one.kind === Kind.INLINE_FRAGMENT) this.#fragment(type, one, fields, seen);
      else if (!seen.has(one.name.value)) this.#fragment(type, this.source.fragments[one.name.value], fields, seen.add(one.name.value));
    }
  }

  #fragment(
    type: GraphQLObjectType,
    fragment: InlineFragmentNode | FragmentDefinitionNode | undefined,
    fields: Map<string, FieldNode[]>,
    seen: Set<string>,
  ): void {
    if (fragment && this.#applies(fragment, type)) this.#collect(type, fragment.selectionSet, fields, seen);
  }

  #applies({ typeCondition }: InlineFragmentNode | FragmentDefinitionNode, type: GraphQLObjectType): boolean {
    if (!typeCondition) return true;
    const condition = typeFromAST(this.source.schema, typeCondition);
    return condition === type || (isAbstractType(condition) && this.source.schema.isSubType(condition, type));
  }

  #isIncluded(node: SelectionNode): boolean {
    return (
      getDirectiveValues(GraphQLSkipDirective, node, this.conditions)?.if !== true &&
      getDirectiveValues(GraphQLIncludeDirective, node, this.conditions)?.if !== false
    );
  }
}

/** Documents with these names are left to graphql-js: introspection, and a name that JavaScript objects treat specially. */
const LEFT_OUT = new Set(['__schema', '__type', '__proto__']);

export interface Outline {
  /** Names of the variables of `@skip` and `@include`. */
  readonly conditions: readonly string[];
  readonly fieldCount: number;
  readonly isCompilable: boolean;
}

/** Facts about a document that decide whether it is compiled. */
export function outlineOf(document: DocumentNode): Outline {
  const conditions = new Set<string>();
  let [fieldCount, isCompilable] = [0, true];
  visit(document, {
    Directive({ name, arguments: given }) {
      if (name.value !== 'skip' && name.value !== 'include') return;
      for (const { value } of given ?? []) if (value.kind === Kind.VARIABLE) conditions.add(value.name.value);
    },
    Field(node) {
      fieldCount++;
      isCompilable &&= !LEFT_OUT.has(node.name.value) && !LEFT_OUT.has(nameOf(node));
    },
  });
  return { conditions: [...conditions], fieldCount, isCompilable };
}
