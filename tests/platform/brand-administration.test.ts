import { beforeAll, describe, expect, test } from 'vitest';
import { fixtureTxt } from '../../subgraphs/platform/ports/dns-txt.js';
import { holding, waitingIn } from '../support/locks.js';
import { BRAND, DEMO, platform, type Answer, type TestPlatform } from '../support/platform.js';

let p: TestPlatform;
let service: string;
let user: string;

beforeAll(async () => {
  p = await platform({ services: ['platform'] });
  service = await p.serviceToken();
  user = await p.userToken(DEMO, ['read:profile']);
});

const ADMIN_BRANDS = '/platform/v1/admin/brands';
const call = (method: string, path: string, body?: object, token = service): Promise<Answer> => p.rest(method, path, { token, body });
const ACME = {
  slug: 'acme',
  name: 'Acme Health',
  legal_name: 'Acme Health Inc.',
  default_locale: 'en',
  locales: ['en', 'de'],
  default_currency: 'USD',
  currencies: ['USD', 'EUR'],
  countries: ['US', 'DE'],
  time_zone: 'America/New_York',
  support_email: 'help@acme.example',
  tax_inclusive_prices: false,
  theme: { primary_color: '#0B6E4F' },
};
const create = (form: object = {}) => call('POST', ADMIN_BRANDS, { ...ACME, ...form });
const lastEvent = async () =>
  (await p.sql(`select subject, data from events.outbox where type = 'platform.brand.cache_invalidated.v1' order by seq desc limit 1`))[0];
const pointers = ({ body }: Answer) => body.errors.map(({ pointer }: { pointer: string }) => pointer).sort();

describe('a brand', () => {
  test('is created by its form, and anybody may read it', async () => {
    const { status, headers, body } = await create();
    expect([status, headers.location]).toEqual([201, '/platform/v1/brands/acme']);
    expect(body).toMatchObject({
      ...ACME,
      status: 'active',
      is_default: false,
      domains: [],
      support_url: null,
      legal_version: 1,
      version: 1,
      theme: { primary_color: '#0B6E4F', accent_color: null },
    });
    expect((await call('GET', '/platform/v1/brands/acme', undefined, user)).body.id).toBe(body.id);
    expect(await lastEvent()).toEqual({ subject: `brand:${body.id}`, data: { brand_id: body.id, keys: ['brand', 'theme'], version: 1 } });
  });

  test('is there twice in development, and each is found by its verified host', async () => {
    const { body } = await call('GET', '/platform/v1/brands/second');
    expect(body).toMatchObject({
      id: '0190b3a0-0000-7000-8000-000000000002',
      is_default: false,
      locales: ['de', 'en'],
      default_currency: 'EUR',
      currencies: ['EUR'],
      domains: [{ host: 'second.example', status: 'verified' }],
    });
    for (const slug of ['main', 'second'])
      expect(await p.rest('GET', `/platform/v1/brands/resolve?host=${slug}.example`)).toMatchObject({ status: 200, body: { slug } });
    expect((await p.sql('select slug from platform.brand where is_default')).map(({ slug }) => slug)).toEqual(['main']);
  });

  test('with a taken slug is a conflict', async () => {
    expect(await create({ slug: 'main' })).toMatchObject({ status: 409, body: { reason: 'slug_taken' } });
  });

  test('is told everything that is wrong with its form', async () => {
    const form = {
      slug: 'resolve',
      default_locale: 'fr',
      default_currency: 'GBP',
      countries: ['US', 'US'],
      theme: { accent_color: 'red', logo_url: 'http://acme.example/logo.png' },
    };
    expect(pointers(await create(form))).toEqual([
      '/countries',
      '/default_currency',
      '/default_locale',
      '/slug',
      '/theme/accent_color',
      '/theme/logo_url',
    ]);
    expect(pointers(await create({ slug: 'A', name: '', locales: [] }))).toEqual(['/locales', '/name', '/slug']);
  });

  test('is changed by merge patch, with the version that was read', async () => {
    const { body: brand } = await create({ slug: 'patched' });
    const patch = (body: object) => call('PATCH', `${ADMIN_BRANDS}/${brand.id}`, body);
    const changed = await patch({
      expected_version: 1,
      name: 'Patched',
      theme: { accent_color: '#FFFFFF', primary_color: null },
      support_url: 'https://patched.example/help',
    });
    expect(changed).toMatchObject({
      status: 200,
      body: {
        name: 'Patched',
        legal_name: ACME.legal_name,
        version: 2,
        theme: { primary_color: null, accent_color: '#FFFFFF' },
        support_url: 'https://patched.example/help',
      },
    });
    expect((await lastEvent()).data).toMatchObject({ brand_id: brand.id, keys: ['brand', 'theme'], version: 2 });
    expect(await patch({ expected_version: 1, name: 'Late' })).toMatchObject({ status: 409, body: { reason: 'version_conflict' } });
    expect(pointers(await patch({ expected_version: 2, locales: ['de'], slug: 'other' }))).toEqual(['/slug']);
    expect(pointers(await patch({ expected_version: 2, locales: ['de'] }))).toEqual(['/default_locale']);
    expect((await patch({ expected_version: 2, support_url: null })).body.support_url).toBeNull();
    expect((await call('PATCH', `${ADMIN_BRANDS}/0190b3a0-0000-7000-8000-00000000dead`, { expected_version: 1 })).status).toBe(404);
  });

  test('is the only default, and hands that on', async () => {
    const { body: brand } = await create({ slug: 'third' });
    const patch = async (id: string, body: object) => {
      const [{ version }] = await p.sql('select version from platform.brand where id = $1', [id]);
      return call('PATCH', `${ADMIN_BRANDS}/${id}`, { expected_version: version, ...body });
    };
    expect(pointers(await patch(BRAND, { is_default: false }))).toEqual(['/is_default']);
    expect((await patch(brand.id, { is_default: true })).body.is_default).toBe(true);
    expect((await p.sql('select id from platform.brand where is_default')).map(({ id }: { id: string }) => id)).toEqual([brand.id]);
    expect((await patch(BRAND, { is_default: true })).status).toBe(200);
  });

  test('is suspended, activated and archived along its table', async () => {
    const { body: brand } = await create({ slug: 'short-lived' });
    const act = (action: string, id = brand.id) => call('POST', `${ADMIN_BRANDS}/${id}/${action}`);
    expect((await act('archive')).status).toBe(409);
    expect(await act('suspend')).toMatchObject({ status: 200, body: { status: 'suspended' } });
    expect((await lastEvent()).data).toMatchObject({ brand_id: brand.id, keys: ['brand'] });
    expect((await call('GET', '/platform/v1/brands/short-lived', undefined, user)).status).toBe(404);
    expect((await call('GET', '/platform/v1/brands/short-lived')).body.status).toBe('suspended');
    expect((await act('suspend')).body.detail).toBe('a brand that is suspended cannot suspend');
    expect((await act('activate')).body.status).toBe('active');
    await act('suspend');
    await p.sql(
      `insert into platform.brand_domain (id, brand_id, host, purpose, status, verification_record) values (gen_random_uuid(), $1, 'short.example', 'shop', 'verified', 'x')`,
      [brand.id],
    );
    expect(await act('archive')).toMatchObject({ status: 409, body: { reason: 'verified_domain' } });
    await p.sql('delete from platform.brand_domain where brand_id = $1', [brand.id]);
    expect((await act('archive')).body.status).toBe('archived');
    expect((await act('activate')).status).toBe(409);
    expect(await act('suspend', BRAND)).toMatchObject({ status: 409, body: { reason: 'default_brand' } });
  });

  test('is administered in GraphQL in the same way', async () => {
    const input = {
      slug: 'graphql',
      name: 'G',
      legalName: 'G',
      defaultLocale: 'en',
      locales: ['en'],
      defaultCurrency: 'USD',
      currencies: ['USD'],
      countries: ['US'],
      timeZone: 'UTC',
      supportEmail: 'g@g.example',
    };
    const { data } = await p.graphql(
      'mutation($input: CreateBrandInput!) { createBrand(input: $input) { id taxInclusivePrices } }',
      { input },
      { token: service },
    );
    const staff = await p.userToken(DEMO, ['read:profile'], { permissions: ['admin:platform:brands'] });
    const ask = 'mutation($input: SetBrandStatusInput!) { setBrandStatus(input: $input) { status } }';
    expect((await p.graphql(ask, { input: { id: data.createBrand.id, action: 'SUSPEND' } }, { token: staff })).data.setBrandStatus).toEqual(
      { status: 'SUSPENDED' },
    );
    const other = await p.userToken(DEMO, ['read:profile'], { permissions: ['admin:platform:flags'] });
    expect(
      (await p.graphql(ask, { input: { id: data.createBrand.id, action: 'ACTIVATE' } }, { token: other })).errors[0]!.extensions.code,
    ).toBe('INSUFFICIENT_SCOPE');
  });
});

describe('a host of a brand', () => {
  const add = (host: string, brand = BRAND) => call('POST', `${ADMIN_BRANDS}/${brand}/domains`, { host, purpose: 'shop' });
  const verify = (id: string, brand = BRAND) => call('POST', `${ADMIN_BRANDS}/${brand}/domains/${id}/verify`);
  const resolve = (host: string) => p.rest('GET', `/platform/v1/brands/resolve?host=${host}`);

  test('resolves to nothing until its TXT record was seen', async () => {
    const { status, headers, body: domain } = await add('Shop.Bücher.example');
    expect([status, domain.host, domain.status, headers.location]).toEqual([
      201,
      'shop.xn--bcher-kva.example',
      'pending',
      `${ADMIN_BRANDS}/${BRAND}/domains/${domain.id}`,
    ]);
    expect((await resolve(domain.host)).status).toBe(404);
    expect((await verify(domain.id)).body).toMatchObject({ status: 'failed', verified_at: null });
    fixtureTxt.set(`_platform-challenge.${domain.host}`, ['something else', domain.verification_record]);
    expect((await verify(domain.id)).body).toMatchObject({ status: 'verified', verified_at: expect.any(String) });
    expect((await lastEvent()).data).toMatchObject({ brand_id: BRAND, keys: ['domains'] });
    expect((await resolve(domain.host)).body.slug).toBe('main');
    expect((await verify(domain.id)).status).toBe(409);
    expect((await call('DELETE', `${ADMIN_BRANDS}/${BRAND}/domains/${domain.id}`)).status).toBe(204);
    expect((await resolve(domain.host)).status).toBe(404);
  });

  test('is not verified for a brand that is archived at the same moment', async () => {
    const { body: brand } = await create({ slug: 'at-once' });
    const { body: domain } = await add('at-once.example', brand.id);
    fixtureTxt.set(`_platform-challenge.${domain.host}`, [domain.verification_record]);
    const answer = await holding(p, ["update platform.brand set status = 'archived' where id = $1", [brand.id]], async release => {
      const verified = verify(domain.id, brand.id);
      await Promise.race([verified, waitingIn(p, 'brand')]);
      await release();
      return verified;
    });
    expect(answer).toMatchObject({ status: 409 });
    expect(await p.sql('select status from platform.brand_domain where id = $1', [domain.id])).toEqual([{ status: 'pending' }]);
  });

  test('of another brand is a conflict', async () => {
    const { body: other } = await create({ slug: 'host-taker' });
    expect(await add('MAIN.example.', other.id)).toMatchObject({ status: 409, body: { reason: 'host_taken' } });
  });

  test('belongs to the brand that the path names', async () => {
    const { body: domain } = await add('own.main.example');
    const { body: other } = await create({ slug: 'not-mine' });
    expect((await verify(domain.id, other.id)).status).toBe(404);
    expect((await call('DELETE', `${ADMIN_BRANDS}/${other.id}/domains/${domain.id}`)).status).toBe(404);
    expect((await verify('nonsense')).status).toBe(404);
  });

  test.each(['*.main.example', 'co.uk', 'github.io', '10.0.0.1', 'localhost', 'main.example:443', 'https://main.example'])(
    'cannot be %s',
    async host => {
      expect(pointers(await add(host))).toEqual(['/host']);
    },
  );
});
