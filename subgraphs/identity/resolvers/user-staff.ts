import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { RoleAssignment, StaffMember, StaffMemberStatus } from '../entities/staff.js';
import { User } from '../entities/user.js';
import { seesAccount } from '../rules/visibility.js';
import { userOf } from '../queries/batches.js';
import { viewerOf } from '../queries/viewer.js';

const WORKING = { $in: [StaffMemberStatus.ACTIVE, StaffMemberStatus.SUSPENDED] };

@Resolver(() => User)
export class UserStaffResolver {
  @Access({ service: 'admin:identity', user: 'read:profile|read:account', staff: 'admin:identity:read' })
  @FieldResolver(() => StaffMember, { nullable: true, description: 'For administrators and the user.' })
  async staff(@Root() user: User, @Ctx() ctx: Context): Promise<StaffMember | null> {
    if (!seesAccount(viewerOf(ctx.caller, user.id))) return null;
    return ctx.load('identity.staff', user.id, async ids =>
      inOrder(ids, await ctx.em.find(StaffMember, { userId: { $in: [...ids] }, status: WORKING }), row => row.userId!),
    );
  }
}

@Resolver(() => StaffMember)
export class StaffFieldResolver {
  @FieldResolver(() => User, { nullable: true, description: 'Null until the invitation is accepted.' })
  user(@Root() staff: StaffMember, @Ctx() ctx: Context): Promise<User | null> | null {
    return staff.userId === null ? null : userOf(ctx, staff.userId);
  }

  @Access({
    service: 'admin:identity',
    user: 'read:profile|read:account',
    staff: 'admin:identity:read|admin:identity:staff',
    internal: true,
  })
  @FieldResolver(() => [RoleAssignment], { description: 'Roles that are held, oldest first.' })
  async roles(@Root() staff: StaffMember, @Ctx() ctx: Context): Promise<RoleAssignment[]> {
    if (staff.userId === null) return [];
    const held = await ctx.load('identity.staff_roles', staff.userId, async ids => {
      const where = { userId: { $in: [...ids] }, revokedAt: null };
      const rows = await ctx.em.find(RoleAssignment, where, { orderBy: { grantedAt: 'asc', id: 'asc' } });
      return ids.map(id => rows.filter(row => row.userId === id));
    });
    return held ?? [];
  }
}
