/** Changes of delivered content, told once per transaction, collection, change and locale. Source: content 5. */
import { collectionChanged } from '../../../events/catalogue/content.js';
import type { Context } from '../../../runtime/request/context.js';
import { slugOfCollection } from '../entities/definition.js';
import type { ContentCollection } from '../entities/enums.js';

type Change = 'published' | 'updated' | 'unpublished' | 'deleted';

interface Told {
  collection: ContentCollection;
  brandId: string | null;
  change: Change;
  locale: string | null;
  ids: Set<string>;
}

/** Items that one event names. */
const MOST_IDS = 100;
const noted = new WeakMap<Context, Map<string, Told>>();

/** Notes that what is delivered of an item changed. */
export function noteChange(
  ctx: Context,
  { collection, brand_id: brandId, id }: { collection: ContentCollection; brand_id: string | null; id: string },
  change: Change,
  locale: string | null,
): void {
  const all = noted.get(ctx) ?? new Map<string, Told>();
  noted.set(ctx, all);
  const key = [collection, brandId, change, locale].join('|');
  const told = all.get(key) ?? { collection, brandId, change, locale, ids: new Set<string>() };
  all.set(key, told);
  told.ids.add(id);
}

const NEXT_VERSION = `insert into content.content_version as v (collection, version) values ($1, 1)
  on conflict (collection) do update set version = v.version + 1 returning version`;

async function tell(ctx: Context, { collection, brandId, change, locale }: Told, ids: readonly string[]): Promise<void> {
  const [row] = await ctx.sql<{ version: number }>(NEXT_VERSION, [collection]);
  const data = {
    collection: slugOfCollection(collection),
    item_ids: [...ids],
    change,
    locale: locale?.toLowerCase() ?? null,
    version: row!.version,
  };
  ctx.emit(collectionChanged, data, { brandId, subject: `content:${brandId ?? 'shared'}` });
}

/** Emits what was noted. Every command that publishes ends with it. */
export async function tellChanges(ctx: Context): Promise<void> {
  const all = noted.get(ctx);
  noted.delete(ctx);
  for (const told of all?.values() ?? []) {
    const ids = [...told.ids];
    for (let at = 0; at < ids.length; at += MOST_IDS) await tell(ctx, told, ids.slice(at, at + MOST_IDS));
  }
}
