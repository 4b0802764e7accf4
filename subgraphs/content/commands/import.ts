import { isDeepStrictEqual } from 'node:util';
import type { RowOutcome, TakeRow } from '../../../runtime/bulk/import.js';
import { inputReader } from '../../../runtime/bulk/input.js';
import { isUuid } from '../../../runtime/data/ids.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { fail, invalid, requireValid } from '../../../runtime/request/errors.js';
import type { CollectionDefinition } from '../entities/definition.js';
import type { BrandFacts } from '../ports/brands.js';
import { itemState, type ItemState } from '../queries/editors.js';
import { changed, createDraft, placeOf, storeChange } from './item.js';

const BY_SLUG = `select i.id from content.content_item i join content.content_revision r on r.item_id = i.id and r.number = i.revision
  where i.collection = $1 and i.brand_id is not distinct from $2 and r.data->'slugs'->>$3 = $4`;

interface Given {
  brandId?: string | null;
  locale?: string | null;
  slug?: string | null;
}

/** What only operations do. */
const LATER = { status: 'is that of a draft: an import publishes nothing', publish_at: 'is no column: an import publishes nothing' };

type Read = (row: Record<string, unknown>) => Given;

/** Null: items of the collection are made, or changed, by operations of its own. */
const readerOf = ({ schema }: ServiceHost, name: string): Read | null => (schema.getType(name) ? inputReader<Given>(schema, name) : null);
const managed = (): never => fail('conflict', 'Items of this collection are made by operations of its own', { reason: 'managed' });

/**
 * A row with an `id`, or with the slug of an item of its brand, makes a new revision of it where it says something else; any other a draft.
 * What a row leaves out stays. @throws Problem for what the collection does not take.
 */
export function itemImport(host: ServiceHost, definition: CollectionDefinition, brands: readonly BrandFacts[]): TakeRow {
  const readNew = readerOf(host, `${definition.type}CreateInput`);
  const readChange = readerOf(host, `${definition.type}UpdateInput`);
  return async (ctx, { id, ...row }) => {
    requireValid(Object.entries(LATER).flatMap(([key, message]) => (key in row ? [{ pointer: `/${key}`, message }] : [])));
    if (id !== undefined) {
      const { brand_id = null, ...values } = row;
      const state = await byId(ctx, definition, id, brand_id);
      return revise(ctx, state, (readChange ?? managed())({ ...values, id, version: state.version }));
    }
    const input = (readNew ?? managed())(row);
    const state = await bySlug(ctx, definition, brands, input);
    if (state) return revise(ctx, state, input);
    await createDraft(ctx, definition, brands, input);
    return 'created';
  };
}

async function revise(ctx: Context, state: ItemState, input: Given): Promise<RowOutcome> {
  const change = await changed(ctx, state, input);
  if (isDeepStrictEqual(change.snapshot, state.data)) return 'unchanged';
  await storeChange(ctx, state, change);
  return 'updated';
}

/** Locked. @throws Problem invalid_request for what is no item of the collection, or of another brand. */
async function byId(ctx: Context, { collection }: CollectionDefinition, id: unknown, brandId: unknown): Promise<ItemState> {
  const state = typeof id === 'string' && isUuid(id) ? await itemState(ctx, id, { lock: true }) : null;
  if (state?.collection !== collection) return invalid('/id', 'is no item of the collection');
  if (brandId !== null && String(brandId).toLowerCase() !== state.brand_id) invalid('/brand_id', 'is not that of the item');
  return state;
}

async function bySlug(
  ctx: Context,
  definition: CollectionDefinition,
  brands: readonly BrandFacts[],
  input: Given,
): Promise<ItemState | null> {
  if (!definition.slug || input.slug == null) return null;
  const { brandId, locale } = placeOf(brands, input);
  const [row] = await ctx.sql<{ id: string }>(BY_SLUG, [definition.collection, brandId, locale, input.slug]);
  return row ? itemState(ctx, row.id, { lock: true }) : null;
}
