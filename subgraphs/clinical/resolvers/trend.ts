import { Args, Ctx, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { BiomarkerTrend } from '../entities/trend.js';
import { BiomarkerTrendArgs } from '../inputs/observation.js';
import { myBiomarkerTrend } from '../queries/observation.js';

@Resolver()
export class TrendResolver {
  @Access({ user: 'read:biomarkers' })
  @Query(() => BiomarkerTrend, { nullable: true, description: 'Own results of a marker over time, with what is more than noise.' })
  myBiomarkerTrend(@Args(() => BiomarkerTrendArgs) args: BiomarkerTrendArgs, @Ctx() ctx: Context): Promise<BiomarkerTrend | null> {
    return myBiomarkerTrend(ctx, args);
  }
}
