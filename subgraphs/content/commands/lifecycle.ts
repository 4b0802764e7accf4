/** What editors do with items besides writing: publish, take down, archive, restore, delete. Source: content 3. */
import { randomBytes } from 'node:crypto';
import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { definitionOf } from '../entities/collections.js';
import { requireItem, type ItemState } from '../queries/editors.js';
import { hashOf } from '../queries/single.js';
import { noteChange, tellChanges } from './changes.js';
import { addRevision, lockVersion } from './item.js';
import { publish, unpublish, type PublishOptions } from './publish.js';

const lockItem = (ctx: Context, id: string): Promise<ItemState> => requireItem(ctx, id, { lock: true });

function requireFree({ collection }: ItemState): void {
  if (definitionOf(collection).managed) fail('conflict', 'A policy goes by its versions', { reason: 'managed' });
}

export async function publishItem(ctx: Context, id: string, options: PublishOptions): Promise<ItemState> {
  const state = await lockItem(ctx, id);
  requireFree(state);
  await publish(ctx, state, options);
  await tellChanges(ctx);
  return requireItem(ctx, id);
}

const REFERRERS = `select p.title, p.collection from content.content_reference r join content.content_publication p on p.item_id = r.item_id
  where r.target_id = $1 and r.is_published group by 1, 2 limit 50`;

/** Published items that refer to this one. */
const referrersOf = async (ctx: Context, id: string): Promise<string[]> =>
  (await ctx.sql<{ title: string; collection: string }>(REFERRERS, [id])).map(({ title, collection }) => `${collection}: ${title}`);

export interface Removed {
  state: ItemState | null;
  warnings: string[];
}

export async function unpublishItem(ctx: Context, id: string, locales: readonly string[] | null): Promise<Removed> {
  const state = await lockItem(ctx, id);
  requireFree(state);
  if (state.status !== 'PUBLISHED')
    fail('conflict', `An item that is ${state.status.toLowerCase()} is not taken down`, { reason: 'state' });
  await unpublish(ctx, state, locales);
  await tellChanges(ctx);
  return { state: await requireItem(ctx, id), warnings: await referrersOf(ctx, id) };
}

/** Slugs stay reserved. */
export async function archiveItem(ctx: Context, id: string): Promise<Removed> {
  const state = await lockItem(ctx, id);
  requireFree(state);
  if (state.status === 'ARCHIVED') fail('conflict', 'It is archived', { reason: 'state' });
  await unpublish(ctx, state, null, 'ARCHIVED');
  ctx.audit('content_item.archived', id);
  await tellChanges(ctx);
  return { state: await requireItem(ctx, id), warnings: await referrersOf(ctx, id) };
}

export async function restoreItem(ctx: Context, id: string): Promise<ItemState> {
  const state = await lockItem(ctx, id);
  if (state.status !== 'ARCHIVED') fail('conflict', 'Only an archived item is restored', { reason: 'state' });
  await ctx.sql("update content.content_item set status = 'DRAFT' where id = $1", [id]);
  ctx.audit('content_item.restored', id);
  return requireItem(ctx, id);
}

/** In the order of what refers to what. Revisions stay for 30 days. */
const DELETES = [
  'update content.content_revision set deleted_at = $2 where item_id = $1',
  'delete from content.content_slug where item_id = $1 and $2::timestamptz is not null',
  'delete from content.content_key where item_id = $1 and $2::timestamptz is not null',
  'delete from content.content_reference where item_id = $1 and $2::timestamptz is not null',
  'delete from content.content_comment where item_id = $1 and $2::timestamptz is not null',
  'delete from content.content_release_item where item_id = $1 and $2::timestamptz is not null',
  'delete from content.preview_token where item_id = $1 and $2::timestamptz is not null',
  'delete from content.content_item where id = $1 and $2::timestamptz is not null',
];

export async function deleteItem(ctx: Context, id: string): Promise<Removed> {
  const state = await lockItem(ctx, id);
  requireFree(state);
  if (state.status === 'PUBLISHED') fail('conflict', 'A published item is taken down before it is deleted', { reason: 'state' });
  const referrers = await referrersOf(ctx, id);
  if (referrers.length > 0) fail('conflict', `Published items refer to it: ${referrers.join(', ')}`, { reason: 'referred_to' });
  for (const statement of DELETES) await ctx.sql(statement, [id, ctx.now().toISOString()]);
  if (state.first_published_at !== null) noteChange(ctx, state, 'deleted', null);
  ctx.audit('content_item.deleted', id, { collection: state.collection });
  await tellChanges(ctx);
  return { state: null, warnings: [] };
}

/** A new revision equal to an old one; never publishes. Source: content, rule 4. */
export async function restoreRevision(ctx: Context, id: string, revision: number, version: number): Promise<ItemState> {
  const state = await lockVersion(ctx, id, version);
  requireFree(state);
  const old = await requireItem(ctx, id, { revision });
  await addRevision(ctx, state, old.data);
  ctx.audit('content_item.revision_restored', id, { from: revision, revision: state.revision + 1 });
  return requireItem(ctx, id);
}

const HOUR_MS = 3_600_000;

/** A link that shows one draft for an hour. Stored is its hash. */
export async function createPreview(ctx: Context, id: string, revision: number | null): Promise<{ token: string; expiresAt: Date }> {
  const state = await requireItem(ctx, id, { revision });
  const [token, expiresAt] = [randomBytes(32).toString('base64url'), new Date(ctx.now().getTime() + HOUR_MS)];
  const values = [hashOf(token), state.id, revision, expiresAt.toISOString()];
  await ctx.sql('insert into content.preview_token (hash, item_id, revision, expires_at) values ($1, $2, $3, $4)', values);
  ctx.audit('content_item.previewed', id);
  return { token, expiresAt };
}

/** @returns id of the remark */
export async function addComment(
  ctx: Context,
  { itemId, pointer, locale, text }: { itemId: string; pointer?: string | null; locale?: string | null; text: string },
): Promise<string> {
  const [state, id] = [await requireItem(ctx, itemId), newId()];
  const values = [id, state.id, pointer ?? null, locale ?? null, text, ctx.caller.userId, ctx.now().toISOString()];
  await ctx.sql(
    'insert into content.content_comment (id, item_id, pointer, locale, text, author_id, created_at) values ($1, $2, $3, $4, $5, $6, $7)',
    values,
  );
  ctx.audit('content_comment.added', itemId);
  return id;
}

export async function resolveComment(ctx: Context, id: string): Promise<void> {
  const text = 'update content.content_comment set resolved_at = coalesce(resolved_at, $2) where id::text = $1 returning 1';
  const done = await ctx.sql(text, [id.toLowerCase(), ctx.now().toISOString()]);
  if (done.length === 0) fail('not_found', 'Not found');
  ctx.audit('content_comment.resolved', id);
}

const SET_SYNONYMS = `insert into content.content_synonym (locale, term, synonyms) values ($1, content.fold($2), array(select content.fold(s) from unnest($3::text[]) s))
  on conflict (locale, term) do update set synonyms = excluded.synonyms`;

/** In force at once, because search reads them with each query. */
export async function setSynonyms(ctx: Context, locale: string, term: string, synonyms: readonly string[]): Promise<void> {
  if (synonyms.length > 0) await ctx.sql(SET_SYNONYMS, [locale, term, synonyms]);
  else await ctx.sql('delete from content.content_synonym where locale = $1 and term = content.fold($2)', [locale, term]);
  ctx.audit('content_synonym.set', null, { locale });
}
