import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ClientOrigins } from './client-origins.js';

/** Headers of requests that a browser may send besides the simple ones. */
const ASKED = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-None-Match',
  'X-Request-Id',
  'X-Purpose-Of-Use',
  'X-Break-Glass-Reason',
  'GraphQL-Require-Preflight',
  'Apollo-Require-Preflight',
  'traceparent',
].join(', ');

/** Headers of answers that a script may read besides the simple ones. */
const SHOWN = ['X-Request-Id', 'Location', 'ETag', 'Retry-After', 'RateLimit', 'Idempotent-Replayed', 'WWW-Authenticate'].join(', ');

/** How long a browser keeps the answer to a preflight, s. */
const KEPT_SECONDS = '600';

/** Adds to an answer to `OPTIONS` what a preflight asks for. */
export type Preflight = (request: FastifyRequest, reply: FastifyReply, methods: readonly string[]) => void;

/**
 * A preflight, which bears no token, is allowed for the origins of all active clients; the request behind it only with a token of a client that
 * names its origin. Never with credentials. Source: conventions 5.
 */
const preflightFor =
  (origins: ClientOrigins): Preflight =>
  ({ headers: { origin } }, reply, methods) => {
    reply.header('vary', 'Origin');
    if (origin === undefined || !origins.areOfAny(origin)) return;
    reply.headers({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': methods.join(', '),
      'access-control-allow-headers': ASKED,
      'access-control-max-age': KEPT_SECONDS,
    });
  };

/** The API: rows and `/graphql`. People's pages and what else is native have rules of their own. */
const isApi = ({ routeOptions: { url, config } }: FastifyRequest): boolean => config.row !== undefined || url === '/graphql';

/** Lets browsers call the API from the origins of the token's client. Returns what answers the preflights of rows. */
export function cors(app: FastifyInstance, origins: ClientOrigins): Preflight {
  const preflight = preflightFor(origins);
  app.addHook('onSend', (request, reply, payload, done) => {
    const { origin } = request.headers;
    if (origin !== undefined && request.method !== 'OPTIONS' && isApi(request)) {
      reply.header('vary', 'Origin');
      if (origins.areOf(request.info.caller.clientId, origin))
        reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': SHOWN });
    }
    done(null, payload);
  });
  const METHODS = ['GET', 'OPTIONS', 'POST'];
  app.options('/graphql', (request, reply) => {
    preflight(request, reply, METHODS);
    return reply.status(204).header('allow', METHODS.join(', ')).send();
  });
  return preflight;
}
