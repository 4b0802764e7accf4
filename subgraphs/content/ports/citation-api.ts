import type { Config } from '../../../runtime/config.js';
import { FetchRefused, FetchStatus, guardedFetch } from '../../../runtime/http/guarded-fetch.js';
import { parseNetworks } from '../../../runtime/http/public-address.js';
import { fail, Problem } from '../../../runtime/request/errors.js';
import { Turns } from '../../../runtime/request/turns.js';
import { waitOf } from '../rules/citation.js';

const LIMITS = { deadlineMs: 4_000, connectMs: 2_000, maxBytes: 2 * 1024 * 1024, redirects: 2, accept: 'application/json' };
const SECONDS = 5;

/** A register that is read as JSON: one request at a time, and none while it asks to be left alone. */
export class CitationApi {
  #quietUntil = 0;
  readonly #turns = new Turns(1, 20, () => new Problem('unavailable', 'Too many papers are asked for at once', { retryAfter: SECONDS }));

  constructor(
    /** As people know it. */
    private readonly name: string,
    private readonly base: string,
    private readonly config: Config,
  ) {}

  /** The answer; null where there is none of this name. Redirects stay at the register's host. @throws Problem unavailable. */
  async get(path: string): Promise<unknown> {
    const bytes = await this.#turns.run(() => this.#fetched(path));
    if (bytes === null) return null;
    try {
      return JSON.parse(bytes.toString('utf8'));
    } catch (error) {
      return this.malformed(error);
    }
  }

  /** The answer is none that is known. @throws Problem unavailable. */
  malformed(cause: unknown): never {
    return fail('unavailable', `${this.name} gave an answer that cannot be read`, { retryAfter: SECONDS, reason: 'malformed', cause });
  }

  async #fetched(path: string): Promise<Buffer | null> {
    const left = Math.ceil((this.#quietUntil - performance.now()) / 1_000);
    if (left > 0) this.#busy(left);
    const allowed = this.config.production ? [] : parseNetworks(this.config.setting('CONTENT_EGRESS_ALLOW_CIDRS') ?? '');
    try {
      return await guardedFetch(this.base + path, { ...LIMITS, allowed, hosts: [new URL(this.base).host] });
    } catch (error) {
      return this.#refused(error as FetchRefused);
    }
  }

  #refused(error: FetchRefused): null {
    const status = error instanceof FetchStatus ? error.status : null;
    if (status === 404) return null;
    if (error instanceof FetchStatus && (status === 429 || status === 503)) {
      const wait = waitOf(error.retryAfter, Date.now());
      this.#quietUntil = performance.now() + wait * 1_000;
      this.#busy(wait);
    }
    return fail('unavailable', `${this.name} does not answer`, { retryAfter: SECONDS, cause: error });
  }

  #busy(retryAfter: number): never {
    return fail('unavailable', `${this.name} asks for a pause`, { retryAfter, reason: 'busy' });
  }
}
