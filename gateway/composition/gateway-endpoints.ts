import type { FastifyInstance } from 'fastify';
import type { Slug } from '../../events/slugs.js';
import type { Revocations } from '../../runtime/access/revocations.js';
import type { TokenVerifier } from '../../runtime/access/token.js';
import type { Federation } from '../../runtime/federation/federation.js';
import type { RunningService } from '../../runtime/running-service.js';
import type { Authenticate } from '../../runtime/service.js';
import { ClientOrigins } from '../endpoints/client-origins.js';
import { cors } from '../endpoints/cors.js';
import { docsRoutes } from '../endpoints/docs.js';
import { graphqlEndpoint } from '../endpoints/graphql.js';
import { proxyServices } from '../endpoints/proxy.js';
import { restEndpoints } from '../endpoints/rest.js';
import { OperationMetrics } from '../metrics/operation-metrics.js';
import { graphiql } from '../pages/graphiql.js';
import { pages, type PagesSetting } from '../pages/pages.js';
import type { Addresses } from './addresses.js';
import type { Parts } from './parts.js';
import { openReloadableGateway, type ReloadableGateway } from './reloadable-gateway.js';
import { subgraphSource } from './subgraph-sources.js';

export interface EndpointSetting {
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

/** `/graphql`, and with the role `rest` all public paths. */
export async function gatewayRoutes(
  app: FastifyInstance,
  parts: Parts,
  setting: EndpointSetting,
  authenticate: Authenticate,
): Promise<void> {
  const { config, log, stops } = parts;
  const { hosts, addresses, revocations, started } = setting;
  const { gateways } = await openGateway(parts, setting);
  if (config.graphiql) graphiql(app, config.seed);
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

type Purposes = () => Promise<ReadonlyMap<string, string>>;

/** @param purposes reads one line about each service. */
function pagesSetting({ config }: Parts, { hosts, addresses }: EndpointSetting, purposes: Purposes): PagesSetting {
  const slugs = [...hosts.keys(), ...(Object.keys(addresses.remotes) as Slug[])];
  const development = {
    identityUrl: () => addresses.identity,
    secret: config.setting('SEED_M2M_SECRET') ?? 'demo-m2m-secret',
    mail: hosts.has('comms') ? ('here' as const) : (addresses.remotes.comms ?? null),
  };
  const services = async (): Promise<Map<Slug, string>> => {
    const lines = await purposes();
    return new Map(slugs.map(slug => [slug, lines.get(slug) ?? '']));
  };
  return { baseUrl: config.baseUrl, services, graphiql: config.graphiql, development: config.seed ? development : null };
}

async function openGateway(parts: Parts, { hosts, addresses, federation, onGateway }: EndpointSetting): Promise<ReloadableGateway> {
  const gateway = await openReloadableGateway({
    source: service => subgraphSource(service as Slug, parts, addresses, hosts.get(service as Slug)),
    executor: parts.config.gatewayExecutor,
    federation,
    metrics: new OperationMetrics(parts.metrics.registry),
    sharesAnswers: parts.config.sharedAnswers,
    log: parts.log,
  });
  parts.stops.add(() => gateway.stop());
  onGateway(gateway);
  return gateway;
}
