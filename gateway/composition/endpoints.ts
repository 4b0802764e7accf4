import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { rewriteUrl } from '../../rest-adapter/address.js';
import type { RunningService } from '../../runtime/running-service.js';
import { createHttp } from '../../runtime/http/server.js';
import type { Authenticate } from '../../runtime/service.js';
import { authenticator } from '../endpoints/authentication.js';
import { DatabaseChecks } from '../endpoints/database-checks.js';
import { healthRoutes } from '../endpoints/health.js';
import { metricsRoute, observeRequests } from '../endpoints/metrics.js';
import { largestBody } from '../endpoints/route-tables.js';
import { subgraphRoute } from '../endpoints/subgraph.js';
import type { Addresses } from './addresses.js';
import type { EndpointSetting } from './gateway-endpoints.js';
import type { Parts } from './parts.js';
import { closeGracefully, StopStack } from './shutdown.js';

/** Opens every endpoint of the process's roles, and listens. */
export async function openEndpoints(parts: Parts, setting: EndpointSetting): Promise<void> {
  const { config, log, metrics } = parts;
  const app = createHttp({
    log,
    deadlineMs: config.requestDeadlineMs,
    rewriteUrl: (host, url) => rewriteUrl(host, url, config.domain),
    trustedProxies: config.trustedProxies,
    subgraphSecret: config.subgraphSecret,
  });
  const afterRequests = new StopStack(log); // what requests under way need
  parts.stops.add(async () => {
    await closeGracefully(app, config.stopGraceMs);
    await afterRequests.run();
  });
  observeRequests(app, metrics);
  metricsRoute(app, metrics, config);
  const authenticate = authenticator(setting.verifier);
  const databases = new DatabaseChecks();
  afterRequests.add(() => databases.stop());
  for (const host of setting.hosts.values()) await serviceRoutes(app, host, { authenticate, databases, isWorking: setting.isWorking });
  if (config.roles.has('gateway')) {
    const { gatewayRoutes } = await import('./gateway-endpoints.js'); // 0.8 s of CPU and 70 MB that a process with services alone does without
    await gatewayRoutes(app, { ...parts, stops: afterRequests }, setting, authenticate);
  }
  await listen(app, parts, setting.addresses);
}

interface RouteSetting {
  authenticate: Authenticate;
  databases: DatabaseChecks;
  isWorking(): boolean;
}

/** Health, subgraph and native paths of a service. */
async function serviceRoutes(
  app: FastifyInstance,
  host: RunningService,
  { authenticate, databases, isWorking }: RouteSetting,
): Promise<void> {
  const isSubgraph = host.config.roles.has('subgraphs');
  if (isSubgraph) subgraphRoute(app, host, authenticate, await largestBody(host.slug));
  healthRoutes(app, host, databases, isWorking);
  if (isSubgraph) await host.declaration.native?.(app, host, authenticate);
}

/** Listens; in development on this machine only, because the demo credentials are public. */
async function listen(app: FastifyInstance, { config }: Parts, addresses: Addresses): Promise<void> {
  await app.listen({ port: config.port, host: config.production ? '::' : 'localhost' });
  addresses.own = `http://localhost:${(app.server.address() as AddressInfo).port}`;
}
