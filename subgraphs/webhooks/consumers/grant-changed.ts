import { CATALOGUE } from '../../../events/catalogue.js';
import type { grantChanged } from '../../../events/catalogue/identity.js';
import type { Envelope } from '../../../events/envelope.js';
import type { DataOf } from '../../../events/define.js';
import type { Context } from '../../../runtime/context.js';
import { lostScopes, type GrantState } from '../rules/grants.js';
import { configurationOf } from './configuration.js';
import { enterUser, putGrant } from './grants.js';
import { closeOpen } from './lanes.js';

type GrantChanged = Envelope<DataOf<typeof grantChanged>>;

const stateOf = ({ data, occurred_at, seq }: GrantChanged): GrantState => ({
  grantId: data.grant_id,
  version: data.version,
  active: data.status === 'active',
  scopes: data.scopes,
  since: { at: Date.parse(occurred_at), seq },
});

/** Event types that need one of the scopes. */
const typesOf = (scopes: readonly string[]): string[] =>
  [...CATALOGUE.values()].filter(type => type.scope !== null && scopes.includes(type.scope)).map(type => type.name);

/**
 * The projection takes the grant's new state; open deliveries of types whose scope is lost are cancelled. It passes the same
 * ordered partition as the user's events, so an event that committed after a revocation is never delivered. Source: section 5.
 */
export async function applyGrant(ctx: Context, event: GrantChanged): Promise<void> {
  const userId = event.user_id!;
  const { version, erased, grants } = await enterUser(ctx.sql, userId);
  if (erased) return;
  const known = grants.get(event.data.client_id);
  const next = await putGrant(ctx.sql, userId, event.data.client_id, known, stateOf(event));
  if (!next) return;
  const eventTypes = typesOf(lostScopes(known, next));
  await configurationOf(ctx.host).refresh(ctx.sql, version);
  const subscriptionIds = configurationOf(ctx.host)
    .ofClient(event.data.client_id)
    .map(one => one.id);
  if (eventTypes.length === 0 || subscriptionIds.length === 0) return;
  await closeOpen(ctx.sql, { subscriptionIds, userId, eventTypes, to: { status: 'cancelled', reason: 'grant_revoked' }, now: ctx.now() });
}
