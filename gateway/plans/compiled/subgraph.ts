import type { RequestInfo } from '../../../runtime/request/request.js';
import type { Variables } from './run.js';

/** An error as a subgraph states it. */
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
 * Sends one constant document. `representations` is the JSON text between the brackets of `$representations`, null where the
 * document asks no entities.
 * @throws Problem unavailable when the subgraph cannot be reached within the deadline.
 */
export type Send = (variables: Variables, representations: string | null, request: RequestInfo) => Promise<SubgraphAnswer>;

/** A subgraph, wherever it runs. */
export interface Subgraph {
  /** Makes a fetch's text ready, once: parsed, validated where it must be, framed for the wire. */
  prepare(document: string): Send;
}
