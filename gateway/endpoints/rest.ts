import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { isSlug, type Slug } from '../../events/slugs.js';
import { restRoutes, type ExecuteResult, type Replan } from '../../rest-adapter/server.js';
import { checkAccess, type AccessRule } from '../../runtime/access/rules.js';
import type { Revocations } from '../../runtime/access/revocations.js';
import type { RunningService } from '../../runtime/running-service.js';
import type { Authenticate } from '../../runtime/service.js';
import type { Logger } from '../../runtime/observe/log.js';
import { fail } from '../../runtime/request/errors.js';
import type { RequestInfo } from '../../runtime/request/request.js';
import type { PreparedOperation } from '../plans/executor.js';
import type { Gateways, ServingGateway } from '../plans/gateways.js';
import { WarmUp } from '../plans/warm-up.js';
import type { Preflight } from './cors.js';
import { errorsOf } from './graphql-errors.js';
import { routeTables } from './route-tables.js';

interface RestOptions {
  gateways: Gateways;
  /** Services of this process. */
  hosts: ReadonlyMap<Slug, RunningService>;
  authenticate: Authenticate;
  revocations: Revocations;
  /** Whether the rows' operations are planned after the start; else each is planned at its first request. */
  warmUp: boolean;
  preflight: Preflight;
  /** Resolves when the process's consumers and workers have started. */
  started: Promise<void>;
  log: Logger;
}

/** Checks a rule's flag where the service that owns the flag is in this process; elsewhere its subgraph checks it. */
function checkFlag(flag: string, hosts: ReadonlyMap<Slug, RunningService>): void {
  const owner = flag.split('.')[1] ?? '';
  const host = isSlug(owner) ? hosts.get(owner) : undefined;
  if (host && !host.flags.boolean(flag)) fail('forbidden', 'This feature is off', { reason: 'feature_off' });
}

/** Steps 2-5 of identity A5, before the body is read. */
const authorizer =
  (hosts: ReadonlyMap<Slug, RunningService>, revocations: Revocations) =>
  async (rule: AccessRule | null, { caller }: RequestInfo): Promise<void> => {
    checkAccess(rule, caller);
    revocations.requireFresh(rule, caller);
    if (rule?.flag) checkFlag(rule.flag, hosts);
  };

/** Validates and prepares every row's operation on the next gateway, one per turn, so that requests are served meanwhile. @throws Problem naming what does not fit. */
async function acceptAll(
  operations: readonly PreparedOperation[],
  next: ServingGateway,
  prepare: (operation: PreparedOperation) => void,
): Promise<void> {
  for (const operation of operations) {
    next.validate(operation.source);
    prepare(operation);
    await setImmediate();
  }
}

/** The `/v1` paths. Each row's operation runs on the gateway. */
export async function restEndpoints(
  app: FastifyInstance,
  { gateways, hosts, authenticate, revocations, warmUp: isWarmedUp, preflight, started, log }: RestOptions,
): Promise<void> {
  const warmUp = isWarmedUp ? new WarmUp(app, gateways.current.clientExecutor, log, started) : null;
  const rows: PreparedOperation[] = [];
  const followReloads = (replan: Replan): void => {
    let takeOver = (): void => undefined;
    const accept = async (next: ServingGateway): Promise<void> => {
      takeOver = await replan(next.supergraph);
      await acceptAll(rows, next, operation => warmUp && next.clientExecutor.prepare?.(operation));
    };
    gateways.add({ accept, follow: () => takeOver() });
  };
  await app.register(
    restRoutes({
      schema: gateways.current.supergraph,
      tables: await routeTables(),
      isChecked: true, // when they and the supergraph were generated
      authenticate,
      authorize: authorizer(hosts, revocations),
      preflight,
      services: [...hosts.values()].map(host => host.declaration),
      execute: async (operation, request) => {
        const result = await gateways.current.clientExecutor.execute(operation, request);
        const { data, errors } = result;
        errorsOf(result, log); // logs values that do not fit their types; the answer shows their nulls
        return { data, errors: errors as ExecuteResult['errors'], status: request.status };
      },
      onReplan: followReloads,
      prepare: operation => {
        rows.push(operation);
        warmUp?.add(operation);
      },
      onPartial: (key, errors) => log.warn({ route: key, errors: errors.length }, 'a write was answered without fields that failed'),
    }),
  );
}
