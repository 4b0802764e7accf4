import { createHash } from 'node:crypto';
import type { Context } from '../../../runtime/request/context.js';
import { definitionOf } from '../entities/collections.js';
import type { CollectionDefinition } from '../entities/definition.js';
import { deliverBySlug, loadItem } from './delivery.js';
import { draftOf, itemState } from './editors.js';
import type { Item } from './present.js';
import { viewOf, type Asked, type View } from './view.js';

/** Proofs are stored as their hashes. */
export const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

const PREVIEW = 'select item_id, revision from content.preview_token where hash = $1 and expires_at > $2';

/** The item that a preview link shows, where this is the one. Source: content 4.2. */
async function previewed(ctx: Context, view: View, definition: CollectionDefinition, by: 'id' | 'slug', key: string): Promise<Item | null> {
  if (ctx.request.preview === null) return null;
  const [token] = await ctx.sql<{ item_id: string; revision: number | null }>(PREVIEW, [
    hashOf(ctx.request.preview),
    ctx.now().toISOString(),
  ]);
  const state = token && (await itemState(ctx, token.item_id, { revision: token.revision }));
  if (!state || state.collection !== definition.collection) return null;
  const isAsked = by === 'id' ? state.id === key.toLowerCase() : Object.values(state.data.slugs).includes(key);
  return isAsked ? draftOf(state, view) : null;
}

/** An item for an editor, whatever its state. */
async function edited(ctx: Context, view: View, definition: CollectionDefinition, by: 'id' | 'slug', key: string): Promise<Item | null> {
  if (!view.readers.editor || by === 'slug') return null;
  const state = await itemState(ctx, key);
  return state?.collection === definition.collection ? draftOf(state, view) : null;
}

/** One item, as readers get it; a retired slug leads to the current one. Source: content 4.3. */
export async function readSingle(
  ctx: Context,
  definition: CollectionDefinition,
  by: 'id' | 'slug',
  key: string,
  asked: Asked,
): Promise<Item | null> {
  const view = await viewOf(ctx, asked, 'HTML');
  const preview = await previewed(ctx, view, definition, by, key);
  if (preview) return preview;
  if (by === 'id') {
    const item = await loadItem(ctx, view, key);
    return item?.collection === definition.collection ? item : edited(ctx, view, definition, by, key);
  }
  const found = await deliverBySlug(ctx, view, definition.collection, key);
  if (found?.isRetired) ctx.status(301);
  return found?.item ?? null;
}

/** A policy, with the text that was asked for. */
export type PolicyItem = Item & { text?: { version: number | null; at: Date | null } };

/** A policy by its slug. One whose first text is still to come is there as well, with `upcoming` alone, for editors. */
export async function policyBySlug(
  ctx: Context,
  slug: string,
  text: { version: number | null; at: Date | null },
  asked: Asked,
): Promise<PolicyItem | null> {
  const found = await readSingle(ctx, definitionOf('POLICIES'), 'slug', slug, asked);
  return found && Object.assign(found, { text });
}
