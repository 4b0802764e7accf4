import { hash, verify } from '@node-rs/argon2';
import { Problem } from '../../../runtime/request/errors.js';
import { Turns } from '../../../runtime/request/turns.js';
import { ARGON2 } from '../rules/passwords.js';

/** Too many passwords wait to be hashed; thrown before any work is done. */
export class TooManyHashes extends Problem {
  constructor() {
    super('unavailable', 'Try again in a moment.', { retryAfter: 5 });
  }
}

/** Hashes at once in this process, each 19 MiB and a core, and how many more may wait. Source: identity 4.1. */
const turns = new Turns(4, 64, () => new TooManyHashes());

/** argon2id, PHC string; argon2id is the library's default. @throws TooManyHashes */
export const hashPassword = (text: string): Promise<string> => turns.run(() => hash(text.normalize('NFC'), ARGON2));

/** What an account without a password, or no account at all, is compared with, so that it takes as long. */
let dummy: Promise<string> | null = null;
const dummyHash = (): Promise<string> => (dummy ??= hash('no account has this password', ARGON2));

/** Whether a password fits a PHC string; null fits nothing, after the same work. @throws TooManyHashes */
export const verifyPassword = async (phc: string | null, text: string): Promise<boolean> =>
  (await turns.run(async () => verify(phc ?? (await dummyHash()), text.normalize('NFC')))) && phc !== null;
