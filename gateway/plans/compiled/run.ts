import type { GraphQLError } from 'graphql';
import type { RequestInfo } from '../../../runtime/request/request.js';
import type { Calls } from './calls.js';

/** An object of the merged data. The data is a graph: an entity that has several paths may be one object. */
export type Row = Record<string, unknown>;

/** Variables as the client sent them; fetches declare their defaults, so the subgraphs apply them. */
export type Variables = Readonly<Row>;

/** State of one execution of a compiled operation. */
export interface Run {
  readonly data: Row;
  readonly variables: Variables;
  readonly request: RequestInfo;
  readonly calls: Calls;
  readonly errors: GraphQLError[];
  /** Objects that have several paths, because two paths led to one entity; null while there are none. */
  shared: Set<object> | null;
}

/** One step of a plan. Never rejects: failures are added to {@link Run.errors}. */
export type Step = (run: Run) => Promise<void>;

export const isRow = (value: unknown): value is Row => value !== null && typeof value === 'object' && !Array.isArray(value);
