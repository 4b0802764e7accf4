import { activeTraceparent } from '../../runtime/observe/tracing.js';
import type { RequestInfo } from '../../runtime/request/request.js';

/** What of a request goes to each subgraph in another process. */
export interface Forwarded {
  readonly traceparent: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** The headers as they stand in a request; null for values that the pipelining client may not send: undici has checks of its own. */
  readonly lines: string | null;
}

const PLAIN = /^[\x20-\x7e]*$/;

/** Whether the pipelining client may send a header's value. */
export const isPlain = (value: string): boolean => PLAIN.test(value);

/** Headers that pass the request's caller, idempotency key, expected version, language, preview, trace and address on to a subgraph in another process. */
function headersOf(request: RequestInfo, traceparent: string | null): Record<string, string> {
  return {
    'content-type': 'application/json',
    'x-request-id': request.id,
    ...(request.token !== null && { authorization: `Bearer ${request.token}` }),
    ...(request.idempotencyKey !== null && { 'idempotency-key': request.idempotencyKey }),
    ...(request.ifMatch !== null && { 'if-match': request.ifMatch }),
    ...(request.guestToken !== null && { 'x-platform-cart-token': request.guestToken }),
    ...(request.language !== null && { 'accept-language': request.language }),
    ...(request.preview !== null && { 'x-platform-preview': request.preview }),
    ...(traceparent !== null && { traceparent }),
    ...(request.ip !== null && { 'x-forwarded-for': request.ip }),
  };
}

function make(request: RequestInfo, traceparent: string | null): Forwarded {
  const headers = headersOf(request, traceparent);
  const areAllPlain = Object.values(headers).every(isPlain);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return { traceparent, headers, lines: areAllPlain ? lines.join('') : null };
}

const known = new WeakMap<RequestInfo, Forwarded>();

/** Made once for all calls of a request, unless each is a span of its own. */
export function forwardedOf(request: RequestInfo): Forwarded {
  const traceparent = activeTraceparent() ?? request.traceparent;
  const last = known.get(request);
  if (last?.traceparent === traceparent) return last;
  const forwarded = make(request, traceparent);
  known.set(request, forwarded);
  return forwarded;
}
