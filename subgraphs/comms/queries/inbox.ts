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

const COUNT = `
select count(*) filter (where status = 'unseen')::int as unseen, count(*) filter (where status in ('unseen', 'seen'))::int as unread from comms.inbox_item where user_id = $1`;

export const countItems = async (ctx: Context, userId: string): Promise<CommsInboxCount> =>
  (await ctx.sql<CommsInboxCount>(COUNT, [userId.toLowerCase()]))[0]!;
