import { parse, type DocumentNode } from 'graphql';

/** A document that a service runs through the federation; parsed once, at import. */
export interface StoredDocument {
  readonly source: string;
  readonly document: DocumentNode;
}

const all: StoredDocument[] = [];

export function stored(source: string): StoredDocument {
  const made = { source, document: parse(source, { noLocation: true }) };
  all.push(made);
  return made;
}

/** What the loaded services ask each other: a test holds it against the supergraph. */
export const storedDocuments = (): readonly StoredDocument[] => all;

/**
 * Asks other services through the federation with the service's own internal client: in process where the gateway role runs
 * here, else over HTTP at `GATEWAY_URL`.
 * @throws Problem `unavailable` when the federation cannot be reached within the deadline; the operation's own problem otherwise.
 */
export interface Federation {
  run<Data>(document: StoredDocument, variables?: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<Data>;
}

export interface CallOptions {
  /** Of a mutation that must happen once whatever becomes of its caller. */
  idempotencyKey?: string;
}
