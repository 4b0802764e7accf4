/** An operation's result -> the HTTP answer: status, `Location`, redirect, `ETag`, body. Source: conventions 5. */
import { createHash } from 'node:crypto';
import { stringify } from 'csv-stringify/sync';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Plan } from './plan.js';

/** What comes with a result beside its data. */
export interface Extras {
  /** `ctx.status`: the operation's choice among the route's documented statuses. */
  status: number | null;
  /** Headers on how long the answer may be kept. */
  headers?: Record<string, string>;
}

const JSON_TYPE = 'application/json; charset=utf-8';

function statusOf(plan: Plan, chosen: number | null): number {
  return chosen !== null && plan.status.includes(chosen) ? chosen : plan.status[0];
}

/** In the form of address that the caller used: with the service's prefix, or on the service's own host without it. */
function locationOf(plan: Plan, location: string, request: FastifyRequest, answer: unknown): string {
  const values = { ...(request.params as object), ...(answer as object) } as Record<string, unknown>;
  const path = location.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
  const prefix = `/${plan.slug}`;
  return request.originalUrl.startsWith(`${prefix}/`) ? prefix + path : path;
}

const etagOf = (text: string): string => `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;

/** `If-None-Match` compares weakly. Source: RFC 9110 13.1.2. */
const isKnown = (header: string | undefined, etag: string): boolean =>
  header !== undefined && (header.trim() === '*' || header.split(',').some(one => one.trim().replace(/^W\//, '') === etag));

/** Who may keep an answer, and for how long. */
const keepingOf = ({ maxAge, vary = 'Authorization' }: Plan['route']): Record<string, string> =>
  maxAge === undefined ? { 'cache-control': 'private, no-cache', vary } : { 'cache-control': `public, max-age=${maxAge}` };

function sendCacheable({ route }: Plan, request: FastifyRequest, reply: FastifyReply, text: string): FastifyReply {
  const etag = etagOf(text);
  reply.headers({ etag, ...keepingOf(route) });
  return isKnown(request.headers['if-none-match'], etag) ? reply.code(304).removeHeader('content-type').send() : reply.send(text);
}

const asksForCsv = ({ headers }: FastifyRequest): boolean => /(^|[\s,])text\/csv\b/i.test(headers.accept ?? '');

/** Rows with their keys as the first line. A text that a spreadsheet would take for a formula is marked as none. Source: RFC 4180. */
const sendCsv = (reply: FastifyReply, rows: readonly object[]): FastifyReply =>
  reply.type('text/csv; charset=utf-8').send(stringify([...rows], { header: true, escape_formulas: true, record_delimiter: 'windows' }));

/** `Content-Language` of an answer, or of what was asked for where it is a list. */
function languageOf({ route }: Plan, request: FastifyRequest, body: unknown): Record<string, string> {
  if (route.language === undefined) return {};
  const language = (body as Record<string, unknown>)[route.language] ?? (request.query as Record<string, unknown>)[route.language];
  return typeof language === 'string' ? { 'content-language': language } : {};
}

/** Another address has what was asked for. Source: RFC 9110 15.4.2. */
function sendMoved(plan: Plan, request: FastifyRequest, reply: FastifyReply, body: unknown): FastifyReply {
  const query = request.url.includes('?') ? request.url.slice(request.url.indexOf('?')) : '';
  const path = locationOf(plan, plan.route.moved!, request, body);
  return reply.header('location', path + query).send();
}

/** Sends the answer of an operation in wire form. */
export function respond(plan: Plan, request: FastifyRequest, reply: FastifyReply, result: unknown, extras: Extras): FastifyReply {
  const status = statusOf(plan, extras.status);
  reply.code(status);
  if (status === 204) return reply.send();
  const body = plan.answer(result);
  if (status === 301 && plan.route.moved !== undefined) return sendMoved(plan, request, reply, body);
  if (plan.route.redirect) return reply.header('location', (body as Record<string, string>)[plan.route.redirect]).send();
  if (plan.location && (status === 201 || status === 202)) reply.header('location', locationOf(plan, plan.location, request, body));
  const { csv } = plan.route;
  if (csv && asksForCsv(request)) return sendCsv(reply, (body as Record<string, object[]>)[csv]!);
  const text = JSON.stringify(body);
  reply.type(JSON_TYPE).headers(languageOf(plan, request, body));
  return plan.route.etag ? sendCacheable(plan, request, reply, text) : reply.headers(extras.headers ?? {}).send(text);
}
