/**
 * Answers are kept as their `@cacheControl` hints allow. No field of the services has a hint yet, so the brand of a host, which
 * anybody may ask for, gets one by a reload.
 */
import { GraphQLError } from 'graphql';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { readSupergraph } from '../../gateway/compose.js';
import { BRAND, platform, type Answer, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';

const MAX_AGE = 300;
const FIELD = 'brandByHost(host: String! @constraint(maxLength: 255)): Brand @join__field(graph: PLATFORM) @access(public: true)';
const QUERY = 'query Brand($host: String!) { brandByHost(host: $host) { slug name } }';
const HOST = { host: 'main.example' };

async function hinted(hint = `@cacheControl(maxAge: ${MAX_AGE})`, field = FIELD): Promise<string> {
  const sdl = await readSupergraph();
  expect(sdl).toContain(field);
  return sdl.replace(field, `${field} ${hint}`).replace(/ theme: BrandTheme!.*/, '$& @cacheControl(inheritMaxAge: true)');
}

let p: TestPlatform;
beforeAll(async () => {
  p = await platform();
});

/** Another address each, because one may look up 60 hosts a minute. */
let names = 0;
beforeEach(async () => {
  await p.running.reload(await hinted());
  await rename('Main');
});

async function rename(name: string): Promise<void> {
  await p.sql('update platform.brand set name = $1 where id = $2', [name, BRAND]);
}

/** A name that nobody has seen; written past the gateway. */
async function renamed(): Promise<string> {
  const name = `Name ${++names}`;
  await rename(name);
  return name;
}

type Ask = (token?: string | null) => Promise<Answer & { name: string | null }>;

const byRest: Ask = async token => {
  const answer = await p.rest('GET', '/platform/v1/brands/resolve?host=main.example', { token });
  return { ...answer, name: answer.body.name ?? null };
};
const byPost: Ask = async token => {
  const answer = await p.graphql(QUERY, HOST, { token });
  return { ...answer, name: answer.data?.brandByHost?.name ?? null };
};
const byGet: Ask = async token => {
  const query = `query=${encodeURIComponent(QUERY)}&variables=${encodeURIComponent(JSON.stringify(HOST))}`;
  const answer = await p.rest('GET', `/graphql?${query}`, { token, headers: { 'apollo-require-preflight': '1' } });
  return { ...answer, name: answer.body.data?.brandByHost?.name ?? null };
};

describe.each([
  ['the REST door', byRest],
  ['POST /graphql', byPost],
  ['GET /graphql', byGet],
] as [string, Ask][])('at %s an answer', (_door, ask) => {
  test('is kept, and says for how long and how old it is', async () => {
    const first = await ask();
    expect(first).toMatchObject({ status: 200, name: 'Main' });
    expect(first.headers).toMatchObject({ 'cache-control': `public, max-age=${MAX_AGE}`, vary: expect.stringMatching(/authorization/i) });
    expect(first.headers.age).toBeUndefined();
    await renamed();
    for (const _time of [2, 3, 4]) {
      const kept = await ask();
      expect(kept).toMatchObject({ status: 200, name: 'Main', headers: { 'cache-control': `public, max-age=${MAX_AGE}` } });
      expect(Number(kept.headers.age)).toBeGreaterThanOrEqual(0);
      expect(kept.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
    }
    await until('it ages', ask, ({ headers }) => Number(headers.age) >= 1);
  });

  test('is made anew when its time is over', async () => {
    await p.running.reload(await hinted('@cacheControl(maxAge: 1)'));
    expect((await ask()).name).toBe('Main');
    const name = await renamed();
    const anew = await until('the new name', ask, answer => answer.name === name);
    expect(anew.headers['cache-control']).toBe('public, max-age=1');
  });
});

describe('an answer is kept', () => {
  test('once for all who have no token, and apart for each token', async () => {
    const tokens = [null, await p.serviceToken(), await p.internalToken('cash')];
    const seen: string[] = [];
    for (const token of tokens) {
      seen.push(await renamed());
      expect((await byPost(token)).name).toBe(seen.at(-1));
    }
    await renamed();
    for (const [at, token] of tokens.entries()) expect((await byPost(token)).name).toBe(seen[at]);
    const { headers } = await byPost(tokens[1]);
    expect(headers['cache-control']).toBe(`private, max-age=${MAX_AGE}`);
  });

  test('apart for what only some callers see: nobody learns of a suspended brand', async () => {
    await p.sql(`update platform.brand set status = 'suspended' where id = $1`, [BRAND]);
    expect((await byPost(await p.serviceToken())).name).toBe('Main');
    expect((await byPost()).name).toBeNull();
    expect((await byRest()).status).toBe(404);
    await p.sql(`update platform.brand set status = 'active' where id = $1`, [BRAND]);
  });

  test('apart for each document and each variable', async () => {
    await byPost();
    const name = await renamed();
    const others = [
      await p.graphql('query($host: String!) { brandByHost(host: $host) { name } }', HOST),
      await p.graphql(QUERY, { host: 'MAIN.example' }),
    ];
    expect(others.map(({ data }) => data.brandByHost.name)).toEqual([name, name]);
  });
});

describe('an answer is not kept', () => {
  const isAskedAnew = async (ask: () => Promise<Answer>): Promise<void> => {
    for (const _time of [1, 2, 3]) {
      const answer = await ask();
      expect([answer.status, answer.headers['cache-control'], answer.headers.age]).toEqual([200, 'no-store', undefined]);
    }
  };

  test('where its hint says PRIVATE', async () => {
    await p.running.reload(await hinted(`@cacheControl(maxAge: ${MAX_AGE}, scope: PRIVATE)`));
    await isAskedAnew(byPost);
    await isAskedAnew(byRest);
    const name = await renamed();
    expect((await byPost()).name).toBe(name);
  });

  test('where there is no hint', async () => {
    await p.running.reload();
    await isAskedAnew(byPost);
    const name = await renamed();
    expect((await byRest()).name).toBe(name);
  });

  test('where a field has a rule that is not public, whatever the hint', async () => {
    const field = 'brand(slug: String!): Brand @join__field(graph: PLATFORM) @access(service: "*", user: ["*"])';
    await p.running.reload(await hinted(undefined, field));
    const token = await p.serviceToken();
    const ask = () => p.graphql('{ brand(slug: "main") { name } }', {}, { token });
    await isAskedAnew(ask);
    const name = await renamed();
    expect((await ask()).data.brand.name).toBe(name);
  });

  test('where it has an error', async () => {
    const failed = { data: { brandByHost: null }, errors: [new GraphQLError('down', { extensions: { code: 'UNAVAILABLE' } })] };
    vi.spyOn(p.host('platform'), 'execute').mockResolvedValueOnce(failed);
    const first = await byPost();
    expect([first.body.errors.length, first.headers['cache-control']]).toEqual([1, 'no-store']);
    expect(await byPost()).toMatchObject({ status: 200, name: 'Main', body: { data: { brandByHost: { name: 'Main' } } } });
  });
});

test('a reload forgets what was kept', async () => {
  await byPost();
  const name = await renamed();
  expect((await byPost()).name).toBe('Main');
  await p.running.reload(await hinted());
  expect((await byPost()).name).toBe(name);
});

test('a change that services tell their caches of is seen at once', async () => {
  await byRest();
  await renamed();
  expect((await byRest()).name).toBe('Main');
  const [{ version }] = (await p.sql<{ version: number }>('select version from platform.brand where id = $1', [BRAND])) as [
    { version: number },
  ];
  const change = 'mutation($input: UpdateBrandInput!) { updateBrand(input: $input) { name } }';
  const input = { id: BRAND, expectedVersion: version, name: 'Told' };
  expect((await p.graphql(change, { input }, { token: await p.serviceToken() })).errors).toEqual([]);
  await until(
    'the new name',
    () => byRest(),
    ({ name }) => name === 'Told',
  );
});

test('hits are counted', async () => {
  const counted = async (outcome: string): Promise<number> => {
    const { body } = await p.rest<string>('GET', '/metrics');
    return Number(new RegExp(`gateway_response_cache_total\\{outcome="${outcome}"\\} (\\d+)`).exec(body)![1]);
  };
  const before = [await counted('hit'), await counted('miss')];
  for (const _time of [1, 2, 3]) await byPost();
  expect([await counted('hit'), await counted('miss')]).toEqual([before[0]! + 2, before[1]! + 1]);
});

test('no more is kept than the setting allows; what was used last stays', async () => {
  const small = await platform({ env: { RESPONSE_CACHE_BYTES: '1000' } });
  await small.running.reload(await hinted());
  const ask = async (alias: string): Promise<string> =>
    (await small.graphql(`{ ${alias}: brandByHost(host: "main.example") { name } }`)).data[alias].name;
  for (const alias of ['a', 'b', 'c']) expect(await ask(alias)).toBe('Main'); // some 370 bytes each
  await small.sql(`update platform.brand set name = 'New' where id = $1`, [BRAND]);
  expect([await ask('c'), await ask('b'), await ask('a')]).toEqual(['Main', 'Main', 'New']);
});
