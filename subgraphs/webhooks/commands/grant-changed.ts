import type { grantChanged } from '../../../events/catalogue/identity.js';
import type { Envelope } from '../../../events/envelope.js';
import type { DataOf } from '../../../events/define.js';
import type { Context } from '../../../runtime/request/context.js';
import type { ServiceHost } from '../../../runtime/host.js';
import { loggedError } from '../../../runtime/observe/log.js';
import type { GrantState } from '../rules/grants.js';
import { configurationOf } from './configuration.js';
import { enterUser, putGrant } from './grants.js';
import { checkClient } from '../timers/identity-sweep.js';
import { cancelLost } from './lost-grants.js';

type GrantChanged = Envelope<DataOf<typeof grantChanged>>;

const stateOf = ({ data, occurred_at, seq }: GrantChanged): GrantState => ({
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
  const { version, erased, grants } = await enterUser(ctx.sql, userId);
  if (erased) return;
  const known = grants.get(event.data.client_id);
  const next = await putGrant(ctx.sql, userId, event.data.client_id, known, stateOf(event));
  if (!next) return;
  await configurationOf(ctx.host).refresh(ctx.sql, version);
  const removed = event.data.reason === 'client_removed';
  await cancelLost(ctx, {
    userId,
    clientId: event.data.client_id,
    before: known,
    after: next,
    reason: removed ? 'client_removed' : 'grant_revoked',
  });
  if (removed) ctx.afterCommit(() => checkSoon(ctx.host, event.data.client_id));
}

/** A hint: the hourly sweep asks all the same. */
function checkSoon(host: ServiceHost, clientId: string): void {
  checkClient(host, clientId).catch(error =>
    host.log.warn({ err: loggedError(error) }, 'a removed client could not be looked at; the sweep will'),
  );
}
