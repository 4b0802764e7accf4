import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { Url } from '../../../runtime/schema/scalars.js';
import { completedUpload, createUpload, widthFor } from '../commands/media.js';
import { ContentItem, ContentRendition } from '../entities/item.js';
import { ContentImageFormat, ContentMediaStatus } from '../entities/enums.js';
import { MediaUpload } from '../entities/media.js';
import { typesOf } from '../entities/types.js';
import { CreateMediaUploadInput } from '../inputs/media.js';
import { preparedBrands } from '../ports/brands.js';
import { addressOfFile, addressOfRendition, assetOf, usagesOf } from '../queries/media.js';
import { draftOf, type ItemState } from '../queries/editors.js';
import type { Item } from '../queries/present.js';
import { viewFor } from '../queries/view.js';

const MEDIA = typesOf('MEDIA').item;
const WRITE = { service: 'admin:content', staff: 'admin:content:write' };
const SHOWN_WIDTHS = [256, 512, 1024];

const shown = (ctx: Context, state: ItemState): Item => draftOf(state, viewFor(ctx, preparedBrands.of(ctx), { locale: state.base_locale }));

@Resolver(() => MEDIA)
export class MediaResolver {
  @Access(WRITE)
  @Prepare(preparedBrands)
  @Mutation(() => MediaUpload, { description: 'Announces a file; its bytes are put to `uploadUrl`, once, within 15 minutes.' })
  async createMediaUpload(
    @Arg('input', () => CreateMediaUploadInput) input: CreateMediaUploadInput,
    @Ctx() ctx: Context,
  ): Promise<MediaUpload> {
    const { state, token, expiresAt } = await createUpload(ctx, input);
    return { media: shown(ctx, state), uploadUrl: `${ctx.host.config.baseUrl}/content/v1/uploads/${token}`, expiresAt };
  }

  @Access(WRITE)
  @Prepare(preparedBrands)
  @Mutation(() => MEDIA, { description: 'The file after its bytes came; of bytes that are there already, the one that has them.' })
  async completeMediaUpload(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<Item> {
    return shown(ctx, await completedUpload(ctx, id));
  }

  @FieldResolver(() => ContentMediaStatus, { nullable: true, description: 'What became of the upload.' })
  async mediaStatus(@Root() { id }: Item, @Ctx() ctx: Context): Promise<string | null> {
    return (await assetOf(ctx, id))?.status ?? null;
  }

  @FieldResolver(() => String, { nullable: true, description: 'By the bytes, not as it was claimed.' })
  async mimeType(@Root() { id }: Item, @Ctx() ctx: Context): Promise<string | null> {
    return (await assetOf(ctx, id))?.mime_type ?? null;
  }

  @FieldResolver(() => Int, { nullable: true })
  async bytes(@Root() { id }: Item, @Ctx() ctx: Context): Promise<number | null> {
    return (await assetOf(ctx, id))?.bytes ?? null;
  }

  @FieldResolver(() => String, { nullable: true, description: 'Of the stored bytes.' })
  async sha256(@Root() { id }: Item, @Ctx() ctx: Context): Promise<string | null> {
    return (await assetOf(ctx, id))?.sha256 ?? null;
  }

  @FieldResolver(() => Int, { nullable: true })
  async width(@Root() { id }: Item, @Ctx() ctx: Context): Promise<number | null> {
    return (await assetOf(ctx, id))?.width ?? null;
  }

  @FieldResolver(() => Int, { nullable: true })
  async height(@Root() { id }: Item, @Ctx() ctx: Context): Promise<number | null> {
    return (await assetOf(ctx, id))?.height ?? null;
  }

  @FieldResolver(() => String, { nullable: true })
  async blurhash(@Root() { id }: Item, @Ctx() ctx: Context): Promise<string | null> {
    return (await assetOf(ctx, id))?.blurhash ?? null;
  }

  @FieldResolver(() => Url, { nullable: true, description: 'For editors signed, where it is not public.' })
  url(@Root() item: Item, @Ctx() ctx: Context): Promise<string | null> {
    return addressOfFile(ctx, item);
  }

  @FieldResolver(() => Url, { nullable: true, description: 'Address of a smaller form; it is made at the first request.' })
  rendition(
    @Root() item: Item,
    @Rule({ min: 1, max: 4096 }) @Arg('width', () => Int) width: number,
    @Arg('format', () => ContentImageFormat, { defaultValue: 'WEBP' }) format: string,
    @Ctx() ctx: Context,
  ): Promise<string | null> {
    return addressOfRendition(ctx, item, widthFor(width), format);
  }

  @FieldResolver(() => [ContentRendition])
  async renditions(@Root() item: Item, @Ctx() ctx: Context): Promise<ContentRendition[]> {
    const made = await Promise.all(
      SHOWN_WIDTHS.map(async width => ({ width, format: 'webp', url: await addressOfRendition(ctx, item, width, 'WEBP') })),
    );
    return made.filter((one): one is ContentRendition => one.url !== null);
  }

  @FieldResolver(() => [ContentItem], { description: 'Published items that refer to it.' })
  usages(@Root() item: Item, @Ctx() ctx: Context): Promise<Item[]> {
    return usagesOf(ctx, item);
  }
}
