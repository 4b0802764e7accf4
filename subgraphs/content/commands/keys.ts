/** Rows that make values unique and slugs belong to somebody. */
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { isLocalised, type CollectionDefinition } from '../entities/definition.js';
import { keysOf, localesOf, uniquesOf, valuesIn, type Snapshot, type Values } from '../rules/values.js';
import { slugFrom } from '../rules/slugs.js';

export interface Owned {
  id: string;
  brand_id: string | null;
  base_locale: string;
}

const INSERT_UNIQUE = `insert into content.content_key (item_id, collection, name, brand_id, locale, value, is_unique)
  values ($1, $2, $3, $4, $5, $6, true) on conflict do nothing returning 1`;

/** Uniques hold from the first draft on. @throws Problem conflict with the reason that the definition names. */
export async function writeUniques(ctx: Context, definition: CollectionDefinition, item: Owned, snapshot: Snapshot): Promise<void> {
  await ctx.sql('delete from content.content_key where item_id = $1 and is_unique', [item.id]);
  const rows = new Map<string, unknown[]>();
  for (const locale of localesOf(definition, snapshot, item.base_locale)) {
    for (const [reason, value] of Object.entries(uniquesOf(definition, valuesIn(snapshot, locale)))) {
      const isLocal = Object.values(definition.fields).some(field => field.options.unique === reason && field.options.localized);
      const at = isLocal ? locale : null;
      rows.set(`${reason}|${at}`, [item.id, definition.collection, reason, item.brand_id, at, value]);
    }
  }
  for (const [key, row] of rows) {
    const written = await ctx.sql(INSERT_UNIQUE, row);
    const reason = key.split('|')[0]!;
    if (written.length === 0) fail('conflict', `Another item has it already: ${reason}`, { reason });
  }
}

const FILTER_ROWS = `insert into content.content_key (item_id, collection, name, brand_id, locale, value, number, is_unique)
  select $1, $2, k.name, $3, k.locale, k.value, k.number, false
  from jsonb_to_recordset($4::jsonb) as k(name text, locale text, value text, number double precision)`;

/** Filters see the publication: keys of shared fields once, of localised ones per locale. */
export async function writeFilters(
  ctx: Context,
  definition: CollectionDefinition,
  item: Owned,
  published: ReadonlyMap<string, Values>,
): Promise<void> {
  await ctx.sql('delete from content.content_key where item_id = $1 and not is_unique', [item.id]);
  const seen = new Set<string>();
  const rows = [...published].flatMap(([locale, values]) =>
    keysOf(definition, values).flatMap(key => {
      const isLocal = definition.fields[key.name.split('.')[0]!]!.options.localized === true;
      const row = { ...key, locale: isLocal ? locale : null };
      const text = JSON.stringify(row);
      return seen.has(text) ? [] : (seen.add(text), [row]);
    }),
  );
  if (rows.length > 0) await ctx.sql(FILTER_ROWS, [item.id, definition.collection, item.brand_id, JSON.stringify(rows)]);
}

const SLUG_OWNER = `select item_id, state from content.content_slug
  where collection = $1 and brand_id is not distinct from $2 and locale is not distinct from $3 and slug = $4`;
const RESERVE = `insert into content.content_slug (collection, brand_id, locale, slug, item_id, state) values ($1, $2, $3, $4, $5, 'RESERVED')
  on conflict (collection, brand_id, locale, slug) do nothing returning 1`;
const TAKE_OVER = `delete from content.content_slug
  where collection = $1 and brand_id is not distinct from $2 and locale is not distinct from $3 and slug = $4 and state = 'RETIRED'`;

const slugLocale = (definition: CollectionDefinition, locale: string): string | null => (isLocalised(definition) ? locale : null);

/** Whether the slug is the item's from now on; one that it had before is. */
async function reserved(ctx: Context, place: readonly unknown[], itemId: string): Promise<boolean> {
  if ((await ctx.sql(RESERVE, [...place, itemId])).length > 0) return true;
  const [owner] = await ctx.sql<{ item_id: string }>(SLUG_OWNER, place);
  return owner?.item_id === itemId;
}

/** Gives a slug to an item. @throws Problem conflict `slug_taken`. Source: content, rule 7. */
export async function takeSlug(
  ctx: Context,
  definition: CollectionDefinition,
  item: Owned,
  { locale, slug, takeOver }: { locale: string; slug: string; takeOver: boolean },
): Promise<void> {
  const place = [definition.collection, item.brand_id, slugLocale(definition, locale), slug];
  if (await reserved(ctx, place, item.id)) return;
  if (takeOver) {
    await ctx.sql(TAKE_OVER, place);
    if (await reserved(ctx, place, item.id)) return;
  }
  fail('conflict', 'Another item has this slug', { reason: 'slug_taken' });
}

/** A free slug made from a title: the plain one, else with `-2`, `-3`, … */
export async function makeSlug(
  ctx: Context,
  definition: CollectionDefinition,
  item: Owned,
  locale: string,
  title: string,
): Promise<string> {
  const bare = slugFrom(title);
  for (let count = 1; ; count++) {
    const slug = count === 1 ? bare : `${bare}-${count}`;
    if (await reserved(ctx, [definition.collection, item.brand_id, slugLocale(definition, locale), slug], item.id)) return slug;
  }
}

const FREE_DRAFTS = `delete from content.content_slug
  where item_id = $1 and locale is not distinct from $2 and state = 'RESERVED' and slug <> $3`;
const RETIRE = `update content.content_slug set state = case when slug = $3 then 'CURRENT' when state = 'CURRENT' then 'RETIRED' else state end
  where item_id = $1 and locale is not distinct from $2`;

/** Slugs that were never published become free. */
export const freeDraftSlugs = (ctx: Context, definition: CollectionDefinition, item: Owned, locale: string, slug: string) =>
  ctx.sql(FREE_DRAFTS, [item.id, slugLocale(definition, locale), slug]);

/** The slug of a locale is published: the one before is retired. */
export const publishSlug = (ctx: Context, definition: CollectionDefinition, item: Owned, locale: string, slug: string) =>
  ctx.sql(RETIRE, [item.id, slugLocale(definition, locale), slug]);
