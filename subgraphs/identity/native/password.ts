import { createHmac } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { networkOf } from '../rules/network.js';
import { SIGN_IN_LIMITS, waitAfter, type SignInLimit } from '../rules/sign-in-limits.js';
import { emailKey } from '../rules/visibility.js';
import type { EngineStore } from '../ports/oidc-provider/model.js';
import { ARGON2 } from '../rules/passwords.js';
import { PageError } from './form.js';

/** Hashes at once in this process, and how many more may wait. Source: identity 4.1. */
const AT_ONCE = 4;
const QUEUE = 64;
let running = 0;
const waiting: (() => void)[] = [];

/** Runs work that costs 19 MiB and a core. @throws PageError 503 when too many wait. */
export async function hashing<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) {
    if (waiting.length >= QUEUE) throw new PageError(503, 'Too many people at once', 'Try again in a moment.', 5);
    await new Promise<void>(resolve => waiting.push(resolve));
  }
  running++;
  try {
    return await work();
  } finally {
    running--;
    waiting.shift()?.();
  }
}

/** What an account without a password, or no account at all, is compared with, so that it takes as long. */
let dummy: Promise<string> | null = null;
const dummyHash = (): Promise<string> => (dummy ??= hash('no account has this password', ARGON2));

const FIND = `
select u.id, u.status, c.hash from identity.user_email e join identity."user" u on u.id = e.user_id
left join identity.credential_password c on c.user_id = u.id where e.email_key = $1`;

const COUNT = `
insert into identity.sign_in_limit as l (key, failures, window_ends_at) values ($1, 1, $3)
on conflict (key) do update set failures = case when l.window_ends_at <= $2 then 1 else l.failures + 1 end,
  window_ends_at = case when l.window_ends_at <= $2 then excluded.window_ends_at else l.window_ends_at end, blocked_until = null
where l.blocked_until is null or l.blocked_until <= $2 returning failures`;

const iso = (ms: number): string => new Date(ms).toISOString();

/** Tries at signing in, counted before they are judged, so that parallel ones cannot slip through. Everything is in the database. */
class Tries {
  readonly #keys: readonly (readonly [limit: SignInLimit, key: Buffer])[];

  constructor(
    private readonly store: EngineStore,
    identifier: string,
    address: string,
  ) {
    const network = networkOf(address) ?? address;
    const about = { address, network: `${identifier}\n${network}`, day: identifier };
    const key = (name: string, text: string): Buffer =>
      createHmac('sha256', store.host.config.signingKek!).update(`sign-in:${name}:${text}`).digest();
    this.#keys = SIGN_IN_LIMITS.map(limit => [limit, key(limit.name, about[limit.name])]);
  }

  /** Counts this try. @throws PageError 429 when there were too many. */
  async take(): Promise<void> {
    for (const [limit, key] of this.#keys) await this.#count(limit, key);
  }

  async #count(limit: SignInLimit, key: Buffer): Promise<void> {
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

  /** The right password: nothing of this try counts. */
  async forget(): Promise<void> {
    const keys = this.#keys.map(([, key]) => key);
    await this.store.sql(
      'update identity.sign_in_limit set failures = greatest(failures - 1, 0), blocked_until = null where key = any($1)',
      [keys],
    );
    await this.store.sql('delete from identity.sign_in_limit where key = $1', [this.#keys.find(([limit]) => limit.name === 'network')![1]]);
  }
}

export interface SignInAttempt {
  identifier: string;
  password: string;
  /** See `addressKey`. */
  address: string;
}

/**
 * The account that this identifier and password belong to; null for anything else, after the same work. Only an ACTIVE account signs in.
 * @throws PageError 429 after too many tries, 503 when too many are judged at once. Source: identity 4.1, 4.16.
 */
export async function checkPassword(store: EngineStore, { identifier, password, address }: SignInAttempt): Promise<string | null> {
  const email = emailKey(identifier.trim());
  const tries = new Tries(store, email, address);
  await tries.take();
  const [found] = await store.sql<{ id: string; status: string; hash: string | null }>(FIND, [email]);
  const right = await hashing(async () => verify(found?.hash ?? (await dummyHash()), password.normalize('NFC')));
  if (!right || !found?.hash || found.status !== 'active') return null;
  await tries.forget();
  return found.id;
}
