import type { Caller } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Viewer } from '../../../runtime/streams/connection.js';
import { Feed, type Entry, type NewEntry } from '../../../runtime/streams/feed.js';
import type { CommsInboxCount, CommsInboxItem } from '../entities/inbox.js';
import { countItems, countsOf, newestItems, textOfItem } from '../queries/inbox.js';
import { isHealthTopic, seesTopic } from '../rules/disclosure.js';
import { linkTo } from './links.js';

/** What the apps of a person are told of the inbox; a stream has the id of its person. Source: comms 4, live 4.8. */
export const inboxFeed = new Feed('comms', 'inbox_feed');

/** In place of a person where a ticket is sealed and opened: the address of the stream names nobody, so the ticket says whose it opens. */
export const WHOSE_TICKET = 'own';

/** An entry has at most 16 KiB; a longer text is read by the item's own address. Characters. */
const TITLE = 300;
const BODY = 2_000;
const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** An item in REST form, as who may see what it is about gets it, or as everybody else does. Source: comms, rule 7. */
function shownItem(ctx: Context, item: CommsInboxItem, isOpen: boolean): object {
  const { title, body, neutral, why } = textOfItem(ctx, item);
  const { id, topic, entityType: type, entityId, count, status, priority, createdAt, seenAt, readAt, archivedAt, expiresAt } = item;
  return {
    id,
    kind: isOpen ? item.template : 'health',
    topic,
    title: cut(isOpen ? title : (neutral ?? ''), TITLE),
    body: cut(isOpen ? body : (neutral ?? ''), BODY),
    why,
    deep_link: isOpen && item.link !== null ? item.link : linkTo(ctx, `/m/${item.messageId}`),
    entity: isOpen && type !== null && entityId !== null ? { type, id: entityId } : null,
    count,
    status,
    priority,
    created_at: createdAt,
    seen_at: seenAt,
    read_at: readAt,
    archived_at: archivedAt,
    expires_at: expiresAt,
  };
}

/** Both forms stand in the entry of a health topic, because one entry is for all apps of a person. */
interface StoredItem {
  topic: string;
  open: object;
  hidden: object | null;
}

function itemEntry(ctx: Context, item: CommsInboxItem): NewEntry {
  const hidden = isHealthTopic(item.topic) ? shownItem(ctx, item, false) : null;
  const payload: StoredItem = { topic: item.topic, open: shownItem(ctx, item, true), hidden };
  return { audience: 'USER', userId: item.userId, type: 'item', payload };
}

const countEntry = (userId: string, { unseen, unread }: CommsInboxCount): NewEntry => ({
  audience: 'USER',
  userId,
  type: 'count',
  payload: { unseen, unread },
});

/** An entry as one app of the person gets it. */
export function shownTo(entry: Entry, caller: Caller): Entry {
  if (entry.type !== 'item') return entry;
  const { topic, open, hidden } = JSON.parse(entry.data) as StoredItem;
  return { ...entry, data: JSON.stringify(hidden === null || seesTopic(caller, topic) ? open : hidden) };
}

/**
 * Tells the streams of people what items have become, and how many wait now; of `others` the numbers alone. Call it last, once: it holds
 * the streams until the commit, in the order of their people, so that two of them never wait for each other.
 */
export async function tellInboxes(ctx: Context, items: readonly CommsInboxItem[], others: readonly string[] = []): Promise<void> {
  const people = [...new Set([...items.map(({ userId }) => userId), ...others])].sort();
  if (people.length === 0) return;
  await ctx.em.flush();
  const entriesOf = (userId: string): NewEntry[] =>
    [...new Set(items.filter(item => item.userId === userId))].map(item => itemEntry(ctx, item));
  const streams = people.map(userId => ({ id: userId, entries: entriesOf(userId) }));
  await inboxFeed.appendAll(ctx, streams, false);
  const counts = await countsOf(ctx, people); // what others did before they let go of a stream is seen only from here on
  await inboxFeed.appendAll(
    ctx,
    people.map(userId => ({ id: userId, entries: [countEntry(userId, counts.get(userId)!)] })),
  );
}

/** What a stream begins with: the numbers, and the newest items. */
export async function inboxNow(ctx: Context, userId: string, { caller }: Viewer): Promise<object> {
  const { unseen, unread } = await countItems(ctx, userId);
  const items = await newestItems(ctx, userId);
  return { count: { unseen, unread }, items: items.map(item => shownItem(ctx, item, seesTopic(caller, item.topic))) };
}
