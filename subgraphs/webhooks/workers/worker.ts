import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../../../events/outbox.js';
import { loggedError } from '../../../runtime/observe/log.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { traced } from '../../../runtime/observe/tracing.js';
import { Interrupted, type Deliverer } from '../ports/deliverer.js';
import type { WebhookSettings } from '../ports/settings.js';
import { redactRequestHeaders } from '../rules/redaction.js';
import { configurationOf, type Configuration } from '../commands/configuration.js';
import { LimitNotes, takeProbe } from '../commands/health.js';
import { paceOf, type Pace } from './pace.js';
import { Recorder } from './recorder.js';
import { requestOf } from './request.js';
import { Shards } from './shards.js';
import { signalOf, type Signal, type Signals } from '../commands/signal.js';
import { Slots } from './slots.js';
import { findDue, readBodies, roundRobin, type DueHead, type EventBody } from './work.js';

/** Pause between looks for work: short while there is some, longer when idle, ms. */
const BUSY_MS = 50;
const IDLE_MS = 250;
/** Least time between two looks, so that under load many heads are found by one, ms. */
const GAP_MS = 10;
/** Requests begun by one look: what begins together keeps the process from everything else for about 0.3 ms each. */
const BATCH = 32;
/** A head that was read longer ago is read again before it is sent, ms. */
const FRESH_MS = 250;
/** Length of a shard's lease and distance of its renewals, ms. Source: rule 20. */
const LEASE = { leaseMs: 10_000, renewMs: 3_000 };
/** Pause of a lane whose attempt could not even be made, for example because its body cannot be opened, ms. */
const FAULT_MS = 5_000;
/** Longest wait at the end for requests in the air, ms. */
const DRAIN_MS = 10_000;

/** Sends the heads of the lanes in its shards. Any number of workers share the 64 shards. Source: section 8. */
export class DeliveryWorker {
  readonly #configuration: Configuration;
  readonly #shards: Shards;
  readonly #recorder: Recorder;
  readonly #signal: Signals;
  readonly #listener: Signal;
  readonly #slots: Slots;
  readonly #pace: Pace;
  readonly #limits = new LimitNotes();
  readonly #attempts = new Set<Promise<void>>();
  #stopping = false;
  #searching: Promise<void> = Promise.resolve();

  constructor(
    private readonly host: ServiceHost,
    private readonly settings: WebhookSettings,
    private readonly deliverer: Deliverer,
  ) {
    this.#configuration = configurationOf(host);
    this.#pace = paceOf(host.config.roles);
    this.#signal = signalOf(host);
    this.#listener = this.#signal.listen();
    this.#shards = new Shards(work => host.transaction(ctx => work(ctx.sql)), { ...LEASE, log: host.log });
    this.#shards.on('lost', shard => this.#abandon(shard));
    this.#slots = new Slots(this.#configuration, shard => this.#shards.holds(shard));
    this.#recorder = new Recorder(host, settings.retrySeconds, this.#shards.holder, shard => this.#shards.holds(shard));
  }

  /** Whether it has held a shard within 30 s. */
  get ready(): boolean {
    return this.#shards.idleMs < 30_000;
  }

  /** Whether requests are in the air. */
  get busy(): boolean {
    return this.#slots.inHand.length > 0;
  }

  async start(): Promise<void> {
    await this.#shards.start(shard => this.#slots.inHand.some(one => one.shard === shard));
    this.#searching = this.#loop();
  }

  /** Starts nothing more, waits for what is in the air, and gives its shards back. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#signal.notify();
    await this.#searching;
    this.#signal.forget(this.#listener);
    await Promise.race([Promise.allSettled(this.#attempts), new Promise(resolve => setTimeout(resolve, DRAIN_MS).unref())]);
    this.#slots.inHand.forEach(one => one.abort.abort());
    await Promise.allSettled(this.#attempts);
    await this.#shards.leave();
    await this.deliverer.close();
  }

  /** The shard is another worker's: what is in the air of it ends now, so that nothing of it arrives after its successor's. */
  #abandon(shard: number): void {
    for (const one of this.#slots.inHand) if (one.shard === shard) one.abort.abort();
  }

  async #loop(): Promise<void> {
    let pause = BUSY_MS;
    while (!this.#stopping) {
      const found = await this.#search().catch(error => this.#warn(error, 'work could not be looked for'));
      pause = found ? BUSY_MS : Math.min(pause * 2, IDLE_MS);
      if (!this.#stopping) await sleep(Math.max(GAP_MS, this.#pace.pauseMs()));
      if (!this.#stopping) await this.#listener.wait(pause);
    }
  }

  #warn(error: unknown, message: string): number {
    this.host.log.warn({ err: loggedError(error) }, message);
    return 0;
  }

  /** Looks once and starts what there is room for. Answers how many it started, or that some wait for the next moment. */
  async #search(): Promise<number> {
    const shards = this.#shards.mine();
    const { inHand } = this.#slots;
    const limit = Math.min(BATCH, this.settings.globalConcurrency - inHand.length);
    if (shards.length === 0 || limit <= 0) return 0;
    return this.host.read(async ctx => {
      await this.#configuration.refresh(ctx.sql);
      const limited = this.#slots.limited();
      await this.#limits.write(ctx.sql, limited);
      const due = await findDue(ctx.sql, { shards, now: ctx.now(), full: this.#slots.full(), limited, inHand, limit });
      const chosen = (await this.#probing(ctx, roundRobin(due))).filter(head => this.#slots.take(head));
      if (chosen.length) await this.#send(ctx.sql, chosen, ctx.now());
      return chosen.length + limited.length;
    });
  }

  /** Of the first attempts under an open circuit, one per subscription, if its probe is due. */
  async #probing(ctx: Context, heads: readonly DueHead[]): Promise<DueHead[]> {
    const asked = new Set<string>();
    const passes = heads.map(async head => {
      if (!head.circuitOpen || head.attemptCount > 0) return true;
      if (asked.has(head.subscriptionId)) return false;
      asked.add(head.subscriptionId);
      return takeProbe(ctx.sql, head.subscriptionId, ctx.now());
    });
    const allowed = await Promise.all(passes);
    return heads.filter((_, index) => allowed[index]);
  }

  /** Reads the bodies and, in the same statement, once more whether each head is still open; then sends. */
  async #send(sql: Sql, heads: readonly DueHead[], now: Date): Promise<void> {
    const readAt = performance.now();
    const bodies = await readBodies(sql, heads).catch(error => {
      heads.forEach(head => this.#slots.free(head));
      throw error;
    });
    const fresh = performance.now() - readAt <= FRESH_MS;
    for (const head of heads) {
      const body = bodies.get(head.deliveryId);
      if (body && fresh && this.#shards.holds(head.shard)) this.#begin(head, body, now);
      else this.#slots.free(head);
    }
  }

  #begin(head: DueHead, body: EventBody, now: Date): void {
    const attempt = this.#attempt(head, body, this.#startTime(now))
      .catch(error => this.#givenUp(error))
      .then(() => {
        this.#attempts.delete(attempt);
        this.#slots.free(head);
        this.#signal.notify();
      });
    this.#attempts.add(attempt);
  }

  /** Nothing was recorded, so the head will be found again: at once by whoever has its shard now, else not before a pause. */
  async #givenUp(error: unknown): Promise<void> {
    if (error instanceof Interrupted) return;
    this.#warn(error, 'an attempt was given up');
    if (!this.#stopping) await sleep(FAULT_MS, undefined, { ref: false });
  }

  /** With a manual clock the attempt happens at its instant; else now. */
  #startTime(now: Date): Date {
    return this.host.config.manualClock ? now : new Date();
  }

  async #attempt(head: DueHead, stored: EventBody, startedAt: Date): Promise<void> {
    const subscription = this.#configuration.get(head.subscriptionId)!;
    const { url, timeoutMs } = subscription;
    const epoch = this.#shards.epochOf(head.shard)!;
    const number = head.attemptCount + 1;
    const { body, headers } = requestOf(this.host, head, stored, subscription, startedAt);
    const { signal } = this.#slots.of(head)!.abort;
    const span = { kind: 'client', parent: stored.traceparent, attributes: { 'platform.event_type': head.eventType } } as const;
    const outcome = await traced('webhook attempt', span, () => this.deliverer.send({ url, headers, body, timeoutMs, signal }));
    await this.#recorder.add({
      subscriptionId: head.subscriptionId,
      userId: head.userId,
      shard: head.shard,
      epoch,
      deliveryId: head.deliveryId,
      eventId: head.eventId,
      eventType: head.eventType,
      number,
      trigger: head.pendingTrigger ?? (head.replayNo > 0 && number === 1 ? 'replay' : 'schedule'),
      startedAt,
      endedAt: this.#endTime(),
      url,
      requestHeaders: redactRequestHeaders(headers, subscription.headers),
      outcome,
    });
  }

  #endTime(): Date | null {
    return this.host.config.manualClock ? null : new Date();
  }
}
