import { CATALOGUE } from '../../../events/catalogue.js';
import type { grantChanged } from '../../../events/catalogue/identity.js';
import type { DataOf } from '../../../events/define.js';
import type { Envelope } from '../../../events/envelope.js';
import type { ServiceHost, Context } from '../../../runtime/request/context.js';
import { loggedError } from '../../../runtime/observe/log.js';
import type { WebhookCancelReason } from '../entities/enums.js';
import type { AskedGrant } from '../ports/grant-source.js';
import { lostScopes, reconciled, type GrantState, type ProjectedGrant } from '../rules/grants.js';
import { checkClient } from './clients.js';
import { configurationOf } from './configuration.js';
import { enteredOf, enterUser, putGrant, stateOf, writeGrant, type Grants } from './grants.js';
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
async function cancelLost(ctx: Context, { userId, clientId, before, after, reason }: Lost): Promise<void> {
  const eventTypes = typesOf(lostScopes(before, after));
  const subscriptionIds = configurationOf(ctx.host)
    .ofClient(clientId)
    .map(one => one.id);
  if (eventTypes.length === 0 || subscriptionIds.length === 0) return;
  await closeOpen(ctx.sql, { subscriptionIds, userId, eventTypes, to: { status: 'cancelled', reason }, now: ctx.now() });
}

type GrantChanged = Envelope<DataOf<typeof grantChanged>>;

const changedState = ({ data, occurred_at, seq }: GrantChanged): GrantState => ({
  grantId: data.grant_id,
  version: data.version,
  active: data.status === 'active',
  scopes: data.scopes,
  since: { at: Date.parse(occurred_at), seq },
});

/**
 * The projection takes the grant's new state; open deliveries of types whose scope is lost are cancelled. It passes the same
 * ordered partition as the user's events, so an event that committed after a revocation is never delivered. Source: section 5.
 */
export async function applyGrant(ctx: Context, event: GrantChanged): Promise<void> {
  const userId = event.user_id!;
  const { client_id: clientId, reason } = event.data;
  const { version, erased, grants } = await enteredOf(ctx, userId);
  if (erased) return;
  const before = grants.get(clientId);
  const after = await putGrant(ctx.sql, userId, clientId, before, changedState(event));
  if (!after) return;
  await configurationOf(ctx.host).refresh(ctx.sql, version);
  const removed = reason === 'client_removed';
  await cancelLost(ctx, { userId, clientId, before, after, reason: removed ? 'client_removed' : 'grant_revoked' });
  if (removed) ctx.afterCommit(() => checkSoon(ctx.host, clientId));
}

/** A hint: the hourly sweep asks all the same. */
function checkSoon(host: ServiceHost, clientId: string): void {
  checkClient(host, clientId).catch(error =>
    host.log.warn({ err: loggedError(error) }, 'a removed client could not be looked at; the sweep will'),
  );
}

/** The state of a client's grant that is in force by identity's answer; null for none. */
function inForce(asked: readonly AskedGrant[], clientId: string): GrantState | null {
  const grant = asked.find(one => one.clientId === clientId);
  return grant ? stateOf(grant) : null;
}

/** A user's projected grants become what identity answered, unless an event has changed them since they were read. */
export async function reconcileGrants(host: ServiceHost, userId: string, seen: Grants, asked: readonly AskedGrant[]): Promise<void> {
  const differing = [...seen].filter(([clientId, known]) => reconciled(known, inForce(asked, clientId), 0) !== null);
  if (differing.length === 0) return;
  await host.transaction(async ctx => {
    const { version, erased, grants } = await enterUser(ctx.sql, userId);
    if (erased) return;
    await configurationOf(host).refresh(ctx.sql, version);
    for (const [clientId, seenGrant] of differing) {
      const before = grants.get(clientId);
      const isSame = before?.grantId === seenGrant.grantId && before.version === seenGrant.version;
      const after = isSame ? reconciled(before, inForce(asked, clientId), ctx.now().getTime()) : null;
      if (!after) continue;
      await writeGrant(ctx.sql, userId, clientId, after);
      await cancelLost(ctx, { userId, clientId, before, after, reason: 'grant_revoked' });
    }
  });
}
