import { Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { PageArgs, toConnection, type Connection } from '../../../runtime/request/paging.js';
import { EventConsumer } from '../entities/consumer.js';
import { ConsumerHandling, EventTrace, EventTraceNode } from '../entities/handling.js';
import { PlatformEvent, PlatformEventConnection } from '../entities/platform-event.js';
import { READERS } from '../entities/enums.js';
import { consumerOf } from '../queries/consumer-rows.js';
import { handlingsOf } from '../queries/handling-rows.js';
import { effectsOf, eventOf } from '../queries/log-rows.js';

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

@Resolver(() => PlatformEvent)
export class TraceResolver {
  @Access(READERS)
  @FieldResolver(() => PlatformEvent, { nullable: true, description: 'The event whose handler emitted this one.' })
  async causedBy(@Root() { causationId }: PlatformEvent, @Ctx() ctx: Context): Promise<PlatformEvent | null> {
    return causationId === null ? null : eventOf(ctx, causationId);
  }

  @Access(READERS)
  @FieldResolver(() => PlatformEventConnection, { description: 'What the handlers of this event emitted, in the order of the log.' })
  async effects(
    @Root() { id }: PlatformEvent,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<PlatformEvent>> {
    return toConnection(await effectsOf(ctx, id, args), args.first, event => [event.sequence]);
  }

  @Access(READERS)
  @FieldResolver(() => [ConsumerHandling], { description: 'What became of it at each consumer of its type.' })
  handling(@Root() event: PlatformEvent, @Ctx() ctx: Context): Promise<ConsumerHandling[]> {
    return handlingsOf(ctx, event);
  }

  @Access(READERS)
  @FieldResolver(() => EventTrace, { description: 'Its causes and all that followed from it.' })
  async trace(@Root() { id }: PlatformEvent, @Ctx() ctx: Context): Promise<EventTrace> {
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
}

@Resolver(() => ConsumerHandling)
export class HandlingResolver {
  @Access(READERS)
  @FieldResolver(() => EventConsumer, { nullable: true, description: 'Null for a consumer that is gone.' })
  consumer(@Root() { consumerName }: ConsumerHandling, @Ctx() ctx: Context): Promise<EventConsumer | null> {
    return consumerOf(ctx, consumerName);
  }
}
