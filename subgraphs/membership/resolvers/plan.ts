import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { createPlan, turnPlan, updatePlan } from '../commands/plan.js';
import { PLAN_WRITERS, PUBLIC } from '../entities/access.js';
import { MembershipPlan, MembershipPlanConnection, MembershipTier } from '../entities/plan.js';
import {
  AdminPlansArgs,
  CreateMembershipPlanInput,
  MembershipPlanInclude,
  PublicPlansArgs,
  UpdateMembershipPlanInput,
} from '../inputs/plan.js';
import { adminPlans, publicPlan, publicPlans, tiersOf } from '../queries/plan.js';
import { Brand } from '../stubs.js';

@Resolver(() => MembershipPlan)
export class PlanResolver {
  @Access(PUBLIC)
  @Query(() => MembershipPlanConnection, { description: 'Plans that can be bought, oldest first.' })
  membershipPlans(@Args(() => PublicPlansArgs) args: PublicPlansArgs, @Ctx() ctx: Context): Promise<Connection<MembershipPlan>> {
    return publicPlans(ctx, args);
  }

  @Access(PUBLIC)
  @Query(() => MembershipPlan, { nullable: true, description: 'A plan that can be bought.' })
  membershipPlan(
    @Arg('id', () => ID) id: string,
    @Rule({ maxItems: 1 })
    @Arg('include', () => [MembershipPlanInclude], { nullable: true, description: 'For REST; in GraphQL a plan has its prices.' })
    include: MembershipPlanInclude[] | null,
    @Ctx() ctx: Context,
  ): Promise<MembershipPlan | null> {
    return publicPlan(ctx, id, include);
  }

  @Access(PLAN_WRITERS)
  @Query(() => MembershipPlanConnection, { description: 'Plans of every state, newest first.' })
  adminMembershipPlans(@Args(() => AdminPlansArgs) args: AdminPlansArgs, @Ctx() ctx: Context): Promise<Connection<MembershipPlan>> {
    return adminPlans(ctx, args);
  }

  @Access(PLAN_WRITERS)
  @Mutation(() => MembershipPlan, { description: 'Makes a draft.' })
  createMembershipPlan(
    @Arg('input', () => CreateMembershipPlanInput) input: CreateMembershipPlanInput,
    @Ctx() ctx: Context,
  ): Promise<MembershipPlan> {
    return createPlan(ctx, input);
  }

  @Access(PLAN_WRITERS)
  @Mutation(() => MembershipPlan, { description: 'Changes a plan; the tiers of one that was published keep their keys.' })
  updateMembershipPlan(
    @Arg('input', () => UpdateMembershipPlanInput) input: UpdateMembershipPlanInput,
    @Ctx() ctx: Context,
  ): Promise<MembershipPlan> {
    return updatePlan(ctx, input);
  }

  @Access(PLAN_WRITERS)
  @Mutation(() => MembershipPlan, { description: 'Shows a draft to everybody.' })
  publishMembershipPlan(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<MembershipPlan> {
    return turnPlan(ctx, id, 'publish');
  }

  @Access(PLAN_WRITERS)
  @Mutation(() => MembershipPlan, { description: 'Takes no new members; those that it has stay.' })
  retireMembershipPlan(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<MembershipPlan> {
    return turnPlan(ctx, id, 'retire');
  }

  @Access(PUBLIC)
  @FieldResolver(() => Brand)
  brand(@Root() { brandId }: MembershipPlan): Brand {
    return { id: brandId };
  }

  @Access(PUBLIC)
  @FieldResolver(() => [MembershipTier], { description: 'Lowest rank first.' })
  async tiers(@Root() { id }: MembershipPlan, @Ctx() ctx: Context): Promise<MembershipTier[]> {
    return (await ctx.load('membership.tiers', id, ids => tiersOf(ctx, ids)))!;
  }
}

@Resolver(() => MembershipTier)
export class TierResolver {
  @Access(PUBLIC)
  @FieldResolver(() => MembershipPlan)
  async plan(@Root() { planId }: MembershipTier, @Ctx() ctx: Context): Promise<MembershipPlan> {
    return (await loadRow(ctx, MembershipPlan, 'id', planId))!;
  }
}
