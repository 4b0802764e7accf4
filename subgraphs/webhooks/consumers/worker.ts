import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../../../events/outbox.js';
import type { ServiceHost } from '../../../runtime/host.js';
import type { Worker } from '../../../runtime/service.js';
import { HttpDeliverer, Interrupted, type Deliverer } from '../ports/deliverer.js';
import { sealerOf } from '../ports/sealer.js';
import { settingsOf, type WebhookSettings } from '../ports/settings.js';
import { redactRequestHeaders } from '../rules/redaction.js';
import { shardsOf } from '../rules/shards.js';
import { bodyOf, headersOf, secretsAt } from '../rules/wire.js';
import { configurationOf, type Configuration } from './configuration.js';
import { dataContext } from './ingest.js';
import { Recorder } from './recorder.js';
import { Shards } from './shards.js';
import { signalOf, type Signal } from './signal.js';
import { findDue, readBodies, roundRobin, type DueHead, type EventBody } from './work.js';

/** Pause between looks for work: short while there is some, longer when idle, ms. */
const BUSY_MS = 50;
const IDLE_MS = 250;
/** Least time between two looks, so that under load many heads are found by one, ms. */
const GAP_MS = 10;
/** A head that was read longer ago is read again before it is sent, ms. */
const FRESH_MS = 250;
/** Longest wait at the end for requests in the air, ms. */
const DRAIN_MS = 10_000;

interface InHand extends DueHead {
  abort: AbortController;
}

const laneOf = (head: DueHead): string => `${head.subscriptionId}:${head.userId}`;

/** Sends the heads of the lanes in its shards. Any number of workers share the 64 shards. Source: section 8. */
export class DeliveryWorker {
  readonly #configuration: Configuration;
  readonly #shards: Shards;
  readonly #recorder: Recorder;
  readonly #signal: Signal;
  readonly #inHand = new Map<string, InHand>();
  readonly #slots = new Map<string, number>();
  readonly #attempts = new Set<Promise<void>>();
  #stopping = false;
  #searching: Promise<void> = Promise.resolve();
  #beat: NodeJS.Timeout | undefined;
  #beating: Promise<void> = Promise.resolve();

  constructor(
    private readonly host: ServiceHost,
    private readonly settings: WebhookSettings,
    private readonly deliverer: Deliverer,
  ) {
    this.#configuration = configurationOf(host);
    this.#signal = signalOf(host);
    this.#shards = new Shards(work => host.transaction(ctx => work(ctx.sql)), host.config.leaseMs);
    this.#shards.on('lost', shard => this.#abandon(shard));
    this.#recorder = new Recorder(host, settings.retrySeconds, this.#shards.holder, shard => this.#shards.holds(shard));
  }

  /** Whether it has held a shard within 30 s. Source: section 4, readyz. */
  get ready(): boolean {
    return this.#shards.idleMs < 30_000;
  }

  async start(): Promise<void> {
    await this.#renew();
    this.#scheduleBeat();
    this.#searching = this.#loop();
  }

  /** Starts nothing more, waits for what is in the air, and gives its shards back. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#signal.notify();
    await this.#searching;
    await Promise.race([Promise.allSettled(this.#attempts), new Promise(resolve => setTimeout(resolve, DRAIN_MS).unref())]);
    this.#inHand.forEach(one => one.abort.abort());
    await Promise.allSettled(this.#attempts);
    clearTimeout(this.#beat);
    await this.#beating;
    await this.#shards.leave().catch(error => this.#warn(error, 'shards could not be given back; they run out'));
    await this.deliverer.close();
  }

  #scheduleBeat(): void {
    this.#beat = setTimeout(() => {
      this.#beating = this.#renew().finally(() => this.#stopping || this.#scheduleBeat());
    }, this.host.config.leaseMs * 0.3);
  }

  async #renew(): Promise<void> {
    try {
      await this.#shards.beat(shard => [...this.#inHand.values()].some(one => one.shard === shard));
    } catch (error) {
      this.#shards.expire();
      this.#warn(error, 'leases could not be renewed');
    }
  }

  /** The shard is another worker's: what is in the air of it ends now, so that nothing of it arrives after its successor's. */
  #abandon(shard: number): void {
    for (const one of this.#inHand.values()) if (one.shard === shard) one.abort.abort();
  }

  async #loop(): Promise<void> {
    let pause = BUSY_MS;
    while (!this.#stopping) {
      const started = performance.now();
      const found = await this.#search().catch(error => this.#warn(error, 'work could not be looked for'));
      const took = performance.now() - started;
      pause = found ? BUSY_MS : Math.min(pause * 2, IDLE_MS);
      if (!this.#stopping) await sleep(Math.max(GAP_MS, took));
      if (!this.#stopping) await this.#signal.wait(pause);
    }
  }

  #warn(error: unknown, message: string): number {
    this.host.log.warn({ err: { name: (error as Error).name, message: (error as Error).message } }, message);
    return 0;
  }

  /** Looks once and starts what there is room for. Answers how many it started. */
  async #search(): Promise<number> {
    this.#shards.expire();
    const shards = this.#shards.mine();
    const room = this.settings.globalConcurrency - this.#inHand.size;
    if (shards.length === 0 || room <= 0) return 0;
    return this.host.read(async ctx => {
      await this.#configuration.refresh(ctx.sql);
      const readAt = performance.now();
      const search = { shards, now: ctx.now(), full: this.#full(), firstsHeld: [], inHand: [...this.#inHand.values()], limit: room };
      const chosen = roundRobin(await findDue(ctx.sql, search)).filter(head => this.#claim(head));
      if (chosen.length) await this.#send(ctx.sql, chosen, ctx.now(), readAt);
      return chosen.length;
    });
  }

  #full(): string[] {
    return [...this.#slots].filter(([id, used]) => used >= this.#limitOf(id)).map(([id]) => id);
  }

  /** Requests of a subscription that this worker may have in the air: its part of the shards over which the users are spread. */
  #limitOf(id: string): number {
    const subscription = this.#configuration.get(id);
    if (!subscription) return 0;
    const parts = shardsOf(id, subscription.spread);
    const mine = parts.filter(shard => this.#shards.holds(shard)).length;
    return Math.max(1, Math.floor((subscription.maxConcurrency * mine) / parts.length));
  }

  /** Takes a slot and the lane, if the subscription may be sent to. Source: rule 6. */
  #claim(head: DueHead): boolean {
    const subscription = this.#configuration.get(head.subscriptionId);
    const used = this.#slots.get(head.subscriptionId) ?? 0;
    if (subscription?.status !== 'active' || !subscription.eventTypes.has(head.eventType) || used >= this.#limitOf(head.subscriptionId))
      return false;
    this.#slots.set(head.subscriptionId, used + 1);
    this.#inHand.set(laneOf(head), { ...head, abort: new AbortController() });
    return true;
  }

  #free(head: DueHead): void {
    const used = (this.#slots.get(head.subscriptionId) ?? 1) - 1;
    if (used > 0) this.#slots.set(head.subscriptionId, used);
    else this.#slots.delete(head.subscriptionId);
    this.#inHand.delete(laneOf(head));
  }

  /** Reads the bodies and, in the same statement, once more whether each head is still open; then sends. */
  async #send(sql: Sql, heads: readonly DueHead[], now: Date, readAt: number): Promise<void> {
    const bodies = await readBodies(sql, heads).catch(error => {
      heads.forEach(head => this.#free(head));
      throw error;
    });
    const fresh = performance.now() - readAt <= FRESH_MS;
    for (const head of heads) {
      const body = bodies.get(head.deliveryId);
      if (body && fresh && this.#shards.holds(head.shard)) this.#begin(head, body, now);
      else this.#free(head);
    }
  }

  #begin(head: DueHead, body: EventBody, now: Date): void {
    const attempt = this.#attempt(head, body, this.#startTime(now))
      .catch(error => error instanceof Interrupted || this.#warn(error, 'an attempt was given up'))
      .then(() => {
        this.#attempts.delete(attempt);
        this.#free(head);
        this.#signal.notify();
      });
    this.#attempts.add(attempt);
  }

  /** With a manual clock the attempt happens at its instant; else now. */
  #startTime(now: Date): Date {
    return this.host.config.manualClock ? now : new Date();
  }

  async #attempt(head: DueHead, { occurredAt, dataSealed }: EventBody, startedAt: Date): Promise<void> {
    const subscription = this.#configuration.get(head.subscriptionId)!;
    const epoch = this.#shards.epochOf(head.shard)!;
    const number = head.attemptCount + 1;
    const data = sealerOf(this.host).open(dataSealed, dataContext(head.eventId));
    const event = { id: head.eventId, type: head.eventType, userId: head.userId, occurredAt, data };
    const body = bodyOf(event, head.clientId);
    const headers = headersOf({
      event,
      body,
      deliveryId: head.deliveryId,
      attempt: number,
      replay: head.replayNo > 0,
      secrets: secretsAt(subscription.secrets, startedAt.getTime()),
      custom: subscription.headers,
      standardHeaders: subscription.standardHeaders,
      at: startedAt.getTime(),
    });
    const { signal } = this.#inHand.get(laneOf(head))!.abort;
    const outcome = await this.deliverer.send({ url: subscription.url, headers, body, timeoutMs: subscription.timeoutMs, signal });
    await this.#recorder.add({
      subscriptionId: head.subscriptionId,
      userId: head.userId,
      shard: head.shard,
      epoch,
      deliveryId: head.deliveryId,
      eventId: head.eventId,
      number,
      trigger: head.pendingTrigger ?? (head.replayNo > 0 && number === 1 ? 'replay' : 'schedule'),
      startedAt,
      endedAt: this.#endTime(),
      url: subscription.url,
      requestHeaders: redactRequestHeaders(headers, subscription.headers),
      outcome,
    });
  }

  #endTime(): Date | null {
    return this.host.config.manualClock ? null : new Date();
  }
}

const workers = new WeakMap<ServiceHost, DeliveryWorker>();

/** The delivery worker of a service in this process; undefined where the process has none. */
export const workerOf = (host: ServiceHost): DeliveryWorker | undefined => workers.get(host);

/** Runs a delivery worker in processes with the role `consumers`. */
export const deliveryWorker: Worker = {
  role: 'consumers',
  async start(host) {
    const settings = settingsOf(host);
    const worker = new DeliveryWorker(host, settings, new HttpDeliverer({ egress: settings.egress }));
    workers.set(host, worker);
    await worker.start();
    return worker;
  },
};
