import { firstIdAt } from '../../../events/envelope.js';
import type { Context } from '../../../runtime/request/context.js';
import { instantOrNull } from './conditions.js';

/** How much a type is used. */
export interface TypeUsage {
  lastEmittedAt: Date | null;
  count24h: number;
}

const DAY_MS = 86_400_000;

/** Two index reads per type; ids are made in time order, so the day's partitions suffice for the count. */
const USAGE = `
select t.name, l.at, d.events from unnest($1::text[]) t(name)
left join lateral (select o.occurred_at as at from events.outbox o where o.type = t.name order by o.seq desc limit 1) l on true
cross join lateral (select count(*)::float8 as events from events.outbox o where o.type = t.name and o.id >= $2::uuid) d`;

/** All types of a request in one statement. */
export async function usageOf(ctx: Context, type: string): Promise<TypeUsage> {
  const usage = await ctx.load('events.type_usage', type, async types => {
    const rows = await ctx.sql<{ name: string; at: string | null; events: number }>(USAGE, [types, firstIdAt(Date.now() - DAY_MS)]);
    const found = new Map(rows.map(({ name, at, events }) => [name, { lastEmittedAt: instantOrNull(at), count24h: events }]));
    return types.map(one => found.get(one) ?? null);
  });
  return usage ?? { lastEmittedAt: null, count24h: 0 };
}
