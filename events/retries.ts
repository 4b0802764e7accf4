import type pg from 'pg';
import { envelopeOf, NO_REPLAY, OUTBOX_COLUMNS, type Envelope, type OutboxRow } from './envelope.js';
import { describe, GivenBack, type Failure } from './failure.js';
import { after, type Handling } from './handling.js';
import type { Sql } from './outbox.js';
import type { Verdict } from './verdict.js';

/** An open row of `events.dead_letter` with its event. */
interface Letter {
  id: string;
  status: 'dead' | 'retrying' | 'parked';
  /** Rounds that failed so far; a parked event has 0. */
  attempts: number;
  nextAttemptAt: Date | null;
  rerun: boolean;
  erased: boolean;
  /** null when the log no longer has it. */
  event: Envelope | null;
}

interface LetterRow extends OutboxRow {
  letter_id: string;
  status: Letter['status'];
  letter_attempts: number;
  next_attempt_at: Date | null;
  replay_id: string;
  rerun: boolean;
  erased: boolean;
}

/** Keys that are worked on at once. */
const KEYS_AT_ONCE = 50;

/** Keys with something to do: a retry that is due, or a parked event with none before it any more. */
const RUNNABLE_KEYS = `
select distinct d.order_key from events.dead_letter d
where d.consumer = $1 and ((d.status = 'retrying' and d.next_attempt_at <= $2) or (d.status = 'parked' and not exists (
  select from events.dead_letter f where f.consumer = d.consumer and f.order_key = d.order_key
    and f.status in ('dead', 'retrying', 'parked') and (f.seq, f.id) < (d.seq, d.id))))
limit ${KEYS_AT_ONCE}`;

const FIRST_OF_KEY = `
select d.id as letter_id, d.status, d.attempts as letter_attempts, d.next_attempt_at, d.replay_id, coalesce(r.mode = 'rerun', false) as rerun,
  o.erased_at is not null as erased, ${OUTBOX_COLUMNS}
from events.dead_letter d left join events.outbox o on o.id = d.event_id left join events.replay r on r.id = d.replay_id
where d.consumer = $1 and d.order_key = $2 and d.status in ('dead', 'retrying', 'parked') order by d.seq, d.id limit 1`;

/** The letter was settled, discarded or rescheduled by somebody else meanwhile: the transaction rolls back. */
class Overtaken extends Error {}

/**
 * Retries what is due, and after a success the rest of the key in seq order; every event in a transaction of its own under the key's lock.
 * While a row of the key is open, live events of the key park behind it, so the order holds.
 */
export class RetryWorker<Ctx> {
  #running: Promise<unknown> = Promise.resolve();

  constructor(
    readonly handling: Handling<Ctx>,
    readonly pool: pg.Pool,
  ) {}

  /** The earliest due time, or null. */
  async nextAt(): Promise<Date | null> {
    const { rows } = await this.pool.query<{ at: Date | null }>(
      `select min(next_attempt_at) as at from events.dead_letter where consumer = $1 and status = 'retrying'`,
      [this.#consumer],
    );
    return rows[0]!.at;
  }

  /** Runs what is due at `now`; one run at a time. Answers how many events were handled. */
  run(now: Date): Promise<number> {
    const mine = this.#running.then(() => this.#round(now));
    this.#running = mine.catch(() => undefined);
    return mine;
  }

  async #round(now: Date): Promise<number> {
    let handled = 0;
    for (;;) {
      const { rows } = await this.pool.query<{ order_key: string }>(RUNNABLE_KEYS, [this.#consumer, now]);
      const counts = await Promise.all(rows.map(({ order_key }) => this.#key(order_key, now)));
      handled += counts.reduce((sum, { done }) => sum + done, 0);
      if (!counts.some(({ moved }) => moved)) return handled;
    }
  }

  /** Works through a key from its first letter until something fails, is not due, or nothing is left. */
  async #key(orderKey: string, now: Date): Promise<{ done: number; moved: boolean }> {
    for (let done = 0, moved = false; ; moved = true) {
      const letter = await this.#first(orderKey);
      if (!letter || !isRunnable(letter, now)) return { done, moved };
      const outcome = await this.#attempt(letter, now);
      if (outcome === 'overtaken') return { done, moved };
      if (outcome === 'resolved') done++;
    }
  }

  async #first(orderKey: string): Promise<Letter | null> {
    const {
      rows: [row],
    } = await this.pool.query<LetterRow>(FIRST_OF_KEY, [this.#consumer, orderKey]);
    if (!row) return null;
    const { letter_id: id, status, letter_attempts: attempts, next_attempt_at: nextAttemptAt, replay_id, rerun, erased } = row;
    return {
      id,
      status,
      attempts,
      nextAttemptAt,
      rerun,
      erased,
      event: row.id ? envelopeOf(row, replay_id === NO_REPLAY ? null : replay_id) : null,
    };
  }

  async #attempt(letter: Letter, now: Date): Promise<'resolved' | 'settled' | 'overtaken'> {
    const { event } = letter;
    if (!event) return this.#settle(letter, { status: 'dead', reason: 'too_old' }, now);
    if (letter.erased) return this.#settle(letter, { status: 'discarded', resolved_by: 'user.erasure_requested.v1' }, now);
    const refusal = this.handling.refusalOf({ event, malformed: null });
    if (refusal && refusal.reason !== 'too_old') return this.#settle(letter, changeOf(refusal), now); // its own row, not the inbox, keeps an old one from running twice
    try {
      await this.#handle(letter, event, now);
      this.handling.count(event, 'handled');
      return 'resolved';
    } catch (error) {
      if (error instanceof Overtaken || error instanceof GivenBack) return 'overtaken';
      return this.#settle(letter, this.#afterFailure(letter, describe(error), now), now);
    }
  }

  async #handle(letter: Letter, event: Envelope, now: Date): Promise<void> {
    const { consumer } = this.handling.options;
    const facts = await this.handling.prepare(event);
    await this.handling.transaction(
      { event },
      async ({ sql, context }) => {
        const fresh = await this.handling.inbox.add(sql, { event, rerun: letter.rerun });
        if (fresh) await this.handling.run(context, event);
        await settle(sql, consumer, letter, { status: 'resolved', resolved_by: `retry:${consumer}` }, now);
      },
      facts,
    );
  }

  #afterFailure(letter: Letter, failure: Failure, now: Date): Change {
    const wait = this.handling.options.retrySeconds[letter.attempts];
    const { errorClass: error_class, errorMessage: error_message } = failure;
    if (failure.permanent) return { status: 'dead', reason: 'permanent', error_class, error_message };
    if (wait === undefined) return { status: 'dead', reason: 'handler_error', error_class, error_message };
    return { status: 'retrying', reason: 'handler_error', error_class, error_message, next_attempt_at: after(now, wait) };
  }

  async #settle(letter: Letter, change: Change, now: Date): Promise<'settled' | 'overtaken'> {
    const {
      rows: [row],
    } = await this.pool.query<{ settled: boolean }>(SETTLE, settleParams(this.#consumer, letter, change, now));
    if (change.status === 'dead')
      this.handling.options.host.log.error(
        { consumer: this.#consumer, letter: letter.id, reason: change.reason },
        'an event is a dead letter; its key waits',
      );
    return row!.settled ? 'settled' : 'overtaken';
  }

  get #consumer(): string {
    return this.handling.options.consumer;
  }
}

interface Change {
  status: 'resolved' | 'retrying' | 'dead' | 'discarded';
  reason?: string;
  error_class?: string;
  error_message?: string;
  next_attempt_at?: string;
  resolved_by?: string;
}

const changeOf = ({ reason, failure }: Verdict): Change => ({
  status: 'dead',
  reason,
  error_class: failure?.errorClass,
  error_message: failure?.errorMessage,
});

const isRunnable = ({ status, nextAttemptAt }: Letter, now: Date): boolean =>
  status === 'parked' || (status === 'retrying' && nextAttemptAt! <= now);

const SETTLE = 'select events.settle($1::uuid, $2, $3, $4::json, $5::timestamptz) as settled';

const settleParams = (consumer: string, { id, attempts }: Letter, change: Change, now: Date): unknown[] => [
  id,
  consumer,
  attempts,
  JSON.stringify(change),
  now.toISOString(),
];

async function settle(sql: Sql, consumer: string, letter: Letter, change: Change, now: Date): Promise<void> {
  const [row] = await sql<{ settled: boolean }>(SETTLE, settleParams(consumer, letter, change, now));
  if (!row!.settled) throw new Overtaken();
}
