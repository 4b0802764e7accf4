import type { GraphQLError } from 'graphql';
import type { RequestInfo } from '../../../runtime/request/request.js';

/** An object of an answer. The merged data of an operation is a graph of these, in which an entity met twice may stand once. */
export type Row = Record<string, unknown>;

/** Variables as the client sent them; the subgraphs apply defaults themselves, because fetches declare them. */
export type Variables = Readonly<Row>;

/** What one execution of a compiled operation gathers. */
export interface Run {
  readonly data: Row;
  readonly variables: Variables;
  readonly request: RequestInfo;
  readonly errors: GraphQLError[];
  /** Objects that stand at several places because two positions named the same entity; null while there are none. */
  shared: Set<object> | null;
}

/** One step of a plan. Never rejects: what goes wrong is in {@link Run.errors}. */
export type Step = (run: Run) => Promise<void>;

export const isRow = (value: unknown): value is Row => value !== null && typeof value === 'object' && !Array.isArray(value);
