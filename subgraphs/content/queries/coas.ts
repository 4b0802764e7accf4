import type { Context } from '../../../runtime/request/context.js';
import { loadItem } from './delivery.js';
import type { Item } from './present.js';

const SUPERSEDING = `select k.value as id, k.item_id::text as by from content.content_key k
  where k.collection = 'COAS' and k.name = 'supersedes' and not k.is_unique and k.value = any($1)`;

/** The published certificate that corrects this one. */
export async function supersedingOf(ctx: Context, item: Item): Promise<Item | null> {
  const by = await ctx.load('content:superseding', item.id, async ids => {
    const rows = await ctx.sql<{ id: string; by: string }>(SUPERSEDING, [ids]);
    return ids.map(id => rows.find(row => row.id === id)?.by ?? null);
  });
  return by === null ? null : loadItem(ctx, item.view, by);
}
