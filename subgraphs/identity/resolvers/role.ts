import { LockMode } from '@mikro-orm/postgresql';
import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, type Violation } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { PermissionCheck, type PermissionCheckReason } from '../entities/permission-check.js';
import { Role, RoleAssignment, StaffMemberStatus } from '../entities/staff.js';
import { User, UserStatus } from '../entities/user.js';
import { AssignRoleInput, RevokeRoleInput, UpsertRoleInput } from '../inputs/role.js';
import { isPermissionShaped, PERMISSIONS, satisfies } from '../rules/permissions.js';
import { checkPermission, isExpired, OWNER, type Check } from '../rules/roles.js';
import { roleOf, userOf } from '../queries/batches.js';
import { guardLastOwner, heldRoles, refuseOneself, renewTokens, requirePower, staffOf } from '../commands/staff-power.js';

const invalid = (...errors: Violation[]): never => fail('invalid_request', 'The input is invalid', { errors });

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
  const assignment = ctx.em.create(RoleAssignment, row as never, { partial: true });
  ctx.em.persist(assignment);
  ctx.audit('role.assigned', userId, { role, brand_id: brandId, assignment_id: assignment.id });
  return { assignment, made: true };
}

/** Takes a role away. @throws Problem conflict for the last owner. Needs a transaction. */
export async function takeRole(ctx: Context, assignment: RoleAssignment): Promise<void> {
  if (assignment.roleKey === OWNER) await guardLastOwner(ctx, assignment.userId);
  assignment.revokedAt = ctx.now();
  ctx.audit('role.revoked', assignment.userId, { role: assignment.roleKey, brand_id: assignment.brandId, assignment_id: assignment.id });
}

/** Roles by key. @throws Problem invalid_request at `pointer` for one that does not exist. */
export async function rolesNamed(ctx: Context, keys: readonly string[], pointer: (index: number) => string): Promise<Role[]> {
  const roles = await ctx.em.find(Role, { key: { $in: [...keys] } });
  const unknown = keys.flatMap((key, index) =>
    roles.some(role => role.key === key) ? [] : [{ pointer: pointer(index), message: 'is no role' }],
  );
  if (unknown.length) invalid(...unknown);
  return roles;
}

async function assignable(ctx: Context, input: AssignRoleInput): Promise<void> {
  const errors: Violation[] = [];
  if (input.expiresAt && input.expiresAt <= ctx.now()) errors.push({ pointer: '/input/expiresAt', message: 'must be in the future' });
  if (input.brandId && !isUuid(input.brandId)) errors.push({ pointer: '/input/brandId', message: 'must be a UUID' });
  if (!(await ctx.em.findOne(Role, { key: input.role }))) errors.push({ pointer: '/input/role', message: 'is no role' });
  if (errors.length) invalid(...errors);
  const gone = [UserStatus.ERASING, UserStatus.ERASED];
  const user = isUuid(input.userId) ? await ctx.em.findOne(User, { id: input.userId, status: { $nin: gone } }) : null;
  if (!user) fail('not_found', 'Not found');
}

async function assignmentOf(ctx: Context, input: RevokeRoleInput): Promise<RoleAssignment> {
  const { assignmentId, userId, role, brandId = null } = input;
  const byId = assignmentId != null;
  if (byId ? userId != null || role != null || brandId !== null : userId == null || role == null)
    invalid({ pointer: '/input', message: 'give either assignment_id, or user_id with role' });
  const ids = [byId ? assignmentId : userId!, ...(brandId === null ? [] : [brandId])];
  const where = byId ? { id: assignmentId, revokedAt: null } : { userId: userId!, roleKey: role!, brandId, revokedAt: null };
  const found = ids.every(isUuid) ? await ctx.em.findOne(RoleAssignment, where as never) : null;
  return found ?? fail('not_found', 'Not found');
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

@Resolver(() => RoleAssignment)
export class RoleResolver {
  @Access({ service: 'admin:identity', staff: '*' })
  @Query(() => [Role], { description: 'All roles, by key.' })
  roles(@Ctx() ctx: Context): Promise<Role[]> {
    return ctx.em.find(Role, {}, { orderBy: { key: 'asc' } });
  }

  @Access({ service: 'admin:identity', staff: '*', self: true })
  @Query(() => PermissionCheck, { description: 'Whether somebody may do something on a brand; staff ask about themselves.' })
  async permissionCheck(
    @Ctx() ctx: Context,
    @Rule({ maxLength: 200 }) @Arg('permission', () => String) permission: string,
    @Arg('userId', () => ID, { nullable: true }) userId?: string | null,
    @Arg('brandId', () => ID, { nullable: true }) brandId?: string | null,
  ): Promise<PermissionCheck> {
    const errors: Violation[] = [];
    if (!isPermissionShaped(permission)) errors.push({ pointer: '/permission', message: 'must be admin:<service>[:<area>[:<verb>]]' });
    const id = userId ?? ctx.caller.userId;
    if (id === null) errors.push({ pointer: '/userId', message: 'is required for a service token' });
    if (errors.length) invalid(...errors);
    const status = isUuid(id!) ? ((await staffOf(ctx, id!))?.status ?? null) : null;
    const standing = status === null ? null : status === StaffMemberStatus.ACTIVE ? 'active' : 'suspended';
    const held = standing === null ? [] : await heldRoles(ctx, id!);
    return answerOf(id!, permission, checkPermission(standing, held, { permission, brandId: brandId ?? null }, ctx.now()));
  }

  @Access({ service: 'admin:identity', staff: 'admin:identity:staff' })
  @Mutation(() => RoleAssignment, { description: 'Gives somebody a role; what they hold already is answered with 200.' })
  async assignRole(@Arg('input', () => AssignRoleInput) input: AssignRoleInput, @Ctx() ctx: Context): Promise<RoleAssignment> {
    await assignable(ctx, input);
    refuseOneself(ctx, input.userId);
    requirePower(ctx, (await ctx.em.findOneOrFail(Role, { key: input.role })).permissions);
    const { assignment, made } = await grantRole(ctx, input);
    ctx.status(made ? 201 : 200);
    if (made) await ctx.em.flush().then(() => renewTokens(ctx, [input.userId]));
    return assignment;
  }

  @Access({ service: 'admin:identity', staff: 'admin:identity:staff' })
  @Mutation(() => RoleAssignment, { description: 'Takes a role away, at once also out of the tokens that bear it.' })
  async revokeRole(@Arg('input', () => RevokeRoleInput) input: RevokeRoleInput, @Ctx() ctx: Context): Promise<RoleAssignment> {
    const assignment = await assignmentOf(ctx, input);
    refuseOneself(ctx, assignment.userId);
    await takeRole(ctx, assignment);
    await ctx.em.flush().then(() => renewTokens(ctx, [assignment.userId]));
    return assignment;
  }

  @Access({ service: 'admin:identity' })
  @Mutation(() => Role, { description: 'Makes or changes a role of this installation.' })
  async upsertRole(@Arg('input', () => UpsertRoleInput) input: UpsertRoleInput, @Ctx() ctx: Context): Promise<Role> {
    const unnamed = input.permissions.flatMap((one, index) =>
      PERMISSIONS.has(one) ? [] : [{ pointer: `/input/permissions/${index}`, message: 'is named by no contract' }],
    );
    if (unnamed.length) invalid(...unnamed);
    const standing = await ctx.em.findOne(Role, { key: input.key }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (standing?.builtIn) fail('conflict', 'A built-in role cannot be changed');
    const role = standing ?? ctx.em.create(Role, { ...input } as never, { partial: true });
    const { name, description, permissions } = input;
    Object.assign(role, { name, description, permissions: [...new Set(permissions)].sort() });
    ctx.em.persist(role);
    ctx.audit('role.changed', input.key, { permissions: role.permissions });
    await ctx.em.flush();
    await renewTokens(ctx, await this.#holders(ctx, input.key));
    return role;
  }

  async #holders(ctx: Context, role: string): Promise<string[]> {
    const held = await ctx.em.find(RoleAssignment, { roleKey: role, revokedAt: null });
    return [...new Set(held.map(one => one.userId))];
  }

  @FieldResolver(() => User)
  async user(@Root() assignment: RoleAssignment, @Ctx() ctx: Context): Promise<User> {
    return (await userOf(ctx, assignment.userId)) ?? fail('not_found', 'Not found');
  }

  @FieldResolver(() => Role)
  async role(@Root() assignment: RoleAssignment, @Ctx() ctx: Context): Promise<Role> {
    return (await roleOf(ctx, assignment.roleKey)) ?? fail('not_found', 'Not found');
  }
}
