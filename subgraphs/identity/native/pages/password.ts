import { hashPassword, verifyPassword } from '../../ports/argon2.js';
import { networkOf } from '../../rules/devices.js';
import { emailKey } from '../../rules/emails.js';
import { PASSWORD_LIMITS } from '../../rules/limits.js';
import { isCurrentHash } from '../../rules/passwords.js';
import type { EngineStore } from '../oidc-provider/model.js';
import { Tries } from './tries.js';

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
  const renewed = await hashPassword(password);
  await sql('update identity.credential_password set hash = $3 where user_id = $1 and hash = $2', [userId, old, renewed]);
}

/**
 * The account that this identifier and password belong to; null for anything else, after the same work. Only an ACTIVE account signs in.
 * @throws PageError 429 after too many tries; TooManyHashes. Source: identity 4.1, 4.16.
 */
export async function checkPassword(store: EngineStore, { identifier, password, address }: SignInAttempt): Promise<string | null> {
  const email = emailKey(identifier.trim());
  const { address: perAddress, network, day } = PASSWORD_LIMITS;
  const tries = new Tries(store, [
    [perAddress, address],
    [network, `${email}\n${networkOf(address) ?? address}`],
    [day, email],
  ]);
  await tries.take();
  const [found] = await store.sql<{ id: string; status: string; hash: string | null }>(FIND, [email]);
  const right = await verifyPassword(found?.hash ?? null, password);
  if (!right || !found?.hash || found.status !== 'active') return null;
  await tries.forget();
  await renewHash(store, found.id, found.hash, password);
  return found.id;
}
