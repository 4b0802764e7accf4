import type { Context } from '../../../runtime/request/context.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { toConnection, type Connection } from '../../../runtime/request/paging.js';
import { ConsumerDeadLetter } from '../entities/dead-letter.js';
import type { DeadLetterStatus } from '../entities/enums.js';
import type { ConsumerDeadLettersArgs } from '../inputs/lists.js';
import { Conditions, instant, instantOrNull, rowAt } from './conditions.js';

type Times = 'nextAttemptAt' | 'firstFailedAt' | 'lastFailedAt' | 'resolvedAt';
type Row = Omit<ConsumerDeadLetter, Times> & {
  nextAttemptAt: string | null;
  firstFailedAt: string;
  lastFailedAt: string;
  resolvedAt: string | null;
};

const SELECT = `select d.id, d.consumer as "consumerName", d.event_id as "eventId", d.order_key as "orderKey", d.seq::float8 as sequence, d.type, d.status, d.reason,
  d.error_class as "errorClass", d.error_message as "errorMessage", d.attempts, d.next_attempt_at as "nextAttemptAt", d.first_failed_at as "firstFailedAt",
  d.last_failed_at as "lastFailedAt", d.resolved_by as "resolvedBy", d.resolved_at as "resolvedAt" from events.dead_letter d`;

const toLetter = (row: Row): ConsumerDeadLetter =>
  Object.assign(new ConsumerDeadLetter(), row, {
    nextAttemptAt: instantOrNull(row.nextAttemptAt),
    firstFailedAt: instant(row.firstFailedAt),
    lastFailedAt: instant(row.lastFailedAt),
    resolvedAt: instantOrNull(row.resolvedAt),
  });

const OPEN: readonly DeadLetterStatus[] = ['dead', 'retrying', 'parked'];

/** Order of a list: by first failure; those of one key follow the log. */
const ORDER = 'd.first_failed_at, d.seq, d.id';

/** Dead letters, oldest first. */
export async function listDeadLetters(ctx: Context, args: ConsumerDeadLettersArgs): Promise<Connection<ConsumerDeadLetter>> {
  const { consumer, status, reason, type, userId, first, after } = args;
  const conditions = new Conditions()
    .add('d.consumer = ?', consumer)
    .add('d.status = any(?::text[])', status ?? OPEN)
    .add('d.reason = ?', reason)
    .add('d.type = ?', type)
    .add('d.order_key = ?', userId == null ? null : `u:${userId.toLowerCase()}`)
    .add(`(${ORDER}) > (select ${ORDER} from events.dead_letter d where d.id = ?::uuid)`, rowAt(after));
  const rows = await ctx.sql<Row>(`${SELECT} where ${conditions.sql} order by ${ORDER} limit ${first + 1}`, conditions.values);
  return toConnection(rows.map(toLetter), first, letter => [letter.id]);
}

export const letterOf = (ctx: Context, id: string): Promise<ConsumerDeadLetter | null> =>
  ctx.load('events.dead_letter', id, async ids => {
    const rows = await ctx.sql<Row>(`${SELECT} where d.id = any($1::uuid[])`, [ids.filter(isUuid)]);
    return inOrder(ids, rows.map(toLetter), letter => letter.id);
  });

const BLOCKERS = `
select d.id, (select f.id from events.dead_letter f where f.consumer = d.consumer and f.order_key = d.order_key and f.status in ('dead', 'retrying', 'parked')
  and (f.seq, f.id) < (d.seq, d.id) order by f.seq, f.id limit 1) as blocker from events.dead_letter d where d.id = any($1::uuid[])`;

/** The open letter that must be settled first; null for the first of a key and for a settled one. */
export async function blockerOf(ctx: Context, { id, status }: ConsumerDeadLetter): Promise<ConsumerDeadLetter | null> {
  if (!OPEN.includes(status)) return null;
  const blocker = await ctx.load('events.blocker', id, async ids => {
    const rows = await ctx.sql<{ id: string; blocker: string | null }>(BLOCKERS, [ids]);
    return ids.map(one => rows.find(row => row.id === one)?.blocker ?? null);
  });
  return blocker === null ? null : letterOf(ctx, blocker);
}
