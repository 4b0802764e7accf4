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

/** The operation to compile, with the parts of `info` that it determines. */
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

/** Errors in the order in which they came. An error below a path that is already null is dropped. */
export class FieldErrors {
  readonly all: GraphQLError[] = [];
  readonly #paths = new Set<Path | undefined>();

  /** @param path compared by identity, so a field makes it once; undefined: the whole answer. */
  add(error: GraphQLError, path: Path | undefined): void {
    if (this.#isNull(path)) return;
    this.#paths.add(path);
    this.all.push(error);
  }

  #isNull(path: Path | undefined): boolean {
    for (let above = path; above !== undefined; above = above.prev) if (this.#paths.has(above)) return true;
    return this.#paths.has(undefined);
  }
}

/** Null for a failed value. @throws GraphQLError with its path for a non-null field. */
export function failed(run: Run, error: unknown, nodes: readonly FieldNode[], path: Path, nonNull: boolean): null {
  const located = locatedError(error, nodes, responsePathAsArray(path));
  if (nonNull) throw located;
  run.errors.add(located, path);
  return null;
}

/** A promise of a thenable's value; null for any other value. MikroORM's query builders are thenables, too. */
export function promiseOf(value: unknown): Promise<unknown> | null {
  if (value instanceof Promise) return value;
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function' ? Promise.resolve(value) : null;
}
