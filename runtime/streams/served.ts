import { entryFrame, frame, type Connection, type Reason } from './connection.js';
import type { Entry, EntryReader, Head } from './feed.js';

/** Entries within so many milliseconds leave as one write per socket. Source: live 4.8. */
const GATHER_MS = 100;
/**
 * Writing to a crowd takes the process 25 µs a socket, in which nobody else is served: 2,000 sockets at every 100 ms were half of its time. So what
 * a write took is waited for four times, and entries of up to so many milliseconds leave together.
 */
const [REST, LONGEST_GATHER_MS] = [4, 300];
const PAGE = 500;
/** Entries that are kept for those who come back, so that a reconnect of all costs no query each. */
const KEPT = 1_000;
/** Connections of one user to one stream. Source: live 4.8. */
const PER_USER = 3;

/** A stream that this process serves: it reads new entries once and writes them to all its connections. */
export class Served {
  readonly connections = new Set<Connection>();
  /** All entries up to here were read and written. */
  seq: number;
  heartbeatAt = 0;
  checkedAt = Date.now();
  #kept: Entry[] = [];
  #over: boolean;
  #timer: NodeJS.Timeout | null = null;
  #reading: Promise<void> | null = null;
  #readAt = 0;
  #gatherMs = GATHER_MS;
  #again = false;

  constructor(
    readonly id: string,
    private readonly reader: EntryReader,
    head: Head,
    private readonly onFailure: (error: unknown) => void,
  ) {
    this.seq = head.seq;
    this.#over = head.over;
  }

  /** Adds a connection that has been given all entries up to its `seq`, and gives it those since. The oldest of too many of a user is replaced. */
  async attach(connection: Connection): Promise<void> {
    while (connection.isOpen && connection.seq < this.seq) {
      const kept = this.#since(connection.seq);
      connection.deliver(kept ?? (await this.reader.after(this.id, connection.seq, PAGE)));
    }
    if (!connection.isOpen) return;
    this.#replaceOldest(connection.viewer.userId);
    this.connections.add(connection);
  }

  #replaceOldest(userId: string | null): void {
    if (userId === null) return;
    const same = [...this.connections].filter(({ viewer }) => viewer.userId === userId);
    for (const oldest of same.slice(0, Math.max(0, same.length - PER_USER + 1))) this.end(oldest, 'replaced');
  }

  end(connection: Connection, reason: Reason): void {
    this.connections.delete(connection);
    connection.bye(reason);
  }

  /** Entries after a number, where they are all kept. */
  #since(seq: number): readonly Entry[] | null {
    const first = this.#kept[0]?.seq ?? Number.POSITIVE_INFINITY;
    return seq + 1 >= first ? this.#kept.slice(seq + 1 - first) : null;
  }

  /** What the poll saw. */
  noticed(head: Head): void {
    this.#over = head.over;
    if (head.seq > this.seq) this.wake();
    else if (head.over) for (const connection of this.connections) this.end(connection, 'ended');
  }

  /** Something was committed: reads at once, or when the last read is long enough ago. */
  wake(): void {
    if (this.#reading) return void (this.#again = true);
    this.#timer ??= setTimeout(() => this.#begin(), Math.max(0, this.#readAt + this.#gatherMs - Date.now())).unref();
  }

  #begin(): void {
    this.#timer = null;
    this.#readAt = Date.now();
    this.#reading = this.#read()
      .catch(this.onFailure)
      .finally(() => {
        this.#reading = null;
        if (this.#again) this.wake();
        this.#again = false;
      });
  }

  async #read(): Promise<void> {
    for (;;) {
      const entries = await this.reader.after(this.id, this.seq, PAGE);
      if (entries.length > 0) this.#timed(() => this.#deliver(entries));
      if (entries.length < PAGE) return;
    }
  }

  #timed(write: () => void): void {
    const begun = performance.now();
    write();
    this.#gatherMs = Math.min(LONGEST_GATHER_MS, Math.max(GATHER_MS, REST * (performance.now() - begun)));
  }

  /** Serialised once where everybody sees everything and nobody is ahead. */
  #deliver(entries: readonly Entry[]): void {
    const before = this.seq;
    this.seq = entries.at(-1)!.seq;
    this.#kept = [...this.#kept, ...entries].slice(-KEPT);
    const common = entries.every(({ audience }) => audience === 'PUBLIC') ? Buffer.from(entries.map(entryFrame).join('')) : null;
    for (const connection of this.connections) {
      if (common === null || connection.seq !== before) connection.deliver(entries);
      else {
        connection.write(common);
        connection.passed(entries);
      }
    }
  }

  /** Without `id`, so that it is no position to resume from. */
  heartbeat(now: Date): void {
    const chunk = Buffer.from(frame('heartbeat', JSON.stringify({ seq: this.seq, now: now.toISOString() })));
    for (const connection of this.connections) connection.write(chunk);
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
  }

  get isOver(): boolean {
    return this.#over;
  }
}
