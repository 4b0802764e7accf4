import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RunningService } from '../../runtime/running-service.js';
import type { Metrics } from '../../runtime/observe/metrics.js';

/** A readiness check slower than this has failed. */
const CHECK_MS = 2_000;

const within = (check: Promise<boolean>): Promise<boolean> =>
  Promise.race([check, new Promise<boolean>(resolve => setTimeout(resolve, CHECK_MS, false).unref())]).catch(() => false);

async function databaseAnswers(host: RunningService): Promise<boolean> {
  await host.read(ctx => ctx.sql('select 1'));
  return true;
}

/** The service's own checks; `service` where they cannot be made, or not in time. */
const ownChecks = (host: RunningService): Promise<Readonly<Record<string, boolean>>> => {
  const failed = { service: false };
  const late = new Promise<typeof failed>(resolve => setTimeout(resolve, CHECK_MS, failed).unref());
  return Promise.race([host.declaration.ready?.(host) ?? Promise.resolve({}), late]).catch(() => failed);
};

/** Whether the process has heard of revocations; before, it knows nothing about the tokens it would accept. */
const heardRevocations = (host: RunningService): boolean => host.revocations.silence !== null;

async function checksOf(host: RunningService, works: boolean): Promise<Record<string, boolean>> {
  const [database, own] = await Promise.all([within(databaseAnswers(host)), ownChecks(host)]);
  return { database, bus: host.transport.ready().ok, revocations: heardRevocations(host), work: works, ...own };
}

/**
 * `GET /<slug>/readyz` (database, bus, revocation feed, the process's work and the service's own checks) and `/healthz` (the process is up).
 * `works`: whether consumers, timers and workers have started. What is emitted before a consumer's first start never reaches it.
 */
export function healthRoutes(app: FastifyInstance, host: RunningService, works: () => boolean): void {
  app.get(`/${host.slug}/healthz`, () => ({ status: 'ok' }));
  app.get(`/${host.slug}/readyz`, async (_request, reply) => {
    const checks = await checksOf(host, works());
    const ready = Object.values(checks).every(Boolean);
    host.metrics.ready.set({ service: host.slug }, ready ? 1 : 0);
    const named = Object.fromEntries(Object.entries(checks).map(([name, ok]) => [name, ok ? 'ok' : 'failing']));
    return reply
      .status(ready ? 200 : 503)
      .headers(ready ? {} : { 'retry-after': '1' })
      .send({ status: ready ? 'ok' : 'unavailable', checks: named });
  });
}

/** Which way in a route is; what no route answers is none. */
function doorOf({ routeOptions }: FastifyRequest): string {
  const { url, config } = routeOptions;
  if (url === undefined) return 'none';
  if (config.row) return 'rest';
  return url === '/graphql' ? 'graphql' : url.endsWith('/graphql') ? 'subgraph' : 'native';
}

/** Observes the time until each answer, by door and route: patterns, so neither ids nor foreign paths become labels. */
export function observeRequests(app: FastifyInstance, { requests }: Metrics): void {
  app.addHook('onResponse', async (request: FastifyRequest, reply: FastifyReply) => {
    const { url } = request.routeOptions;
    const operation = url === undefined ? 'none' : `${request.method} ${url}`;
    requests.observe({ door: doorOf(request), operation, status: String(reply.statusCode) }, reply.elapsedTime / 1000);
  });
}

/** `GET /metrics`, once per process, in the Prometheus text form. */
export function metricsRoute(app: FastifyInstance, { registry }: Metrics): void {
  app.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()));
}
