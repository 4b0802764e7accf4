import { readdir } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Slug } from '../../events/slugs.js';
import { isSlug } from '../../events/slugs.js';
import type { RouteTable } from '../../rest-adapter/route.js';
import { restRoutes, type ExecuteResult, type Replan } from '../../rest-adapter/server.js';
import { checkAccess, type AccessRule } from '../../runtime/access/access.js';
import type { Config } from '../../runtime/config.js';
import { fail } from '../../runtime/request/errors.js';
import type { ServiceHost } from '../../runtime/host.js';
import type { Logger } from '../../runtime/observe/log.js';
import type { RequestInfo } from '../../runtime/request/request.js';
import type { Revocations } from '../../runtime/access/revocations.js';
import { bearerOf, type TokenVerifier } from '../../runtime/access/token.js';
import { graphqlFace } from './apollo.js';
import type { PreparedOperation } from '../plans/executor.js';
import type { FrontGateway, Gateways } from '../plans/gateways.js';
import { sendGraphiql, wantsPage } from './pages.js';
import { WarmUp } from '../plans/warm-up.js';

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
export const authorizer =
  (hosts: ReadonlyMap<Slug, ServiceHost>, revocations: Revocations) =>
  async (rule: AccessRule | null, { caller }: RequestInfo): Promise<void> => {
    checkAccess(rule, caller);
    revocations.requireFresh(rule, caller);
    if (rule?.flag) checkFlag(rule.flag, hosts);
  };

const ROUTES = new URL('../../rest-adapter/routes/', import.meta.url);

/** The route tables of `rest-adapter/routes/`, one file a service. */
export async function routeTables(): Promise<RouteTable[]> {
  const files = (await readdir(ROUTES)).filter(file => /\.(js|ts)$/.test(file) && isSlug(file.slice(0, -3))).sort();
  return Promise.all(files.map(async file => ((await import(new URL(file, ROUTES).href)) as { default: RouteTable }).default));
}

export interface DoorOptions {
  config: Config;
  gateways: Gateways;
  hosts: ReadonlyMap<Slug, ServiceHost>;
  revocations: Revocations;
  verifier: TokenVerifier;
  log: Logger;
  /** Resolves when the process's consumers and workers have started. */
  started: Promise<void>;
}

/** Every row's operation on the next gateway, one at a time, so that requests are answered between. @throws Error naming a row that does not fit. */
async function acceptAll(
  operations: readonly PreparedOperation[],
  next: FrontGateway,
  prepare: (operation: PreparedOperation) => void,
): Promise<void> {
  for (const operation of operations) {
    next.validate(operation.source);
    prepare(operation);
    await setImmediate();
  }
}

/** The REST face over the executor. */
export async function restDoor(
  app: FastifyInstance,
  { config, gateways, hosts, revocations, verifier, log, started }: DoorOptions,
): Promise<void> {
  const warmUp = config.restPlans === 'idle' ? new WarmUp(app, gateways.current.shared, log, started) : null;
  const rows: PreparedOperation[] = [];
  const followRest = (replan: Replan): void => {
    let takeOver = (): void => undefined;
    const accept = async (next: FrontGateway): Promise<void> => {
      takeOver = await replan(next.supergraph);
      await acceptAll(rows, next, operation => warmUp && next.shared.prepare?.(operation));
    };
    gateways.add({ accept, follow: () => takeOver() });
  };
  await app.register(
    restRoutes({
      schema: gateways.current.supergraph,
      tables: await routeTables(),
      authenticate: authenticator(verifier),
      authorize: authorizer(hosts, revocations),
      services: [...hosts.values()].map(host => host.declaration),
      execute: async (operation, request) => {
        const { data, errors } = await gateways.current.shared.execute(operation, request);
        return { data, errors: errors as ExecuteResult['errors'], status: request.status };
      },
      onReplan: followRest,
      prepare: operation => {
        rows.push(operation);
        warmUp?.add(operation);
      },
      onPartial: (key, errors) => log.warn({ route: key, errors: errors.length }, 'a write was answered without fields that failed'),
    }),
  );
}

/** The GraphQL face; a browser that opens it gets GraphiQL. */
export async function graphqlDoor(
  app: FastifyInstance,
  { config, gateways, verifier, log }: DoorOptions,
): Promise<{ stop(): Promise<void> }> {
  const authenticate = authenticator(verifier);
  app.addHook('onRequest', async (request, reply) => {
    if (request.url.split('?')[0] === '/graphql' && wantsPage(request.method, request.headers.accept, request.query))
      return sendGraphiql(reply);
    return undefined;
  });
  return graphqlFace(app, {
    gateways,
    authenticate: async request => void (await authenticate(request)),
    introspection: config.introspection,
    log,
  });
}
