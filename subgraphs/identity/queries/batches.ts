import type { EntityClass, FilterQuery, FindOptions } from '@mikro-orm/postgresql';
import { isUuid } from '../../../runtime/data/ids.js';
import { loadRow, type TextColumn } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { UserBadge } from '../entities/badge.js';
import { OAuthClientAgreement } from '../entities/client-agreement.js';
import { OAuthClientSecret } from '../entities/client-secret.js';
import { OAuthClient, OAuthClientStatus } from '../entities/client.js';
import { MfaMethod, MfaMethodStatus } from '../entities/mfa.js';
import { Role, RoleAssignment } from '../entities/role.js';
import { UserSettings } from '../entities/settings.js';
import { StaffMember, StaffMemberStatus } from '../entities/staff.js';
import { User, UserEmail, UserProfile } from '../entities/user.js';

/** One row of an account; a malformed id, which other services may send as a reference, has none. */
const ofUser =
  <Row extends { userId: string }>(entity: EntityClass<Row>) =>
  (ctx: Context, userId: string): Promise<Row | null> =>
    isUuid(userId) ? loadRow(ctx, entity, 'userId' as TextColumn<Row>, userId) : Promise.resolve(null);

/** One statement per level: what hangs on an account or a client, batched over a request. */
export const profileOf = ofUser(UserProfile);
export const emailOf = ofUser(UserEmail);
export const settingsOf = ofUser(UserSettings);

export const userOf = (ctx: Context, id: string): Promise<User | null> => loadRow(ctx, User, 'id', id);
export const clientOf = (ctx: Context, id: string): Promise<OAuthClient | null> => loadRow(ctx, OAuthClient, 'id', id);
export const roleOf = (ctx: Context, key: string): Promise<Role | null> => loadRow(ctx, Role, 'key', key);

/** Rows by the key of their owner, in one statement for all owners that a request asks about. */
export async function rowsOf<Row extends object>(
  ctx: Context,
  entity: EntityClass<Row>,
  column: TextColumn<Row>,
  keys: readonly string[],
  { where = {}, ...options }: { where?: FilterQuery<NoInfer<Row>> } & FindOptions<NoInfer<Row>, string, string>,
): Promise<Row[][]> {
  const found = (await ctx.em.find(entity, { ...(where as object), [column]: { $in: [...keys] } } as never, options as never)) as Row[];
  return keys.map(key => found.filter(row => row[column] === key));
}

/** Agreements of a client, ended ones included. */
export async function agreementsOf(ctx: Context, clientId: string): Promise<OAuthClientAgreement[]> {
  const load = (ids: readonly string[]) => rowsOf(ctx, OAuthClientAgreement, 'clientId', ids, { orderBy: { signedAt: 'asc' } });
  return (await ctx.load('identity.agreements', clientId, load)) ?? [];
}

/** Secrets of a client, oldest first. */
export async function secretsOf(ctx: Context, clientId: string): Promise<OAuthClientSecret[]> {
  const load = (ids: readonly string[]) => rowsOf(ctx, OAuthClientSecret, 'clientId', ids, { orderBy: { createdAt: 'asc', id: 'asc' } });
  return (await ctx.load('identity.secrets', clientId, load)) ?? [];
}

/** Apps of a brand that are not deleted, by client_id. */
export async function clientsOfBrand(ctx: Context, brandId: string): Promise<OAuthClient[]> {
  if (!isUuid(brandId)) return [];
  const where = { status: { $ne: OAuthClientStatus.DELETED } };
  const load = (ids: readonly string[]) => rowsOf(ctx, OAuthClient, 'brandId', ids, { where, orderBy: { id: 'asc' } });
  return (await ctx.load('identity.brand-clients', brandId, load)) ?? [];
}

/** Roles that somebody holds, oldest first. */
export async function assignmentsOf(ctx: Context, userId: string): Promise<RoleAssignment[]> {
  const options = { where: { revokedAt: null }, orderBy: { grantedAt: 'asc', id: 'asc' } } as const;
  return (await ctx.load('identity.staff_roles', userId, ids => rowsOf(ctx, RoleAssignment, 'userId', ids, options))) ?? [];
}

/** Badges that have not expired, newest first. */
export async function badgesOf(ctx: Context, userId: string): Promise<UserBadge[]> {
  if (!isUuid(userId)) return [];
  const where = { $or: [{ expiresAt: null }, { expiresAt: { $gt: ctx.now() } }] };
  const options = { where, populate: ['badge'], orderBy: { awardedAt: 'desc', id: 'desc' } } as const;
  return (await ctx.load('identity.badges', userId, ids => rowsOf(ctx, UserBadge, 'userId', ids, options))) ?? [];
}

/** The entry of somebody who works here, suspended or not. */
export const staffEntryOf = (ctx: Context, userId: string): Promise<StaffMember | null> =>
  ctx.load('identity.staff', userId, async ids => {
    const working = { status: { $in: [StaffMemberStatus.ACTIVE, StaffMemberStatus.SUSPENDED] } };
    return (await rowsOf(ctx, StaffMember, 'userId', ids, { where: working })).map(([row]) => row ?? null);
  });

/** Whether a second factor is asked for. */
export const hasSecondFactor = (ctx: Context, userId: string): Promise<boolean | null> =>
  ctx.load('identity.mfa_enabled', userId, async ids => {
    const active = { where: { status: MfaMethodStatus.ACTIVE }, fields: ['userId'] } as const;
    return (await rowsOf(ctx, MfaMethod, 'userId', ids, active)).map(methods => methods.length > 0);
  });
