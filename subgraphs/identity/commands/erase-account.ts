import { FOR_UPDATE } from '../../../runtime/data/rows.js';
import type { ErasureOutcome, ErasureRequest as ErasureOrder } from '../../../runtime/erasure/erasure.js';
import type { Context } from '../../../runtime/request/context.js';
import { CrmSyncReason } from '../entities/crm-sync.js';
import { OAuthGrant, OAuthGrantRevokedBy, OAuthGrantStatus } from '../entities/grant.js';
import { User, UserStatus } from '../entities/user.js';
import { eraseAvatars } from './avatar.js';
import { revokeConsent, tellOwed } from './consent.js';
import { noteCrmChange } from './crm-change.js';
import { holdHandle } from './handle.js';
import { endFamilies, familyRevocations, publishRevocations, userRevocation } from './token-family.js';

/** Tables that hold nothing but the user's own data, children first. */
const OWN_TABLES = [
  'auth_challenge',
  'sign_in_progress',
  'role_assignment',
  'staff_member',
  'moderation_action',
  'token_family',
  'oauth_grant',
  'auth_session',
  'external_identity',
  'sso_ticket',
  'credential_password',
  'user_address',
  'user_badge',
  'backup_code',
  'mfa_method',
  'user_settings',
  'user_profile',
  'user_email',
];

/** Ends the consents, and says of those that ended with their app what is not told yet, before their rows go: apps and other services hear of it. */
async function endConsents(ctx: Context, userId: string): Promise<void> {
  const where = { userId, $or: [{ status: { $ne: OAuthGrantStatus.REVOKED } }, { announceDueAt: { $ne: null } }] };
  const grants = await ctx.em.find(OAuthGrant, where, { orderBy: { id: 'asc' }, ...FOR_UPDATE });
  for (const grant of grants)
    if (grant.status === OAuthGrantStatus.REVOKED) await tellOwed(ctx, grant);
    else await revokeConsent(ctx, grant, { by: OAuthGrantRevokedBy.SYSTEM, reason: 'user_erased', families: 'user_erased' });
  await ctx.em.flush();
}

/** Invitations to the person's address, and their links; entries that were accepted are the user's own rows. */
const FORGET_INVITATIONS = `
with gone as (delete from identity.staff_member where user_id is null
  and email_key in (select email_key from identity.user_email where user_id = $1) returning id)
delete from identity.auth_challenge where staff_id in (select id from gone union select id from identity.staff_member where user_id = $1)`;

async function deleteOwnRows(ctx: Context, userId: string): Promise<Record<string, number>> {
  const records: Record<string, number> = {};
  await ctx.sql(FORGET_INVITATIONS, [userId]);
  for (const table of OWN_TABLES) {
    const rows = await ctx.sql(`delete from identity.${table} where user_id = $1 returning 1 as gone`, [userId]);
    if (rows.length) records[table] = rows.length;
  }
  return records;
}

const TOMBSTONE = `
update identity."user" set status = 'erased', phone = null, phone_verified_at = null, brand_id = null, last_sign_in_at = null, erased_at = $2, updated_at = $2, version = version + 1
where id = $1`;

async function eraseAccount(ctx: Context, userId: string): Promise<ErasureOutcome> {
  const user = await ctx.em.findOne(User, { id: userId, status: { $ne: UserStatus.ERASED } }, FOR_UPDATE);
  if (!user) return { outcome: 'nothing_held', records: {} };
  const now = ctx.now(); // one instant for the tombstone and for what is counted from it
  await endConsents(ctx, userId);
  const stray = await endFamilies(ctx, 'user_id', userId, 'user_erased');
  await holdHandle(ctx, userId, now);
  const pictures = await eraseAvatars(ctx, userId); // not after the commit: a store that fails must fail the erasure, which is then tried again
  const records = await deleteOwnRows(ctx, userId);
  ctx.em.clear(); // the grants that were loaded are gone
  await ctx.sql(TOMBSTONE, [userId, now.toISOString()]);
  await noteCrmChange(ctx, userId, CrmSyncReason.ERASED);
  await publishRevocations(ctx, [...familyRevocations(ctx, stray), userRevocation(ctx, userId)]);
  return { outcome: 'erased', records: { ...records, ...(pictures && { avatar: 1 }), user: 1 } };
}

const NO_MARKETING = `
update identity.user_settings set marketing_consent = false, marketing_consent_at = null, marketing_consent_source = null, version = version + 1
where user_id = $1 and (marketing_consent or marketing_consent_at is not null) returning 1 as changed`;

async function forgetMarketing(ctx: Context, userId: string): Promise<ErasureOutcome> {
  const rows = await ctx.sql(NO_MARKETING, [userId]);
  if (rows.length === 0) return { outcome: 'nothing_held', records: {} };
  await noteCrmChange(ctx, userId, CrmSyncReason.CONSENT);
  return { outcome: 'erased', records: { user_settings: rows.length } };
}

/**
 * What identity holds of a user. Full: everything but a tombstone (id, status, time) goes, the handle is held back for 90 days, and
 * the address may register again at once. Health: identity holds none. Source: identity 7, rule 11.
 */
export async function eraseHeld(ctx: Context, { userId, scope }: ErasureOrder): Promise<ErasureOutcome> {
  if (scope === 'health') return { outcome: 'nothing_held', records: {} };
  return scope === 'marketing' ? forgetMarketing(ctx, userId) : eraseAccount(ctx, userId);
}
