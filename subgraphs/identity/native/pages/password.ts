import { hash, verify } from '@node-rs/argon2';
import { networkOf } from '../../rules/network.js';
import { PASSWORD_LIMITS } from '../../rules/sign-in-limits.js';
import { emailKey } from '../../rules/visibility.js';
import type { EngineStore } from '../oidc-provider/model.js';
import { ARGON2, isCurrentHash } from '../../rules/passwords.js';
import { Turns } from '../../../../runtime/request/turns.js';
import { PageError } from './form.js';
import { Tries } from './tries.js';

/** Hashes at once in this process, each 19 MiB and a core, and how many more may wait. Source: identity 4.1. */
const turns = new Turns(4, 64, () => new PageError(503, 'Too many people at once', 'Try again in a moment.', 5));

/** Runs work that hashes. @throws PageError 503 when too many wait. */
export const hashing = <T>(work: () => Promise<T>): Promise<T> => turns.run(work);

/** What an account without a password, or no account at all, is compared with, so that it takes as long. */
let dummy: Promise<string> | null = null;
const dummyHash = (): Promise<string> => (dummy ??= hash('no account has this password', ARGON2));

const FIND = `
select u.id, u.status, c.hash from identity.user_email e join identity."user" u on u.id = e.user_id
left join identity.credential_password c on c.user_id = u.id where e.email_key = $1`;

export interface SignInAttempt {
  identifier: string;
  password: string;
  /** See `addressKey`. */
  address: string;
}

/** Hashes again what was hashed with weaker parameters than ours are now; a password that was changed meanwhile stays. Source: identity 4.1. */
async function renewHash({ sql }: EngineStore, userId: string, old: string, password: string): Promise<void> {
  if (isCurrentHash(old)) return;
  const renewed = await hashing(() => hash(password.normalize('NFC'), ARGON2));
  await sql('update identity.credential_password set hash = $3 where user_id = $1 and hash = $2', [userId, old, renewed]);
}

/**
 * The account that this identifier and password belong to; null for anything else, after the same work. Only an ACTIVE account signs in.
 * @throws PageError 429 after too many tries, 503 when too many are judged at once. Source: identity 4.1, 4.16.
 */
export async function checkPassword(store: EngineStore, { identifier, password, address }: SignInAttempt): Promise<string | null> {
  const email = emailKey(identifier.trim());
  const { address: perAddress, network, day } = PASSWORD_LIMITS;
  const place = networkOf(address) ?? address;
  const tries = new Tries(store, [
    [perAddress, address],
    [network, `${email}\n${place}`],
    [day, email],
  ]);
  await tries.take();
  const [found] = await store.sql<{ id: string; status: string; hash: string | null }>(FIND, [email]);
  const right = await hashing(async () => verify(found?.hash ?? (await dummyHash()), password.normalize('NFC')));
  if (!right || !found?.hash || found.status !== 'active') return null;
  await tries.forget();
  await renewHash(store, found.id, found.hash, password);
  return found.id;
}
