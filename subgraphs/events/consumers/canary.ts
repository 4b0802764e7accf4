import { platformCanary } from '../../../events/catalogue/platform.js';
import { workflowCanary } from '../../../events/catalogue/workflow.js';
import { handle, type Consumer, type Envelope } from '../../../events/consumer.js';
import { timeOfId } from '../../../events/envelope.js';
import type { Context } from '../../../runtime/request/context.js';

const NOTE = `
insert into events.roundtrip (type, probe_id, slot, transport, ms)
values ($1, $2::uuid, (hashtextextended($3, 0) & 63)::smallint, $4, greatest(0, round(extract(epoch from clock_timestamp()) * 1000 - $5::float8)::int))
on conflict do nothing`;

/** Measures from the making of the event's id, by the system clock: what a manual clock shows says nothing about the bus. */
async function measure(ctx: Context, { id, type, order_key, data }: Envelope<{ probe_id: string }>): Promise<void> {
  await ctx.sql(NOTE, [type, data.probe_id, order_key, ctx.host.transport.kind, timeOfId(id)]);
}

/** The way of a probe over the whole bus and back. Source: events 5. */
export const canaryConsumer: Consumer<Context> = {
  name: 'events.canary',
  partitions: 1,
  on: [handle(platformCanary, measure), handle(workflowCanary, measure)],
};

/** Middle and 95th percentile of the last hour, ms; null without a probe. */
export interface Roundtrip {
  p50: number | null;
  p95: number | null;
}

export async function roundtripOf(ctx: Context): Promise<Roundtrip> {
  const [row] = await ctx.sql<Roundtrip>(
    `select percentile_cont(0.5) within group (order by ms) as p50, percentile_cont(0.95) within group (order by ms) as p95
     from events.roundtrip where measured_at > clock_timestamp() - interval '1 hour'`,
  );
  return row!;
}
