import { timeOfId, type Envelope } from '../../../events/envelope.js';
import type { Context } from '../../../runtime/request/context.js';

const NOTE = `
insert into events.roundtrip (type, probe_id, slot, transport, ms)
values ($1, $2::uuid, (hashtextextended($3, 0) & 63)::smallint, $4, greatest(0, round(extract(epoch from clock_timestamp()) * 1000 - $5::float8)::int))
on conflict do nothing`;

/** Measures a probe from the making of its event's id, by the system clock: a manual clock shows nothing about the bus. */
export async function noteRoundtrip(ctx: Context, { id, type, order_key, data }: Envelope<{ probe_id: string }>): Promise<void> {
  await ctx.sql(NOTE, [type, data.probe_id, order_key, ctx.host.transport.kind, timeOfId(id)]);
}
