import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { assignRole, revokeRole, upsertRole } from '../commands/role.js';
import { PermissionCheck, Role, RoleAssignment } from '../entities/role.js';
import { User } from '../entities/user.js';
import { AssignRoleInput, RevokeRoleInput, UpsertRoleInput } from '../inputs/role.js';
import { roleOf, userOf } from '../queries/batches.js';
import { permissionCheck } from '../queries/staff-power.js';

const GRANTS = { service: 'admin:identity', staff: 'admin:identity:staff' } as const;

@Resolver(() => RoleAssignment)
export class RoleResolver {
  @Access({ service: 'admin:identity', staff: '*' })
  @Query(() => [Role], { description: 'All roles, by key.' })
  roles(@Ctx() ctx: Context): Promise<Role[]> {
    return ctx.em.find(Role, {}, { orderBy: { key: 'asc' } });
  }

  @Access({ service: 'admin:identity', staff: '*', self: true })
  @Query(() => PermissionCheck, { description: 'Whether somebody may do something on a brand; staff ask about themselves.' })
  permissionCheck(
    @Ctx() ctx: Context,
    @Rule({ maxLength: 200 }) @Arg('permission', () => String) permission: string,
    @Arg('userId', () => ID, { nullable: true }) userId?: string | null,
    @Arg('brandId', () => ID, { nullable: true }) brandId?: string | null,
  ): Promise<PermissionCheck> {
    return permissionCheck(ctx, { permission, userId: userId ?? null, brandId: brandId ?? null });
  }

  @Access(GRANTS)
  @Mutation(() => RoleAssignment, { description: 'Gives somebody a role; what they hold already is answered with 200.' })
  assignRole(@Arg('input', () => AssignRoleInput) input: AssignRoleInput, @Ctx() ctx: Context): Promise<RoleAssignment> {
    return assignRole(ctx, input);
  }

  @Access(GRANTS)
  @Mutation(() => RoleAssignment, { description: 'Takes a role away, at once also out of the tokens that bear it.' })
  revokeRole(@Arg('input', () => RevokeRoleInput) input: RevokeRoleInput, @Ctx() ctx: Context): Promise<RoleAssignment> {
    return revokeRole(ctx, input);
  }

  @Access({ service: 'admin:identity' })
  @Mutation(() => Role, { description: 'Makes or changes a role of this installation.' })
  upsertRole(@Arg('input', () => UpsertRoleInput) input: UpsertRoleInput, @Ctx() ctx: Context): Promise<Role> {
    return upsertRole(ctx, input);
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
