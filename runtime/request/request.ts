import { randomUUID } from 'node:crypto';
import { ANONYMOUS, type Caller } from './caller.js';

/**
 * Header by which a subgraph in another process says that its answer left no trace ({@link RequestInfo.leavesTrace}). Without it, as from
 * one that does not know the header, an answer is for nobody else.
 */
export const NO_TRACE_HEADER = 'x-no-trace';

/** One request from outside; passed on to every subgraph that it needs, in process as this object and over HTTP as headers. */
export interface RequestInfo {
  /** `X-Request-Id`: the caller's if valid, else ours. */
  readonly id: string;
  caller: Caller;
  /** The bearer token as received, forwarded to subgraphs in other processes; null for none. */
  readonly token: string | null;
  readonly idempotencyKey: string | null;
  /** `If-Match`: the version that a change is for; null for none. Honoured where a contract says so. */
  readonly ifMatch: string | null;
  /** `X-Platform-Cart-Token`: what a caller without an account proves a thing of its own with; null for none. Never logged. */
  readonly guestToken: string | null;
  /** `Accept-Language`; null for none. For operations that choose a language. */
  readonly language: string | null;
  /** `X-Platform-Preview`: proof that a draft may be read; null for none. Honoured where a contract says so. */
  readonly preview: string | null;
  readonly traceparent: string | null;
  /** Remote address, for rate limits only; never logged. */
  readonly ip: string | null;
  /** Status that the operation chose among its documented ones (`ctx.status`). */
  status: number | null;
  /** An answer of an earlier request with the same `Idempotency-Key` was repeated. */
  isReplayed: boolean;
  /** Something was written for it or counted against a limit, also by a query: its answer is for nobody else. */
  leavesTrace: boolean;
  /** Ends what still works for the request: its client went away, or its deadline passed. Null: it runs to its end, as every mutation does. */
  signal: AbortSignal | null;
  /** Per-service contexts of this request, made on first use. */
  readonly contexts: Map<string, Promise<unknown>>;
}

const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

type Headers = Readonly<Record<string, string | string[] | undefined>>;
const one = (value: string | string[] | undefined): string | null => (typeof value === 'string' ? value : null);

/** A request's identity from its headers; the caller is set after the token has been verified. */
export function requestOf(headers: Headers, ip: string | null, token: string | null = null): RequestInfo {
  const id = one(headers['x-request-id']);
  return {
    id: id !== null && REQUEST_ID.test(id) ? id : randomUUID(),
    caller: ANONYMOUS,
    token,
    idempotencyKey: one(headers['idempotency-key']),
    ifMatch: one(headers['if-match']),
    guestToken: one(headers['x-platform-cart-token']),
    language: one(headers['accept-language'])?.slice(0, 512) ?? null,
    preview: one(headers['x-platform-preview'])?.slice(0, 512) ?? null,
    traceparent: one(headers.traceparent),
    ip,
    status: null,
    isReplayed: false,
    leavesTrace: false,
    signal: null,
    contexts: new Map(),
  };
}

/** A request that starts inside the platform: a timer, a consumer, a call through the federation. */
export const internalRequest = (caller: Caller, id: string = randomUUID(), token: string | null = null): RequestInfo => ({
  id,
  caller,
  token,
  idempotencyKey: null,
  ifMatch: null,
  guestToken: null,
  language: null,
  preview: null,
  traceparent: null,
  ip: null,
  status: null,
  isReplayed: false,
  leavesTrace: false,
  signal: null,
  contexts: new Map(),
});
