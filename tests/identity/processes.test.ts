import { beforeAll, describe, expect, test } from 'vitest';
import { AS_GATEWAY } from '../support/platform.js';
import { separateProcesses, type Processes } from '../support/processes.js';
import { request } from 'undici';
import { Browser, CALLBACKS, proof, walk } from './browser.js';
import { M2M, PARTNER } from './oauth.js';

/** Two processes of identity on one database: whatever one of them knows, the other knows. Source: identity 7, rule 4; A4. */
let p: Processes;
let one: string;
let other: string;
beforeAll(async () => {
  p = await separateProcesses({ services: ['identity'], manualClock: false });
  one = p.urlOf('identity');
  other = await p.another('identity');
});

const post = async (base: string, path: string, form: Record<string, string>) => {
  const answer = await request(`${base}/identity/v1/oauth/${path}`, {
    method: 'POST',
    body: new URLSearchParams(form).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  const text = await answer.body.text();
  return { status: answer.statusCode, body: text ? JSON.parse(text) : null };
};

const token = (base: string, form: Record<string, string>) => post(base, 'token', { ...PARTNER, ...form });
const refresh = (base: string, refresh_token: string) => token(base, { grant_type: 'refresh_token', refresh_token });
const active = async (base: string, presented: string): Promise<boolean> =>
  (await post(base, 'introspect', { ...M2M, token: presented })).body.active;

/** How a process's subgraph judges a token by itself. */
async function judged(base: string, presented: string): Promise<number> {
  const answer = await request(`${base}/identity/graphql`, {
    method: 'POST',
    body: JSON.stringify({ query: '{ me { id } }' }),
    headers: { 'content-type': 'application/json', authorization: `Bearer ${presented}`, ...AS_GATEWAY },
  });
  await answer.body.dump();
  return answer.statusCode;
}

async function codeOf(browser = new Browser()) {
  const by = proof();
  const { code } = await walk(p as never, browser, {}, by);
  return { code: code!, by };
}

async function grantAt(base: string): Promise<{ access_token: string; refresh_token: string }> {
  const { code, by } = await codeOf();
  const form = { grant_type: 'authorization_code', code, redirect_uri: CALLBACKS['demo-partner-app']!, code_verifier: by.verifier };
  const answer = await token(base, form);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
}

/** Source: identity A4, "within 2 s in normal work". */
const SOON = { timeout: 2_000, interval: 50 };

describe('a grant that one process has made', () => {
  test('is honoured by the other: its tokens verify, inspect and refresh there', async () => {
    const granted = await grantAt(other);
    expect([await judged(one, granted.access_token), await judged(other, granted.access_token)]).toEqual([200, 200]);
    expect([await active(one, granted.access_token), await active(other, granted.access_token)]).toEqual([true, true]);
    const refreshed = await refresh(one, granted.refresh_token);
    expect(refreshed.status).toBe(200);
    expect((await refresh(other, refreshed.body.refresh_token)).status).toBe(200);
  });

  test('is dead in the other within two seconds when it is revoked, and its refresh token at once', async () => {
    const granted = await grantAt(one);
    expect(await judged(other, granted.access_token)).toBe(200);
    expect((await post(one, 'revoke', { ...PARTNER, token: granted.refresh_token })).status).toBe(200);
    expect((await refresh(other, granted.refresh_token)).body.error).toBe('invalid_grant');
    expect(await active(other, granted.access_token)).toBe(false);
    await expect.poll(() => judged(other, granted.access_token), SOON).toBe(401);
    await expect.poll(() => judged(one, granted.access_token), SOON).toBe(401);
  });

  test('dies when its refresh token is replayed at the other', async () => {
    const granted = await grantAt(one);
    const refreshed = (await refresh(one, granted.refresh_token)).body;
    expect((await refresh(other, granted.refresh_token)).body.error).toBe('invalid_grant');
    expect((await refresh(one, refreshed.refresh_token)).body.error).toBe('invalid_grant');
    await expect.poll(() => judged(one, refreshed.access_token), SOON).toBe(401);
  });
});

test('a code redeemed at both at once is redeemed once, and its family is dead', async () => {
  const { code, by } = await codeOf();
  const form = { grant_type: 'authorization_code', code, redirect_uri: CALLBACKS['demo-partner-app']!, code_verifier: by.verifier };
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => token(index % 2 ? one : other, form)));
  const won = answers.filter(answer => answer.status === 200);
  expect(won).toHaveLength(1);
  expect((await refresh(one, won[0]!.body.refresh_token)).body.error).toBe('invalid_grant');
});

describe("a machine client's credential", () => {
  const ID = 'two-processes';
  const BASE = '/identity/v1/admin/oauth-clients';
  const admin = async (method: string, path: string, body?: object) =>
    p.rest(method, `${BASE}${path}`, {
      token: (await post(one, 'token', { ...M2M, grant_type: 'client_credentials' })).body.access_token,
      body,
    });
  const tries = (secret: string) =>
    Promise.all(
      [one, other].map(
        async base => (await post(base, 'token', { grant_type: 'client_credentials', client_id: ID, client_secret: secret })).status,
      ),
    );

  test('that is ended at once is refused by every process from the answer on, and the new one is taken', async () => {
    let secret = (await admin('POST', '', { client_id: ID, name: 'Two', kind: 'machine', scopes: ['admin:webhooks'] })).body.client_secret;
    for (const input of [{ overlap_seconds: 0 }, { overlap_seconds: 0, force: true }]) {
      expect(await tries(secret)).toEqual([200, 200]);
      const rotated = (await admin('POST', `/${ID}/rotate-secret`, input)).body.client_secret;
      expect(await tries(secret)).toEqual([401, 401]);
      expect(await tries(rotated)).toEqual([200, 200]);
      secret = rotated;
    }
    const second = await admin('POST', `/${ID}/rotate-secret`, { overlap_seconds: 600 });
    expect(await tries(secret)).toEqual([200, 200]);
    expect((await admin('POST', `/${ID}/rotate-secret`, { overlap_seconds: 600, force: true })).status).toBe(200);
    expect([await tries(secret), await tries(second.body.client_secret)]).toEqual([
      [401, 401],
      [200, 200],
    ]);
  });

  test('of a client that is disabled is refused by every process from the answer on', async () => {
    const { client_secret: secret } = (await admin('POST', `/${ID}/rotate-secret`, { overlap_seconds: 0, force: true })).body;
    expect(await tries(secret)).toEqual([200, 200]);
    expect((await admin('PATCH', `/${ID}`, { status: 'disabled' })).status).toBe(200);
    expect(await tries(secret)).toEqual([401, 401]);
  });
});
