import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Metrics } from '../../runtime/observe/metrics.js';

/** `GET /metrics`, for the whole process, in the Prometheus text format. */
export function metricsRoute(app: FastifyInstance, { registry }: Metrics): void {
  app.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()));
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
  app.addHook('onResponse', async (request: FastifyRequest, reply: FastifyReply) => {
    const { url } = request.routeOptions;
    const operation = url === undefined ? 'none' : `${request.method} ${url}`;
    requests.observe({ endpoint: endpointOf(request), operation, status: String(reply.statusCode) }, reply.elapsedTime / 1000);
  });
}
