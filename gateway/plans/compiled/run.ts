import type { GraphQLError } from 'graphql';
import type { RequestInfo } from '../../../runtime/request/request.js';
import type { Calls } from './calls.js';
import type { Row, Variables } from './rows.js';

/** State of one execution of a compiled operation. */
export interface Run {
  /** The merged data. The answer of a plan's only fetch takes its place. */
  data: Row;
  /** The text of an answer that is handed on unread, in place of the data; null: there is none. */
  text: string | null;
  /** Whether the text of the plan's only fetch may be handed on. */
  readonly handsOn: boolean;
  readonly variables: Variables;
  readonly request: RequestInfo;
  readonly calls: Calls;
  readonly errors: GraphQLError[];
  /** Objects that have several paths, because two paths led to one entity; null while there are none. */
  shared: Set<object> | null;
}

/** One step of a plan. Never rejects: failures are added to {@link Run.errors}. */
export type Step = (run: Run) => Promise<void>;
