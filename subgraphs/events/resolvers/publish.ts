import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, Info, Mutation, Resolver } from 'type-graphql';
import { prepareEvent } from '../../../events/outbox.js';
import type { Slug } from '../../../events/slugs.js';
import { Access } from '../../../runtime/access/access.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Violation } from '../../../runtime/request/errors.js';
import { once } from '../../../runtime/data/idempotency.js';
import { OwnTransactions } from '../../../runtime/request/operation.js';
import { PlatformEvent } from '../entities/platform-event.js';
import { PUBLISHERS } from '../entities/enums.js';
import { PublishEventInput, PublishEventsInput } from '../inputs/publish.js';
import { eventOf } from '../queries/log-rows.js';
import { publicationsOf, type Publication } from '../queries/publish-input.js';

/** A publisher that retries without a key would publish twice, and nobody could tell. */
const keyViolations = ({ request }: Context): Violation[] =>
  request.idempotencyKey === null ? [{ pointer: '', message: 'The header Idempotency-Key is required' }] : [];

/** Joins the transaction's events, as `ctx.emit` does in a service that speaks for itself. */
function append(ctx: Context, { event, input }: Publication): string {
  const { data, subject, userId, source, causationId } = input;
  const { id: requestId, traceparent } = ctx.request;
  const meta = {
    source: (source ?? event.owner) as Slug,
    requestId,
    causationId: causationId ?? null,
    actor: actorOf(ctx.caller),
    traceparent,
  };
  const pending = prepareEvent(event, data, { userId, subject }, meta);
  ctx.events.push(pending);
  ctx.audit('event.published', pending.id, { type: event.name, source: meta.source });
  return pending.id;
}

/** Appends in a transaction of its own, because what the log makes of an event (time and sequence) is known after the commit only. */
async function publish(
  ctx: Context,
  info: GraphQLResolveInfo,
  args: object,
  publications: readonly Publication[],
): Promise<PlatformEvent[]> {
  const operation = { field: info.fieldName, path: String(info.path.key), args: args as Record<string, unknown>, type: 'PlatformEvent' };
  const published = await ctx.host.transaction(
    tx => once(tx, operation, async () => publications.map(one => ({ id: append(tx, one) }))),
    ctx.request,
  );
  return (await Promise.all((published as { id: string }[]).map(({ id }) => eventOf(ctx, id)))) as PlatformEvent[];
}

@Resolver(() => PlatformEvent)
export class PublishResolver {
  @Access(PUBLISHERS)
  @OwnTransactions('the transaction claims the key itself')
  @Mutation(() => PlatformEvent, { description: "Publishes an event; the token also holds the admin scope of the type's owner." })
  async publishEvent(
    @Arg('input', () => PublishEventInput) input: PublishEventInput,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ): Promise<PlatformEvent> {
    const publications = publicationsOf([input], () => '/input', ctx.caller, ctx.now(), keyViolations(ctx));
    const [event] = await publish(ctx, info, { input }, publications);
    return event!;
  }

  @Access(PUBLISHERS)
  @OwnTransactions('the transaction claims the key itself')
  @Mutation(() => [PlatformEvent], { description: 'Publishes 1 to 100 events in one transaction: all or none.' })
  publishEvents(
    @Arg('input', () => PublishEventsInput) input: PublishEventsInput,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ): Promise<PlatformEvent[]> {
    const at = (index: number): string => `/input/events/${index}`;
    return publish(ctx, info, { input }, publicationsOf(input.events, at, ctx.caller, ctx.now(), keyViolations(ctx)));
  }
}
