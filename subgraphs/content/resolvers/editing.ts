import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { Locale } from '../../../runtime/schema/scalars.js';
import {
  addComment,
  archiveItem,
  createPreview,
  deleteItem,
  publishItem,
  resolveComment,
  restoreItem,
  restoreRevision,
  setSynonyms,
  unpublishItem,
  type Removed,
} from '../commands/lifecycle.js';
import { addToRelease, cancelRelease, createRelease, publishRelease, releaseOf, scheduleRelease } from '../commands/release.js';
import { ContentItem } from '../entities/item.js';
import {
  ContentComment,
  ContentDifference,
  ContentHealth,
  ContentPreview,
  ContentRemoval,
  ContentRevision,
  ContentRevisionConnection,
  ContentSitemapConnection,
  ContentSitemapEntry,
  ContentSynonym,
} from '../entities/editing.js';
import { ContentRelease, ContentReleaseItem } from '../entities/release.js';
import {
  AddContentCommentInput,
  AddToContentReleaseInput,
  ContentDiffArgs,
  CreateContentPreviewInput,
  CreateContentReleaseInput,
  PublishContentInput,
  RestoreContentRevisionInput,
  ScheduleContentReleaseInput,
  SetContentSynonymsInput,
  UnpublishContentInput,
} from '../inputs/editing.js';
import { preparedBrands } from '../ports/brands.js';
import { commentById, commentsOf, contentHealth, releaseItemsOf, revisionsPage, sitemapPage, synonymsOf } from '../queries/editing.js';
import { draftOf, requireItem, type ItemState } from '../queries/editors.js';
import type { Item } from '../queries/present.js';
import { viewFor, viewOf } from '../queries/view.js';
import { differences } from '../rules/differences.js';

const READ = { service: 'admin:content', staff: 'admin:content:read' };
const WRITE = { service: 'admin:content', staff: 'admin:content:write' };
const PUBLISH = { service: 'admin:content', staff: 'admin:content:publish' };

const shown = (ctx: Context, state: ItemState): Item => draftOf(state, viewFor(ctx, preparedBrands.of(ctx), { locale: state.base_locale }));
const removal = (ctx: Context, id: string, { state, warnings }: Removed): ContentRemoval => ({
  id,
  item: state && shown(ctx, state),
  warnings,
});

@Resolver(() => ContentRevision)
export class ContentEditingResolver {
  @Access(PUBLISH)
  @Prepare(preparedBrands)
  @Mutation(() => ContentItem, { description: 'Publishes a revision in some locales.' })
  async publishContent(
    @Arg('input', () => PublishContentInput) { id, ...options }: PublishContentInput,
    @Ctx() ctx: Context,
  ): Promise<Item> {
    return shown(ctx, await publishItem(ctx, id, options));
  }

  @Access(PUBLISH)
  @Prepare(preparedBrands)
  @Mutation(() => ContentRemoval, { description: 'Takes locales, or all, out of what is delivered.' })
  async unpublishContent(
    @Arg('input', () => UnpublishContentInput) { id, locales }: UnpublishContentInput,
    @Ctx() ctx: Context,
  ): Promise<ContentRemoval> {
    return removal(ctx, id, await unpublishItem(ctx, id, locales ?? null));
  }

  @Access(PUBLISH)
  @Prepare(preparedBrands)
  @Mutation(() => ContentRemoval, { description: 'Puts an item away; its slugs stay its own.' })
  async archiveContent(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<ContentRemoval> {
    return removal(ctx, id, await archiveItem(ctx, id));
  }

  @Access(PUBLISH)
  @Prepare(preparedBrands)
  @Mutation(() => ContentItem, { description: 'Brings an archived item back as a draft.' })
  async restoreContent(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<Item> {
    return shown(ctx, await restoreItem(ctx, id));
  }

  @Access(PUBLISH)
  @Prepare(preparedBrands)
  @Mutation(() => ContentRemoval, { description: 'Deletes a draft or archived item to which nothing published refers.' })
  async deleteContent(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<ContentRemoval> {
    return removal(ctx, id, await deleteItem(ctx, id));
  }

  @Access(READ)
  @Query(() => ContentRevisionConnection, { description: 'Revisions of an item, newest first.' })
  contentRevisions(
    @Arg('id', () => ID) id: string,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<ContentRevision>> {
    return revisionsPage(ctx, id, args);
  }

  @Access(READ)
  @Query(() => [ContentDifference], { description: 'What differs between two revisions.' })
  async contentDiff(@Args(() => ContentDiffArgs) { id, from, to }: ContentDiffArgs, @Ctx() ctx: Context): Promise<ContentDifference[]> {
    const [before, after] = [await requireItem(ctx, id, { revision: from }), await requireItem(ctx, id, { revision: to })];
    return differences(before.data, after.data);
  }

  @Access(WRITE)
  @Prepare(preparedBrands)
  @Mutation(() => ContentItem, { description: 'Makes a new revision equal to an old one; publishes nothing.' })
  async restoreContentRevision(
    @Arg('input', () => RestoreContentRevisionInput) { id, revision, version }: RestoreContentRevisionInput,
    @Ctx() ctx: Context,
  ): Promise<Item> {
    return shown(ctx, await restoreRevision(ctx, id, revision, version));
  }

  @Access(READ)
  @Mutation(() => ContentPreview, { description: 'A link that shows one draft for an hour.' })
  createContentPreview(
    @Arg('input', () => CreateContentPreviewInput) { id, revision }: CreateContentPreviewInput,
    @Ctx() ctx: Context,
  ): Promise<ContentPreview> {
    return createPreview(ctx, id, revision ?? null);
  }

  @Access(READ)
  @Query(() => [ContentComment], { description: "Editors' remarks on an item, oldest first." })
  contentComments(
    @Arg('itemId', () => ID) itemId: string,
    @Arg('open', () => Boolean, { defaultValue: true, description: 'Without those that are resolved.' }) open: boolean,
    @Ctx() ctx: Context,
  ): Promise<ContentComment[]> {
    return commentsOf(ctx, itemId, open);
  }

  @Access(WRITE)
  @Mutation(() => ContentComment)
  async addContentComment(
    @Arg('input', () => AddContentCommentInput) input: AddContentCommentInput,
    @Ctx() ctx: Context,
  ): Promise<ContentComment> {
    return commentById(ctx, await addComment(ctx, input));
  }

  @Access(WRITE)
  @Mutation(() => ContentComment)
  async resolveContentComment(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<ContentComment> {
    await resolveComment(ctx, id);
    return commentById(ctx, id);
  }

  @Access(READ)
  @Query(() => [ContentSynonym], { description: 'Words that search treats alike.' })
  contentSynonyms(@Arg('locale', () => Locale) locale: string, @Ctx() ctx: Context): Promise<ContentSynonym[]> {
    return synonymsOf(ctx, locale);
  }

  @Access(PUBLISH)
  @Mutation(() => [ContentSynonym], { description: 'Sets the synonyms of a term; in force at once.' })
  async setContentSynonyms(
    @Arg('input', () => SetContentSynonymsInput) { locale, term, synonyms }: SetContentSynonymsInput,
    @Ctx() ctx: Context,
  ): Promise<ContentSynonym[]> {
    await setSynonyms(ctx, locale, term, synonyms);
    return synonymsOf(ctx, locale);
  }

  @Access(READ)
  @Query(() => ContentHealth, { description: 'What editors should look at.' })
  async contentHealth(@Ctx() ctx: Context): Promise<ContentHealth> {
    return contentHealth(ctx, await viewOf(ctx, {}, 'NONE'));
  }

  @Access({ service: '*', user: '*', staff: '*' })
  @Query(() => ContentSitemapConnection, { description: 'What search engines may find, one entry per locale.' })
  async contentSitemap(
    @Rule({ maxLength: 64 }) @Arg('brand', () => String, { nullable: true }) brand: string | null,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<ContentSitemapEntry>> {
    return sitemapPage(ctx, await viewOf(ctx, { brand }, 'NONE'), args);
  }
}

@Resolver(() => ContentRelease)
export class ContentReleaseResolver {
  @Access(READ)
  @Query(() => ContentRelease, { nullable: true, description: 'Items that are published together.' })
  contentRelease(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<ContentRelease | null> {
    return releaseOf(ctx, id);
  }

  @Access(PUBLISH)
  @Mutation(() => ContentRelease)
  async createContentRelease(
    @Arg('input', () => CreateContentReleaseInput) { name, items }: CreateContentReleaseInput,
    @Ctx() ctx: Context,
  ): Promise<ContentRelease> {
    const release = await createRelease(ctx, name);
    return items?.length ? addToRelease(ctx, release.id, items) : release;
  }

  @Access(PUBLISH)
  @Mutation(() => ContentRelease, { description: 'Pins a revision of each item.' })
  addToContentRelease(
    @Arg('input', () => AddToContentReleaseInput) { id, items }: AddToContentReleaseInput,
    @Ctx() ctx: Context,
  ): Promise<ContentRelease> {
    return addToRelease(ctx, id, items);
  }

  @Access(PUBLISH)
  @Mutation(() => ContentRelease)
  scheduleContentRelease(
    @Arg('input', () => ScheduleContentReleaseInput) { id, publishAt }: ScheduleContentReleaseInput,
    @Ctx() ctx: Context,
  ): Promise<ContentRelease> {
    return scheduleRelease(ctx, id, publishAt);
  }

  @Access(PUBLISH)
  @Mutation(() => ContentRelease)
  cancelContentRelease(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<ContentRelease> {
    return cancelRelease(ctx, id);
  }

  @Access(PUBLISH)
  @Mutation(() => ContentRelease, { description: 'Publishes all items at once, or none.' })
  publishContentRelease(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<ContentRelease> {
    return publishRelease(ctx, id);
  }

  @FieldResolver(() => [ContentReleaseItem])
  items(@Root() { id }: ContentRelease, @Ctx() ctx: Context): Promise<ContentReleaseItem[]> {
    return releaseItemsOf(ctx, id);
  }
}
