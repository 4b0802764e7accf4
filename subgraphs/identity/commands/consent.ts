import { grantChanged } from '../../../events/catalogue/identity.js';
import { FOR_SHARE, FOR_UPDATE } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { OAuthClient, OAuthClientKind, OAuthClientStatus } from '../entities/client.js';
import { OAuthGrant, type OAuthGrantRevokedBy, OAuthGrantStatus } from '../entities/grant.js';
import { authorizationsOf, effectiveScopesOf } from '../queries/grant.js';
import { type ConsentAnswer, mergeConsent } from '../rules/consent.js';
import { noteGrantedScopes } from './scope-use.js';
import { endFamilies, type EndReason, familyRevocations, publishRevocations } from './token-family.js';

export type ChangeReason = 'consented' | 'scopes_changed' | 'user_revoked' | 'admin_revoked' | 'client_removed' | 'expired' | 'user_erased';

/** Publishes the whole new state of a grant; a revoked one, or one that nobody uses any more (`expired`), has no scopes. */
export async function emitChange(ctx: Context, grant: OAuthGrant, reason: ChangeReason): Promise<void> {
  const revoked = grant.status === OAuthGrantStatus.REVOKED || reason === 'expired';
  const { id, clientId, version, userId } = grant;
  const scopes = revoked ? [] : await effectiveScopesOf(ctx, grant);
  ctx.emit(
    grantChanged,
    { grant_id: id, client_id: clientId, status: revoked ? 'revoked' : 'active', scopes, reason, version },
    { userId },
  );
}

async function standingGrant(ctx: Context, userId: string, clientId: string): Promise<OAuthGrant | null> {
  const where = { userId, clientId, status: { $ne: OAuthGrantStatus.REVOKED } };
  return ctx.em.findOne(OAuthGrant, where, FOR_UPDATE); // two answers at once must not lose one
}

function newGrant(ctx: Context, userId: string, clientId: string): OAuthGrant {
  const now = ctx.now();
  const row = { userId, clientId, scopes: [], grantedAt: now, createdAt: now, updatedAt: now };
  const grant = ctx.em.create(OAuthGrant, row, { partial: true });
  ctx.em.persist(grant);
  return grant;
}

/**
 * Records what a user answered on the consent page: one row per (user, app), joined to what stands. Emits identity.grant.changed.v1
 * when something changed. Needs a transaction; until its end the client stays as it is. @throws Problem not_found for a client that has no users.
 */
export async function giveConsent(ctx: Context, userId: string, clientId: string, answer: ConsentAnswer): Promise<OAuthGrant> {
  const client = await ctx.em.findOne(OAuthClient, { id: clientId, status: OAuthClientStatus.ACTIVE }, FOR_SHARE);
  if (!client || client.kind === OAuthClientKind.MACHINE) fail('not_found', `There is no app ${clientId}`);
  await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 19))', [`consent:${userId}:${clientId}`]); // two first answers at once make one row
  const standing = await standingGrant(ctx, userId, clientId);
  const { scopes, declinedScopes, reason } = mergeConsent(standing, answer);
  const renewed = standing?.status === OAuthGrantStatus.STALE;
  if (standing && reason === null && !renewed) return standing;
  const grant = standing ?? newGrant(ctx, userId, clientId);
  const version = standing ? standing.version + 1 : 1;
  Object.assign(grant, { scopes, declinedScopes, version, status: OAuthGrantStatus.ACTIVE, updatedAt: ctx.now() });
  await noteGrantedScopes(ctx, grant);
  ctx.audit('grant.given', grant.id, { client_id: clientId, scopes: scopes.length });
  await emitChange(ctx, grant, reason ?? 'consented');
  return grant;
}

/** A family of a consent went unused: the next authorization asks again, with the stored choices. `last`: no other family lives. Needs a transaction. */
export async function letGoStale(ctx: Context, grant: OAuthGrant, last: boolean): Promise<void> {
  if (grant.status === OAuthGrantStatus.STALE && !last) return;
  Object.assign(grant, { status: OAuthGrantStatus.STALE, version: grant.version + 1, updatedAt: ctx.now() });
  ctx.audit('grant.stale', grant.id, { client_id: grant.clientId });
  if (!last) return; // it goes on delivering, and what is owed of it is told
  grant.announceDueAt = null;
  await emitChange(ctx, grant, 'expired');
}

export interface Revoking {
  by: OAuthGrantRevokedBy;
  reason: ChangeReason;
  families: EndReason;
}

/** Ends a consent and all its token families; the row stays for the record. Needs a transaction; the feed's rows are written last. */
export async function revokeConsent(ctx: Context, grant: OAuthGrant, { by, reason, families }: Revoking): Promise<void> {
  const [now, version] = [ctx.now(), grant.version + 1];
  const status = OAuthGrantStatus.REVOKED;
  Object.assign(grant, { status, revokedAt: now, updatedAt: now, revokedBy: by, version, announceDueAt: null }); // its end says all
  const ended = await endFamilies(ctx, 'grant_id', grant.id, families);
  ctx.audit('grant.revoked', grant.id, { client_id: grant.clientId, families: ended.length });
  await emitChange(ctx, grant, reason);
  await publishRevocations(ctx, familyRevocations(ctx, ended));
}

/** A stale grant delivers as long as a device uses it. */
const isOver = async (ctx: Context, grant: OAuthGrant): Promise<boolean> =>
  grant.status === OAuthGrantStatus.STALE && (await authorizationsOf(ctx, grant.id)) === 0;

/** Publishes what a change of its client made of a grant: its end where the client is gone or no device is left, else what it is worth now. */
export async function tellOwed(ctx: Context, grant: OAuthGrant): Promise<void> {
  grant.announceDueAt = null;
  if (grant.status === OAuthGrantStatus.REVOKED) {
    ctx.audit('grant.revoked', grant.id, { client_id: grant.clientId });
    return emitChange(ctx, grant, 'client_removed');
  }
  Object.assign(grant, { version: grant.version + 1, updatedAt: ctx.now() });
  return emitChange(ctx, grant, (await isOver(ctx, grant)) ? 'expired' : 'scopes_changed');
}
