import type { FilterQuery } from '@mikro-orm/postgresql';
import { rowsBy } from '../../../runtime/data/rows.js';
import { holdsPermission } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { mayAccess, ruleOf } from '../../../runtime/access/access.js';
import { ADMIN_READERS } from '../entities/access.js';
import { CapturedMessage } from '../entities/records.js';
import {
  CommsMessage,
  CommsSendRequest,
  MessageAttempt,
  type CapturedCommsMessage,
  type CommsMessageAttempt,
  type CommsStats,
} from '../entities/message.js';
import type { CapturedArgs, CommsMessageFilter, CommsStatsArgs, MyMessagesArgs } from '../inputs/messages.js';
import { capturedContext } from '../ports/capture.js';

const ANYBODYS = ruleOf(ADMIN_READERS);

/** Anybody's for services and staff, else the caller's own. */
export const seesAll = ({ caller }: Context): boolean => mayAccess(ANYBODYS, caller);
export const ownRows = (ctx: Context): { userId?: string } => (seesAll(ctx) ? {} : { userId: ctx.caller.userId! });

const KEYS = ['dedupeKey', 'entityId'] as const;

/** @throws Problem not_found for another person's; invalid_request where services name neither person nor thing. */
function subjectOf(ctx: Context, filter: CommsMessageFilter): { userId?: string } {
  if (filter.entityId && !filter.entityType)
    fail('invalid_request', 'The input is invalid', { errors: [{ pointer: '/entity_id', message: 'needs entity_type' }] });
  if (seesAll(ctx) && !filter.userId && KEYS.some(key => filter[key])) return {};
  return { userId: ctx.subject(filter.userId).toLowerCase() };
}

const given = (where: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(where).filter(([, value]) => value != null));

export async function listMessages(ctx: Context, { filter, ...paging }: MyMessagesArgs): Promise<Connection<CommsMessage>> {
  const asked = filter ?? {};
  const { channel, status, topic, entityType, entityId, dedupeKey, from, to } = asked;
  const requests = dedupeKey ? await ctx.em.find(CommsSendRequest, { dedupeKey }) : null;
  const where = given({
    channel,
    status,
    topic,
    entityType,
    entityId,
    ...subjectOf(ctx, asked),
    ...(requests && { requestId: { $in: requests.map(({ id }) => id) } }),
  });
  const within = given({ $gte: from, $lt: to });
  const times = Object.keys(within).length ? { createdAt: within } : {};
  return page(ctx.em, CommsMessage, { ...where, ...times } as FilterQuery<CommsMessage>, paging, { time: 'createdAt' });
}

export const attemptsOf = async (ctx: Context, messageId: string): Promise<CommsMessageAttempt[]> =>
  (await ctx.load('comms.attempts', messageId, async ids => {
    const rows = await ctx.em.find(MessageAttempt, { messageId: { $in: [...ids] } }, { orderBy: { number: 'asc' } });
    return ids.map(id => rows.filter(row => row.messageId === id));
  })) ?? [];

export const messagesOfRequest = async (ctx: Context, requestId: string): Promise<CommsMessage[]> =>
  (await ctx.load('comms.request-messages', requestId, async ids => {
    const rows = await ctx.em.find(CommsMessage, { requestId: { $in: [...ids] } }, { orderBy: { id: 'asc' } });
    return ids.map(id => rows.filter(row => row.requestId === id));
  })) ?? [];

export const requestOf = (ctx: Context, id: string): Promise<CommsSendRequest | null> =>
  ctx.load('comms.request', id, ids => rowsBy(ctx, CommsSendRequest, 'id', ids));

export const seesContent = ({ caller }: Context, message: CommsMessage): boolean =>
  caller.kind === 'service' ||
  (caller.kind === 'user' && (caller.userId === message.userId ? caller.firstParty : holdsPermission(caller, 'admin:comms:content')));

/** What the development mailbox holds, opened. */
export async function capturedOf(ctx: Context, { userId, channel, first }: CapturedArgs): Promise<CapturedCommsMessage[]> {
  const rows = await ctx.em.find(CapturedMessage, given({ userId, channel }), { orderBy: { createdAt: 'desc', id: 'desc' }, limit: first });
  return rows.map(row => opened(ctx, row));
}

export function opened(ctx: Context, row: CapturedMessage): CapturedCommsMessage {
  const { to, ...content } = JSON.parse(ctx.host.sealer.open(row.sealed, capturedContext(row.id))) as { to: string } & Record<
    string,
    unknown
  >;
  return { id: row.id, messageId: row.messageId, channel: row.channel, to, content, createdAt: row.createdAt };
}

const GROUPS = { template: 'template', channel: 'channel', day: "to_char(created_at at time zone 'utc', 'YYYY-MM-DD')" };

interface Counted {
  group: string;
  sent: number;
  delivered: number;
  bounced: number;
  complained: number;
  failed: number;
  skipped: Record<string, number>;
  p50: number | null;
  p95: number | null;
}

/** Figures of a time; people are not among them. */
export async function statsOf(ctx: Context, { from, to, groupBy }: CommsStatsArgs): Promise<CommsStats[]> {
  const group = GROUPS[groupBy];
  const rows = await ctx.sql<Counted>(
    `with counted as (select ${group} as "group", status, status_reason, sent_at, coalesce(scheduled_for, created_at) as due from comms.message where created_at >= $1 and created_at < $2)
     select c."group", count(*) filter (where sent_at is not null)::int as sent, count(*) filter (where status = 'delivered')::int as delivered,
       count(*) filter (where status = 'bounced')::int as bounced, count(*) filter (where status = 'complained')::int as complained, count(*) filter (where status = 'failed')::int as failed,
       coalesce((select jsonb_object_agg(reason, n) from (select coalesce(s.status_reason, 'unknown') as reason, count(*)::int as n from counted s where s."group" = c."group" and s.status = 'skipped' group by 1) r), '{}') as skipped,
       percentile_cont(0.5) within group (order by greatest(0, extract(epoch from sent_at - due) * 1000)) filter (where sent_at is not null)::int as p50,
       percentile_cont(0.95) within group (order by greatest(0, extract(epoch from sent_at - due) * 1000)) filter (where sent_at is not null)::int as p95
     from counted c group by c."group" order by c."group"`,
    [from.toISOString(), to.toISOString()],
  );
  return rows.map(({ p50, p95, ...row }) => ({ ...row, latencyP50Ms: p50, latencyP95Ms: p95 }));
}
