import type { ReplayFilter } from '../../../events/replay-log.js';
import type { Context } from '../../../runtime/request/context.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { toConnection, type Connection } from '../../../runtime/request/paging.js';
import { EventReplay, EventReplayFilter } from '../entities/replay.js';
import type { EventReplaysArgs } from '../inputs/replay.js';
import { Conditions, instant, instantOrNull, rowAt } from './conditions.js';

type Times = 'createdAt' | 'startedAt' | 'finishedAt';
type Row = Omit<EventReplay, Times | 'filter'> & {
  filter: ReplayFilter;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
};

const SELECT = `select r.id, r.consumer as "consumerName", r.mode, r.filter, r.status, r.total, r.sent, r.skipped, r.requested_by as "requestedBy", r.reason,
  r.created_at as "createdAt", r.started_at as "startedAt", r.finished_at as "finishedAt", r.error from events.replay r`;

const shownFilter = (filter: ReplayFilter): EventReplayFilter =>
  Object.assign(new EventReplayFilter(), {
    types: filter.types ?? null,
    userId: filter.user_id ?? null,
    occurredFrom: instantOrNull(filter.occurred_from ?? null),
    occurredTo: instantOrNull(filter.occurred_to ?? null),
    sequenceFrom: filter.sequence_from ?? null,
    sequenceTo: filter.sequence_to ?? null,
  });

const toReplay = (row: Row): EventReplay =>
  Object.assign(new EventReplay(), row, {
    filter: shownFilter(row.filter),
    createdAt: instant(row.createdAt),
    startedAt: instantOrNull(row.startedAt),
    finishedAt: instantOrNull(row.finishedAt),
  });

/** Replays, newest first. */
export async function listReplays(ctx: Context, { consumer, status, first, after }: EventReplaysArgs): Promise<Connection<EventReplay>> {
  const conditions = new Conditions()
    .add('r.consumer = ?', consumer)
    .add('r.status = any(?::text[])', status)
    .add('(r.created_at, r.id) < (select a.created_at, a.id from events.replay a where a.id = ?::uuid)', rowAt(after));
  const text = `${SELECT} where ${conditions.sql} order by r.created_at desc, r.id desc limit ${first + 1}`;
  const rows = await ctx.sql<Row>(text, conditions.values);
  return toConnection(rows.map(toReplay), first, replay => [replay.id]);
}

export const replayOf = (ctx: Context, id: string): Promise<EventReplay | null> =>
  ctx.load('events.replay', id, async ids => {
    const rows = await ctx.sql<Row>(`${SELECT} where r.id = any($1::uuid[])`, [ids.filter(isUuid)]);
    return inOrder(ids, rows.map(toReplay), replay => replay.id);
  });

const OPEN = `select id from events.replay where consumer = $1 and status in ('pending', 'running')`;

/** The replay of a consumer that is not over. */
export async function openReplayOf(ctx: Context, consumer: string): Promise<string | null> {
  const [row] = await ctx.sql<{ id: string }>(OPEN, [consumer]);
  return row?.id ?? null;
}

/** As it stands, locked; null when there is none. */
export async function lockReplay(ctx: Context, id: string): Promise<EventReplay | null> {
  if (!isUuid(id)) return null;
  const rows = await ctx.sql<Row>(`${SELECT} where r.id = $1 for update`, [id]);
  return rows[0] ? toReplay(rows[0]) : null;
}
