import { readdir } from 'node:fs/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Slug } from '../events/slugs.js';
import { isSlug } from '../events/slugs.js';
import type { RouteTable } from '../rest-adapter/route.js';
import { restRoutes } from '../rest-adapter/server.js';
import { checkAccess, type AccessRule } from '../runtime/access.js';
import type { Config } from '../runtime/config.js';
import { fail } from '../runtime/errors.js';
import type { ServiceHost } from '../runtime/host.js';
import type { Logger } from '../runtime/log.js';
import type { RequestInfo } from '../runtime/request.js';
import type { Revocations } from '../runtime/revocations.js';
import { bearerOf, type TokenVerifier } from '../runtime/token.js';
import { graphqlFace } from './apollo.js';
import type { Gateway } from './gateway.js';
import { sendGraphiql, wantsPage } from './pages.js';

/** Node keeps the first of two `Authorization` headers; a request with two is refused instead. Source: identity A3.1. */
function authorizationOf({ headers, raw }: FastifyRequest): string | string[] | undefined {
  const sent = raw.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'authorization');
  return sent.length > 1 ? sent : headers.authorization;
}

/** Puts the verified caller and the token into the request's info. No header: nobody. @throws Problem unauthenticated. */
export function authenticator(verifier: TokenVerifier): (request: FastifyRequest) => Promise<RequestInfo> {
  return async request => {
    const token = bearerOf(authorizationOf(request));
    if (token !== null) request.info = { ...request.info, token, caller: await verifier.verify(token) };
    return request.info;
  };
}

/** Flag of a rule, asked of the service that owns it where that service is here; elsewhere its subgraph decides. */
function checkFlag(flag: string, hosts: ReadonlyMap<Slug, ServiceHost>): void {
  const owner = flag.split('.')[1] ?? '';
  const host = isSlug(owner) ? hosts.get(owner) : undefined;
  if (host && !host.flags.boolean(flag)) fail('forbidden', 'This feature is off', { reason: 'feature_off' });
}

/** Steps 2-5 of identity A5 at the REST door. */
export const authorizer = (hosts: ReadonlyMap<Slug, ServiceHost>, revocations: Revocations) => async (rule: AccessRule | null, { caller }: RequestInfo): Promise<void> => {
  checkAccess(rule, caller);
  revocations.requireFresh(rule, caller);
  if (rule?.flag) checkFlag(rule.flag, hosts);
};

const ROUTES = new URL('../rest-adapter/routes/', import.meta.url);

/** The route tables of `rest-adapter/routes/`, one file a service. */
export async function routeTables(): Promise<RouteTable[]> {
  const files = (await readdir(ROUTES)).filter(file => /\.(js|ts)$/.test(file) && isSlug(file.slice(0, -3))).sort();
  return Promise.all(files.map(async file => ((await import(new URL(file, ROUTES).href)) as { default: RouteTable }).default));
}

export interface DoorOptions {
  config: Config;
  gateway: Gateway;
  hosts: ReadonlyMap<Slug, ServiceHost>;
  revocations: Revocations;
  verifier: TokenVerifier;
  log: Logger;
}

/** The REST face over the executor. */
export async function restDoor(app: FastifyInstance, { gateway, hosts, revocations, verifier, log }: DoorOptions): Promise<void> {
  await app.register(restRoutes({
    schema: gateway.supergraph, tables: await routeTables(), authenticate: authenticator(verifier), authorize: authorizer(hosts, revocations),
    services: [...hosts.values()].map(host => host.declaration),
    execute: async (operation, request) => ({ ...(await gateway.executor.execute(operation, request)), status: request.status }) as never,
    onPartial: (key, errors) => log.warn({ route: key, errors: errors.length }, 'a write was answered without fields that failed'),
  }));
}

/** The GraphQL face; a browser that opens it gets GraphiQL. */
export async function graphqlDoor(app: FastifyInstance, { config, gateway, verifier, log }: DoorOptions): Promise<{ stop(): Promise<void> }> {
  const authenticate = authenticator(verifier);
  app.addHook('onRequest', async (request, reply) => {
    if (request.url.split('?')[0] === '/graphql' && wantsPage(request.method, request.headers.accept, request.query)) return sendGraphiql(reply);
    return undefined;
  });
  return graphqlFace(app, { gateway, authenticate: async request => void (await authenticate(request)), introspection: config.introspection, log });
}
