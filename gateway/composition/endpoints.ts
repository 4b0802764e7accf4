import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Slug } from '../../events/slugs.js';
import { rewriteUrl } from '../../rest-adapter/address.js';
import type { Revocations } from '../../runtime/access/revocations.js';
import type { TokenVerifier } from '../../runtime/access/token.js';
import type { Federation } from '../../runtime/federation/federation.js';
import type { RunningService } from '../../runtime/running-service.js';
import { createHttp } from '../../runtime/http/server.js';
import type { Authenticate } from '../../runtime/service.js';
import { authenticator } from '../endpoints/authentication.js';
import { ClientOrigins } from '../endpoints/client-origins.js';
import { cors } from '../endpoints/cors.js';
import { docsRoutes } from '../endpoints/docs.js';
import { graphqlEndpoint } from '../endpoints/graphql.js';
import { healthRoutes } from '../endpoints/health.js';
import { metricsRoute, observeRequests } from '../endpoints/metrics.js';
import { proxyServices } from '../endpoints/proxy.js';
import { restEndpoints } from '../endpoints/rest.js';
import { largestBody } from '../endpoints/route-tables.js';
import { subgraphRoute } from '../endpoints/subgraph.js';
import { OperationMetrics } from '../metrics/operation-metrics.js';
import { graphiql } from '../pages/graphiql.js';
import { pages, type PagesSetting } from '../pages/pages.js';
import type { Addresses } from './addresses.js';
import type { Parts } from './parts.js';
import { openReloadableGateway, type ReloadableGateway } from './reloadable-gateway.js';
import { closeGracefully, StopStack } from './shutdown.js';
import { subgraphSource } from './subgraph-sources.js';

interface EndpointSetting {
  hosts: ReadonlyMap<Slug, RunningService>;
  addresses: Addresses;
  verifier: TokenVerifier;
  revocations: Revocations;
  /** As a service's internal client; without one the process's own. */
  federation(slug?: Slug): Federation;
  /** Called with the gateway before anything uses it. */
  onGateway(gateway: ReloadableGateway): void;
  /** Resolves when consumers, timers and workers have started. */
  started: Promise<void>;
  isWorking(): boolean;
}

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
  for (const host of setting.hosts.values()) await serviceRoutes(app, host, authenticate, setting.isWorking);
  if (config.roles.has('gateway')) await gatewayRoutes(app, { ...parts, stops: afterRequests }, setting, authenticate);
  await listen(app, parts, setting.addresses);
}

/** Health, subgraph and native paths of a service. */
async function serviceRoutes(
  app: FastifyInstance,
  host: RunningService,
  authenticate: Authenticate,
  isWorking: () => boolean,
): Promise<void> {
  const isSubgraph = host.config.roles.has('subgraphs');
  if (isSubgraph) subgraphRoute(app, host, authenticate, await largestBody(host.slug));
  healthRoutes(app, host, isWorking);
  if (isSubgraph) await host.declaration.native?.(app, host, authenticate);
}

/** `/graphql`, and with the role `rest` all public paths. */
async function gatewayRoutes(app: FastifyInstance, parts: Parts, setting: EndpointSetting, authenticate: Authenticate): Promise<void> {
  const { config, log, stops } = parts;
  const { hosts, addresses, revocations, started } = setting;
  const { gateways } = await openGateway(parts, setting);
  if (config.graphiql) await graphiql(app, config.seed);
  const preflight = cors(app, clientOrigins(parts, setting));
  const graphql = await graphqlEndpoint(app, { gateways, authenticate, introspection: config.introspection, log });
  stops.add(() => graphql.stop());
  if (!config.roles.has('rest')) return;
  await restEndpoints(app, { gateways, hosts, authenticate, revocations, warmUp: config.restPlans === 'idle', preflight, started, log });
  const purposes = await docsRoutes(app, config.seed);
  pages(app, pagesSetting(parts, setting, purposes));
  await proxyServices(app, addresses.remotes, config);
}

/** The web origins of clients, kept current once the process's own tokens can be had. */
function clientOrigins({ log, stops }: Parts, { federation, started }: EndpointSetting): ClientOrigins {
  const origins = new ClientOrigins(federation, log);
  stops.add(() => origins.stop());
  void started.then(() => origins.start());
  return origins;
}

/** @param purposes one line about each service. */
function pagesSetting({ config }: Parts, { hosts, addresses }: EndpointSetting, purposes: ReadonlyMap<string, string>): PagesSetting {
  const slugs = [...hosts.keys(), ...(Object.keys(addresses.remotes) as Slug[])];
  const development = {
    identityUrl: () => addresses.identity,
    secret: config.setting('SEED_M2M_SECRET') ?? 'demo-m2m-secret',
    mail: hosts.has('comms') ? ('here' as const) : (addresses.remotes.comms ?? null),
  };
  const services = new Map(slugs.map(slug => [slug, purposes.get(slug) ?? '']));
  return { baseUrl: config.baseUrl, services, graphiql: config.graphiql, development: config.seed ? development : null };
}

async function openGateway(parts: Parts, { hosts, addresses, federation, onGateway }: EndpointSetting): Promise<ReloadableGateway> {
  const gateway = await openReloadableGateway({
    source: service => subgraphSource(service as Slug, parts, addresses, hosts.get(service as Slug)),
    executor: parts.config.gatewayExecutor,
    federation,
    metrics: new OperationMetrics(parts.metrics.registry),
    log: parts.log,
  });
  parts.stops.add(() => gateway.stop());
  onGateway(gateway);
  return gateway;
}

/** Listens; in development on this machine only, because the demo credentials are public. */
async function listen(app: FastifyInstance, { config }: Parts, addresses: Addresses): Promise<void> {
  await app.listen({ port: config.port, host: config.production ? '::' : 'localhost' });
  addresses.own = `http://localhost:${(app.server.address() as AddressInfo).port}`;
}
