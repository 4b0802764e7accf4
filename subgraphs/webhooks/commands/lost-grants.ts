import { CATALOGUE } from '../../../events/catalogue.js';
import type { Context } from '../../../runtime/request/context.js';
import type { WebhookCancelReason } from '../entities/enums.js';
import { lostScopes, type ProjectedGrant } from '../rules/grants.js';
import { configurationOf } from './configuration.js';
import { closeOpen } from './lanes.js';

/** Event types that need one of the scopes. */
const typesOf = (scopes: readonly string[]): string[] =>
  [...CATALOGUE.values()].filter(type => type.scope !== null && scopes.includes(type.scope)).map(type => type.name);

interface Lost {
  userId: string;
  clientId: string;
  before: ProjectedGrant | undefined;
  after: ProjectedGrant;
  reason: WebhookCancelReason;
}

/** Open deliveries of types whose scope a grant has lost are cancelled. The configuration is read. */
export async function cancelLost(ctx: Context, { userId, clientId, before, after, reason }: Lost): Promise<void> {
  const eventTypes = typesOf(lostScopes(before, after));
  const subscriptionIds = configurationOf(ctx.host)
    .ofClient(clientId)
    .map(one => one.id);
  if (eventTypes.length === 0 || subscriptionIds.length === 0) return;
  await closeOpen(ctx.sql, { subscriptionIds, userId, eventTypes, to: { status: 'cancelled', reason }, now: ctx.now() });
}
