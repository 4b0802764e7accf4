import type pg from 'pg';
import { userErasureRequested } from '../../events/catalogue/identity.js';
import { handle, type Consumer, type ConsumerHost, type Envelope } from '../../events/consumer.js';
import { startConsumer, type RunningConsumer } from '../../events/running-consumer.js';
import type { DataOf } from '../../events/define.js';
import { Limiter } from '../../events/limiter.js';
import type { EventMetrics } from '../../events/metrics.js';
import { schemaOf } from '../../events/slugs.js';
import { eraseAndConfirm } from '../../runtime/erasure/erasure.js';
import type { RunningService } from '../../runtime/running-service.js';
import { traced } from '../../runtime/observe/tracing.js';
import { systemCaller } from '../../runtime/request/caller.js';
import type { Context } from '../../runtime/request/context.js';
import { internalRequest } from '../../runtime/request/request.js';

/** Runs a consumer's handlers in transactions of its service. */
const consumerHost = (host: RunningService): ConsumerHost<Context> => ({
  slug: host.slug,
  schema: schemaOf(host.slug),
  log: host.log,
  now: () => host.read(async ctx => ctx.now()),
  outside: run => host.read(run),
  transaction: (meta, run) =>
    traced(`consume ${meta.consumer}`, { kind: 'consumer', parent: meta.traceparent }, () =>
      host.transaction(
        ctx => {
          ctx.causationId = meta.causationId;
          ctx.facts = meta.facts;
          return run({ sql: ctx.sql, context: ctx, now: ctx.now() });
        },
        { ...internalRequest(systemCaller(host.slug), meta.requestId ?? undefined), traceparent: meta.traceparent },
      ),
    ),
});

/**
 * The consumer by which a service erases a user when identity requests it. Identity itself erases last, by its own task. Erasure and its
 * confirmation happen before the transaction that marks the event as handled, so the event comes again until identity has the confirmation.
 */
function erasureConsumer({ declaration }: RunningService): Consumer<Context>[] {
  if (declaration.erase === 'nothing_held' || declaration.slug === 'identity') return [];
  const run = handle(userErasureRequested, async (_ctx: Context) => undefined);
  const prepare = (ctx: Context, { user_id, data }: Envelope<DataOf<typeof userErasureRequested>>): Promise<void> =>
    eraseAndConfirm(ctx, declaration.erase, { userId: user_id!, requestId: data.request_id, scope: data.scope });
  return [{ name: `${declaration.slug}.erasure`, on: [run], prepare, partitions: 1 }];
}

/** Starts the consumers of a service. Together they leave one connection of its pool free. */
export function startConsumers(host: RunningService, pool: pg.Pool, metrics: EventMetrics): Promise<RunningConsumer>[] {
  const limiter = new Limiter(host.config.poolMax - 1);
  const { retrySeconds, handlerTimeoutMs } = host.config.events;
  const declared = [...(host.declaration.consumers ?? []), ...erasureConsumer(host)];
  const consumers = declared.map(consumer => ({ retrySeconds, handlerTimeoutMs, ...consumer }));
  return consumers.map(consumer => startConsumer(consumer, consumerHost(host), host.transport, { pool, limiter, metrics }));
}
