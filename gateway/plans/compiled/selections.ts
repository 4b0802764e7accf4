import {
  Kind,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { satisfies } from './types.js';

/** Values of the variables of `@skip` and `@include`. */
export type Conditions = Readonly<Record<string, boolean>>;

/** Selections of one document for given values of its conditions. */
export class Selections {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;

  constructor(
    private readonly schema: GraphQLSchema,
    document: DocumentNode,
    private readonly conditions: Conditions,
  ) {
    const fragments = document.definitions.filter(one => one.kind === Kind.FRAGMENT_DEFINITION);
    this.#fragments = new Map(fragments.map(fragment => [fragment.name.value, fragment]));
  }

  /** Field nodes of a runtime type by response name, with fragments flattened. A name that is selected several times has several nodes. */
  collect(sets: readonly SelectionSetNode[], type: string, into = new Map<string, FieldNode[]>()): Map<string, FieldNode[]> {
    for (const selection of sets.flatMap(set => set.selections)) {
      if (!this.#included(selection)) continue;
      if (selection.kind === Kind.FIELD) {
        const name = selection.alias?.value ?? selection.name.value;
        const nodes = into.get(name);
        if (!nodes) into.set(name, [selection]);
        else if (!nodes.includes(selection)) nodes.push(selection);
      } else {
        const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? this.#fragments.get(selection.name.value)! : selection;
        const condition = fragment.typeCondition?.name.value;
        if (condition === undefined || satisfies(this.schema, type, condition)) this.collect([fragment.selectionSet], type, into);
      }
    }
    return into;
  }

  #included({ directives }: SelectionNode): boolean {
    return (directives ?? []).every(directive => {
      const wanted = directive.name.value === 'include';
      return (!wanted && directive.name.value !== 'skip') || this.#condition(directive) === wanted;
    });
  }

  #condition(directive: DirectiveNode): boolean {
    const value = directive.arguments![0]!.value;
    return value.kind === Kind.VARIABLE ? this.conditions[value.name.value]! : value.kind === Kind.BOOLEAN && value.value;
  }
}

/** Whether a directive is `@skip` or `@include`. */
export const isCondition = (directive: DirectiveNode): boolean => directive.name.value === 'skip' || directive.name.value === 'include';

/** Names of the variables of `@skip` and `@include`. */
export function conditionVariables(directives: readonly DirectiveNode[]): string[] {
  const values = directives.filter(isCondition).map(directive => directive.arguments![0]!.value);
  return [...new Set(values.flatMap(value => (value.kind === Kind.VARIABLE ? [value.name.value] : [])))];
}
