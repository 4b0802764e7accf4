import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { BRAND, DEMO, platform, type TestPlatform } from '../support/platform.js';

const OTHER = '0190b3a0-0000-7000-8000-000000000002';
const MAIN = {
  id: BRAND,
  slug: 'main',
  name: 'Main',
  legal_name: 'Main Health Inc.',
  status: 'active',
  is_default: true,
  default_locale: 'en',
  locales: ['en', 'de'],
  default_currency: 'USD',
  currencies: ['USD', 'EUR'],
  countries: ['US', 'DE'],
  time_zone: 'America/New_York',
  domains: [
    {
      id: '0190b3a0-0000-7000-8000-000000000011',
      host: 'main.example',
      purpose: 'shop',
      status: 'verified',
      verified_at: expect.any(String),
    },
  ],
  theme: { primary_color: '#0B6E4F', accent_color: null, logo_url: null, favicon_url: null, font_family: null },
  support_email: 'help@main.example',
  support_url: null,
  tax_inclusive_prices: false,
  legal_version: 1,
  version: 1,
};

let p: TestPlatform;
let user: string;
let service: string;

beforeAll(async () => {
  p = await platform({ services: ['platform'] });
  user = await p.userToken(DEMO, ['read:profile']);
  service = await p.internalToken('cash');
});

/** A second brand of the given status, with hosts `<status>.<slug>.example`, created a day before the first. */
async function addBrand(slug: string, status: string, id = OTHER): Promise<void> {
  await p.sql(
    `insert into platform.brand (id, slug, name, legal_name, status, default_locale, locales, default_currency, currencies, countries, time_zone, theme, support_email, created_at)
     select $1, $2, 'Other', 'Other Ltd.', $3, 'de', '{de}', 'EUR', '{EUR}', '{DE}', 'Europe/Berlin', '{"logoUrl":"https://cdn.example/logo.svg"}', 'help@other.example',
       created_at - interval '1 day' from platform.brand where id = $4`,
    [id, slug, status, BRAND],
  );
  for (const one of ['pending', 'verified', 'failed'])
    await p.sql(
      `insert into platform.brand_domain (id, brand_id, host, purpose, status, verification_record) values (gen_random_uuid(), $1, $2, 'app', $3, 'secret-record')`,
      [id, `${one}.${slug}.example`, one],
    );
}

beforeEach(() => p.sql('delete from platform.brand where id <> $1', [BRAND]));

const list = (token: string, query = '') => p.rest('GET', `/platform/v1/brands${query}`, { token });
const slugsOf = ({ body }: { body: { data: { slug: string }[] } }) => body.data.map(({ slug }) => slug);

describe('brands', () => {
  test('are listed with the documented shape', async () => {
    expect(await list(user)).toMatchObject({ status: 200, body: { data: [MAIN], next_cursor: null } });
    expect((await list(service)).body).toEqual({ data: [MAIN], next_cursor: null });
  });

  test('are read by slug, and an unknown slug is not found', async () => {
    expect((await p.rest('GET', '/platform/v1/brands/main', { token: user })).body).toEqual(MAIN);
    expect(await p.rest('GET', '/platform/v1/brands/nope', { token: user })).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  test.each(['suspended', 'archived'])('that are %s are seen by services and brand staff, not by users', async status => {
    await addBrand('other', status);
    const staff = await p.userToken(DEMO, ['read:profile'], { permissions: ['admin:platform:read'] });
    const otherStaff = await p.userToken(DEMO, ['read:profile'], { permissions: ['admin:content'] });
    for (const [token, slugs, code] of [
      [service, ['main', 'other'], 200],
      [staff, ['main', 'other'], 200],
      [user, ['main'], 404],
      [otherStaff, ['main'], 404],
    ] as const) {
      expect(slugsOf(await list(token))).toEqual(slugs);
      expect((await p.rest('GET', '/platform/v1/brands/other', { token })).status).toBe(code);
    }
    expect(slugsOf(await list(user, `?status=${status}`))).toEqual([]);
    expect(slugsOf(await list(service, `?status=${status}`))).toEqual(['other']);
  });

  test('are filtered by ids, and an id that is none finds nothing', async () => {
    await addBrand('other', 'active');
    expect(slugsOf(await list(user, `?ids=${OTHER}`))).toEqual(['other']);
    expect(slugsOf(await list(user, `?ids=${OTHER}&ids=${BRAND}`))).toEqual(['main', 'other']);
    expect(slugsOf(await list(user, '?ids=nonsense'))).toEqual([]);
  });

  test('are paged newest first', async () => {
    await addBrand('other', 'active');
    const first = await list(user, '?limit=1');
    expect(slugsOf(first)).toEqual(['main']);
    const second = await list(user, `?limit=1&cursor=${first.body.next_cursor}`);
    expect([slugsOf(second), second.body.next_cursor]).toEqual([['other'], null]);
  });

  test.each(['?limit=0', '?limit=101', '?cursor=nonsense', '?status=nonsense', '?unknown=1'])('%s is an invalid request', async query => {
    expect(await list(user, query)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });

  test('show what proves a domain to operators only', async () => {
    const query = '{ brand(slug: "main") { domains { verificationRecord } } }';
    const asUser = await p.graphql(query, {}, { token: user });
    expect([asUser.data.brand.domains[0].verificationRecord, asUser.errors[0]!.extensions.code]).toEqual([null, 'FORBIDDEN']);
    const asOperator = await p.graphql(query, {}, { token: await p.serviceToken() });
    expect(asOperator.data.brand.domains[0].verificationRecord).toBe('seeded');
  });
});

describe('a reference to a brand', () => {
  const ENTITIES = 'query($refs: [_Any!]!) { _entities(representations: $refs) { ... on Brand { id slug name domains { host } } } }';
  const resolve = async (token: string, refs: object[]) =>
    (
      await p.rest('POST', '/platform/graphql', {
        token,
        body: { query: ENTITIES, variables: { refs: refs.map(ref => ({ __typename: 'Brand', ...ref })) } },
      })
    ).body;

  test('is resolved by id or slug, in the order of the references', async () => {
    await addBrand('other', 'active');
    const { data } = await resolve(user, [
      { slug: 'other' },
      { id: BRAND },
      { id: 'nonsense' },
      { slug: 'main' },
      { id: OTHER.toUpperCase() },
    ]);
    expect(data._entities.map((one: { slug: string } | null) => one?.slug ?? null)).toEqual(['other', 'main', null, 'main', 'other']);
    expect(data._entities[0].domains).toHaveLength(3);
  });

  test('finds only active brands for a user', async () => {
    await addBrand('other', 'suspended');
    expect((await resolve(user, [{ id: OTHER }, { slug: 'other' }])).data._entities).toEqual([null, null]);
    expect((await resolve(service, [{ id: OTHER }])).data._entities[0].slug).toBe('other');
  });

  test('is refused without a token', async () => {
    const { status, body } = await p.rest('POST', '/platform/graphql', {
      body: { query: ENTITIES, variables: { refs: [{ __typename: 'Brand', id: BRAND }] } },
    });
    expect([status, body.data?._entities ?? null]).toEqual([401, null]);
  });
});

describe('a host', () => {
  const resolve = (host: string) => p.rest('GET', `/platform/v1/brands/resolve?host=${encodeURIComponent(host)}`);

  test('that is verified resolves to the public fields of its brand, without a token', async () => {
    const { id: _, ...shown } = { id: '', slug: 'main', name: 'Main', theme: MAIN.theme, locales: ['en', 'de'] };
    expect(await resolve('Main.Example.')).toMatchObject({ status: 200, body: shown });
    expect(Object.keys((await resolve('main.example')).body).sort()).toEqual(['locales', 'name', 'slug', 'theme']);
  });

  test('that is pending or failed is not found', async () => {
    await addBrand('other', 'active');
    const answers = await Promise.all(['pending', 'failed', 'verified'].map(one => resolve(`${one}.other.example`)));
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 200]);
    expect(answers[2]!.body.theme.logo_url).toBe('https://cdn.example/logo.svg');
  });

  test('of a suspended brand is not found', async () => {
    await addBrand('other', 'suspended');
    expect((await resolve('verified.other.example')).status).toBe(404);
  });

  test.each(['unknown.example', 'main.example:443', 'nonsense', "main.example'--"])('%s is not found', async host => {
    expect(await resolve(host)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  test('that is missing is an invalid request', async () => {
    expect((await p.rest('GET', '/platform/v1/brands/resolve')).status).toBe(400);
  });

  test('shows no further field without a token', async () => {
    const { data, errors } = await p.graphql('{ brandByHost(host: "main.example") { slug supportEmail } }');
    expect([data.brandByHost?.supportEmail ?? null, errors[0]!.extensions.code]).toEqual([null, 'UNAUTHENTICATED']);
  });

  test('is looked up 60 times a minute from one address', async () => {
    const statuses: number[] = [];
    for (let one = 0; one < 61; one++) statuses.push((await resolve('main.example')).status);
    const refused = await resolve('main.example');
    expect(statuses.filter(status => status === 200).length).toBeLessThanOrEqual(60);
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
  });
});
