import { request as httpRequest } from 'undici';
import type { Slug } from '../../events/slugs.js';
import type { Config } from '../../runtime/config.js';
import { Problem } from '../../runtime/request/errors.js';
import { clientSecretName } from './required-secrets.js';

/** Deadline of a token request, ms. */
const CALL_MS = 10_000;
/** A token is renewed this long before it expires. */
const RENEW_MS = 60_000;
/** Lifetime where the answer has none, s. */
const LIFETIME_S = 300;

interface HeldToken {
  token: string;
  /** Until when it is used, epoch ms. */
  until: number;
}

interface TokenAnswer {
  access_token?: string;
  expires_in?: number;
  error?: string;
}

/** Identity answered, and does not accept this process's secret; trying again changes nothing. */
export class SecretRefused extends Error {
  constructor(slug: Slug) {
    const why = `the database was set up with another ${clientSecretName(slug)} than this process has`;
    super(`identity refuses svc-${slug}: ${why}; give every process the same secrets, or begin with an empty database`);
  }
}

/** Access tokens of the internal clients `svc-<slug>`, by client_credentials from identity's process. Source: architecture 4. */
export class InternalTokens {
  readonly #held = new Map<Slug, Promise<HeldToken>>();

  constructor(
    private readonly config: Config,
    private readonly identityUrl: () => string,
  ) {}

  /** @throws Problem unavailable when identity cannot be reached; Error without the client's secret. */
  async get(slug: Slug): Promise<string> {
    const held = await this.#held.get(slug)?.catch(() => undefined);
    if (held && held.until > Date.now()) return held.token;
    const fresh = this.#fetch(slug);
    this.#held.set(slug, fresh);
    fresh.catch(() => this.#held.delete(slug));
    return (await fresh).token;
  }

  /** Drops a token that was refused; the next call fetches another. */
  forget(slug: Slug): void {
    this.#held.delete(slug);
  }

  async #fetch(slug: Slug): Promise<HeldToken> {
    const secret = this.config.internalSecrets[slug];
    if (!secret) throw new Error(`${clientSecretName(slug)} is not set`);
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: `svc-${slug}`, client_secret: secret });
    const { access_token: token, expires_in: seconds = LIFETIME_S } = await this.#request(slug, form);
    return { token, until: Date.now() + seconds * 1000 - RENEW_MS };
  }

  async #request(slug: Slug, form: URLSearchParams): Promise<TokenAnswer & { access_token: string }> {
    try {
      const { access_token, ...rest } = await answerTo(`${this.identityUrl()}/identity/v1/oauth/token`, form);
      if (rest.error === 'invalid_client') throw new SecretRefused(slug);
      if (!access_token) throw new Error(`identity answered ${rest.error ?? 'without a token'}`);
      return { ...rest, access_token };
    } catch (cause) {
      throw new Problem('unavailable', 'identity cannot be reached right now', { retryAfter: 1, cause });
    }
  }
}

async function answerTo(url: string, form: URLSearchParams): Promise<TokenAnswer> {
  const answer = await httpRequest(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
    signal: AbortSignal.timeout(CALL_MS),
  });
  return (await answer.body.json()) as TokenAnswer;
}
