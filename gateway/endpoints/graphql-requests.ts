import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { fail } from '../../runtime/request/errors.js';

/** Media types that a page of another site may send without asking first. */
const SIMPLE_TYPES = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'];
/** Headers that it may not send without asking first. */
export const PREFLIGHTED = ['graphql-require-preflight', 'apollo-require-preflight', 'x-apollo-operation-name'];

/** Refuses what a page of another site could send in a browser's name (CSRF). @throws Problem invalid_request */
export function requirePreflight({ headers }: FastifyRequest): void {
  const type = headers['content-type']?.split(';', 1)[0]!.trim().toLowerCase();
  if (type !== undefined && !SIMPLE_TYPES.includes(type)) return;
  if (PREFLIGHTED.some(name => headers[name])) return;
  fail('invalid_request', 'A request without the content type application/json needs the header graphql-require-preflight');
}

interface Parameters {
  query?: unknown;
  variables?: unknown;
  extensions?: unknown;
}

/** Parameters of a GET are text. Invalid JSON is left to @apollo/server. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return undefined;
  }
}

/** @throws Problem invalid_request for a batch. */
export function parametersOf({ method, query: search, body }: FastifyRequest): Parameters {
  if (method !== 'GET') {
    if (Array.isArray(body)) fail('invalid_request', 'Batches are not accepted; send one operation per request');
    return (body ?? {}) as Parameters;
  }
  const { query, variables, extensions } = search as Parameters;
  return { query, variables: parsed(variables), extensions: parsed(extensions) };
}

/** An empty operation name is none. */
export function dropEmptyName(request: FastifyRequest): void {
  const body = request.body as { operationName?: unknown } | null | undefined;
  if (body?.operationName === '') delete body.operationName;
  const at = request.url.indexOf('?');
  if (at < 0) return;
  const parameters = new URLSearchParams(request.url.slice(at + 1));
  if (parameters.get('operationName') !== '') return;
  parameters.delete('operationName');
  request.raw.url = `${request.url.slice(0, at)}?${parameters.toString()}`;
}

/** @throws Problem invalid_request for a malformed persisted query, and for one whose hash is not that of its document. */
export function checkPersistedQuery(extensions: unknown, query: unknown): void {
  const sent = (extensions as { persistedQuery?: unknown } | null | undefined)?.persistedQuery;
  if (sent === undefined || sent === null) return;
  const { version, sha256Hash } = sent as { version?: unknown; sha256Hash?: unknown };
  if (version !== 1 || typeof sha256Hash !== 'string' || !/^[0-9a-f]{64}$/.test(sha256Hash))
    fail('invalid_request', 'extensions.persistedQuery must be { version: 1, sha256Hash: 64 hexadecimal digits }');
  if (typeof query === 'string' && createHash('sha256').update(query).digest('hex') !== sha256Hash)
    fail('invalid_request', 'extensions.persistedQuery.sha256Hash is not the hash of the query');
}
