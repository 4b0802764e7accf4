import { Args, Ctx, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { SAFE_VIEW_READERS } from '../entities/access.js';
import { SafeView } from '../entities/safe-view.js';
import { SafeViewsArgs } from '../inputs/lists.js';

@Resolver(() => SafeView)
export class SafeViewResolver {
  @Access(SAFE_VIEW_READERS)
  @Query(() => [SafeView], { description: 'Safe views as of the last daily comparison, by schema and name.' })
  async safeViews(@Args(() => SafeViewsArgs) { schema, drift }: SafeViewsArgs, @Ctx() ctx: Context): Promise<SafeView[]> {
    const rows = await ctx.em.find(SafeView, schema == null ? {} : { schema }, { orderBy: { schema: 'asc', view: 'asc' } });
    return drift == null ? rows : rows.filter(row => row.drift.length > 0 === drift);
  }
}
