import {
  locatedError,
  responsePathAsArray,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLError,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';

export type Path = GraphQLResolveInfo['path'];
export type Variables = Readonly<Record<string, unknown>>;

/** The operation that is compiled, with what `info` tells of it. */
export interface Source {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
}

/** One execution of a compiled operation. */
export interface Run {
  readonly context: unknown;
  readonly variables: Variables;
  readonly errors: FieldErrors;
}

/** Errors in the order in which they came. What fails below a place that is null already is not told. */
export class FieldErrors {
  readonly all: GraphQLError[] = [];
  readonly #places = new Set<Path | undefined>();

  /** @param place compared by identity, so one field's is made once; undefined is the whole answer. */
  add(error: GraphQLError, place: Path | undefined): void {
    if (this.#isNull(place)) return;
    this.#places.add(place);
    this.all.push(error);
  }

  #isNull(place: Path | undefined): boolean {
    for (let above = place; above !== undefined; above = above.prev) if (this.#places.has(above)) return true;
    return this.#places.has(undefined);
  }
}

/** Null in place of a value that failed. @throws GraphQLError with its place where there may be no null. */
export function failed(run: Run, error: unknown, nodes: readonly FieldNode[], path: Path, nonNull: boolean): null {
  const located = locatedError(error, nodes, responsePathAsArray(path));
  if (nonNull) throw located;
  run.errors.add(located, path);
  return null;
}

/** What has to be waited for, as a promise of ours; null for a value. A query builder, for example, is no promise but is waited for too. */
export function promiseOf(value: unknown): Promise<unknown> | null {
  if (value instanceof Promise) return value;
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function' ? Promise.resolve(value) : null;
}
