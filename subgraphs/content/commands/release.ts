/** Publishing at a time, all or nothing. What is published is the revision that was scheduled. Source: content 3, rule 9. */
import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, Problem } from '../../../runtime/request/errors.js';
import type { ContentReleaseStatus } from '../entities/enums.js';
import { ContentRelease } from '../entities/release.js';
import { requireItem, type ItemState } from '../queries/editors.js';
import { RELEASE_MOVES, type ReleaseTrigger } from '../rules/releases.js';
import { tellChanges } from './changes.js';
import { chosenLocales, publish, requirePublishable } from './publish.js';

const SOON_MS = 60_000;
const MOST_ITEMS = 500;

interface ItemRow {
  item_id: string;
  revision: number;
  locales: string[] | null;
}

const LOCK = `select id, status, version from content.content_release where id = $1 for no key update`;
const ITEMS = 'select item_id, revision, locales from content.content_release_item where release_id = $1 order by item_id';

async function locked(ctx: Context, id: string): Promise<{ id: string; status: ContentReleaseStatus }> {
  const [row] = /^[0-9a-f-]{36}$/i.test(id) ? await ctx.sql<{ id: string; status: ContentReleaseStatus }>(LOCK, [id]) : [];
  return row ?? fail('not_found', 'Not found');
}

/** @throws Problem conflict where the state has no such move. */
function moved(status: ContentReleaseStatus, trigger: ReleaseTrigger): ContentReleaseStatus {
  return (
    RELEASE_MOVES[status][trigger] ?? fail('conflict', `A release that is ${status.toLowerCase()} cannot do this`, { reason: 'state' })
  );
}

export async function releaseOf(ctx: Context, id: string): Promise<ContentRelease> {
  return (await ctx.em.findOne(ContentRelease, { id }, { refresh: true })) ?? fail('not_found', 'Not found');
}

export async function createRelease(ctx: Context, name: string): Promise<ContentRelease> {
  const id = newId();
  await ctx.sql(`insert into content.content_release (id, name, created_at) values ($1, $2, $3)`, [id, name, ctx.now().toISOString()]);
  ctx.audit('content_release.created', id);
  return releaseOf(ctx, id);
}

const PIN = `insert into content.content_release_item (release_id, item_id, revision, locales) values ($1, $2, $3, $4)
  on conflict (release_id, item_id) do update set revision = excluded.revision, locales = excluded.locales, reason = null`;

export interface ReleaseItem {
  itemId: string;
  revision?: number | null;
  locales?: readonly string[] | null;
}

/** Pins a revision of each item. @throws Problem conflict for a release that is not open or failed, or with too many items. */
export async function addToRelease(ctx: Context, id: string, items: readonly ReleaseItem[]): Promise<ContentRelease> {
  const { status } = await locked(ctx, id);
  if (status !== 'OPEN' && status !== 'FAILED') fail('conflict', 'Items are added to an open release', { reason: 'state' });
  for (const { itemId, revision, locales } of items) {
    const state = await requireItem(ctx, itemId, { revision });
    await ctx.sql(PIN, [id, state.id, state.number, locales ?? null]);
  }
  const [{ count } = { count: 0 }] = await ctx.sql<{ count: number }>(
    'select count(*)::int as count from content.content_release_item where release_id = $1',
    [id],
  );
  if (count > MOST_ITEMS) fail('conflict', `A release has at most ${MOST_ITEMS} items`, { reason: 'too_many_items' });
  return releaseOf(ctx, id);
}

/** What stands in the way of each item. */
async function checkItems(ctx: Context, id: string): Promise<void> {
  const items = await ctx.sql<ItemRow>(ITEMS, [id]);
  if (items.length === 0) fail('conflict', 'The release has no items', { reason: 'empty' });
  for (const { item_id: itemId, revision, locales } of items) {
    const state = await requireItem(ctx, itemId, { revision });
    await requirePublishable(ctx, state, state.data, chosenLocales(state, state.data, locales), { allowDanglingReferences: true });
  }
}

export async function scheduleRelease(ctx: Context, id: string, publishAt: Date): Promise<ContentRelease> {
  const { status } = await locked(ctx, id);
  const next = moved(status, 'schedule');
  if (publishAt.getTime() <= ctx.now().getTime() + SOON_MS)
    fail('invalid_request', 'The input is invalid', {
      errors: [{ pointer: '/input/publishAt', message: 'must be more than a minute ahead' }],
    });
  await checkItems(ctx, id);
  await ctx.sql('update content.content_release set status = $2, publish_at = $3, version = version + 1 where id = $1', [
    id,
    next,
    publishAt.toISOString(),
  ]);
  ctx.audit('content_release.scheduled', id);
  return releaseOf(ctx, id);
}

/** A release of one item, at the revision that it has now. */
export async function scheduleOne(ctx: Context, state: ItemState, publishAt: Date): Promise<void> {
  const release = await createRelease(ctx, 'Scheduled');
  await addToRelease(ctx, release.id, [{ itemId: state.id, revision: state.number }]);
  await scheduleRelease(ctx, release.id, publishAt);
}

export async function cancelRelease(ctx: Context, id: string): Promise<ContentRelease> {
  const { status } = await locked(ctx, id);
  await ctx.sql('update content.content_release set status = $2, version = version + 1 where id = $1', [id, moved(status, 'cancel')]);
  ctx.audit('content_release.cancelled', id);
  return releaseOf(ctx, id);
}

const reasonOf = ({ message, options }: Problem): string =>
  [options.reason ?? message, ...(options.errors ?? []).map(({ pointer, message: what }) => `${pointer} ${what}`)].join('; ').slice(0, 500);

/** Why an item cannot be published, null where it can; nothing of the attempt stays. */
async function attempt(ctx: Context, { item_id: itemId, revision, locales }: ItemRow): Promise<string | null> {
  try {
    const state = await requireItem(ctx, itemId, { revision });
    const known = chosenLocales(state, state.data, null);
    await publish(ctx, state, { revision, locales: locales ?? known, allowDanglingReferences: true });
    return null;
  } catch (error) {
    if (error instanceof Problem) return reasonOf(error);
    throw error;
  }
}

class NotAll extends Error {
  constructor(readonly reasons: ReadonlyMap<string, string>) {
    super('some items cannot be published');
  }
}

async function publishAll(ctx: Context, id: string): Promise<void> {
  const reasons = new Map<string, string>();
  for (const item of await ctx.sql<ItemRow>(ITEMS, [id])) {
    const reason = await attempt(ctx, item);
    if (reason !== null) reasons.set(item.item_id, reason);
  }
  if (reasons.size > 0) throw new NotAll(reasons);
  await tellChanges(ctx);
}

/** Publishes all items, or none and says why. */
async function run(ctx: Context, id: string): Promise<ContentReleaseStatus> {
  try {
    await ctx.savepoint(() => publishAll(ctx, id));
    await ctx.sql(`update content.content_release set status = 'PUBLISHED', published_at = $2, version = version + 1 where id = $1`, [
      id,
      ctx.now().toISOString(),
    ]);
    ctx.audit('content_release.published', id);
    return 'PUBLISHED';
  } catch (error) {
    if (!(error instanceof NotAll)) throw error;
    for (const [itemId, reason] of error.reasons)
      await ctx.sql('update content.content_release_item set reason = $3 where release_id = $1 and item_id = $2', [id, itemId, reason]);
    await ctx.sql(`update content.content_release set status = 'FAILED', version = version + 1 where id = $1`, [id]);
    ctx.audit('content_release.failed', id, { items: error.reasons.size });
    ctx.log.error({ release: id, items: error.reasons.size }, 'a release could not be published');
    return 'FAILED';
  }
}

/** Publishes a release at once. */
export async function publishRelease(ctx: Context, id: string): Promise<ContentRelease> {
  const { status } = await locked(ctx, id);
  moved(status, 'publish');
  await checkItems(ctx, id);
  await run(ctx, id);
  return releaseOf(ctx, id);
}

const DUE = `select id from content.content_release where status = 'SCHEDULED' and publish_at <= $1 order by publish_at limit 20 for update skip locked`;

/** Publishes what is due. */
export async function publishDue(ctx: Context, at: Date): Promise<void> {
  for (const { id } of await ctx.sql<{ id: string }>(DUE, [at.toISOString()])) await run(ctx, id);
}
