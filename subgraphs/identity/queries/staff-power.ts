import { isUuid } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { requireValid, type Violation } from '../../../runtime/request/errors.js';
import { type PermissionCheck, type PermissionCheckReason, Role, RoleAssignment } from '../entities/role.js';
import { StaffMember, StaffMemberStatus } from '../entities/staff.js';
import { isPermissionShaped, satisfies } from '../rules/permissions.js';
import { type Check, checkPermission, type HeldRole, type Power, powerOf } from '../rules/roles.js';

export const NO_POWER: Power = { roles: [], permissions: [] };

/** Roles that somebody holds and that were not revoked; expired ones included. */
export async function heldRoles(ctx: Context, userId: string): Promise<HeldRole[]> {
  const held = await ctx.em.find(RoleAssignment, { userId, revokedAt: null }, { orderBy: { grantedAt: 'asc', id: 'asc' } });
  const roles = new Map((await ctx.em.find(Role, { key: { $in: held.map(one => one.roleKey) } })).map(role => [role.key, role]));
  return held.map(({ id, roleKey, brandId, expiresAt }) => ({
    assignmentId: id,
    role: roleKey,
    permissions: roles.get(roleKey)!.permissions,
    brandId,
    expiresAt,
  }));
}

/** The entry of somebody who works here, suspended or not; null for everybody else. */
export const staffOf = (ctx: Context, userId: string): Promise<StaffMember | null> =>
  ctx.em.findOne(StaffMember, { userId, status: { $in: [StaffMemberStatus.ACTIVE, StaffMemberStatus.SUSPENDED] } });

/** What a member of staff may do on a brand now; nothing for somebody who is not active. */
export async function powerHeld(ctx: Context, userId: string, brandId: string | null): Promise<Power> {
  if ((await staffOf(ctx, userId))?.status !== StaffMemberStatus.ACTIVE) return NO_POWER;
  return powerOf(await heldRoles(ctx, userId), brandId, ctx.now());
}

const answerOf = (userId: string, permission: string, { allowed, reason, matched }: Check): PermissionCheck => ({
  userId,
  permission,
  allowed,
  reason: reason as PermissionCheckReason,
  matched: matched && {
    assignmentId: matched.assignmentId,
    role: matched.role,
    permission: matched.permissions.find(held => satisfies(held, permission))!,
  },
});

/** What is asked about somebody's power. */
export interface PermissionQuestion {
  permission: string;
  /** Default: the caller. */
  userId: string | null;
  brandId: string | null;
}

/** Whether somebody may do something on a brand, and why not. @throws Problem invalid_request. */
export async function permissionCheck(ctx: Context, { permission, brandId, userId }: PermissionQuestion): Promise<PermissionCheck> {
  const violations: Violation[] = [];
  if (!isPermissionShaped(permission)) violations.push({ pointer: '/permission', message: 'must be admin:<service>[:<area>[:<verb>]]' });
  const id = userId ?? ctx.caller.userId;
  if (id === null) violations.push({ pointer: '/userId', message: 'is required for a service token' });
  requireValid(violations);
  const status = isUuid(id!) ? ((await staffOf(ctx, id!))?.status ?? null) : null;
  const standing = status === null ? null : status === StaffMemberStatus.ACTIVE ? 'active' : 'suspended';
  const held = standing === null ? [] : await heldRoles(ctx, id!);
  return answerOf(id!, permission, checkPermission(standing, held, { permission, brandId }, ctx.now()));
}

/** Roles by key. @throws Problem invalid_request at `pointer` for one that does not exist. */
export async function rolesNamed(ctx: Context, keys: readonly string[], pointer: (index: number) => string): Promise<Role[]> {
  const roles = await ctx.em.find(Role, { key: { $in: [...keys] } });
  const known = new Set(roles.map(role => role.key));
  requireValid(keys.flatMap((key, index) => (known.has(key) ? [] : [{ pointer: pointer(index), message: 'is no role' }])));
  return roles;
}
