import { setTimeout as sleep } from 'node:timers/promises';
import { pick, random } from './random.js';
import type { World } from './world.js';

export interface LoadOptions {
  seed: number;
  clients: number;
  /** Longest pause of a client between two requests, ms; half of it on average. */
  pauseMs: number;
}

/** What the callers of the API saw. */
export interface Seen {
  /** Results that were answered with 201. */
  acknowledged: string[];
  /** Answers by status; 0: the connection broke, -1: nothing came within 30 s. */
  statuses: Map<number, number>;
  /** Of requests that were answered with 201, ms. */
  latencies: number[];
}

const COLLECTED = '2026-10-30T08:00:00.000Z';

/** A caller's patience, ms: longer than every deadline of the platform. */
const PATIENCE_MS = 30_000;
const HUNG = { status: -1, body: null };

/** Callers that store results of random users: one transaction, one to three rows and as many events each. */
export class Load {
  readonly seen: Seen = { acknowledged: [], statuses: new Map(), latencies: [] };
  #stopped = false;
  #clients: Promise<void>[] = [];

  private constructor(
    readonly world: World,
    readonly options: LoadOptions,
    readonly token: string,
  ) {}

  static async start(world: World, options: LoadOptions): Promise<Load> {
    const load = new Load(world, options, await world.apis[0]!.serviceToken());
    load.#clients = Array.from({ length: options.clients }, (_, n) => load.#client(n));
    return load;
  }

  /** What was seen since the phase before, but for the acknowledged results, which belong to the whole. */
  phase(): Pick<Seen, 'statuses' | 'latencies'> {
    const { statuses, latencies } = this.seen;
    this.seen.statuses = new Map();
    this.seen.latencies = [];
    return { statuses, latencies };
  }

  async stop(): Promise<Seen> {
    this.#stopped = true;
    await Promise.all(this.#clients);
    return this.seen;
  }

  async #client(number: number): Promise<void> {
    const next = random(this.options.seed * 1_000 + number);
    const api = this.world.apis[number % this.world.apis.length]!;
    while (!this.#stopped) {
      await sleep(next() * this.options.pauseMs);
      await this.#store(api, pick(next, this.world.users), 1 + Math.floor(next() * 3));
    }
  }

  async #store(api: World['apis'][number], userId: string, rows: number): Promise<void> {
    const observations = Array.from({ length: rows }, () => ({
      code: 'ldl_c',
      value: 110,
      unit: 'mg/dL',
      collected_at: COLLECTED,
      source: 'manual',
    }));
    const started = performance.now();
    const asked = api.rest('POST', '/clinical/v1/biomarkers', { token: this.token, body: { user_id: userId, observations } });
    const answer = await Promise.race([asked, sleep(PATIENCE_MS, HUNG)]).catch(() => ({ status: 0, body: null }));
    this.seen.statuses.set(answer.status, (this.seen.statuses.get(answer.status) ?? 0) + 1);
    if (answer.status !== 201) return;
    this.seen.latencies.push(performance.now() - started);
    this.seen.acknowledged.push(...(answer.body.data as { id: string }[]).map(one => one.id));
  }
}
