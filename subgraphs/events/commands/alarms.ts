import type { Context } from '../../../runtime/request/context.js';
import { newId } from '../../../runtime/data/ids.js';
import { requestMessage } from '../../../runtime/request/messages.js';
import { alarmsOf, type Alarm } from '../rules.js';
import { roundtripOf } from '../queries/bus.js';

/** By the id's time: `occurred_at` may be a manual clock's. */
const UNPUBLISHED = `
select coalesce(max(extract(epoch from clock_timestamp()) - ('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0), 0)::float8 as seconds,
  (array_agg(last_error order by seq) filter (where last_error is not null))[1] as cause
from events.outbox where published_at is null`;

/** Conditions that have begun. */
const BEGUN = `
insert into events.alarm (kind, key) select kind, key from unnest($1::text[], $2::text[]) a(kind, key) on conflict do nothing returning kind, key`;
const ENDED = `delete from events.alarm a where a.kind = any($1) and not exists (select from unnest($2::text[], $3::text[]) o(kind, key) where o.kind = a.kind and o.key = a.key)`;

/** New dead letters of a consumer are one alarm. */
const DEAD = `
with noted as (
  insert into events.alarm (kind, key) select 'dead_letter', id::text from events.dead_letter where status = 'dead' on conflict do nothing returning key
)
select d.consumer as key, count(*)::int as count from noted t join events.dead_letter d on d.id = t.key::uuid group by d.consumer`;
const SETTLED = `
delete from events.alarm a where a.kind = 'dead_letter' and not exists (select from events.dead_letter d where d.id::text = a.key and d.status = 'dead')`;

const DISORDER = `
with noted as (
  insert into events.alarm (kind, key) select 'out_of_order', consumer || ' ' || event_id from events.disorder on conflict do nothing returning key
)
select split_part(key, ' ', 1) as key, count(*)::int as count from noted group by 1`;

const PRUNE = `delete from events.roundtrip where measured_at < clock_timestamp() - interval '1 day'`;

function raise(ctx: Context, { kind, key, params }: Alarm): void {
  ctx.log.error({ alarm: kind, key, ...params }, 'the event bus needs somebody');
  const dedupeKey = `bus_alarm:${kind}:${key}:${newId()}`;
  requestMessage(
    ctx,
    { staffRole: 'developer' },
    { template: 'bus_alarm', params: { kind, ...(key && { consumer: key }), ...params }, dedupeKey },
  );
  ctx.audit('bus.alarm_raised', key || null, { kind, ...params });
}

/** Conditions that last: each is reported when it begins, and anew when it has ended and begins again. */
async function lasting(ctx: Context, lags: ReadonlyMap<string, number>): Promise<Alarm[]> {
  const [unpublished] = await ctx.sql<{ seconds: number; cause: string | null }>(UNPUBLISHED);
  const open = alarmsOf({
    unpublishedSeconds: unpublished!.seconds,
    cause: unpublished!.cause,
    lags,
    roundtripP95Ms: (await roundtripOf(ctx)).p95,
  });
  const [kinds, keys] = [open.map(({ kind }) => kind), open.map(({ key }) => key)];
  await ctx.sql(ENDED, [['unpublished', 'consumer_lag', 'roundtrip'], kinds, keys]);
  const begun = await ctx.sql<{ kind: string; key: string }>(BEGUN, [kinds, keys]);
  return open.filter(alarm => begun.some(({ kind, key }) => kind === alarm.kind && key === alarm.key));
}

async function counted(ctx: Context, kind: Alarm['kind'], text: string): Promise<Alarm[]> {
  const rows = await ctx.sql<{ key: string; count: number }>(text);
  return rows.map(({ key, count }) => ({ kind, key, params: { count } }));
}

/** Reports to the developers what has gone wrong since the last look. Source: events 5, alarms. */
export async function lookAtAlarms(ctx: Context, lags: ReadonlyMap<string, number>): Promise<void> {
  await ctx.sql(SETTLED);
  await ctx.sql(PRUNE);
  const alarms = [
    ...(await lasting(ctx, lags)),
    ...(await counted(ctx, 'dead_letter', DEAD)),
    ...(await counted(ctx, 'out_of_order', DISORDER)),
  ];
  alarms.forEach(alarm => raise(ctx, alarm));
}
