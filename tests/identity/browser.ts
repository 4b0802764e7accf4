import { createHash, randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { request } from 'undici';
import { expect } from 'vitest';
import type { SharedPlatform, TestPlatform } from '../support/platform.js';
import { PARTNER, post } from './oauth.js';

export const PASSWORD = 'Demo-Passw0rd-2026';
export const CALLBACKS: Record<string, string> = {
  'demo-app': 'http://localhost:5173/callback',
  'demo-partner-app': 'http://localhost:5174/callback',
  'demo-admin': 'http://localhost:5175/callback',
};

/** Secret of the seeded owner's authenticator app. */
export const OWNER_SECRET = 'JBSWY3DPEHPK3PXP';

export interface Proof {
  verifier: string;
  challenge: string;
}

export function proof(): Proof {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

export interface Page {
  status: number;
  location: string | null;
  headers: Record<string, string | string[] | undefined>;
  html: string;
  /** Where the page was. */
  url: string;
}

/** A browser without scripts: cookies with their paths, and forms. */
export class Browser {
  readonly #cookies = new Map<string, { value: string; path: string }>();

  /** `headers`: sent with every request. */
  constructor(private readonly headers: Record<string, string> = {}) {}

  #keep(headers: Page['headers']): void {
    for (const cookie of [headers['set-cookie'] ?? []].flat()) {
      const [pair, ...attributes] = cookie.split(/;\s*/);
      const [name, value] = [pair!.slice(0, pair!.indexOf('=')), pair!.slice(pair!.indexOf('=') + 1)];
      const path = attributes.find(one => /^path=/i.test(one))?.slice(5) ?? '/';
      const gone = value === '' || attributes.some(one => /^expires=Thu, 01 Jan 1970/i.test(one));
      if (gone) this.#cookies.delete(`${name} ${path}`);
      else this.#cookies.set(`${name} ${path}`, { value, path });
    }
  }

  #header(url: URL): string {
    const fits = [...this.#cookies].filter(([, { path }]) => path === '/' || url.pathname === path || url.pathname.startsWith(`${path}/`));
    return fits.map(([key, { value }]) => `${key.split(' ')[0]}=${value}`).join('; ');
  }

  /** Cookies as they would be stolen; the one that names the app is no secret. */
  get cookies(): string[] {
    return [...this.#cookies].filter(([key]) => !key.startsWith('_app ')).map(([, one]) => one.value);
  }

  async #send(url: string, method: 'GET' | 'POST', body?: URLSearchParams, headers: Record<string, string> = {}): Promise<Page> {
    const cookie = this.#header(new URL(url));
    const form = body ? { 'content-type': 'application/x-www-form-urlencoded' } : {};
    const answer = await request(url, {
      method,
      body: body?.toString(),
      headers: { ...(cookie && { cookie }), ...form, ...this.headers, ...headers },
    });
    this.#keep(answer.headers);
    const location = (answer.headers.location as string | undefined) ?? null;
    return {
      status: answer.statusCode,
      headers: answer.headers,
      html: await answer.body.text(),
      url,
      location: location && new URL(location, url).href,
    };
  }

  get = (url: string, headers?: Record<string, string>): Promise<Page> => this.#send(url, 'GET', undefined, headers);

  /** Follows redirects as long as they stay on the platform. */
  async follow(p: SharedPlatform, page: Page): Promise<Page> {
    let current = page;
    while (current.location?.startsWith(`${p.url}/`)) current = await this.get(current.location);
    return current;
  }

  open = async (p: SharedPlatform, url: string): Promise<Page> => this.follow(p, await this.get(url));

  /** Submits the form of a page whose action ends with `step`, with its hidden fields. */
  submit(page: Page, step: string, fields: Record<string, string | string[]> = {}, headers: Record<string, string> = {}): Promise<Page> {
    const form = [...page.html.matchAll(/<form method="post" action="([^"]+)">([\s\S]*?)<\/form>/g)].find(([, action]) =>
      action!.endsWith(step),
    );
    if (!form) throw new Error(`no form ${step} in ${page.url}: ${page.status} ${page.html.slice(0, 400)}`);
    const body = new URLSearchParams();
    for (const [, name, value] of form[2]!.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)) body.set(name!, value!);
    for (const [name, value] of Object.entries(fields)) {
      body.delete(name);
      for (const one of [value].flat()) body.append(name, one);
    }
    return this.#send(form[1]!.replaceAll('&amp;', '&'), 'POST', body, headers);
  }
}

export interface Asking {
  client?: string;
  scope?: string;
  email?: string;
  password?: string;
  /** Secret of the authenticator app; the seeded owner's when not given. */
  secret?: string;
  /** Ticked scopes; all when not given. */
  tick?: string[];
  more?: Record<string, string>;
}

export const authorizeUrl = (
  p: SharedPlatform,
  { client = 'demo-partner-app', scope = 'read:profile', more = {} }: Asking,
  { challenge }: Proof,
): string => {
  const query = {
    response_type: 'code',
    client_id: client,
    redirect_uri: CALLBACKS[client]!,
    scope,
    state: 'st4te',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...more,
  };
  return `${p.url}/identity/v1/oauth/authorize?${new URLSearchParams(query)}`;
};

export const isConsent = (page: Page): boolean => page.html.includes('name="decision"');
export const isSignIn = (page: Page): boolean => page.html.includes('name="identifier"');
export const isSecondFactor = (page: Page): boolean => page.html.includes('name="method"');
export const answered = (page: Page): Record<string, string> => Object.fromEntries(new URL(page.location!).searchParams);

/** The code of an authenticator app now, by identity's clock. */
export async function codeNow(p: TestPlatform, secret = OWNER_SECRET, aheadMs = 0): Promise<string> {
  const [row] = await p.sql('select now from identity.test_clock');
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: (row?.now ?? new Date()).getTime() + aheadMs });
}

/** A code of a step that no sign-in has used: moves a manual clock, and on the wall clock takes the next step, which is good as well. */
export async function freshCode(p: TestPlatform, secret = OWNER_SECRET): Promise<string> {
  if (p.env.CLOCK !== 'manual') return codeNow(p, secret, 30_000);
  await p.clock('identity', { advance: 'PT30S' });
  return codeNow(p, secret);
}

/** Walks the pages that are shown, until the answer at the app. */
export async function walk(p: TestPlatform, browser: Browser, asking: Asking, by: Proof): Promise<Record<string, string>> {
  let page = await browser.open(p, authorizeUrl(p, asking, by));
  if (isSignIn(page)) {
    const fields = { identifier: asking.email ?? 'demo@example.test', password: asking.password ?? PASSWORD };
    page = await browser.follow(p, await browser.submit(page, '/login', fields));
  }
  if (isSecondFactor(page)) page = await browser.follow(p, await browser.submit(page, '/mfa', { code: await freshCode(p, asking.secret) }));
  if (isConsent(page)) {
    const scope = asking.tick ?? (asking.scope ?? 'read:profile').split(' ');
    page = await browser.follow(p, await browser.submit(page, '/consent', { decision: 'allow', scope }));
  }
  expect(page.location, page.html).not.toBeNull();
  return answered(page);
}

export const authenticationOf = (client: string): Record<string, string> =>
  client === 'demo-partner-app' ? PARTNER : { client_id: client };

export const redeem = (p: SharedPlatform, client: string, code: string, by: Proof, more: Record<string, string> = {}) =>
  post(p, 'token', {
    grant_type: 'authorization_code',
    ...authenticationOf(client),
    code,
    redirect_uri: CALLBACKS[client]!,
    code_verifier: by.verifier,
    ...more,
  });

export const refresh = (p: SharedPlatform, client: string, token: string, more: Record<string, string> = {}) =>
  post(p, 'token', { grant_type: 'refresh_token', ...authenticationOf(client), refresh_token: token, ...more });

export interface Tokens {
  access_token: string;
  refresh_token: string;
  id_token?: string;
  scope: string;
  expires_in: number;
}

/** Signs in through the pages and redeems the code. */
export async function signIn(p: TestPlatform, asking: Asking = {}, browser = new Browser()): Promise<Tokens> {
  const by = proof();
  const { code, error } = await walk(p, browser, asking, by);
  expect(error).toBeUndefined();
  const answer = await redeem(p, asking.client ?? 'demo-partner-app', code!, by);
  expect([answer.status, answer.body.error]).toEqual([200, undefined]);
  return answer.body;
}
