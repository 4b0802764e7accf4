import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { OAuthGrant, OAuthGrantRevokedBy, OAuthGrantStatus } from '../entities/grant.js';
import type { WithdrawScopeInput } from '../inputs/grant.js';
import { scopeSet } from '../rules/scopes.js';
import { emitChange, revokeConsent } from './consent.js';
import { noteGrantedScopes } from './scope-use.js';
import { endFamiliesHolding, familyRevocations, publishRevocations } from './token-family.js';

const STANDS = { status: { $ne: OAuthGrantStatus.REVOKED } } as const;

/** @throws Problem forbidden: a third-party app changes its own access only. */
function requireOwnApp({ caller }: Context, clientId: string, detail: string): void {
  if (!caller.firstParty && clientId !== caller.clientId) fail('forbidden', detail);
}

async function disconnect(ctx: Context, grant: OAuthGrant): Promise<OAuthGrant> {
  requireOwnApp(ctx, grant.clientId, 'An app may disconnect itself only');
  await revokeConsent(ctx, grant, { by: OAuthGrantRevokedBy.USER, reason: 'user_revoked', families: 'grant_revoked' });
  return grant;
}

/** Ends one of the caller's consents. A grant of another user is as absent as one that never was. @throws Problem not_found, forbidden. */
export const revokeGrant = async (ctx: Context, id: string): Promise<OAuthGrant> =>
  disconnect(ctx, await lockRow(ctx, OAuthGrant, { id, userId: ctx.caller.userId!, ...STANDS }));

/** The same by the app. @throws Problem not_found, forbidden. */
export const disconnectApp = async (ctx: Context, clientId: string): Promise<OAuthGrant> =>
  disconnect(ctx, await lockRow(ctx, OAuthGrant, { clientId, userId: ctx.caller.userId!, ...STANDS }));

async function narrow(ctx: Context, grant: OAuthGrant, scope: string): Promise<void> {
  const scopes = grant.scopes.filter(one => one !== scope);
  const declinedScopes = scopeSet([...grant.declinedScopes, scope]);
  Object.assign(grant, { scopes, declinedScopes, version: grant.version + 1, updatedAt: ctx.now() });
  await noteGrantedScopes(ctx, grant);
  ctx.audit('grant.scope_withdrawn', grant.id, { client_id: grant.clientId, scope });
  await emitChange(ctx, grant, 'scopes_changed');
}

/**
 * Takes one scope back from an app. The choice is remembered as declined, so the app does not ask again; its devices sign in anew,
 * without the scope. With its last one the app is disconnected. @throws Problem not_found, forbidden.
 */
export async function withdrawScope(ctx: Context, { clientId, scope }: WithdrawScopeInput): Promise<OAuthGrant> {
  const grant = await lockRow(ctx, OAuthGrant, { clientId, userId: ctx.caller.userId!, ...STANDS });
  if (!grant.scopes.includes(scope)) fail('not_found', 'Not found');
  requireOwnApp(ctx, clientId, 'An app may change its own access only');
  if (grant.scopes.length === 1) return disconnect(ctx, grant);
  await narrow(ctx, grant, scope);
  const ended = await endFamiliesHolding(ctx, grant.id, scope);
  await publishRevocations(ctx, familyRevocations(ctx, ended));
  return grant;
}
