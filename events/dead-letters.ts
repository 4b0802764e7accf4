import type { Sql } from './outbox.js';

/** A dead letter that may not be replayed or discarded as it stands. */
export class DeadLetterConflict extends Error {
  override name = 'DeadLetterConflict';

  /** @param inFront id of the letter that must go first. */
  constructor(
    message: string,
    readonly inFront: string | null = null,
  ) {
    super(message);
  }
}

/** A dead letter as an operator sees it; no payload. */
export interface DeadLetter {
  id: string;
  consumer: string;
  event_id: string;
  seq: number;
  type: string;
  status: 'dead' | 'retrying' | 'parked' | 'resolved' | 'discarded';
  reason: string;
}

const OPERATED = 'd.id, d.consumer, d.event_id, d.seq::float8 as seq, d.type, d.status, d.reason';

const REPLAY = `
update events.dead_letter d set status = 'retrying', next_attempt_at = $2::timestamptz, attempts = 0
where d.id = $1::uuid and d.status = 'dead' and not exists (select from events.dead_letter f where f.consumer = d.consumer and f.order_key = d.order_key
  and f.status in ('dead', 'retrying', 'parked') and (f.seq, f.id) < (d.seq, d.id))
returning ${OPERATED}`;

const DISCARD = `
update events.dead_letter d set status = 'discarded', resolved_by = $2, resolved_at = $3::timestamptz where d.id = $1::uuid and d.status = 'dead'
returning ${OPERATED}`;

const BLOCKER = `
select d.status, (select f.id from events.dead_letter f where f.consumer = d.consumer and f.order_key = d.order_key
  and f.status in ('dead', 'retrying', 'parked') and (f.seq, f.id) < (d.seq, d.id) order by f.seq, f.id limit 1) as in_front
from events.dead_letter d where d.id = $1::uuid`;

/**
 * Makes a dead letter due now; its consumer's worker runs it and then what is parked behind it. The caller audits it.
 * @throws DeadLetterConflict when it is not dead, or not the first of its key.
 */
export async function replayDeadLetter(sql: Sql, id: string, now: Date): Promise<DeadLetter> {
  const [letter] = await sql<DeadLetter>(REPLAY, [id, now.toISOString()]);
  return letter ?? failConflict(sql, id);
}

/**
 * Gives a dead letter up, so that its key goes on with the next event. The caller audits it with the reason.
 * @param by actor, for example `staff:<id>`.
 * @throws DeadLetterConflict when it is not dead, RangeError without a reason of 3 to 500 characters.
 */
export async function discardDeadLetter(sql: Sql, id: string, reason: string, by: string, now: Date): Promise<DeadLetter> {
  if (reason.length < 3 || reason.length > 500) throw new RangeError('a reason has 3 to 500 characters');
  const [letter] = await sql<DeadLetter>(DISCARD, [id, by, now.toISOString()]);
  return letter ?? failConflict(sql, id);
}

async function failConflict(sql: Sql, id: string): Promise<never> {
  const [found] = await sql<{ status: string; in_front: string | null }>(BLOCKER, [id]);
  if (!found) throw new DeadLetterConflict(`there is no dead letter ${id}`);
  if (found.in_front) throw new DeadLetterConflict(`the dead letter is ${found.status} behind ${found.in_front}`, found.in_front);
  throw new DeadLetterConflict(`the dead letter is ${found.status}`);
}
