import { Arg, Args, Ctx, FieldResolver, ID, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { findRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { type Connection, PageArgs } from '../../../runtime/request/paging.js';
import { RoleAssignment } from '../entities/role.js';
import { ResolvedStaff, StaffMember, StaffMemberConnection, TeamMember, TeamMemberConnection } from '../entities/staff.js';
import { User } from '../entities/user.js';
import { ResolveStaffInput, StaffListArgs } from '../inputs/staff.js';
import { assignmentsOf, staffEntryOf, userOf } from '../queries/batches.js';
import { listStaff, resolvedStaff, teamPage } from '../queries/staff.js';
import { viewerOf } from '../queries/viewer.js';
import { seesAccount } from '../rules/visibility.js';

const READS = { service: 'admin:identity', staff: 'admin:identity:read' } as const;

@Resolver(() => StaffMember)
export class StaffResolver {
  @Access(READS)
  @Query(() => StaffMemberConnection, { description: 'Who works here, worked here, or was asked to; newest first.' })
  staff(@Args(() => StaffListArgs) args: StaffListArgs, @Ctx() ctx: Context): Promise<Connection<StaffMember>> {
    return listStaff(ctx, args);
  }

  @Access({ ...READS, internal: true })
  @Query(() => StaffMember, { nullable: true, description: 'An entry of the staff; other services see its id, status and roles.' })
  staffMember(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<StaffMember | null> {
    return findRow(ctx, StaffMember, { id });
  }

  @Access(READS)
  @Query(() => [ResolvedStaff], { description: 'Who stands behind each identity, in order; open entries come before those that are over.' })
  resolveStaff(@Arg('input', () => ResolveStaffInput) { identities }: ResolveStaffInput, @Ctx() ctx: Context): Promise<ResolvedStaff[]> {
    return resolvedStaff(ctx, identities);
  }

  @Access({ service: 'admin:identity', staff: '*' })
  @Query(() => TeamMemberConnection, { description: 'Colleagues who let themselves be seen, newest first.' })
  internalTeam(@Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<TeamMember>> {
    return teamPage(ctx, args);
  }

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
    return staff.userId === null ? [] : assignmentsOf(ctx, staff.userId);
  }
}

@Resolver(() => User)
export class UserStaffResolver {
  @Access({ service: 'admin:identity', user: 'read:profile|read:account', staff: 'admin:identity:read' })
  @FieldResolver(() => StaffMember, { nullable: true, description: 'For administrators and the user.' })
  async staff(@Root() user: User, @Ctx() ctx: Context): Promise<StaffMember | null> {
    return seesAccount(viewerOf(ctx.caller, user)) ? staffEntryOf(ctx, user.id) : null;
  }
}
