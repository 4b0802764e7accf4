import { notificationCreated } from '../../../events/catalogue/comms.js';
import { isUuid, newId } from '../../../runtime/data/ids.js';
import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { move } from '../../../runtime/request/states.js';
import { CommsCategory, CommsInboxItemPriority, CommsInboxItemStatus as Status, type CommsInboxAction } from '../entities/enums.js';
import { CommsInboxItem } from '../entities/inbox.js';
import type { CommsMessage } from '../entities/message.js';
import { INBOX_STATES } from '../rules/states.js';
import { topicOf } from '../rules/topics.js';
import { reportFinal, reportSent } from './outcome.js';
import type { Sending } from './pipeline/decide.js';
import type { Content } from './pipeline/render.js';
import { sealJson } from './sealed.js';
import { tellInboxes } from './stream.js';

const DAY_MS = 86_400_000;
const KEPT_MS = 180 * DAY_MS;

/** What an item says, sealed. */
export interface ItemText {
  title: string;
  body: string;
  neutral: string | null;
  why: string;
}

const UNSEEN = "select count(*)::int as unseen from comms.inbox_item where user_id = $1 and status = 'unseen'";

export const unseenOf = async (ctx: Context, userId: string): Promise<number> =>
  (await ctx.sql<{ unseen: number }>(UNSEEN, [userId]))[0]!.unseen;

/** The unread item of the same group, not older than a day. */
const openGroup = (ctx: Context, userId: string, groupKey: string): Promise<CommsInboxItem | null> =>
  ctx.em.findOne(
    CommsInboxItem,
    { userId, groupKey, status: { $in: [Status.UNSEEN, Status.SEEN] }, createdAt: { $gt: new Date(ctx.now().getTime() - DAY_MS) } },
    { orderBy: { createdAt: 'desc' } },
  );

const textOf = (ctx: Context, id: string, content: Content): Buffer =>
  sealJson(ctx, 'inbox_item.text', id, {
    title: content.title ?? '',
    body: content.body ?? '',
    neutral: content.neutral,
    why: content.why ?? '',
  } satisfies ItemText);

function announce(ctx: Context, item: CommsInboxItem, brandId: string | null): void {
  const named = item.isClinical || item.entityId === null || !isUuid(item.entityId);
  const data = {
    notification_id: item.id,
    kind: item.isClinical ? 'health' : item.template,
    entity_type: named ? null : item.entityType,
    entity_id: named ? null : item.entityId,
    created_at: item.createdAt.toISOString(),
  };
  ctx.emit(notificationCreated, data, { userId: item.userId, brandId });
}

/** The app shows it at once: an item of its own, or one more of its group. @returns the item, of which the streams are to be told. */
export async function deliverInApp(
  ctx: Context,
  message: CommsMessage,
  { facts, count, version }: Sending,
  content: Content,
): Promise<CommsInboxItem> {
  const userId = message.userId!;
  const groupKey = facts.request?.groupKey ?? null;
  const topic = topicOf(message.topic)!;
  let item = groupKey === null ? null : await openGroup(ctx, userId, groupKey);
  if (item) {
    item.count++;
    Object.assign(item, { status: Status.UNSEEN, seenAt: null, textSealed: textOf(ctx, item.id, content) });
  } else {
    const id = newId();
    item = Object.assign(new CommsInboxItem(), {
      id,
      userId,
      messageId: message.id,
      template: message.template,
      topic: message.topic,
      isClinical: topic.category === CommsCategory.CLINICAL,
      textSealed: textOf(ctx, id, content),
      link: version.deepLink,
      entityType: message.entityType,
      entityId: message.entityId,
      groupKey,
      count,
      priority: topic.urgent ? CommsInboxItemPriority.HIGH : CommsInboxItemPriority.NORMAL,
      createdAt: ctx.now(),
      expiresAt: new Date(ctx.now().getTime() + KEPT_MS),
    });
    ctx.em.persist(item);
    announce(ctx, item, message.brandId);
  }
  reportSent(ctx, message);
  reportFinal(ctx, message, 'delivered', null);
  return item;
}

const STAMPS: Readonly<Partial<Record<Status, 'readAt' | 'archivedAt'>>> = { read: 'readAt', archived: 'archivedAt' };

/** @throws Problem not_found, conflict. A repeat changes nothing. */
export async function changeItem(ctx: Context, id: string, action: CommsInboxAction): Promise<CommsInboxItem> {
  const item = await lockRow(ctx, CommsInboxItem, { id, userId: ctx.caller.userId! });
  const next = move(INBOX_STATES, 'item', item.status, action);
  if (next === item.status) return item;
  item.status = next;
  const stamp = STAMPS[next];
  if (stamp) item[stamp] = ctx.now();
  ctx.audit(`inbox_item.${action}`, id);
  await tellInboxes(ctx, [item]);
  return item;
}

const MARK = {
  seen: "update comms.inbox_item set status = 'seen', seen_at = $4 where user_id = $1 and status = 'unseen' and (created_at, id) <= ($2::timestamptz, $3::uuid) and ($5::text is null or topic = $5) returning id",
  read: "update comms.inbox_item set status = 'read', read_at = $4, seen_at = coalesce(seen_at, $4) where user_id = $1 and status in ('unseen', 'seen') and (created_at, id) <= ($2::timestamptz, $3::uuid) and ($5::text is null or topic = $5) returning id",
};

/** Of many items that are marked at once the newest are told; of the others the number alone. */
const TOLD = 100;

/** Marks items up to one, so that what has come since stays as it is. @throws Problem not_found for an item that is not the caller's. */
export async function markItems(ctx: Context, upTo: string, topic: string | null, as: 'seen' | 'read'): Promise<number> {
  const last = await lockRow(ctx, CommsInboxItem, { id: upTo, userId: ctx.caller.userId! });
  const rows = await ctx.sql<{ id: string }>(MARK[as], [
    ctx.caller.userId!,
    last.createdAt.toISOString(),
    last.id,
    ctx.now().toISOString(),
    topic,
  ]);
  const newest = rows
    .map(({ id }) => id)
    .sort()
    .slice(-TOLD);
  await tellInboxes(ctx, await ctx.em.find(CommsInboxItem, { id: { $in: newest } }, { refresh: true, orderBy: { id: 'asc' } }));
  return rows.length;
}
