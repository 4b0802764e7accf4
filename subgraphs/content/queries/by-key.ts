import type { Context } from '../../../runtime/request/context.js';
import type { ContentCollection } from '../entities/enums.js';
import { loadItems, loadItem } from './delivery.js';
import type { Item } from './present.js';
import { defaultView } from './view.js';

const BY_KEY = `select distinct k.value, k.item_id from content.content_key k where k.collection = $1 and k.name = $2 and not k.is_unique and k.value = any($3) limit 5000`;

/** Published items that hold a value, in a batch. */
export async function byKey(ctx: Context, collection: ContentCollection, name: string, value: string): Promise<Item[]> {
  const view = await defaultView(ctx);
  const ids = await ctx.load(`content:key:${collection}:${name}`, value, async values => {
    const rows = await ctx.sql<{ value: string; item_id: string }>(BY_KEY, [collection, name, values]);
    return values.map(one => rows.filter(row => row.value === one).map(row => row.item_id));
  });
  return loadItems(ctx, view, ids ?? []);
}

const CODE = `select item_id from content.content_key where collection = 'COAS' and name = 'code_exists' and is_unique and value = $1 limit 1`;

/** However the code's hyphens and letters are written. */
export async function coaByCode(ctx: Context, code: string): Promise<Item | null> {
  const letters = code.toLowerCase().replace(/[^a-z0-9]/g, '');
  const stored = `${letters.slice(0, 4)}-${letters.slice(4, 8)}-${letters.slice(8)}`;
  const [row] = await ctx.sql<{ item_id: string }>(CODE, [stored]);
  return row ? loadItem(ctx, await defaultView(ctx), row.item_id) : null;
}
