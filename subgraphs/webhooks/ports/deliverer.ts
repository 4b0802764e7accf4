import type { Dispatcher } from 'undici';
import type { WebhookAttemptError } from '../entities/enums.js';
import { KEPT_BYTES, redactBody, redactResponseHeaders } from '../rules/redaction.js';
import { urlViolation, type Egress } from '../rules/url.js';
import { BlockedAddress, DnsFailure, resolveByDns, type Resolve } from '../../../runtime/http/checked-addresses.js';
import { Connections, type Connection } from './connections.js';

/** One POST to a receiver. */
export interface OutboundRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** From the start of the request to the status of its answer, ms: name, connection and TLS included. */
  timeoutMs: number;
  /** Ends the attempt early, because its lane went to another worker. */
  signal?: AbortSignal;
}

export interface Timings {
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  firstByteMs: number | null;
  totalMs: number;
}

/** How an attempt ended. `error` null: a status 200..299 in time. */
export interface Outcome {
  error: WebhookAttemptError | null;
  statusCode: number | null;
  resolvedIp: string | null;
  timings: Timings;
  responseHeaders: Record<string, string> | null;
  /** Masked, at most 4 KiB; null when empty. */
  responseBody: string | null;
  responseTruncated: boolean;
}

/** Sends requests to receivers and follows no redirect. Whatever happens is an outcome. @throws Interrupted, nothing else. */
export interface Deliverer {
  send(request: OutboundRequest): Promise<Outcome>;
  close(): Promise<void>;
}

export interface DelivererSetting {
  egress: Egress;
  resolve?: Resolve;
  /** Certificate authorities besides the public ones; tests only. */
  ca?: string;
}

/** Bytes that are read of a body; then the connection is closed. Source: rule 17. */
const MAX_BODY_BYTES = 65_536;

/** The attempt was ended from outside; its lane is another worker's now. */
export class Interrupted extends Error {
  override name = 'Interrupted';
}

const TLS_CODES = /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO$)/;
const CODES: Readonly<Record<string, WebhookAttemptError>> = {
  UND_ERR_CONNECT_TIMEOUT: 'connect_timeout',
  ETIMEDOUT: 'connect_timeout',
  ECONNREFUSED: 'connect_refused',
  EHOSTUNREACH: 'connect_refused',
  ENETUNREACH: 'connect_refused',
  EADDRNOTAVAIL: 'connect_refused',
  EACCES: 'connect_refused',
  UND_ERR_HEADERS_OVERFLOW: 'protocol_error',
  UND_ERR_ABORTED: 'timeout',
};

/** What went wrong before a status came. */
function errorOf(error: unknown): WebhookAttemptError {
  if (error instanceof BlockedAddress) return 'blocked_address';
  if (error instanceof DnsFailure) return 'dns_failure';
  const { name, code = '' } = error as { name?: string; code?: string };
  if (name === 'TimeoutError') return 'timeout';
  if (TLS_CODES.test(code)) return 'tls_error';
  if (name === 'HTTPParserError') return 'protocol_error';
  return CODES[code] ?? 'connection_reset';
}

function statusError(status: number): WebhookAttemptError | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? 'redirect' : 'http_status';
}

/** What was read of a body: at most 64 KiB, whatever comes after the status cannot undo it. */
async function readBody(body: Dispatcher.ResponseData['body']): Promise<{ bytes: Buffer; whole: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size > MAX_BODY_BYTES) return { bytes: Buffer.concat(chunks), whole: false }; // leaving the loop destroys the stream and its connection
    }
    return { bytes: Buffer.concat(chunks), whole: true };
  } catch {
    return { bytes: Buffer.concat(chunks), whole: false };
  }
}

/** Rejects when the signal does: undici looks at it only once it is connected, and the deadline covers the connecting too. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => (onAbort = () => reject(signal.reason as Error)));
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Delivers over HTTP/1.1 with undici: pinned addresses, one deadline, no redirects, no proxy, no cookies. */
export class HttpDeliverer implements Deliverer {
  readonly #connections: Connections;

  constructor(private readonly setting: DelivererSetting) {
    this.#connections = new Connections({ resolve: setting.resolve ?? resolveByDns, allowed: setting.egress.networks, ca: setting.ca });
  }

  async send(request: OutboundRequest): Promise<Outcome> {
    const started = performance.now();
    if (urlViolation(request.url, this.setting.egress) !== null) return failed('blocked_address', started, null);
    const url = new URL(request.url);
    const connection = this.#connections.acquire(url.origin);
    try {
      return await this.#exchange(connection, url, request, started);
    } catch (error) {
      if (request.signal?.aborted) throw new Interrupted('the lane has another worker');
      return failed(errorOf(error), started, connection);
    } finally {
      this.#connections.release(connection);
    }
  }

  async #exchange(connection: Connection, url: URL, request: OutboundRequest, started: number): Promise<Outcome> {
    const deadline = AbortSignal.timeout(request.timeoutMs);
    const signal = request.signal ? AbortSignal.any([deadline, request.signal]) : deadline;
    const { pathname, search } = url;
    const answer = connection.client.request({
      path: pathname + search,
      method: 'POST',
      headers: request.headers as Record<string, string>,
      body: request.body,
      signal,
    });
    const { statusCode, headers, body } = await unlessAborted(answer, signal);
    const firstByteMs = Math.round(performance.now() - started);
    const { bytes, whole } = await readBody(body);
    const { address, ...connecting } = connection.take();
    return {
      error: statusError(statusCode),
      statusCode,
      resolvedIp: address,
      timings: { ...connecting, firstByteMs, totalMs: Math.round(performance.now() - started) },
      responseHeaders: redactResponseHeaders(headers),
      responseBody: bytes.length ? redactBody(bytes) : null,
      responseTruncated: !whole || bytes.length > KEPT_BYTES,
    };
  }

  close(): Promise<void> {
    return this.#connections.close();
  }
}

function failed(error: WebhookAttemptError, started: number, connection: Connection | null): Outcome {
  const { address = null, dnsMs = null, connectMs = null, tlsMs = null } = connection?.take() ?? {};
  return {
    error,
    statusCode: null,
    resolvedIp: address,
    timings: { dnsMs, connectMs, tlsMs, firstByteMs: null, totalMs: Math.round(performance.now() - started) },
    responseHeaders: null,
    responseBody: null,
    responseTruncated: false,
  };
}
