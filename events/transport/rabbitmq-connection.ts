import type { Duplex } from 'node:stream';
import { connect, type ChannelModel } from 'amqplib';
import { Backoff } from '../backoff.js';
import { errorOf, type EventLog } from '../log.js';

const CONNECT_TIMEOUT_MS = 5_000;
/** A broker that keeps its heartbeat but never answers a declaration (an overloaded queue leader) is tried anew. */
const SET_UP_TIMEOUT_MS = 30_000;
/** A silent network is noticed after two of these, s. */
const HEARTBEAT_SECONDS = 10;
const RECONNECT_FIRST_MS = 100;
const RECONNECT_MOST_MS = 5_000;
const CLOSE_TIMEOUT_MS = 2_000;

export interface BrokerConnectionOptions {
  url: string;
  /** Shown in the broker's list of connections. */
  name: string;
  log: EventLog;
  /** Declares and consumes again; runs after every connect, before the connection counts as up. */
  setUp(model: ChannelModel): Promise<void>;
  /** Longest time for that, ms; default 30,000. */
  setUpMs?: number;
  down?(): void;
}

/** One AMQP connection, kept up for ever: reconnects with jitter and sets up again, without a restart of the process. */
export class BrokerConnection {
  #model: ChannelModel | undefined;
  #attempt: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;
  #upWaiters = new Set<() => void>();
  #downSince = 0;
  #startedAt: number | undefined;
  readonly #backoff = new Backoff(RECONNECT_FIRST_MS, RECONNECT_MOST_MS);

  constructor(readonly options: BrokerConnectionOptions) {}

  /** Connects if that has not begun. */
  start(): void {
    this.#startedAt ??= performance.now();
    if (!this.#closed && !this.#model && !this.#attempt && !this.#retry) this.#attempt = this.#connect();
  }

  /** The connection, when it is up and set up. */
  get model(): ChannelModel | undefined {
    return this.#model;
  }

  /** How long it has been down, ms; 0 when up or never asked for. */
  downFor(): number {
    return this.#model || this.#startedAt === undefined ? 0 : performance.now() - Math.max(this.#downSince, this.#startedAt);
  }

  /** Whether it is up within `ms`. */
  whenUp(ms: number): Promise<boolean> {
    this.start();
    if (this.#model) return Promise.resolve(true);
    return new Promise(resolve => {
      const done = (): void => {
        clearTimeout(timer);
        this.#upWaiters.delete(done);
        resolve(this.#model !== undefined);
      };
      const timer = setTimeout(done, ms);
      this.#upWaiters.add(done);
    });
  }

  async #connect(): Promise<void> {
    let model: ChannelModel | undefined;
    try {
      model = await connect(withHeartbeat(this.options.url), {
        timeout: CONNECT_TIMEOUT_MS,
        noDelay: true,
        clientProperties: { connection_name: this.options.name },
      });
      const lost = this.#watch(model);
      await within(this.options.setUpMs ?? SET_UP_TIMEOUT_MS, Promise.race([this.options.setUp(model), lost]));
      this.#up(model);
    } catch (error) {
      if (!this.#closed)
        this.options.log.warn({ err: errorOf(error), connection: this.options.name }, 'the broker cannot be used; it is tried again');
      if (model) sever(model);
      this.#again();
    }
  }

  #up(model: ChannelModel): void {
    if (this.#closed) return sever(model);
    this.#attempt = undefined;
    this.#model = model;
    this.#backoff.reset();
    this.options.log.info({ connection: this.options.name }, 'connected to the broker');
    [...this.#upWaiters].forEach(waiter => waiter());
  }

  /** Rejects when the connection is lost while it is set up. */
  #watch(model: ChannelModel): Promise<never> {
    model.on('error', () => undefined); // `close` follows
    const lost = new Promise<never>((_, reject) => {
      model.on('close', error => {
        reject(error ?? new Error('the connection was closed'));
        if (this.#model === model) this.#lost();
      });
    });
    lost.catch(() => undefined); // after the set-up nobody waits for it
    return lost;
  }

  #lost(): void {
    this.#model = undefined;
    this.#downSince = performance.now();
    this.options.down?.();
    if (!this.#closed) this.options.log.warn({ connection: this.options.name }, 'the connection to the broker is lost');
    this.#again();
  }

  #again(): void {
    this.#attempt = undefined;
    if (this.#closed) return;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.start();
    }, this.#backoff.next());
  }

  /** Cuts a connection that does not answer, so that it is made anew. */
  cut(): void {
    if (this.#model) sever(this.#model);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    await this.#attempt;
    const model = this.#model;
    if (!model) return;
    await closed(model);
    if (this.#model === model) sever(model);
  }
}

/** Closes a channel or connection; amqplib waits for an answer that a network gone silent never brings. */
export async function closed(one: { close(): Promise<void> }): Promise<void> {
  const answer = one.close().catch(() => undefined); // it may be closed already
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise(resolve => (timer = setTimeout(resolve, CLOSE_TIMEOUT_MS)));
  await Promise.race([answer, silence]);
  clearTimeout(timer);
}

/** @throws Error when `work` has not ended within `ms`. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the set-up took longer than ${ms} ms`)), ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function sever(model: ChannelModel): void {
  (model.connection as unknown as { stream: Duplex }).stream.destroy(new Error('severed'));
}

function withHeartbeat(url: string): string {
  const parsed = new URL(url);
  if (!parsed.searchParams.has('heartbeat')) parsed.searchParams.set('heartbeat', String(HEARTBEAT_SECONDS));
  return parsed.toString();
}
