import { Arg, Ctx, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { ContentCard } from '../entities/item.js';
import { LinkPreview } from '../entities/link-preview.js';
import { AutocardInput } from '../inputs/links.js';
import { autocard, autocards, linkPreview, linkPreviews } from '../queries/links.js';

const READ = { service: '*', user: '*', staff: '*' };
const LOOK = { service: 'admin:content', user: 'read:content', staff: 'admin:content:read', internal: ['commerce', 'community'] };

@Resolver()
export class LinkResolver {
  @Access(READ)
  @Query(() => ContentCard, { nullable: true, description: 'The card of what an address or a slug leads to.' })
  autocard(@Arg('input', () => AutocardInput) input: AutocardInput, @Ctx() ctx: Context): Promise<ContentCard | null> {
    return autocard(ctx, input);
  }

  @Access(READ)
  @Query(() => [ContentCard], { nullable: 'items', description: 'Cards of up to 50 addresses of storefronts, null where there is none.' })
  autocards(
    @Rule({ minItems: 1, maxItems: 50, maxLength: 2048 }) @Arg('urls', () => [String]) urls: string[],
    @Ctx() ctx: Context,
  ): Promise<(ContentCard | null)[]> {
    return autocards(ctx, urls);
  }

  @Access(LOOK)
  @Query(() => LinkPreview, { nullable: true, description: 'What an outside page says of itself; 30 times a minute and caller.' })
  linkPreview(@Rule({ maxLength: 2048 }) @Arg('url', () => String) url: string, @Ctx() ctx: Context): Promise<LinkPreview | null> {
    return linkPreview(ctx, url);
  }

  @Access(LOOK)
  @Query(() => [LinkPreview], { nullable: 'items', description: 'Of up to ten pages, null for those that may not be looked at.' })
  linkPreviews(
    @Rule({ minItems: 1, maxItems: 10, maxLength: 2048 }) @Arg('urls', () => [String]) urls: string[],
    @Ctx() ctx: Context,
  ): Promise<(LinkPreview | null)[]> {
    return linkPreviews(ctx, urls);
  }
}
