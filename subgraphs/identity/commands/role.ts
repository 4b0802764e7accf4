import { isUuid } from '../../../runtime/data/ids.js';
import { FOR_UPDATE, requireRow } from '../../../runtime/data/rows.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid, requireValid, type Violation } from '../../../runtime/request/errors.js';
import { Role, RoleAssignment } from '../entities/role.js';
import { User, UserStatus } from '../entities/user.js';
import type { AssignRoleInput, RevokeRoleInput, UpsertRoleInput } from '../inputs/role.js';
import { PERMISSIONS } from '../rules/permissions.js';
import { isExpired, OWNER } from '../rules/roles.js';
import { guardLastOwner, refuseOneself, renewTokens, requirePower } from './staff-power.js';

export interface Granting {
  userId: string;
  role: string;
  brandId?: string | null;
  expiresAt?: Date | null;
  reason?: string | null;
  /** Who gives it, as `actorOf`; the caller when not given. */
  grantedBy?: string;
}

/** The assignment of a role, and whether it is new; one that has run out makes room for it. Needs a transaction. */
export async function grantRole(
  ctx: Context,
  { userId, role, brandId = null, expiresAt = null, reason = null, grantedBy = actorOf(ctx.caller) }: Granting,
): Promise<{ assignment: RoleAssignment; made: boolean }> {
  await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 23))', [`role:${userId}:${role}`]); // two at once make one row
  const standing = await ctx.em.findOne(RoleAssignment, { userId, roleKey: role, brandId, revokedAt: null });
  if (standing && !isExpired(standing, ctx.now())) return { assignment: standing, made: false };
  if (standing) {
    standing.revokedAt = standing.expiresAt;
    await ctx.em.flush(); // frees the unique key
  }
  const row = { userId, roleKey: role, brandId, expiresAt, reason, grantedBy, grantedAt: ctx.now() };
  const assignment = ctx.em.create(RoleAssignment, row, { partial: true });
  ctx.em.persist(assignment);
  ctx.audit('role.assigned', userId, { role, brand_id: brandId, assignment_id: assignment.id });
  return { assignment, made: true };
}

async function requireAssignable(ctx: Context, input: AssignRoleInput): Promise<void> {
  const violations: Violation[] = [];
  if (input.expiresAt && input.expiresAt <= ctx.now()) violations.push({ pointer: '/input/expiresAt', message: 'must be in the future' });
  if (input.brandId && !isUuid(input.brandId)) violations.push({ pointer: '/input/brandId', message: 'must be a UUID' });
  if (!(await ctx.em.findOne(Role, { key: input.role }))) violations.push({ pointer: '/input/role', message: 'is no role' });
  requireValid(violations);
  await requireRow(ctx, User, { id: input.userId, status: { $nin: [UserStatus.ERASING, UserStatus.ERASED] } });
}

/** Gives somebody a role; what they hold already is answered with 200. @throws Problem invalid_request, not_found, forbidden. */
export async function assignRole(ctx: Context, input: AssignRoleInput): Promise<RoleAssignment> {
  await requireAssignable(ctx, input);
  refuseOneself(ctx, input.userId);
  requirePower(ctx, (await ctx.em.findOneOrFail(Role, { key: input.role })).permissions);
  const { assignment, made } = await grantRole(ctx, input);
  ctx.status(made ? 201 : 200);
  if (!made) return assignment;
  await ctx.em.flush();
  await renewTokens(ctx, [input.userId]);
  return assignment;
}

async function assignmentOf(ctx: Context, input: RevokeRoleInput): Promise<RoleAssignment> {
  const { assignmentId, userId, role, brandId = null } = input;
  const byId = assignmentId != null;
  if (byId ? userId != null || role != null || brandId !== null : userId == null || role == null)
    invalid('/input', 'give either assignment_id, or user_id with role');
  if (byId) return requireRow(ctx, RoleAssignment, { id: assignmentId, revokedAt: null });
  if (!isUuid(userId!)) fail('not_found', 'Not found');
  return requireRow(ctx, RoleAssignment, { userId: userId!, roleKey: role!, brandId, revokedAt: null });
}

/** Takes a role away, at once also out of the tokens that bear it. @throws Problem invalid_request, not_found, forbidden, conflict. */
export async function revokeRole(ctx: Context, input: RevokeRoleInput): Promise<RoleAssignment> {
  const assignment = await assignmentOf(ctx, input);
  const { id, userId, roleKey: role, brandId } = assignment;
  refuseOneself(ctx, userId);
  if (role === OWNER) await guardLastOwner(ctx, userId);
  assignment.revokedAt = ctx.now();
  ctx.audit('role.revoked', userId, { role, brand_id: brandId, assignment_id: id });
  await ctx.em.flush();
  await renewTokens(ctx, [userId]);
  return assignment;
}

function requireNamed(permissions: readonly string[]): void {
  const unnamed = permissions.flatMap((one, index) =>
    PERMISSIONS.has(one) ? [] : [{ pointer: `/input/permissions/${index}`, message: 'is named by no contract' }],
  );
  requireValid(unnamed);
}

async function holdersOf(ctx: Context, role: string): Promise<string[]> {
  const held = await ctx.em.find(RoleAssignment, { roleKey: role, revokedAt: null });
  return [...new Set(held.map(one => one.userId))];
}

/** Makes or changes a role of this installation. @throws Problem invalid_request, conflict for a built-in one. */
export async function upsertRole(ctx: Context, { key, name, description, permissions }: UpsertRoleInput): Promise<Role> {
  requireNamed(permissions);
  const standing = await ctx.em.findOne(Role, { key }, FOR_UPDATE);
  if (standing?.builtIn) fail('conflict', 'A built-in role cannot be changed');
  const role = standing ?? ctx.em.create(Role, { key, name, description, permissions }, { partial: true });
  Object.assign(role, { name, description, permissions: [...new Set(permissions)].sort() });
  ctx.em.persist(role);
  ctx.audit('role.changed', key, { permissions: role.permissions });
  await ctx.em.flush();
  await renewTokens(ctx, await holdersOf(ctx, key));
  return role;
}
