import { createHmac } from 'node:crypto';
import { type TryLimit, waitAfter } from '../../rules/limits.js';
import type { EngineStore } from '../oidc-provider/model.js';
import { PageError } from './form.js';

const COUNT = `
insert into identity.sign_in_limit as l (key, failures, window_ends_at) values ($1, 1, $3)
on conflict (key) do update set failures = case when l.window_ends_at <= $2 then 1 else l.failures + 1 end,
  window_ends_at = case when l.window_ends_at <= $2 then excluded.window_ends_at else l.window_ends_at end, blocked_until = null
where l.blocked_until is null or l.blocked_until <= $2 returning failures`;

const iso = (ms: number): string => new Date(ms).toISOString();

/** What is counted, and by what: a keyed hash of it is stored, because addresses and identifiers are personal. */
export type Counted = readonly [limit: TryLimit, about: string];

/** Tries, counted before they are judged, so that parallel ones cannot slip through. Everything is in the database. */
export class Tries {
  readonly #keys: readonly (readonly [limit: TryLimit, key: Buffer])[];

  constructor(
    private readonly store: EngineStore,
    counted: readonly Counted[],
  ) {
    const kek = store.host.config.signingKek!;
    const keyOf = (limit: TryLimit, about: string): Buffer => createHmac('sha256', kek).update(`sign-in:${limit.name}:${about}`).digest();
    this.#keys = counted.map(([limit, about]) => [limit, keyOf(limit, about)]);
  }

  /** Counts this try. @throws PageError 429 when there were too many. */
  async take(): Promise<void> {
    for (const [limit, key] of this.#keys) await this.#count(limit, key);
  }

  async #count(limit: TryLimit, key: Buffer): Promise<void> {
    const now = Date.now();
    const [row] = await this.store.sql<{ failures: number }>(COUNT, [key, iso(now), iso(now + limit.windowMs)]);
    if (!row) throw await this.#blocked(key, now);
    const wait = waitAfter(limit, row.failures);
    if (wait === null) return;
    const text = 'update identity.sign_in_limit set blocked_until = $2, window_ends_at = greatest(window_ends_at, $3) where key = $1';
    await this.store.sql(text, [key, iso(now + wait), iso(now + wait + limit.windowMs)]);
  }

  async #blocked(key: Buffer, now: number): Promise<PageError> {
    const text = 'select extract(epoch from blocked_until)::float8 * 1000 as until from identity.sign_in_limit where key = $1';
    const [row] = await this.store.sql<{ until: number }>(text, [key]);
    const seconds = Math.max(1, Math.ceil(((row?.until ?? now) - now) / 1000));
    return new PageError(429, 'Too many tries', 'Wait a while and try again.', seconds);
  }

  /** It was right: this try does not count. Of limits that end with success nothing does. */
  async forget(): Promise<void> {
    const keys = this.#keys.map(([, key]) => key);
    await this.store.sql(
      'update identity.sign_in_limit set failures = greatest(failures - 1, 0), blocked_until = null where key = any($1)',
      [keys],
    );
    const ended = this.#keys.filter(([limit]) => limit.endsWithSuccess).map(([, key]) => key);
    await this.store.sql('delete from identity.sign_in_limit where key = any($1)', [ended]);
  }
}
