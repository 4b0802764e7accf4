import type { RequestInfo } from '../../../runtime/request/request.js';
import type { Variables } from './rows.js';

/** An error of a subgraph's answer. */
export interface SubgraphError {
  readonly message?: string;
  readonly path?: readonly (string | number)[] | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | undefined;
}

export interface SubgraphAnswer {
  readonly data?: any;
  readonly errors?: readonly SubgraphError[] | undefined;
}

/**
 * Sends one constant document. `representations`: JSON text of the elements of `$representations`, null for a document without entities.
 * @throws Problem unavailable when the subgraph cannot be reached within the deadline.
 */
export type Send = (variables: Variables, representations: string | null, request: RequestInfo) => Promise<SubgraphAnswer>;

/** Data of a subgraph's answer as JSON text, of which the subgraph says that it is complete and without errors. */
export interface UnreadAnswer {
  readonly text: string;
}

/** Sends one constant document without entities, whose answer may be handed on as it is. @throws Problem unavailable */
export type SendUnread = (variables: Variables, request: RequestInfo) => Promise<SubgraphAnswer | UnreadAnswer>;

/** Sends one constant document with several lists of representations: JSON text of the elements of each, in the order of their variables' names. */
export type SendLists = (variables: Variables, lists: readonly string[], request: RequestInfo) => Promise<SubgraphAnswer>;

/** A subgraph, wherever it runs. */
export interface Subgraph {
  /** Prepares a fetch's document once: parsed for a call in process, encoded for one over HTTP. */
  prepare(document: string): Send;
  /** Prepares a document whose answer is read only where it has to be. Only where an answer comes as text. */
  prepareUnread?(document: string): SendUnread;
  /**
   * Prepares a document with a list of representations in each of the variables. Only where a call is a round trip: there it is worth
   * the wait of a turn of the event loop to send several documents as one.
   */
  prepareLists?(document: string, names: readonly string[]): SendLists;
}
