import pg from 'pg';
import { Backoff } from '../backoff.js';
import { errorOf, type EventLog } from '../log.js';

/** One LISTEN connection per process, kept up. What it hears only shortens waits, so a gap costs time, never events. */
export class Listener {
  #client: pg.Client | undefined;
  #retry: NodeJS.Timeout | undefined;
  #stopped = false;
  readonly #backoff = new Backoff(100, 5_000);

  constructor(
    readonly pool: pg.Pool,
    readonly channels: readonly string[],
    readonly heard: (channel: string, payload: string) => void,
    readonly log: EventLog,
  ) {
    void this.#connect();
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({ ...this.pool.options, keepAlive: true });
    client.on('error', () => undefined); // `end` follows and reconnects
    client.on('end', () => this.#again(client));
    client.on('notification', ({ channel, payload }) => this.heard(channel, payload ?? ''));
    this.#client = client;
    try {
      await client.connect();
      for (const channel of this.channels) await client.query(`listen ${channel}`);
      this.#backoff.reset();
    } catch (error) {
      if (!this.#stopped) this.log.debug({ err: errorOf(error) }, 'the listening connection failed; it is opened again');
      await client.end().catch(() => undefined); // it may never have been open
      this.#again(client);
    }
  }

  #again(client: pg.Client): void {
    if (this.#stopped || this.#client !== client) return;
    this.#client = undefined;
    this.#retry = setTimeout(() => void this.#connect(), this.#backoff.next());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retry);
    await this.#client?.end().catch(() => undefined); // it may be gone already
  }
}
