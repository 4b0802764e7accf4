import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../../runtime/config.js';
import { sameSecret } from '../../runtime/data/crypto.js';
import { operationLabels, type Metrics } from '../../runtime/observe/metrics.js';
import { observeAnswers } from '../../runtime/http/server.js';
import { fail } from '../../runtime/request/errors.js';

/** @throws Problem unauthenticated */
function requireToken({ headers }: FastifyRequest, token: string): void {
  if (headers.authorization === undefined) fail('unauthenticated', 'A bearer token is required');
  if (!sameSecret(headers.authorization, `Bearer ${token}`)) fail('unauthenticated', 'The token is not valid', { reason: 'invalid_token' });
}

/**
 * `GET /metrics`, for the whole process, in the Prometheus text format, with `METRICS_TOKEN` as bearer token. Without a token it is open in
 * development, which listens on this machine only, and an unknown path in production.
 */
export function metricsRoute(
  app: FastifyInstance,
  { registry }: Metrics,
  { metricsToken, production }: Pick<Config, 'metricsToken' | 'production'>,
): void {
  if (metricsToken === null && production) return;
  app.get('/metrics', async (request, reply) => {
    if (metricsToken !== null) requireToken(request, metricsToken);
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}

/** Kind of a request's route: `rest`, `graphql`, `subgraph` or `native`; `none` for an address without a route. */
function endpointOf({ routeOptions }: FastifyRequest): string {
  const { url, config } = routeOptions;
  if (url === undefined) return 'none';
  if (config.row) return 'rest';
  return url === '/graphql' ? 'graphql' : url.endsWith('/graphql') ? 'subgraph' : 'native';
}

/** Observes the time until each answer by kind and pattern of its route, so that neither ids nor unknown paths become labels. */
export function observeRequests(app: FastifyInstance, { requests }: Metrics): void {
  const labelOf = operationLabels();
  observeAnswers(app, (request, reply) => {
    const { url } = request.routeOptions;
    const operation = url === undefined ? 'none' : labelOf(`${request.method} ${url}`);
    requests.observe({ endpoint: endpointOf(request), operation, status: String(reply.statusCode) }, reply.elapsedTime / 1000);
  });
}
