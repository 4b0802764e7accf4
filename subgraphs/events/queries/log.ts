import { mayAccess, ruleOf } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { invalid } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { decodeCursor, toConnection, type Connection, type PageArgs } from '../../../runtime/request/paging.js';
import { OwnEvent, PlatformEvent } from '../entities/platform-event.js';
import { READERS } from '../entities/enums.js';
import type { LogFilterArgs, MyEventsArgs, PlatformEventsArgs } from '../inputs/lists.js';
import { Conditions, instant, instantOrNull } from './conditions.js';
import { cursorOf, followLog, positionOf, type LogRow } from './log-order.js';

interface Row extends Omit<PlatformEvent, 'occurredAt' | 'erasedAt' | 'publishedAt' | 'traceId'> {
  occurredAt: string;
  erasedAt: string | null;
  publishedAt: string | null;
  traceparent: string | null;
}

/** Whether the caller sees all events, not the own ones only. */
export const isOperator = ({ caller }: Context): boolean => mayAccess(ruleOf(READERS), caller);

/** Everything but `data`, which is read only for who may see it. */
const COLUMNS = `o.id, o.type, o.user_id as "userId", o.brand_id as "brandId", o.subject, o.occurred_at as "occurredAt", o.seq::float8 as sequence, o.source,
  o.erased_at as "erasedAt", o.published_at as "publishedAt", o.request_id as "requestId", o.actor, o.traceparent, o.causation_id as "causationId"`;
const SELECT = `select ${COLUMNS} from events.outbox o`;

/** No user has it. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** W3C trace context: version, trace id, parent, flags. */
const traceOf = (traceparent: string | null): string | null => traceparent?.split('-')[1] ?? null;

function toEvent({ traceparent, ...row }: Row): PlatformEvent {
  const times = { occurredAt: instant(row.occurredAt), erasedAt: instantOrNull(row.erasedAt), publishedAt: instantOrNull(row.publishedAt) };
  return Object.assign(new PlatformEvent(), row, times, { traceId: traceOf(traceparent) });
}

const filter = (conditions: Conditions, args: LogFilterArgs): Conditions =>
  conditions
    .add('o.type = ?', args.type)
    .add('o.type = any(?::text[])', args.types)
    .addId('o.user_id = ?', args.userId)
    .add('o.subject = ?', args.subject)
    .add('o.source = ?', args.source)
    .add('o.occurred_at >= ?', args.occurredFrom)
    .add('o.occurred_at < ?', args.occurredTo);

/** Events, newest first: their ids are made in time order. */
async function listNewest(ctx: Context, args: PlatformEventsArgs): Promise<Connection<PlatformEvent>> {
  if (args.wait) invalid('/wait', 'is for the order log');
  const conditions = filter(new Conditions(), args).after('o.id < ?', args.after, isUuid);
  const rows = await ctx.sql<Row>(`${SELECT} where ${conditions.sql} order by o.id desc limit ${args.first + 1}`, conditions.values);
  return toConnection(rows.map(toEvent), args.first, event => [event.id]);
}

/** Events in the order of the relay; waits for one where there is none yet. */
async function listInLogOrder(ctx: Context, args: PlatformEventsArgs): Promise<Connection<PlatformEvent>> {
  const read = { columns: COLUMNS, filter: (conditions: Conditions) => filter(conditions, args), first: args.first };
  const { rows, next } = await followLog<Row & LogRow>(ctx, read, await positionOf(ctx, args.after), args.wait ?? 0);
  return { nodes: rows.map(toEvent), pageInfo: { endCursor: cursorOf(next), hasNextPage: true } };
}

export const listEvents = (ctx: Context, args: PlatformEventsArgs): Promise<Connection<PlatformEvent>> =>
  args.order === 'log' ? listInLogOrder(ctx, args) : listNewest(ctx, args);

/** What happened to one user, newest first, without data. */
export async function listOwnEvents(ctx: Context, userId: string, { types, first, after }: MyEventsArgs): Promise<Connection<OwnEvent>> {
  const conditions = new Conditions().add('o.user_id = ?', userId).add('o.type = any(?::text[])', types).after('o.id < ?', after, isUuid);
  const text = `select o.id, o.type, o.occurred_at as "occurredAt" from events.outbox o where ${conditions.sql} order by o.id desc limit ${first + 1}`;
  const rows = await ctx.sql<{ id: string; type: string; occurredAt: string }>(text, conditions.values);
  return toConnection(
    rows.map(row => Object.assign(new OwnEvent(), row, { occurredAt: instant(row.occurredAt) })),
    first,
    event => [event.id],
  );
}

/** An event that the caller may see: an operator any, a user one about itself. */
export const eventOf = (ctx: Context, id: string): Promise<PlatformEvent | null> =>
  ctx.load('events.event', id, async ids => {
    const conditions = new Conditions().add('o.id = any(?::uuid[])', ids.filter(isUuid));
    if (!isOperator(ctx)) conditions.add('o.user_id = ?', ctx.caller.userId ?? NOBODY);
    const rows = await ctx.sql<Row>(`${SELECT} where ${conditions.sql}`, conditions.values);
    return inOrder(ids, rows.map(toEvent), event => event.id);
  });

/** What an event caused, `first + 1` of them in the order of the log; for all events of a request in one statement. */
export async function effectsOf(ctx: Context, id: string, { first, after }: PageArgs): Promise<PlatformEvent[]> {
  const from = after ? Number(decodeCursor(after, 1)[0]) : 0;
  if (!Number.isSafeInteger(from)) decodeCursor('', 1);
  const found = await ctx.load(`events.effects:${first}:${from}`, id, async ids => {
    const text = `select e.* from unnest($1::text[]) c(id) cross join lateral (
      ${SELECT} where o.causation_id = c.id and o.seq > $2 order by o.seq limit ${first + 1}) e order by e.sequence`;
    const events = (await ctx.sql<Row>(text, [ids, from])).map(toEvent);
    return ids.map(one => events.filter(({ causationId }) => causationId === one));
  });
  return found ?? [];
}
