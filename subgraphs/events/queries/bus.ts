import type { ServiceHost, Context } from '../../../runtime/request/context.js';
import { RelayGroup, type BusHealth } from '../entities/bus.js';
import { instantOrNull } from './conditions.js';

/** Middle and 95th percentile of the last hour, ms; null without a probe. */
interface Roundtrip {
  p50: number | null;
  p95: number | null;
}

const ROUNDTRIP = `
select percentile_cont(0.5) within group (order by ms) as p50, percentile_cont(0.95) within group (order by ms) as p95
from events.roundtrip where measured_at > clock_timestamp() - interval '1 hour'`;

export async function roundtripOf(ctx: Context): Promise<Roundtrip> {
  const [row] = await ctx.sql<Roundtrip>(ROUNDTRIP);
  return row!;
}

type GroupRow = Omit<RelayGroup, 'leaseExpiresAt'> & { leaseExpiresAt: string | null };

/** Eight index reads of unpublished events, by the database's clock as the leases are. */
const GROUPS = `
select g as "group", l.holder, coalesce(l.epoch, 0)::int as epoch, nullif(l.expires_at, '-infinity') as "leaseExpiresAt", u.unpublished,
  greatest(0, coalesce(extract(epoch from clock_timestamp() - u.oldest), 0))::float8 as "oldestUnpublishedSeconds", u.last_error as "lastError"
from generate_series(0, 7) g left join events.lease l on l.name = 'relay:' || g cross join lateral (
  select count(*)::int as unpublished, min(o.occurred_at) as oldest, (array_agg(o.last_error order by o.seq))[1] as last_error
  from events.outbox o where (o.slot >> 3) = g and o.published_at is null) u
order by g`;

const OPEN_LETTERS = `select count(*)::int as open from events.dead_letter where status in ('dead', 'retrying', 'parked')`;

export async function busHealth(ctx: Context): Promise<BusHealth> {
  const rows = await ctx.sql<GroupRow>(GROUPS);
  const [letters] = await ctx.sql<{ open: number }>(OPEN_LETTERS);
  const { p50, p95 } = await roundtripOf(ctx);
  const { transport } = ctx.host;
  return {
    transport: transport.kind,
    connected: transport.ready().ok,
    roundtripP50Ms: p50,
    roundtripP95Ms: p95,
    unpublished: rows.reduce((sum, row) => sum + row.unpublished, 0),
    oldestUnpublishedSeconds: Math.max(...rows.map(row => row.oldestUnpublishedSeconds)),
    openDeadLetters: letters!.open,
    groups: rows.map(row => Object.assign(new RelayGroup(), row, { leaseExpiresAt: instantOrNull(row.leaseExpiresAt) })),
  };
}

/** Relay groups whose last lease ran out 10 s ago or more: what belongs to them is not published. */
const ABANDONED = `select from events.lease where name ~ '^relay:[0-7]$' and expires_at < clock_timestamp() - interval '10 seconds'`;

/** Beside the database. A process without the relay answers requests whoever relays, so the relay does not count there. Source: events 4, readyz. */
export async function ready(host: ServiceHost): Promise<{ transport: boolean; relay: boolean }> {
  const relays = host.config.roles.has('relay');
  const abandoned = relays ? await host.read(ctx => ctx.sql(ABANDONED)) : [];
  return { transport: host.transport.ready().ok, relay: abandoned.length === 0 };
}
