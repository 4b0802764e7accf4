/** A client that leaves, or a deadline that passes, ends the work down to the statement in the database. */
import pg from 'pg';
import { request } from 'undici';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';

const BRANDS = '{ brands { nodes { id } } }';
const NEW_BRAND = {
  name: 'Left',
  legalName: 'Left Ltd',
  defaultLocale: 'en-US',
  locales: ['en-US'],
  defaultCurrency: 'USD',
  currencies: ['USD'],
  countries: ['US'],
  timeZone: 'UTC',
  supportEmail: 'help@left.test',
};
const LISTENING = `select count(*)::int as waiting from pg_stat_activity where application_name = 'platform_platform' and wait_event_type = 'Lock'`;

/** Less than the 20 s after which the database ends every statement by itself, so that no end is seen that is not ours. */
const SEEN_MS = 15_000;

/** Polls until it holds. */
const see = (what: string, look: () => Promise<boolean>): Promise<boolean> => until(what, look, Boolean, SEEN_MS);

/** Another transaction that locks the brands, so that every read of them waits. */
let held: pg.Client | null = null;
afterEach(async () => {
  await held?.end();
  held = null;
});

async function holdBrands({ env }: TestPlatform): Promise<void> {
  held = new pg.Client({ connectionString: env.DATABASE_URL });
  await held.connect();
  await held.query('begin; lock table platform.brand in access exclusive mode');
}

const waiting = async (p: TestPlatform): Promise<number> => (await p.sql<{ waiting: number }>(LISTENING))[0]!.waiting;

describe.each(['process', 'http'])('with subgraphs called by %s', calls => {
  let p: TestPlatform;
  let token: string;
  beforeAll(async () => {
    p = await platform({ services: ['platform'], env: { SUBGRAPH_CALLS: calls } });
    token = await p.serviceToken();
  });

  test.each([
    ['a GraphQL query', 'POST', '/graphql', JSON.stringify({ query: BRANDS })],
    ['a REST read', 'GET', '/platform/v1/brands', null],
  ] as const)('a client that goes away ends the statements of %s', async (_title, method, path, body) => {
    await holdBrands(p);
    const client = new AbortController();
    const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) };
    const asked = request(p.url + path, { method, headers, body, signal: client.signal });
    await see('the read waits for the lock', async () => (await waiting(p)) > 0);
    client.abort();
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
    await see('the statement is ended while the lock is held', async () => (await waiting(p)) === 0);
  });

  test('the work that equal queries share ends with the last client that waits for it', async () => {
    await holdBrands(p);
    const clients = Array.from({ length: 4 }, () => new AbortController());
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ query: BRANDS });
    const ask = ({ signal }: AbortController) => request(`${p.url}/graphql`, { method: 'POST', headers, body, signal });
    const asked = clients.map(client => ask(client).catch((error: Error) => error.name));
    await see('the first and those that share wait for the lock', async () => (await waiting(p)) === 2);
    for (const client of clients.slice(0, 3)) client.abort();
    expect(await Promise.all(asked.slice(0, 3))).toEqual(Array(3).fill('AbortError'));
    await see('the last one is waited for', async () => (await waiting(p)) === 1);
    clients[3]!.abort();
    expect(await asked[3]).toBe('AbortError');
    await see('no statement is left while the lock is held', async () => (await waiting(p)) === 0);
  });

  test('the pool is whole afterwards, though more clients left than it has connections', async () => {
    await holdBrands(p);
    const client = new AbortController();
    const asked = Array.from({ length: 8 }, (_, at) =>
      request(`${p.url}/platform/v1/brands?limit=${at + 1}`, { headers: { authorization: `Bearer ${token}` }, signal: client.signal }),
    );
    await see('the reads wait for the lock', async () => (await waiting(p)) > 0);
    client.abort();
    expect((await Promise.allSettled(asked)).every(one => one.status === 'rejected')).toBe(true);
    await see('all statements are ended', async () => (await waiting(p)) === 0);
    await held!.end();
    held = null;
    expect((await p.graphql(BRANDS, {}, { token })).errors).toEqual([]);
  });

  test('a mutation runs to its end, even when its client leaves', async () => {
    await holdBrands(p);
    const client = new AbortController();
    const slug = `left-${calls}`;
    const query = 'mutation ($input: CreateBrandInput!) { createBrand(input: $input) { id } }';
    const variables = { input: { ...NEW_BRAND, slug } };
    const asked = request(`${p.url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
      signal: client.signal,
    });
    await see('the write waits for the lock', async () => (await waiting(p)) > 0);
    client.abort();
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
    await held!.query('rollback');
    await see('the brand is there', async () => (await p.sql('select 1 from platform.brand where slug = $1', [slug])).length === 1);
  });
});

describe.each(['process', 'http'])('a deadline that passes, with subgraphs called by %s', calls => {
  let p: TestPlatform;
  let token: string;
  beforeAll(async () => {
    p = await platform({ services: ['platform'], env: { SUBGRAPH_CALLS: calls, REQUEST_DEADLINE_MS: '1500' } });
    token = await p.serviceToken();
  });

  test('answers with the data of the other services, and ends the statement', async () => {
    await holdBrands(p);
    const query = 'query ($id: ID!) { user(id: $id) { id } brand(slug: "main") { id } }';
    const answer = await p.graphql(query, { id: DEMO }, { token });
    expect(answer).toMatchObject({ status: 200, data: { user: { id: DEMO }, brand: null } });
    expect(answer.errors).toMatchObject([{ extensions: { code: 'UNAVAILABLE' } }]);
    const hasPath = calls === 'process' || process.env.GATEWAY_EXECUTOR !== 'stock'; // the stock executor gives no path for a failed call
    if (hasPath) expect(answer.errors[0]!.path).toEqual(['brand']);
    await see('the statement is ended while the lock is held', async () => (await waiting(p)) === 0);
  });

  test('answers each of equal queries, and leaves none of their statements', async () => {
    await holdBrands(p);
    const answers = await Promise.all(Array.from({ length: 5 }, () => p.rest('GET', '/platform/v1/brands', { token })));
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual(Array(5).fill([503, 'unavailable']));
    await see('the statements are ended while the lock is held', async () => (await waiting(p)) === 0);
  });

  test('is a 503 with Retry-After in the REST API', async () => {
    await holdBrands(p);
    const answer = await p.rest('GET', '/platform/v1/brands', { token });
    expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(answer.headers['retry-after']).toBeDefined();
  });
});
