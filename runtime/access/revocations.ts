import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { AccessRule } from './rules.js';
import type { Caller } from '../request/caller.js';
import { isPhiScope } from '../../events/scopes.js';
import { fail } from '../request/errors.js';
import type { Logger } from '../observe/log.js';

/** One row of identity's revocation feed. Source: identity A4. */
export interface Revocation {
  seq: number;
  kind: 'token' | 'family' | 'session' | 'secret' | 'client' | 'user';
  value: string;
  /** Epoch seconds, for `user`, and for a `client` that may come back: tokens issued up to then are dead. */
  not_before: number | null;
  effective_at: string;
  expires_at: string;
}

/** Reads the feed after a sequence number, in order, up to 1,000 rows. */
export type RevocationSource = (afterSeq: number) => Promise<readonly Revocation[]>;

const POLL_MS = 10_000;
/** Without news for this long, operations under an admin or PHI scope answer 503. */
const STALE_MS = 30_000;
/** And after this long all of them do. */
const DEAD_MS = 300_000;
const PAGE = 1000;
/**
 * A request waits for the feed at most so long, ms, and so many turns of the event loop, which an idle process makes in no time: one that has
 * much to do, as in a reload, is not told what has come before its time is up.
 */
const CATCH_UP_MS = 1_000;
const CATCH_UP_TURNS = 100;

interface Entry {
  effectiveAt: number;
  expiresAt: number;
  notBefore: number;
}

/** What is dead before its time: fed by hints, made whole by a poll, failing closed when both are silent. Source: identity A4. */
export class Revocations {
  readonly #entries = new Map<string, Entry>();
  #seq = 0;
  #heardAt: number | null = null;
  #timer: NodeJS.Timeout | null = null;
  #polling: Promise<void> | null = null;
  #askedAt = Number.NEGATIVE_INFINITY;
  /** A poll that was asked for after others were missed, for as long as a request waits for it. */
  #late: Promise<void> | null = null;

  /** @param carriesFeed whether reads of the feed pass this process, its own or others'. They come from internal clients. */
  constructor(
    private readonly source: RevocationSource,
    private readonly log: Logger,
    private readonly clock: () => number = () => performance.now(),
    private readonly carriesFeed = true,
  ) {}

  /** First poll, then one every 10 s. @throws the source's error when the first poll fails: the process is not ready without it. */
  async start(): Promise<void> {
    await this.poll();
    this.#timer = setInterval(
      () => void this.poll().catch(error => this.log.warn({ err: String((error as Error).name) }, 'the revocation feed could not be read')),
      POLL_MS,
    );
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
  }

  /** A hint: applied at once; a gap in the sequence asks for the missing rows. */
  hear(revocation: Revocation): void {
    if (revocation.seq <= this.#seq) return;
    this.#apply(revocation);
    if (revocation.seq !== this.#seq + 1)
      void this.#readUpTo(revocation.seq).catch(() => undefined); // the next poll tells
    else this.#advance(revocation.seq);
  }

  /** A read that has begun before a hint may come without what the hint misses. */
  async #readUpTo(seq: number): Promise<void> {
    await this.poll();
    if (this.#seq < seq) await this.poll();
  }

  /** Reads what is new; calls that overlap share one read. */
  poll(): Promise<void> {
    const isLate = this.#hasMissed;
    this.#askedAt = this.clock();
    const polling = (this.#polling ??= this.#readAll().finally(() => (this.#polling = null)));
    if (isLate) this.#late = longEnough(polling).finally(() => (this.#late = null));
    return polling;
  }

  /** No poll was asked for within the time of two: this process stood still, or was suspended. A feed that is away is asked all the same. */
  get #hasMissed(): boolean {
    return this.clock() - this.#askedAt > 2 * POLL_MS;
  }

  async #readAll(): Promise<void> {
    for (;;) {
      const rows = await this.source(this.#seq);
      for (const row of rows) this.#apply(row);
      this.#advance(Math.max(this.#seq, ...rows.map(row => row.seq)));
      if (rows.length < PAGE) return this.#dropExpired();
    }
  }

  #advance(seq: number): void {
    this.#seq = seq;
    this.#heardAt = this.clock();
  }

  #apply(row: Revocation): void {
    this.#entries.set(`${row.kind}:${row.value}`, {
      effectiveAt: Date.parse(row.effective_at),
      expiresAt: Date.parse(row.expires_at),
      notBefore: row.not_before ?? Number.POSITIVE_INFINITY,
    });
  }

  #dropExpired(): void {
    const now = Date.now();
    for (const [key, entry] of this.#entries) if (entry.expiresAt < now) this.#entries.delete(key);
  }

  #kills(key: string | null, issuedAt: number | null): boolean {
    const entry = key === null ? undefined : this.#entries.get(key);
    return entry !== undefined && entry.effectiveAt <= Date.now() && (issuedAt === null || issuedAt <= entry.notBefore);
  }

  /** Whether a verified token has been revoked meanwhile. */
  isRevoked(caller: Caller): boolean {
    const { jti, gid, sid, csi, clientId, userId, issuedAt } = caller;
    const keys = [jti && `token:${jti}`, gid && `family:${gid}`, sid && `session:${sid}`, csi && `secret:${csi}`];
    return (
      keys.some(key => this.#kills(key, null)) || [userId && `user:${userId}`, `client:${clientId}`].some(key => this.#kills(key, issuedAt))
    );
  }

  /** Milliseconds since the feed was last heard of; null before the first time. */
  get silence(): number | null {
    return this.#heardAt === null ? null : this.clock() - this.#heardAt;
  }

  /**
   * Waits for the feed where its silence would refuse somebody and is this process's own; while the feed is away nobody waits. Nor does an
   * internal client where reads of the feed pass, which would wait for themselves.
   */
  async catchUp({ serviceSlug }: Caller): Promise<void> {
    if ((this.carriesFeed && serviceSlug !== null) || this.silence === null || this.silence <= STALE_MS) return;
    if (this.#hasMissed) void this.poll().catch(() => undefined); // requireFresh judges
    await this.#late;
  }

  /** @throws Problem unavailable when nothing can be said about revocations any more. Reading the feed itself is always allowed. */
  requireFresh(rule: AccessRule | null, caller: Caller): void {
    if (rule === null || rule.public || caller.kind === 'system') return;
    if (rule.internal && !rule.service && !rule.user && !rule.staff) return;
    const silence = this.silence ?? Number.POSITIVE_INFINITY;
    if (silence <= STALE_MS || (silence <= DEAD_MS && !isSensitive(rule, caller))) return;
    fail('unavailable', 'Revocations cannot be checked right now', { retryAfter: 5 });
  }
}

/** Resolves when work has ended, however it did, or when a request has waited for it long enough. */
async function longEnough(work: Promise<void>): Promise<void> {
  const state = { ended: false };
  const end = (): void => void (state.ended = true);
  await Promise.race([work.then(end, end), sleep(CATCH_UP_MS, undefined, { ref: false })]);
  for (let turn = 0; turn < CATCH_UP_TURNS && !state.ended; turn++) await setImmediate();
}

/** Under an admin scope or a scope of class PHI. */
const isSensitive = (rule: AccessRule, caller: Caller): boolean =>
  caller.kind === 'service' || (rule.user ?? []).some(scope => scope.split('|').some(isPhiScope)) || caller.permissions.length > 0;
