import type { ServerResponse } from 'node:http';
import type { Caller } from '../request/caller.js';
import type { Entry } from './feed.js';

/** Why a stream ends. Source: live 4.8. */
export type Reason = 'token_expired' | 'revoked' | 'forbidden' | 'replaced' | 'shutdown' | 'ended';

/** Whoever watches. */
export interface Viewer {
  caller: Caller;
  /** Of a user token; null for services, which are not counted. */
  userId: string | null;
  /** Sees entries of audience TEAM. */
  team: boolean;
  /** How an entry looks to this viewer, where not all see the same of one; an entry for everybody is written as it is. */
  shown?: (entry: Entry) => Entry;
}

/** One event as it goes over the wire; `data` is one line. */
export const frame = (event: string, data: string, seq?: number): string =>
  `${seq === undefined ? '' : `id: ${seq}\n`}event: ${event}\ndata: ${data}\n\n`;

export const entryFrame = ({ seq, type, data }: Entry): string => frame(type, data, seq);

export const isVisible = ({ audience, userId }: Entry, viewer: Viewer): boolean =>
  audience === 'PUBLIC' || (audience === 'TEAM' ? viewer.team : userId !== null && userId === viewer.userId);

/** A socket with more unsent bytes is closed; its client resumes. Source: live 4.8. */
export const MAX_UNSENT_BYTES = 262_144;

/** One open stream: what was written to it, up to which entry. */
export class Connection {
  readonly openedAt = Date.now();
  #open = true;

  constructor(
    readonly viewer: Viewer,
    private readonly response: ServerResponse,
    /** All entries up to this one were written or are not for this viewer. */
    public seq: number,
  ) {}

  get isOpen(): boolean {
    return this.#open && !this.response.destroyed;
  }

  /** Calls back once, when the connection has ended, whoever ended it. */
  onEnd(ended: () => void): void {
    this.response.once('close', ended);
    if (this.response.destroyed) ended();
  }

  /** Bytes that the socket has not taken. */
  get unsent(): number {
    return this.response.writableLength;
  }

  /** Writes at once, or ends a socket that does not keep up. */
  write(chunk: string | Buffer): void {
    if (!this.isOpen) return;
    if (this.unsent > MAX_UNSENT_BYTES) return this.drop();
    this.response.write(chunk);
  }

  /** What of these entries is new and visible to the viewer, in one write. */
  deliver(entries: readonly Entry[]): void {
    const { shown = (entry: Entry) => entry } = this.viewer;
    const visible = entries.filter(entry => entry.seq > this.seq && isVisible(entry, this.viewer));
    if (visible.length > 0) this.write(visible.map(entry => entryFrame(shown(entry))).join(''));
    this.passed(entries);
  }

  /** Notes entries as written. */
  passed(entries: readonly Entry[]): void {
    this.seq = Math.max(this.seq, entries.at(-1)?.seq ?? 0);
  }

  bye(reason: Reason): void {
    if (!this.isOpen) return;
    this.#open = false;
    this.response.end(frame('bye', JSON.stringify({ reason })));
  }

  /** Ends it without a word. */
  drop(): void {
    this.#open = false;
    this.response.destroy();
  }
}
