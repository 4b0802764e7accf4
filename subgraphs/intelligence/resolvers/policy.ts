import { Arg, Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { page, PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { createPolicy, updatePolicy } from '../commands/policy.js';
import { GOVERNORS, READERS } from '../entities/access.js';
import { RankingPolicy, RankingPolicyConnection } from '../entities/policy.js';
import { CreateRankingPolicyInput, RankingPoliciesArgs, UpdateRankingPolicyInput } from '../inputs/policy.js';
import { given } from '../rules/values.js';
import { Brand } from '../stubs.js';

@Resolver(() => RankingPolicy)
export class PolicyResolver {
  @Access(READERS)
  @Query(() => RankingPolicyConnection, { description: 'Ranking policies, newest first.' })
  rankingPolicies(
    @Args(() => RankingPoliciesArgs) { policyKind, policyKey, ...paging }: RankingPoliciesArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<RankingPolicy>> {
    return page(ctx.em, RankingPolicy, given({ policyKind, policyKey }), paging, { time: 'createdAt' });
  }

  @Access(GOVERNORS)
  @Mutation(() => RankingPolicy, { description: 'Makes a policy; its version 1, which is empty, is the champion.' })
  createRankingPolicy(
    @Arg('input', () => CreateRankingPolicyInput) input: CreateRankingPolicyInput,
    @Ctx() ctx: Context,
  ): Promise<RankingPolicy> {
    return createPolicy(ctx, input);
  }

  @Access(GOVERNORS)
  @Mutation(() => RankingPolicy, { description: 'Changes a policy. The reward map is fixed once a decision exists.' })
  updateRankingPolicy(
    @Arg('input', () => UpdateRankingPolicyInput) input: UpdateRankingPolicyInput,
    @Ctx() ctx: Context,
  ): Promise<RankingPolicy> {
    return updatePolicy(ctx, input);
  }
}

@Resolver(() => Brand)
export class BrandPoliciesResolver {
  @Access(READERS)
  @FieldResolver(() => RankingPolicyConnection, { nullable: true, description: "A brand's own policies, newest first; for services only." })
  rankingPolicies(@Root() { id }: Brand, @Args(() => PageArgs) paging: PageArgs, @Ctx() ctx: Context): Promise<Connection<RankingPolicy>> {
    return page(ctx.em, RankingPolicy, { brandId: id.toLowerCase() }, paging, { time: 'createdAt' });
  }
}
