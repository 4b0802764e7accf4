import type { Sql } from '../../../events/outbox.js';
import { prepared } from '../../../events/prepared.js';
import { loggedError } from '../../../runtime/observe/log.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import type { WebhookAttemptTrigger, WebhookDeliveryStatus } from '../entities/enums.js';
import type { Outcome } from '../ports/deliverer.js';
import { afterAttempt } from '../rules/schedule.js';
import { afterTrigger, isOpen } from '../rules/states.js';
import { insertAttempts } from '../commands/attempts.js';
import { writeHealth } from '../commands/health.js';
import { advance, countByLane, type LaneKey, type TouchedLane } from '../commands/lanes.js';

/** An attempt that ended and is to be written down. */
export interface Attempted extends LaneKey {
  shard: number;
  epoch: number;
  deliveryId: string;
  eventId: string;
  eventType: string;
  /** The X-Platform-Delivery-Attempt header. */
  number: number;
  trigger: WebhookAttemptTrigger;
  startedAt: Date;
  /** Null with a manual clock: the recorder's transaction reads it. */
  endedAt: Date | null;
  url: string;
  /** As kept: without signatures and custom values. */
  requestHeaders: Record<string, string>;
  outcome: Outcome;
}

/** Rows of one transaction at most, and how long the first of them waits for more, ms. Source: section 8. */
const BATCH_ROWS = 200;
const BATCH_MS = 10;
/** Pause before a batch that failed is written again, ms. */
const RETRY_MS = 250;

/**
 * Tables grow from nothing faster than statistics follow: planned freely, a batch of a few rows would read all deliveries. With these
 * settings the transaction looks everything up by key, also with plans that were made when the tables were empty.
 */
const BY_KEY = `set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`;

const LOCK_SHARDS = prepared(`
select s.shard, ${BY_KEY} from webhooks.webhook_shard s join unnest($1::int[], $2::bigint[]) as e(shard, epoch) on e.shard = s.shard and e.epoch = s.epoch
where s.holder = $3 order by s.shard for share of s`);

const LOCK_LANES = prepared(`
select 1 from webhooks.webhook_lane l join unnest($1::uuid[], $2::uuid[]) as k(subscription_id, user_id) using (subscription_id, user_id)
order by l.subscription_id, l.user_id for update of l`);

const READ_DELIVERIES = prepared(`
select d.id, d.status, d.replay_no, (extract(epoch from d.first_attempt_at) * 1000)::float8 as first_attempt_at from webhooks.webhook_delivery d
join unnest($1::uuid[], $2::uuid[]) as k(id, event_id) on k.event_id = d.event_id and k.id = d.id`);

const UPDATE_DELIVERIES = prepared(`
update webhooks.webhook_delivery d set
  attempt_count = greatest(d.attempt_count, r.number), first_attempt_at = coalesce(d.first_attempt_at, r.started_at), last_status_code = r.status_code, last_error = r.error,
  pending_trigger = null, status = r.status, next_attempt_at = r.next_attempt_at, finished_at = coalesce(r.finished_at, d.finished_at), delivered_at = r.delivered_at,
  dead_letter_reason = case when r.status = 'dead_lettered' then coalesce(d.dead_letter_reason, r.dead_letter_reason) end,
  cancel_reason = case when r.status = 'cancelled' then d.cancel_reason end
from json_to_recordset($1::json) as r(id uuid, event_id uuid, number int, started_at timestamptz, finished_at timestamptz, delivered_at timestamptz, status text,
  next_attempt_at timestamptz, dead_letter_reason text, status_code int, error text)
where d.event_id = r.event_id and d.id = r.id`);

/** A dead letter is resolved when a replay of its event is delivered. Source: section 2, resolvedAt. */
const RESOLVE = `
update webhooks.webhook_delivery d set resolved_at = $3 from unnest($1::uuid[], $2::uuid[]) as r(subscription_id, event_id)
where d.subscription_id = r.subscription_id and d.event_id = r.event_id and d.status = 'dead_lettered' and d.resolved_at is null`;

type Ended = Attempted & { endedAt: Date };

interface DeliveryRow {
  id: string;
  status: WebhookDeliveryStatus;
  replay_no: number;
  /** ms. */
  first_attempt_at: number | null;
}

/** What an attempt changes of its delivery. */
interface Change {
  one: Ended;
  row: object;
  /** It was open and is not any more. */
  closed: boolean;
  /** A replay was delivered. */
  replayed: boolean;
  /** Its first attempt, when it ends in the dead letters with status 410. */
  goneSince: Date | null;
}

const TRIGGERS = { delivered: 'succeed', retrying: 'fail', dead_lettered: 'fail_last' } as const;

/** An open delivery takes its next state. One that was closed while the attempt was in the air takes a success, which stands. */
function changeOf(one: Ended, known: DeliveryRow | undefined, schedule: readonly number[]): Change[] {
  if (!known || known.status === 'delivered') return [];
  const { error, statusCode } = one.outcome;
  const next = afterAttempt(one.number, { error, endedAt: one.endedAt.getTime() }, schedule);
  const status = afterTrigger(known.status, TRIGGERS[next.status]);
  const [wasOpen, delivered] = [isOpen(known.status), status === 'delivered'];
  const closed = wasOpen && !isOpen(status);
  const row = {
    id: one.deliveryId,
    event_id: one.eventId,
    number: one.number,
    started_at: one.startedAt,
    status,
    delivered_at: delivered ? one.endedAt : null,
    finished_at: delivered || closed ? one.endedAt : null,
    next_attempt_at: wasOpen && next.nextAttemptAt !== null ? new Date(next.nextAttemptAt) : null,
    dead_letter_reason: next.deadLetterReason,
    status_code: statusCode,
    error,
  };
  const gone = closed && status === 'dead_lettered' && statusCode === 410;
  const goneSince = gone ? new Date(known.first_attempt_at ?? one.startedAt.getTime()) : null;
  return [{ one, row, closed, replayed: delivered && known.replay_no > 0, goneSince }];
}

/** Lanes whose head may be another one now, with the number of their deliveries that ended. */
function lanesOf(changes: readonly Change[]): TouchedLane[] {
  const finished = countByLane(changes.filter(change => change.closed).map(change => change.one));
  const open = changes.filter(change => !change.closed).map(({ one }) => one);
  return [...finished, ...open.map(({ subscriptionId, userId }) => ({ subscriptionId, userId, closed: 0 }))];
}

/** Writes attempts down in batches: one transaction of at most 200 rows or of what ended within 10 ms, one at a time. */
export class Recorder {
  #waiting: { attempted: Attempted; done: () => void }[] = [];
  #running: Promise<void> | null = null;

  /**
   * @param holder id under which the shards are leased.
   * @param isHeld whether a shard is still ours; what is not is not written.
   */
  constructor(
    private readonly host: ServiceHost,
    private readonly schedule: readonly number[],
    private readonly holder: string,
    private readonly isHeld: (shard: number) => boolean,
  ) {}

  /** Resolves when the attempt is committed, or dropped because its shard has another holder. */
  add(attempted: Attempted): Promise<void> {
    return new Promise(done => {
      this.#waiting.push({ attempted, done });
      this.#running ??= this.#run().finally(() => (this.#running = null));
    });
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      if (this.#waiting.length < BATCH_ROWS) await new Promise(resolve => setTimeout(resolve, BATCH_MS));
      const batch = this.#waiting.splice(0, BATCH_ROWS);
      await this.#write(batch.map(one => one.attempted));
      batch.forEach(one => one.done());
    }
  }

  /** Until it is committed; while the database is away, only as long as the leases last. */
  async #write(batch: readonly Attempted[]): Promise<void> {
    for (;;) {
      const held = batch.filter(one => this.isHeld(one.shard));
      if (held.length === 0) return;
      try {
        return await this.host.transaction(ctx => this.#record(ctx, held));
      } catch (error) {
        this.host.log.warn({ err: loggedError(error) }, 'attempts could not be recorded; they are written again');
        await new Promise(resolve => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  /** A worker that lost its lease cannot record: its epoch is not the stored one. */
  async #record(ctx: Context, batch: readonly Attempted[]): Promise<void> {
    const epochs = new Map(batch.map(one => [one.shard, one.epoch]));
    const held = await ctx.sql<{ shard: number }>(LOCK_SHARDS, [[...epochs.keys()], [...epochs.values()], this.holder]);
    const shards = new Set(held.map(row => row.shard));
    const ended = batch.filter(one => shards.has(one.shard)).map(one => ({ ...one, endedAt: one.endedAt ?? ctx.now() }));
    if (ended.length > 0) await this.#writeRows(ctx.sql, ended, ctx.now());
  }

  async #writeRows(sql: Sql, ended: readonly Ended[], now: Date): Promise<void> {
    await sql(LOCK_LANES, [ended.map(one => one.subscriptionId), ended.map(one => one.userId)]);
    const rows = await sql<DeliveryRow>(READ_DELIVERIES, [ended.map(one => one.deliveryId), ended.map(one => one.eventId)]);
    const known = new Map(rows.map(row => [row.id, row]));
    const changes = ended.flatMap(one => changeOf(one, known.get(one.deliveryId), this.schedule));
    await insertAttempts(sql, this.host, ended);
    await sql(UPDATE_DELIVERIES, [JSON.stringify(changes.map(change => change.row))]);
    const replayed = changes.filter(change => change.replayed).map(change => change.one);
    if (replayed.length) await sql(RESOLVE, [replayed.map(one => one.subscriptionId), replayed.map(one => one.eventId), now.toISOString()]);
    await advance(sql, lanesOf(changes), now);
    const gone = new Map(changes.map(change => [change.one.deliveryId, change.goneSince]));
    const healthEvents = ended.map(one => ({ ...one, goneSince: gone.get(one.deliveryId) ?? null }));
    await writeHealth(sql, healthEvents);
  }

  /** Resolves when nothing waits to be written. */
  async drained(): Promise<void> {
    while (this.#running) await this.#running;
  }
}
