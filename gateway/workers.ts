import type pg from 'pg';
import { handle, startConsumer, type Consumer, type ConsumerHost, type Envelope, type RunningConsumer } from '../events/consumer.js';
import type { DataOf } from '../events/define.js';
import { userErasureRequested } from '../events/catalogue/identity.js';
import { Limiter } from '../events/limiter.js';
import { schemaOf } from '../events/slugs.js';
import { systemCaller } from '../runtime/caller.js';
import type { Context } from '../runtime/context.js';
import { eraseAndConfirm } from '../runtime/erasure.js';
import type { ServiceHost } from '../runtime/host.js';
import { internalRequest } from '../runtime/request.js';
import { startTimers } from '../runtime/timers.js';

/** What runs and has to be ended. */
export interface Running {
  stop(): Promise<void>;
}

/** How a consumer's handlers get a transaction of their service. */
export const consumerHost = (host: ServiceHost): ConsumerHost<Context> => ({
  slug: host.slug, schema: schemaOf(host.slug), log: host.log, now: () => host.read(async ctx => ctx.now()), outside: run => host.read(run),
  transaction: (meta, run) => host.transaction(ctx => {
    ctx.causationId = meta.causationId;
    ctx.facts = meta.facts;
    return run({ sql: ctx.sql, context: ctx });
  }, { ...internalRequest(systemCaller(host.slug), meta.requestId ?? undefined), traceparent: meta.traceparent }),
});

/**
 * Every service that holds personal data erases a user when identity asks for it, and confirms; identity itself erases last, by its
 * own task. All happens before the event's transaction, which notes the event as handled: until identity has the confirmation, it comes again.
 */
function erasureConsumer({ declaration }: ServiceHost): Consumer<Context>[] {
  if (declaration.erase === 'nothing_held' || declaration.slug === 'identity') return [];
  const run = handle(userErasureRequested, async (_ctx: Context) => undefined);
  const prepare = (ctx: Context, { user_id, data }: Envelope<DataOf<typeof userErasureRequested>>): Promise<void> =>
    eraseAndConfirm(ctx, declaration.erase, { userId: user_id!, requestId: data.request_id, scope: data.scope });
  return [{ name: `${declaration.slug}.erasure`, on: [run], prepare, partitions: 1 }];
}

/** Starts the consumers of a service (role `consumers`); all of them together leave one connection of its pool free. */
export async function startConsumers(host: ServiceHost, pool: pg.Pool): Promise<RunningConsumer[]> {
  const limiter = new Limiter(host.config.poolMax - 1);
  const consumers = [...(host.declaration.consumers ?? []), ...erasureConsumer(host)];
  return Promise.all(consumers.map(consumer => startConsumer(consumer, consumerHost(host), host.transport, { pool, limiter })));
}

/** Starts timers, housekeeping and the service's own workers, as far as the process has their roles. */
export async function startWork(host: ServiceHost): Promise<Running[]> {
  const { roles } = host.config;
  const workers = (host.declaration.workers ?? []).filter(worker => roles.has(worker.role));
  const running: Running[] = await Promise.all(workers.map(worker => worker.start(host)));
  return roles.has('scheduler') ? [...running, startTimers(host)] : running;
}
