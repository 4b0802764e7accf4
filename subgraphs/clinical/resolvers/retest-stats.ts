import { Args, Ctx, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { RetestStats } from '../entities/retest-stats.js';
import { RetestStatsArgs } from '../inputs/retest-cycle.js';
import { retestStats } from '../queries/retest-cycle.js';

@Resolver()
export class RetestStatsResolver {
  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read', user: 'read:clinical' })
  @Query(() => RetestStats, {
    description:
      'Re-test rate, counts and average days. A filtered cell with fewer than 5 closed cycles has no rate and no average; members give no filter.',
  })
  retestStats(@Args(() => RetestStatsArgs) args: RetestStatsArgs, @Ctx() ctx: Context): Promise<RetestStats> {
    return retestStats(ctx, args);
  }
}
