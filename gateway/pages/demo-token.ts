import { request as httpRequest } from 'undici';
import { Problem } from '../../runtime/request/errors.js';

/** Deadline of a token request, ms. */
const CALL_MS = 10_000;
/** A token with less left is not handed out any more, ms. */
const ENOUGH_MS = 10 * 60_000;

export interface DemoToken {
  access_token: string;
  /** Seconds that are left. */
  expires_in: number;
}

interface Held {
  token: string;
  /** Epoch ms. */
  endsAt: number;
}

/** Tokens of development data's machine client, which may do everything with that data. */
export class DemoTokens {
  #held: Held | null = null;

  /** @param identityUrl base URL of identity's process. */
  constructor(
    private readonly identityUrl: () => string,
    private readonly secret: string,
  ) {}

  /** One that is good for some minutes. @throws Problem unavailable. */
  async get(): Promise<DemoToken> {
    if (!this.#held || this.#held.endsAt - Date.now() < ENOUGH_MS) this.#held = await this.#fetch();
    return { access_token: this.#held.token, expires_in: Math.floor((this.#held.endsAt - Date.now()) / 1000) };
  }

  async #fetch(): Promise<Held> {
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'demo-m2m', client_secret: this.secret }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    try {
      const answer = await httpRequest(`${this.identityUrl()}/identity/v1/oauth/token`, {
        method: 'POST',
        headers,
        body,
        signal: AbortSignal.timeout(CALL_MS),
      });
      const { access_token: token, expires_in: seconds } = (await answer.body.json()) as Partial<DemoToken>;
      if (!token || !seconds) throw new Error(`identity answered ${answer.statusCode}`);
      return { token, endsAt: Date.now() + seconds * 1000 };
    } catch (cause) {
      throw new Problem('unavailable', 'No token of development data can be had right now', { retryAfter: 1, cause });
    }
  }
}
