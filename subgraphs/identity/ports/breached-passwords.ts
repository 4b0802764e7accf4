import { createHash } from 'node:crypto';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { guardedFetch } from '../../../runtime/http/guarded-fetch.js';
import { egressNetworks } from './egress.js';

/** Passwords that are known from break-ins. */
export interface BreachedPasswords {
  has(password: string): Promise<boolean>;
}

let list: Promise<ReadonlySet<string>> | null = null;

async function load(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set((dictionary['passwords-common'] as readonly string[]).map(one => one.toLowerCase()));
}

/** Some 49,000 of the most common ones, in any case of letters. */
const bundledList: BreachedPasswords = {
  has: async password => (await (list ??= load())).has(password.toLowerCase()),
};

/** A range has some 800 lines of 40 bytes. */
const RANGE = { deadlineMs: 2_000, maxBytes: 256 * 1024, redirects: 0, accept: 'text/plain' };

/**
 * A range API as haveibeenpwned.com has it: it is told five hex digits of a SHA-1 and answers the rest of all hashes that begin so, each
 * with a count, where 0 is padding. The bundled list goes first, and alone where the API does not answer: nobody is kept out by its fault.
 */
class RangeApi implements BreachedPasswords {
  constructor(
    private readonly base: string,
    private readonly host: ServiceHost,
  ) {}

  async has(password: string): Promise<boolean> {
    if (await bundledList.has(password)) return true;
    const digest = createHash('sha1').update(password).digest('hex').toUpperCase();
    const lines = await this.#range(digest.slice(0, 5));
    return lines.some(line => line.startsWith(`${digest.slice(5)}:`) && Number(line.slice(36)) > 0);
  }

  async #range(prefix: string): Promise<string[]> {
    try {
      const body = await guardedFetch(`${this.base}${prefix}`, { ...RANGE, allowed: egressNetworks(this.host.config) });
      return body.toString('latin1').toUpperCase().split(/\r?\n/);
    } catch {
      this.host.log.warn('the range API of breached passwords does not answer; the bundled list decides alone');
      return [];
    }
  }
}

/** `BREACHED_PASSWORDS_URL` names a range API, for example `https://api.pwnedpasswords.com/range/`. */
export function breachedPasswordsOf(host: ServiceHost): BreachedPasswords {
  const base = host.config.setting('BREACHED_PASSWORDS_URL');
  return base ? new RangeApi(base, host) : bundledList;
}
