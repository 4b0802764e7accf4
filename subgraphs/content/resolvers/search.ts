import { Arg, Args, Ctx, Int, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { Locale } from '../../../runtime/schema/scalars.js';
import { ContentSearchResult } from '../entities/search.js';
import { SearchContentInput } from '../inputs/search.js';
import { searchContent, suggestions } from '../queries/search.js';
import { viewOf } from '../queries/view.js';

const READ = { service: '*', user: '*', staff: '*' };

@Resolver()
export class SearchResolver {
  @Access(READ)
  @Query(() => ContentSearchResult, { description: 'Searches what the caller may read.' })
  async searchContent(
    @Arg('input', () => SearchContentInput) input: SearchContentInput,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() ctx: Context,
  ): Promise<ContentSearchResult> {
    return searchContent(ctx, await viewOf(ctx, input, 'NONE'), input, args);
  }

  @Access(READ)
  @Query(() => [String], { description: 'Titles that begin as what was typed.' })
  async searchSuggest(
    @Rule({ maxLength: 64 }) @Arg('prefix', () => String) prefix: string,
    @Rule({ min: 1, max: 10 }) @Arg('limit', () => Int, { defaultValue: 5 }) limit: number,
    @Arg('locale', () => Locale, { nullable: true }) locale: string | null,
    @Ctx() ctx: Context,
  ): Promise<string[]> {
    return suggestions(ctx, await viewOf(ctx, { locale }, 'NONE'), prefix, limit);
  }
}
