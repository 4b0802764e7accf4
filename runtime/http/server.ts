import type { IncomingMessage } from 'node:http';
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { clientAddress, type TrustedProxies } from '../access/client-address.js';
import { isFromGateway } from '../access/subgraph-secret.js';
import { codeOf, fail, Problem, type ProblemCode } from '../request/errors.js';
import { loggedError, type Logger } from '../observe/log.js';
import { requestOf, type RequestInfo } from '../request/request.js';
import { Connections } from './connections.js';
import { problemBody } from './problem.js';
import { refuseExpectations, refuseOnSocket } from './refusals.js';
import { openRequestSpan, type RequestSpan } from '../observe/tracing.js';

declare module 'fastify' {
  interface FastifyRequest {
    info: RequestInfo;
    /** The request's span, where tracing is on. */
    span: RequestSpan | null;
    /** Ends the deadline of a request that has its answer's headers and goes on; see {@link detach}. */
    undoDeadline: (() => void) | null;
  }
  interface FastifyInstance {
    /** What ends answers that would go on for ever; run before the server closes. */
    leaving: (() => Promise<void>)[];
    connections: Connections;
    /** What looks at an answer at its end, or at a stream's headers. */
    answerObservers: AnswerObserver[];
  }
}

type AnswerObserver = (request: FastifyRequest, reply: FastifyReply) => void;

/** Largest body where a path does not say otherwise. Source: conventions 5. */
export const BODY_LIMIT = 1_048_576;
const HEADERS_MS = 15_000;
const KEEP_ALIVE_MS = 72_000;

const CHALLENGES: Partial<Record<ProblemCode, (problem: Problem) => string>> = {
  unauthenticated: problem => (problem.options.reason === 'invalid_token' ? 'Bearer error="invalid_token"' : 'Bearer'),
  insufficient_scope: problem => `Bearer error="insufficient_scope", scope="${problem.options.scope ?? ''}"`,
  step_up_required: problem => `Bearer error="insufficient_user_authentication", max_age="${problem.options.maxAge ?? 600}"`,
};

/** Seconds, where the thrower named none: conventions 6 wants `Retry-After` on both. */
const RETRY_AFTER: Partial<Record<ProblemCode, number>> = { rate_limited: 60, unavailable: 5 };

/** `WWW-Authenticate`, `Retry-After` and `RateLimit` of a problem. */
export function problemHeaders(problem: Problem): Record<string, string> {
  const challenge = CHALLENGES[problem.code]?.(problem);
  const seconds = problem.options.retryAfter ?? RETRY_AFTER[problem.code];
  return {
    ...(challenge && { 'www-authenticate': challenge }),
    ...(seconds !== undefined && { 'retry-after': String(Math.ceil(seconds)) }),
    ...(problem.code === 'rate_limited' && { ratelimit: `"default";r=0;t=${Math.ceil(seconds!)}` }),
  };
}

/** Answers with a problem. */
export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  return reply
    .status(problem.status)
    .headers({ ...problemHeaders(problem), 'x-request-id': reply.request.info.id })
    .type('application/problem+json')
    .send(JSON.stringify(problemBody(problem, reply.request.info.id)));
}

/** What Fastify itself refuses, in our words. */
const FASTIFY_CODES: Record<string, [ProblemCode, string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', 'The body is too large'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'This media type is not accepted here'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['invalid_request', 'The body is empty'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['invalid_request', 'The body is not valid JSON'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_request', 'The body does not have the length it declares'],
};

const CHARSET = /;\s*charset\s*=\s*"?([^";\s]+)/i;

/** Whether a text of this content type is read right: as UTF-8, of which US-ASCII is a part. */
export const isUtf8 = (contentType: string): boolean => /^(utf-8|us-ascii)$/i.test(CHARSET.exec(contentType)?.[1] ?? 'utf-8');

/** JSON in another encoding, which the parsers would read as UTF-8. */
const isNonUtf8Json = (type: string): boolean => /^application\/([^;\s]+\+)?json\b/i.test(type) && !isUtf8(type);

/** Any thrown thing as a problem; what we do not know is logged and masked. */
export function toProblem(error: unknown, log: Logger): Problem {
  if (error instanceof Problem) return error;
  const known = FASTIFY_CODES[(error as FastifyError)?.code ?? ''];
  if (known) return new Problem(known[0], known[1]);
  const status = (error as FastifyError)?.statusCode;
  if (status !== undefined && status >= 400 && status < 500)
    return new Problem(status === 413 ? 'payload_too_large' : 'invalid_request', 'The request is malformed');
  log.error({ err: loggedError(error) }, 'a request failed');
  return new Problem('internal', 'Something went wrong on our side');
}

/** A subgraph's error, as it came through the federation, as a problem. */
export function problemOf(error: { message: string; extensions?: Readonly<Record<string, unknown>> }): Problem {
  const { reason, errors, scope, maxAge, retryAfter, members } = (error.extensions ?? {}) as Record<string, any>;
  const code = codeOf(error.extensions);
  if (code === 'internal') return new Problem('internal', 'Something went wrong on our side');
  return new Problem(code, error.message, {
    ...(reason && { reason: String(reason).toLowerCase() }),
    ...(errors && { errors }),
    ...(scope && { scope }),
    ...(maxAge && { maxAge }),
    ...(retryAfter && { retryAfter }),
    ...(members && { members }),
  });
}

/** Begins the request's span, below which everything goes on. */
function traceRequest(request: FastifyRequest): void {
  request.span = openRequestSpan(request.method, request.info.traceparent);
  if (request.span) request.info = { ...request.info, traceparent: request.span.traceparent };
}

/** Time that a request has until its answer, ms, where the configuration says nothing else. */
const DEADLINE_MS = 30_000;

/** Aborted when the client goes away before the answer is complete, or when the deadline passes. */
function lifeOf(reply: FastifyReply, deadlineMs: number): AbortSignal {
  const controller = new AbortController();
  const late = (): void => controller.abort(new Problem('unavailable', 'The request took too long', { retryAfter: 1 }));
  const timer = setTimeout(late, deadlineMs).unref();
  reply.request.undoDeadline = () => clearTimeout(timer);
  reply.raw.once('close', () => {
    clearTimeout(timer);
    if (!reply.raw.writableFinished) controller.abort(new Problem('unavailable', 'The client went away'));
  });
  return controller.signal;
}

/** Calls back for every answer at its end, for a stream when its headers go out. */
export function observeAnswers(app: FastifyInstance, observe: AnswerObserver): void {
  app.answerObservers.push(observe);
  app.addHook('onResponse', (request, reply, done) => {
    if (request.undoDeadline !== null) observe(request, reply);
    done();
  });
}

/** Takes an answer that goes on for long out of the request's deadline, span and times. Call it when its headers go out. */
export function detach(reply: FastifyReply): void {
  const { request } = reply;
  request.undoDeadline?.();
  request.undoDeadline = null;
  request.info = { ...request.info, signal: null };
  for (const observe of request.server.answerObservers) observe(request, reply);
}

const isHost = (name: string): boolean => name.length === 4 && name.toLowerCase() === 'host';

/** Node keeps the first of several; a proxy before us may have taken another. @throws Problem invalid_request. Source: RFC 9112, 3.2. */
function requireHost({ raw: { rawHeaders, httpVersion } }: FastifyRequest): void {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) if (isHost(rawHeaders[index]!)) hosts++;
  if (hosts > 1) fail('invalid_request', 'The request has more than one Host header');
  if (hosts === 0 && httpVersion === '1.1') fail('invalid_request', 'The request has no Host header');
}

export interface HttpOptions {
  log: Logger;
  /** Time until a request's work is stopped, ms. */
  deadlineMs?: number;
  /** Turns a host form of an address into the path form. */
  rewriteUrl?: (host: string | undefined, url: string) => string;
  /** Default: no proxy is believed. */
  trustedProxies?: TrustedProxies;
  /** By which a gateway in another process proves itself. Default: there is none. */
  subgraphSecret?: string | null;
}

/** A gateway of this deployment has overwritten what its client claimed, so all entries are believed, up to the first. */
const everyProxy: TrustedProxies = () => true;
const noProxy: TrustedProxies = () => false;

/** Address of a request's client; the only reader of the connection's and of `X-Forwarded-For`. */
const addressReader =
  ({ trustedProxies = noProxy, subgraphSecret = null }: HttpOptions) =>
  ({ headers, socket }: IncomingMessage): string | null =>
    clientAddress(
      { peer: socket.remoteAddress, forwardedFor: headers['x-forwarded-for'] },
      isFromGateway(headers, subgraphSecret) ? everyProxy : trustedProxies,
    );

/** The origin form of a request target: of the absolute form (RFC 9112, 3.2.2) only path and query count. */
const originForm = (target: string): string => {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '');
  return path.startsWith('/') || path === '*' ? path : `/${path}`;
};

const nothingThere = (reply: FastifyReply): FastifyReply =>
  sendProblem(reply, new Problem('not_found', 'There is nothing at this address'));

/** Routes state no JSON Schema, so that nothing compiles one. Fastify's own compilers, 99 modules, are loaded where these are missing. */
const noSchemas = () => (): never => {
  throw new Error('routes have no JSON Schema here');
};

/** Fastify with the house's defaults: request id, problem+json for every error, body and header limits, no stack traces. */
export function createHttp(options: HttpOptions): FastifyInstance {
  const { log, rewriteUrl = (_host, url) => url, deadlineMs = DEADLINE_MS } = options;
  const addressOf = addressReader(options);
  const app = fastify({
    logger: false,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    bodyLimit: BODY_LIMIT,
    connectionTimeout: 0,
    requestTimeout: HEADERS_MS * 8,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: 'idle',
    return503OnClosing: false, // who is connected is answered, and told to come back over another connection
    routerOptions: { maxParamLength: 512, ignoreTrailingSlash: false },
    rewriteUrl: request => rewriteUrl(request.headers.host, originForm(request.url ?? '/')),
    http: { requireHostHeader: false }, // Node's own refusal has no body; ours follows
    clientErrorHandler: refuseOnSocket,
    frameworkErrors: (error, request, reply) => {
      request.info ??= requestOf(request.headers, addressOf(request.raw));
      sendProblem(reply as FastifyReply, toProblem(error, log));
    },
  }) as unknown as FastifyInstance;
  refuseExpectations(app.server);
  app.decorateRequest('info', null as unknown as RequestInfo);
  app.decorateRequest('span', null);
  app.decorateRequest('undoDeadline', null);
  app.decorate('leaving', []);
  app.decorate('connections', new Connections(app.server));
  app.decorate('answerObservers', []);
  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    request.info = requestOf(request.headers, addressOf(request.raw));
    requireHost(request);
    request.info.signal = lifeOf(reply, deadlineMs);
    traceRequest(request);
    reply.headers({ 'x-request-id': request.info.id, 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
  });
  app.addHook('onSend', (request: FastifyRequest, reply: FastifyReply, payload, done) => {
    if (request.info?.isReplayed) reply.header('idempotent-replayed', 'true');
    done(null, payload);
  });
  observeAnswers(app, (request, reply) => request.span?.end(request.routeOptions.url, reply.statusCode));
  app.setErrorHandler((error, _request, reply) => sendProblem(reply, toProblem(error, log)));
  app.addHook('preParsing', (request: FastifyRequest, reply: FastifyReply, _payload, done) => {
    if (request.is404)
      nothingThere(reply); // an unknown path's body is not read
    else if (isNonUtf8Json(request.headers['content-type'] ?? '')) done(new Problem('unsupported_media_type', 'JSON must be in UTF-8'));
    else done();
  });
  app.setNotFoundHandler((_request, reply) => nothingThere(reply));
  return app;
}
