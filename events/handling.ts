import { setTimeout as sleep } from 'node:timers/promises';
import type { Consumer, ConsumerHost, HandlerTransaction, TransactionMeta } from './consumer.js';
import { noteRead, type Condition } from './entrance.js';
import { newId, NO_REPLAY, systemNow, timeOfId, type Envelope } from './envelope.js';
import { describe, GivenBack, type Failure } from './failure.js';
import { Inbox } from './inbox.js';
import type { Limiter } from './limiter.js';
import { errorOf } from './log.js';
import type { EventMetrics } from './metrics.js';
import { OrderWatch } from './order-watch.js';
import { Passing } from './passing.js';
import type { Suspects } from './suspects.js';
import type { Delivery, Settled } from './transport/port.js';
import { dead, refusalOf, type HandlerTable, type Verdict } from './verdict.js';

export interface HandlingOptions<Ctx> {
  consumer: string;
  host: ConsumerHost<Ctx>;
  handlers: HandlerTable<Ctx>;
  metrics: EventMetrics | undefined;
  stopping: AbortSignal;
  /** The consumer's handlers may run again for a replay that asks for it. */
  rerun: boolean;
  retrySeconds: readonly number[];
  memoryRetryMs: readonly number[];
  handlerTimeoutMs: number;
  limiters: readonly Limiter[];
  suspects: Suspects;
  prepare: Consumer<Ctx>['prepare'];
  read: Consumer<Ctx>['read'];
  passOver: Consumer<Ctx>['passOver'];
  /** Called with an event that was handled after a later one of its key. */
  onDisorder(event: Envelope): void;
}

export type Outcome = 'handled' | 'duplicate' | 'erased' | 'parked';

/** Hand-outs without an end that make an event a suspect. Source: event-machinery 5. */
const SUSPECT_DELIVERIES = 3;
/** With two crashes more, for sure its own, these are five deliveries: it is parked without calling the handler. */
const SUSPECT_CRASHES = 2;
/** Longest wait between attempts to reach the database, ms. */
const MAX_WAIT_MS = 5_000;
const ALWAYS: Condition = { text: 'true', types: {}, values: [] };

/** What is known of an event before its transaction. */
interface Before {
  /** What its consumer's `prepare` answered. */
  facts?: unknown;
  /** Under which its handler has nothing to do with it; null: it may have. */
  condition: Condition | null;
}

class HandlerTimeout extends Error {
  override name = 'HandlerTimeout';
}

/** Settles deliveries: every event ends as an effect that is committed once, or in the dead letters. Source: event-machinery 7. */
export class Handling<Ctx> {
  readonly #running = new Set<Promise<unknown>>();
  readonly #order = new OrderWatch();
  readonly inbox: Inbox;
  readonly #passing: Passing;

  constructor(readonly options: HandlingOptions<Ctx>) {
    const { consumer, host, rerun, handlerTimeoutMs, read } = options;
    this.inbox = new Inbox({ consumer, schema: host.schema, rerun, timeoutMs: handlerTimeoutMs, read });
    this.#passing = new Passing({
      inbox: this.inbox,
      isGivenBack: delivery => this.#isGivenBack(delivery),
      limited: task => this.#limited(task),
      transaction: (events, work) => this.#tracked(host.transaction(this.#metaOf(events), ({ sql }) => work(sql))),
    });
  }

  /** @throws GivenBack when the consumer stops or the event will be delivered again. */
  async settle(delivery: Delivery): Promise<Settled> {
    const refusal = delivery.erased ? null : this.refusalOf(delivery);
    const outcome = refusal ? await this.#file(delivery, refusal) : await this.#take(delivery);
    return outcome === 'parked' ? 'parked' : 'done';
  }

  /** Waits until no transaction runs any more, at most `drainMs`. */
  async drained(drainMs: number): Promise<void> {
    const idle = async (): Promise<void> => {
      while (this.#running.size > 0) await Promise.allSettled(this.#running);
    };
    await Promise.race([idle(), sleep(drainMs, undefined, { ref: false })]);
  }

  /** What is wrong with an event before any handler runs; null when it can run. */
  refusalOf(delivery: Pick<Delivery, 'event' | 'malformed'>): Verdict | null {
    return refusalOf(delivery, this.options.handlers);
  }

  #take(delivery: Delivery): Promise<Outcome> {
    if (delivery.deliveries < SUSPECT_DELIVERIES) return this.#attempts(delivery);
    const { suspects } = this.options;
    return this.#insist(delivery, 'a suspect could not be judged; it is tried again', () =>
      suspects.judge(delivery.event, crashes =>
        crashes < SUSPECT_CRASHES ? this.#attempts(delivery) : this.#file(delivery, dead('crash_loop')),
      ),
    );
  }

  /** At once, then after 200 ms, 1 s and 5 s; the key waits meanwhile, others run. */
  async #attempts(delivery: Delivery): Promise<Outcome> {
    let failure: Failure | undefined;
    for (const wait of [0, ...this.options.memoryRetryMs]) {
      await this.#sleep(wait);
      const result = await this.#attempt(delivery);
      if (typeof result === 'string') return result;
      failure = result;
      if (failure.permanent) return this.#file(delivery, { status: 'dead', reason: 'permanent', failure });
    }
    return this.#file(delivery, { status: 'retrying', reason: 'handler_error', failure: failure! });
  }

  /** One transaction. A database that cannot be reached is waited for: that is no failure of the event. */
  async #attempt(delivery: Delivery): Promise<Outcome | Failure> {
    for (let wait = 100; ; wait = Math.min(wait * 2, MAX_WAIT_MS)) {
      const entered = { handler: true }; // what a consumer says before its transaction fails as its handler does
      try {
        const { facts, condition } = delivery.erased ? { condition: null } : await this.#before(delivery.event, entered);
        entered.handler = false;
        const isNoted = condition !== null && (await this.#passing.note(delivery, condition));
        const outcome = isNoted ? 'handled' : await this.transaction(delivery, tx => this.#handle(delivery, tx, entered), facts);
        this.#count(delivery, outcome);
        return outcome;
      } catch (error) {
        if (error instanceof GivenBack) throw error;
        this.#log(delivery, error, entered.handler ? 'a handler failed' : 'an event could not be taken up');
        if (entered.handler) return describe(error);
      }
      await this.#sleep(wait);
    }
  }

  /** Both are asked in one context of the service. */
  async #before(event: Envelope, entered: { handler: boolean }): Promise<Before> {
    const { prepare, passOver, host } = this.options;
    const concerned = this.#concerns(event);
    if (!prepare && !(concerned && passOver)) return { condition: concerned ? null : ALWAYS };
    return host.outside(async context => {
      const facts = await prepare?.(context, event);
      const condition = concerned ? (passOver?.(context, event, facts) ?? null) : ALWAYS;
      entered.handler = false;
      return { facts, condition };
    });
  }

  #concerns(event: Envelope): boolean {
    return this.options.handlers.get(event.type)!.run.concerns?.(event) ?? true;
  }

  async #handle(delivery: Delivery, tx: HandlerTransaction<Ctx>, entered: { handler: boolean }): Promise<Outcome> {
    entered.handler = true;
    const asked = this.inbox.asked(delivery);
    entered.handler = false;
    const entrance = await this.inbox.enter(tx.sql, delivery, asked);
    if (entrance.is === 'done') return 'duplicate';
    if (delivery.erased) return 'erased';
    if (entrance.is === 'blocked') return this.#park(tx, delivery, { status: 'parked', reason: 'behind_another' });
    entered.handler = true;
    noteRead(tx.context as object, entrance.read);
    await this.run(tx.context, delivery.event);
    return 'handled';
  }

  /** Files an event that cannot be handled now; keeps trying, because it may not be dropped. */
  #file(delivery: Delivery, verdict: Verdict): Promise<Outcome> {
    return this.#insist(delivery, 'an event could not be filed as a dead letter; it is tried again', async () => {
      const outcome = await this.transaction(delivery, tx => this.#fileIn(tx, delivery, verdict));
      this.#count(delivery, outcome === 'parked' ? verdict.reason : outcome);
      if (outcome === 'parked') this.#logFiled(delivery, verdict);
      return outcome;
    });
  }

  /** Does something that fails only while the database is away. */
  async #insist<T>(delivery: Delivery, complaint: string, work: () => Promise<T>): Promise<T> {
    for (let wait = 100; ; wait = Math.min(wait * 2, MAX_WAIT_MS)) {
      try {
        return await work();
      } catch (error) {
        if (error instanceof GivenBack) throw error;
        this.#log(delivery, error, complaint);
      }
      await this.#sleep(wait);
    }
  }

  async #fileIn(tx: HandlerTransaction<Ctx>, delivery: Delivery, verdict: Verdict): Promise<Outcome> {
    const blocked = await this.inbox.isBlocked(tx.sql, delivery);
    if (await this.inbox.has(tx.sql, delivery)) return 'duplicate';
    return this.#park(tx, delivery, blocked ? { status: 'parked', reason: 'behind_another' } : verdict);
  }

  async #park(
    { sql, now }: HandlerTransaction<Ctx>,
    delivery: Delivery,
    verdict: Verdict | { status: 'parked'; reason: 'behind_another'; failure?: undefined },
  ): Promise<Outcome> {
    const { event } = delivery;
    const { consumer, retrySeconds } = this.options;
    const letter = {
      id: newId(),
      event_id: event.id,
      replay_id: event.replay_id ?? NO_REPLAY,
      order_key: event.order_key,
      seq: event.seq,
      type: event.type,
      status: verdict.status,
      reason: verdict.reason,
      error_class: verdict.failure?.errorClass,
      error_message: verdict.failure?.errorMessage,
      next_attempt_at: verdict.status === 'retrying' ? after(now, retrySeconds[0] ?? 0) : null,
    };
    await sql('select events.park($1, $2::json, $3::timestamptz)', [consumer, JSON.stringify(letter), now.toISOString()]);
    return 'parked';
  }

  /** Calls the handler that the event concerns with its deadline; a late one counts as failed, and its transaction rolls back. */
  async run(context: Ctx, event: Envelope): Promise<void> {
    if (!this.#concerns(event)) return;
    const handler = this.options.handlers.get(event.type)!;
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(new HandlerTimeout()), this.options.handlerTimeoutMs);
    const late = new Promise<never>((_, reject) =>
      deadline.signal.addEventListener('abort', () => reject(deadline.signal.reason), { once: true }),
    );
    try {
      await Promise.race([handler.run(context, event, deadline.signal), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** What the handler must know from outside, asked before its transaction so that nobody's locks wait for a neighbour. */
  async prepare(event: Envelope): Promise<unknown> {
    const { prepare, host } = this.options;
    return prepare && host.outside(context => prepare(context, event));
  }

  /** A transaction of the service within the limits of concurrency. */
  transaction<T>(
    delivery: Pick<Delivery, 'event'> & { stale?: () => boolean },
    work: (tx: HandlerTransaction<Ctx>) => Promise<T>,
    facts?: unknown,
  ): Promise<T> {
    return this.#limited(() => {
      if (this.#isGivenBack(delivery)) return Promise.reject(new GivenBack());
      return this.#tracked(this.options.host.transaction({ ...this.#metaOf([delivery.event]), facts }, work));
    });
  }

  #isGivenBack(delivery: { stale?: () => boolean }): boolean {
    return this.options.stopping.aborted || delivery.stale?.() === true;
  }

  #limited<T>(begin: () => Promise<T>): Promise<T> {
    return this.options.limiters.reduceRight<() => Promise<T>>((task, limiter) => () => limiter.run(task), begin)();
  }

  /** A transaction for several belongs to none of them. */
  #metaOf(events: readonly Envelope[]): TransactionMeta {
    const event = events.length === 1 ? events[0] : undefined;
    return {
      requestId: event?.request_id ?? null,
      causationId: event?.id ?? null,
      traceparent: event?.traceparent ?? null,
      brandId: event?.brand_id ?? null,
      consumer: this.options.consumer,
    };
  }

  async #tracked<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    try {
      return await work;
    } finally {
      this.#running.delete(work);
    }
  }

  async #sleep(ms: number): Promise<void> {
    if (ms > 0) await sleep(ms, undefined, { signal: this.options.stopping }).catch(() => undefined);
    if (this.options.stopping.aborted) throw new GivenBack();
  }

  /** Counts an outcome and watches the order of what was handled. */
  count(event: Envelope, outcome: string): void {
    const { consumer, metrics } = this.options;
    metrics?.handled.inc({ consumer, type: event.type, outcome });
    if (outcome !== 'handled' || event.replay_id) return;
    const age = (systemNow() - timeOfId(event.id)) / 1000;
    if (event.type === 'platform.canary.v1') metrics?.roundtripSeconds.observe(age);
    if (this.#order.follows(event.order_key, event.seq)) return;
    metrics?.outOfOrder.inc();
    this.options.onDisorder(event);
    this.options.host.log.error({ consumer, event: event.id, seq: event.seq }, 'an event was handled after a later one of its key');
  }

  #count(delivery: Delivery, outcome: string): void {
    this.count(delivery.event, outcome);
  }

  #log({ event }: Delivery, error: unknown, message: string): void {
    this.options.host.log.warn({ err: errorOf(error), consumer: this.options.consumer, event: event.id, type: event.type }, message);
  }

  #logFiled({ event }: Delivery, { status, reason }: Verdict): void {
    const detail = { consumer: this.options.consumer, event: event.id, type: event.type, reason };
    if (status === 'dead') this.options.host.log.error(detail, 'an event is a dead letter; its key waits');
    else this.options.host.log.warn(detail, 'an event is retried later; its key waits');
  }
}

export const after = (now: Date, seconds: number): string => new Date(now.getTime() + seconds * 1000).toISOString();
