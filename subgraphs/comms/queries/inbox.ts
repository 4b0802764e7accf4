import type { FilterQuery } from '@mikro-orm/postgresql';
import type { Context } from '../../../runtime/request/context.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { CommsInboxItemStatus as Status } from '../entities/enums.js';
import { CommsInboxItem, type CommsInboxCount } from '../entities/inbox.js';
import type { CommsInboxArgs } from '../inputs/inbox.js';

export interface ItemText {
  title: string;
  body: string;
  neutral: string | null;
  why: string;
}

export const textOfItem = (ctx: Context, { id, textSealed }: CommsInboxItem): ItemText =>
  JSON.parse(ctx.host.sealer.open(textSealed, `inbox_item.text:${id}`)) as ItemText;

/** Items of a person, newest first; archived ones only when they are asked for. */
export function listItems(ctx: Context, { userId, status, topic, ...paging }: CommsInboxArgs): Promise<Connection<CommsInboxItem>> {
  const where = {
    userId: ctx.subject(userId).toLowerCase(),
    status: status ?? { $ne: Status.ARCHIVED },
    ...(topic && { topic }),
  };
  return page(ctx.em, CommsInboxItem, where as FilterQuery<CommsInboxItem>, paging, { time: 'createdAt' });
}

/** Items that a stream begins with. */
const NEWEST = 20;

export const newestItems = (ctx: Context, userId: string): Promise<CommsInboxItem[]> =>
  ctx.em.find(CommsInboxItem, { userId, status: { $ne: Status.ARCHIVED } }, { orderBy: { createdAt: 'desc', id: 'desc' }, limit: NEWEST });

const COUNTS = `
select u.id, count(*) filter (where i.status = 'unseen')::int as unseen, count(*) filter (where i.status in ('unseen', 'seen'))::int as unread
from unnest($1::uuid[]) as u (id) left join comms.inbox_item i on i.user_id = u.id group by u.id`;

/** How many items wait, of each of these people. */
export async function countsOf(ctx: Context, userIds: readonly string[]): Promise<ReadonlyMap<string, CommsInboxCount>> {
  const rows = await ctx.sql<CommsInboxCount & { id: string }>(COUNTS, [userIds]);
  return new Map(rows.map(({ id, ...count }) => [id, count]));
}

export const countItems = async (ctx: Context, userId: string): Promise<CommsInboxCount> =>
  (await countsOf(ctx, [userId])).get(userId.toLowerCase())!;
