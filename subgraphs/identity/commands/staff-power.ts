import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { move } from '../../../runtime/request/states.js';
import { RoleAssignment } from '../entities/role.js';
import { type StaffMember, StaffMemberStatus } from '../entities/staff.js';
import { heldRoles, NO_POWER, staffOf } from '../queries/staff-power.js';
import { beyond } from '../rules/permissions.js';
import { mayBearPower, OWNER, type Power, powerOf } from '../rules/roles.js';
import { STAFF } from '../rules/staff.js';
import { publishRevocations, userRevocation } from './token-family.js';

/** To the minute; no version, because nobody edits it. */
const TOUCH = `update identity.staff_member set last_active_at = $2
where user_id = $1 and status = 'active' and (last_active_at is null or last_active_at < $2::timestamptz - interval '1 minute')`;

/** A sign-in through an app, as far as staff power depends on it. */
export interface StaffSignIn {
  userId: string;
  client: { staffAccess: boolean; brandId: string | null };
  amr: readonly string[];
  authTime: Date;
}

/**
 * `roles` and `permissions` for a user token that is issued or refreshed now; empty unless all conditions of identity A8 hold. An
 * app that a staff member merely connects asks no statement.
 */
export async function staffPower(ctx: Context, { userId, client, amr, authTime }: StaffSignIn): Promise<Power> {
  const now = ctx.now();
  const could = { staffActive: true, staffAccess: client.staffAccess, amr, authTime };
  if (!mayBearPower(could, now)) return NO_POWER;
  const staffActive = (await staffOf(ctx, userId))?.status === StaffMemberStatus.ACTIVE;
  if (!staffActive) return NO_POWER;
  await ctx.sql(TOUCH, [userId, now.toISOString()]);
  return powerOf(await heldRoles(ctx, userId), client.brandId, now);
}

/** Nobody hands on what they do not hold; a service with `admin:identity` may. @throws Problem forbidden naming what is beyond. */
export function requirePower({ caller }: Context, permissions: readonly string[]): void {
  if (caller.kind !== 'user') return;
  const over = beyond(caller.permissions, permissions);
  if (over.length) fail('forbidden', `You do not hold ${over.join(', ')}`);
}

/** @throws Problem forbidden when staff act on themselves. */
export function refuseOneself({ caller }: Context, userId: string | null): void {
  if (userId !== null && caller.userId === userId) fail('forbidden', 'Nobody may do this to themselves');
}

/** Keeps others from taking away an owner at the same time; before any row of theirs is locked. */
const LOCK_OWNERS = "select key from identity.role where key = 'owner' for no key update";

const OTHER_OWNERS = `
select 1 as found from identity.role_assignment a
join identity.staff_member s on s.user_id = a.user_id and s.status = 'active'
join identity."user" u on u.id = a.user_id and u.status = 'active'
where a.role = '${OWNER}' and a.brand_id is null and a.revoked_at is null and (a.expires_at is null or a.expires_at > $2) and a.user_id <> $1 limit 1`;

/** Whether somebody is an owner now: active staff with the role on all brands. */
async function isOwner(ctx: Context, userId: string): Promise<boolean> {
  if ((await staffOf(ctx, userId))?.status !== StaffMemberStatus.ACTIVE) return false;
  return (await heldRoles(ctx, userId)).some(
    one => one.role === OWNER && one.brandId === null && (one.expiresAt === null || one.expiresAt > ctx.now()),
  );
}

/** Before somebody loses the role, the job or the account. Needs a transaction. @throws Problem conflict for the last active owner. */
export async function guardLastOwner(ctx: Context, userId: string): Promise<void> {
  await ctx.sql(LOCK_OWNERS);
  if (!(await isOwner(ctx, userId))) return;
  const [other] = await ctx.sql(OTHER_OWNERS, [userId, ctx.now().toISOString()]);
  if (!other) fail('conflict', 'This is the last active owner', { reason: 'last_owner' });
}

/** Ends somebody's work here: the entry is final, the roles are gone. Needs a transaction. Their tokens end with `renewTokens`. */
export async function dismiss(ctx: Context, staff: StaffMember): Promise<void> {
  staff.status = move(STAFF, 'staff member', staff.status, 'remove');
  const roles = await ctx.em.find(RoleAssignment, { userId: staff.userId!, revokedAt: null });
  for (const role of roles) role.revokedAt = ctx.now();
  ctx.audit('staff.removed', staff.id, { roles: roles.map(role => role.roleKey) });
  await ctx.em.flush();
}

/** What somebody may do has changed: their access tokens end, the next refresh carries the new set. Call it last. */
export const renewTokens = (ctx: Context, userIds: readonly string[]): Promise<void> =>
  publishRevocations(
    ctx,
    userIds.map(userId => userRevocation(ctx, userId)),
  );
