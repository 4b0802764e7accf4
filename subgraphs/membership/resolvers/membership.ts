import { Arg, Args, Ctx, FieldResolver, ID, Int, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { ADMIN_READERS, MEMBERSHIPS, READERS, SERVICES } from '../entities/access.js';
import { Membership, MembershipConnection, MembershipPeriod, MembershipPeriodConnection } from '../entities/membership.js';
import { MembershipPlan, MembershipTier } from '../entities/plan.js';
import { WinBack } from '../entities/rewards.js';
import { MembershipStats } from '../entities/stats.js';
import { MembershipsArgs } from '../inputs/membership.js';
import { currentOf, membershipsPage, ownMembership, periodsAt, periodsPage, visibleMembership } from '../queries/membership.js';
import { winBacksOf } from '../queries/rewards.js';
import { statsOf } from '../queries/stats.js';
import { tenureDaysOf } from '../rules/timeline.js';
import { User } from '../stubs.js';

@Resolver(() => Membership)
export class MembershipResolver {
  @Access({ user: READERS.user })
  @Query(() => Membership, { description: "One's own, the newest; a 404 for whoever was never a member." })
  myMembership(
    @Rule({ pattern: UUID })
    @Arg('brandId', () => ID, { nullable: true, description: "Default: the token's, or the only one that one is a member of." })
    brandId: string | null,
    @Ctx() ctx: Context,
  ): Promise<Membership> {
    return ownMembership(ctx, brandId, '/brandId');
  }

  @Access(SERVICES)
  @Query(() => MembershipConnection, { description: 'Memberships of anybody, newest first.' })
  memberships(@Args(() => MembershipsArgs) args: MembershipsArgs, @Ctx() ctx: Context): Promise<Connection<Membership>> {
    return membershipsPage(ctx, args);
  }

  @Access(SERVICES)
  @Query(() => [Membership], { description: 'The newest membership of some users in each brand, for those who decide by it.' })
  currentMemberships(
    @Rule({ minItems: 1, maxItems: 100, pattern: UUID }) @Arg('userIds', () => [ID]) userIds: string[],
    @Ctx() ctx: Context,
  ): Promise<Membership[]> {
    return currentOf(ctx, userIds);
  }

  @Access(READERS)
  @Query(() => Membership, { nullable: true })
  membership(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<Membership | null> {
    return visibleMembership(ctx, id);
  }

  @Access(ADMIN_READERS)
  @Query(() => [MembershipPeriod], { description: 'What a user was a member of at an instant, one for each brand.' })
  membershipAt(
    @Rule({ pattern: UUID }) @Arg('userId', () => ID) userId: string,
    @Arg('at', () => DateTime) at: Date,
    @Ctx() ctx: Context,
  ): Promise<MembershipPeriod[]> {
    return periodsAt(ctx, userId, at);
  }

  @Access(ADMIN_READERS)
  @Query(() => MembershipStats, { description: 'Figures of a time.' })
  membershipStats(
    @Arg('from', () => DateTime, { nullable: true, description: 'Default: 30 days before the end.' }) from: Date | null,
    @Arg('to', () => DateTime, { nullable: true, description: 'Default: now.' }) to: Date | null,
    @Rule({ pattern: UUID }) @Arg('planId', () => ID, { nullable: true }) planId: string | null,
    @Ctx() ctx: Context,
  ): Promise<MembershipStats> {
    return statsOf(ctx, from, to, planId);
  }

  @Access(MEMBERSHIPS)
  @FieldResolver(() => User)
  user(@Root() { userId }: Membership): User {
    return { id: userId };
  }

  @Access(MEMBERSHIPS)
  @FieldResolver(() => MembershipPlan)
  async plan(@Root() { planId }: Membership, @Ctx() ctx: Context): Promise<MembershipPlan> {
    return (await loadRow(ctx, MembershipPlan, 'id', planId))!;
  }

  @Access(MEMBERSHIPS)
  @FieldResolver(() => MembershipTier)
  async tier(@Root() { tierId }: Membership, @Ctx() ctx: Context): Promise<MembershipTier> {
    return (await loadRow(ctx, MembershipTier, 'id', tierId))!;
  }

  @Access(MEMBERSHIPS)
  @FieldResolver(() => Int, { description: 'Days as an active member, over all memberships of the brand.' })
  tenureDays(@Root() { tenureMs, activeSince }: Membership, @Ctx() ctx: Context): number {
    return tenureDaysOf(tenureMs, activeSince, ctx.now());
  }

  @Access(MEMBERSHIPS)
  @FieldResolver(() => WinBack, { nullable: true, description: 'The campaign for the member who has left.' })
  winBack(@Root() { id }: Membership, @Ctx() ctx: Context): Promise<WinBack | null> {
    return ctx.load('membership.win-back', id, ids => winBacksOf(ctx, ids));
  }

  @Access(READERS)
  @FieldResolver(() => MembershipPeriodConnection, { description: 'What it was, newest first.' })
  periods(@Root() { id }: Membership, @Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<MembershipPeriod>> {
    return periodsPage(ctx, id, args);
  }
}

@Resolver(() => MembershipPeriod)
export class PeriodResolver {
  @Access(READERS)
  @FieldResolver(() => MembershipTier)
  async tier(@Root() { tierId }: MembershipPeriod, @Ctx() ctx: Context): Promise<MembershipTier> {
    return (await loadRow(ctx, MembershipTier, 'id', tierId))!;
  }

  @Access(READERS)
  @FieldResolver(() => Membership)
  async membership(@Root() { membershipId }: MembershipPeriod, @Ctx() ctx: Context): Promise<Membership> {
    return (await loadRow(ctx, Membership, 'id', membershipId))!;
  }
}
