import { prepareEvent } from '../../../events/outbox.js';
import type { Slug } from '../../../events/slugs.js';
import { once } from '../../../runtime/data/idempotency.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Violation } from '../../../runtime/request/errors.js';
import type { PlatformEvent } from '../entities/platform-event.js';
import type { PublishEventInput, PublishEventsInput } from '../inputs/publish.js';
import { eventOf } from '../queries/log.js';
import { publicationsOf, type Publication } from './publish-checks.js';

/** A publisher that retries without a key would publish twice, and nobody could tell. */
const keyViolations = ({ request }: Context): Violation[] =>
  request.idempotencyKey === null ? [{ pointer: '', message: 'The header Idempotency-Key is required' }] : [];

/** Joins the transaction's events, as `ctx.emit` does in a service of its own. */
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

/** An operation by which events are published: its field and response path, so that a repeated key finds its answer. */
interface Publishing<Input = unknown> {
  field: string;
  path: string;
  input: Input;
}

/** Appends in a transaction of its own, because what the log makes of an event (time and sequence) is known after the commit only. */
async function publish(ctx: Context, { field, path, input }: Publishing, publications: readonly Publication[]): Promise<PlatformEvent[]> {
  const operation = { field, path, args: { input }, type: 'PlatformEvent' };
  const published = await ctx.host.transaction(
    tx => once(tx, operation, async () => publications.map(one => ({ id: append(tx, one) }))),
    ctx.request,
  );
  return (await Promise.all((published as { id: string }[]).map(({ id }) => eventOf(ctx, id)))) as PlatformEvent[];
}

/** Publishes an event. @throws Problem insufficient_scope, payload_too_large, invalid_request. */
export async function publishEvent(ctx: Context, publishing: Publishing<PublishEventInput>): Promise<PlatformEvent> {
  const publications = publicationsOf([publishing.input], () => '/input', ctx.caller, ctx.now(), keyViolations(ctx));
  const [event] = await publish(ctx, publishing, publications);
  return event!;
}

/** Publishes events in one transaction: all or none. @throws Problem insufficient_scope, payload_too_large, invalid_request. */
export async function publishEvents(ctx: Context, publishing: Publishing<PublishEventsInput>): Promise<PlatformEvent[]> {
  const at = (index: number): string => `/input/events/${index}`;
  return publish(ctx, publishing, publicationsOf(publishing.input.events, at, ctx.caller, ctx.now(), keyViolations(ctx)));
}
