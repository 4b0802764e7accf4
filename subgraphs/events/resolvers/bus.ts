import { Ctx, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { roundtripOf } from '../consumers/canary.js';
import { BusHealth, RelayGroup } from '../entities/bus.js';
import { READERS } from '../entities/enums.js';
import { instantOrNull } from '../queries/conditions.js';

type Row = Omit<RelayGroup, 'leaseExpiresAt'> & { leaseExpiresAt: string | null };

/** Eight index reads of unpublished events, by the database's clock as the leases are. */
const GROUPS = `
select g as "group", l.holder, coalesce(l.epoch, 0)::int as epoch, nullif(l.expires_at, '-infinity') as "leaseExpiresAt", u.unpublished,
  greatest(0, coalesce(extract(epoch from clock_timestamp() - u.oldest), 0))::float8 as "oldestUnpublishedSeconds", u.last_error as "lastError"
from generate_series(0, 7) g left join events.lease l on l.name = 'relay:' || g cross join lateral (
  select count(*)::int as unpublished, min(o.occurred_at) as oldest, (array_agg(o.last_error order by o.seq))[1] as last_error
  from events.outbox o where (o.slot >> 3) = g and o.published_at is null) u
order by g`;

const OPEN_LETTERS = `select count(*)::int as open from events.dead_letter where status in ('dead', 'retrying', 'parked')`;

@Resolver(() => BusHealth)
export class BusResolver {
  @Access(READERS)
  @Query(() => BusHealth)
  async busHealth(@Ctx() ctx: Context): Promise<BusHealth> {
    const rows = await ctx.sql<Row>(GROUPS);
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
}
