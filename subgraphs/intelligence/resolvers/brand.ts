import { Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { page, PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { RankingPolicy, RankingPolicyConnection } from '../entities/policy.js';
import { READERS } from '../entities/enums.js';
import { Brand } from '../stubs.js';

@Resolver(() => Brand)
export class BrandPoliciesResolver {
  @Access(READERS)
  @FieldResolver(() => RankingPolicyConnection, { nullable: true, description: "A brand's own policies, newest first; for services only." })
  rankingPolicies(@Root() { id }: Brand, @Args(() => PageArgs) paging: PageArgs, @Ctx() ctx: Context): Promise<Connection<RankingPolicy>> {
    return page<RankingPolicy>(ctx.em, RankingPolicy, { brandId: id.toLowerCase() }, paging, { time: 'createdAt' });
  }
}
