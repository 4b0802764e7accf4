import type { Condition } from '../../../events/entrance.js';
import type { EventDefinition } from '../../../events/define.js';
import { timeOfId, type Envelope } from '../../../events/envelope.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { activeTraceparent } from '../../../runtime/observe/tracing.js';
import { grantSourceOf, type AskedGrant } from '../ports/grant-source.js';
import { sealerOf } from '../ports/sealer.js';
import { covers } from '../rules/grants.js';
import { configurationOf, type SubscriptionConfiguration } from './configuration.js';
import { enteredOf, hasVersion, putGrant, readGrants, stateOf, type Grants } from './grants.js';
import { enqueue, newDelivery } from './lanes.js';
import { signalOf } from './signal.js';

/** How the data of an event is bound to its row. */
export const dataContext = (eventId: string): string => `webhook_event.data:${eventId}`;

const hasMiss = (subscriptions: readonly SubscriptionConfiguration[], grants: Grants): boolean =>
  subscriptions.some(one => !grants.has(one.clientId));

/**
 * Before the transaction: where a client subscribes to the type and nothing is known of the user's grant to it, identity is
 * asked. Null: nothing had to be asked. @throws Problem unavailable when identity cannot be reached; the event is tried again.
 */
export const missingGrants = preparation(async (ctx, event: Envelope): Promise<readonly AskedGrant[] | null> => {
  const configuration = configurationOf(ctx.host);
  if (configuration.version < 0) await configuration.refresh(ctx.sql);
  const subscriptions = configuration.forType(event.type);
  if (event.user_id === null || subscriptions.length === 0) return null;
  const source = grantSourceOf(ctx.host);
  const recent = source.recent(event.user_id);
  if (recent) return recent;
  return hasMiss(subscriptions, await readGrants(ctx.sql, event.user_id)) ? source.of(event.user_id) : null;
});

/** Projects what identity answered. @throws Problem unavailable when it was not asked, because a subscription has come meanwhile. */
async function fillMisses(ctx: Context, userId: string, grants: Grants): Promise<void> {
  const asked = missingGrants.of(ctx) ?? fail('unavailable', 'The grants of the user are not known yet');
  for (const grant of asked) {
    const next = await putGrant(ctx.sql, userId, grant.clientId, grants.get(grant.clientId), stateOf(grant));
    if (next) grants.set(grant.clientId, next);
  }
}

/** Deliveries of an event for the subscriptions whose client the user has granted the scope, before the event occurred. Source: rule 14. */
function matching(
  subscriptions: readonly SubscriptionConfiguration[],
  grants: Grants,
  scope: string,
  event: Envelope,
): SubscriptionConfiguration[] {
  const when = { sequence: event.seq, occurredAt: timeOfId(event.id) };
  return subscriptions.filter(one => covers(grants.get(one.clientId), scope, when));
}

/**
 * An event of a type with a scope becomes deliveries. The configuration and the user's grants are read under locks, so neither a
 * subscription nor an erasure that committed before is missed. Source: section 8, ingest.
 */
export async function ingest(ctx: Context, event: Envelope, definition: EventDefinition): Promise<void> {
  const userId = event.user_id!;
  const configuration = configurationOf(ctx.host);
  const { version, erased, grants } = await enteredOf(ctx, userId);
  await configuration.refresh(ctx.sql, version);
  const subscriptions = configuration.forType(event.type);
  if (erased || subscriptions.length === 0) return;
  if (hasMiss(subscriptions, grants)) await fillMisses(ctx, userId, grants);
  const matched = matching(subscriptions, grants, definition.scope!, event);
  if (matched.length > 0) await store(ctx, event, matched);
}

/** Nobody subscribes to the type, as far as is known here: then that is so while the configuration has the version that is known. */
export function unsubscribed({ host }: Context, event: Envelope): Condition | null {
  const configuration = configurationOf(host);
  return configuration.forType(event.type).length === 0 ? hasVersion(event, configuration.version) : null;
}

/** Neither a replay nor of one. */
const FIRST = { replayNo: 0, replayOfId: null } as const;

async function store(ctx: Context, event: Envelope, matched: readonly SubscriptionConfiguration[]): Promise<void> {
  const userId = event.user_id!;
  const dataSealed = sealerOf(ctx.host).seal(event.data_text, dataContext(event.id));
  const traceparent = activeTraceparent() ?? event.traceparent;
  const row = { id: event.id, type: event.type, userId, sequence: event.seq, occurredAt: event.occurred_at, dataSealed, traceparent };
  const deliveries = matched.map(one => newDelivery(one, userId, FIRST));
  await enqueue(ctx.sql, row, deliveries, ctx.now());
  ctx.afterCommit(() => signalOf(ctx.host).notify());
}
