import type { Context } from '../../../runtime/request/context.js';
import { EventTraceNode, type EventTrace } from '../entities/handling.js';
import type { PlatformEvent } from '../entities/platform-event.js';
import { eventOf } from './log.js';

/** Levels of a tree, up and down. Source: events 4, trace. */
const MAX_DEPTH = 10;
const MAX_NODES = 200;

const CAUSES = `
with recursive cause as (
  select o.causation_id, 0 as depth from events.outbox o where o.id = $1
  union all select o.causation_id, c.depth + 1 from cause c join events.outbox o on o.id = c.causation_id::uuid
    where c.depth < ${MAX_DEPTH} and c.causation_id is not null
)
select causation_id as id from cause where causation_id is not null and depth < ${MAX_DEPTH} order by depth desc`;

/** Level by level, as PostgreSQL makes them; one more than is shown. */
const EFFECTS = `
with recursive effect as (
  select $1::uuid as id, 0 as depth
  union all (select o.id, e.depth + 1 from effect e join events.outbox o on o.causation_id = e.id::text where e.depth < ${MAX_DEPTH + 1})
)
select id, depth from effect limit ${MAX_NODES + 1}`;

const present = (events: readonly (PlatformEvent | null)[]): PlatformEvent[] => events.filter(event => event !== null);

/** What led to an event and what followed from it. */
export async function traceOf(ctx: Context, id: string): Promise<EventTrace> {
  const causes = await ctx.sql<{ id: string }>(CAUSES, [id]);
  const effects = await ctx.sql<{ id: string; depth: number }>(EFFECTS, [id]);
  const shown = effects.filter(({ depth }) => depth <= MAX_DEPTH).slice(0, MAX_NODES);
  const nodes = await Promise.all(shown.map(async ({ id: one, depth }) => ({ depth, event: (await eventOf(ctx, one))! })));
  return {
    causes: present(await Promise.all(causes.map(({ id: one }) => eventOf(ctx, one)))),
    nodes: nodes.map(node => Object.assign(new EventTraceNode(), node)),
    truncated: effects.length > shown.length,
  };
}
