import { beforeAll, describe, expect, test } from 'vitest';
import { BRAND, DEMO, platform, type Answer, type TestPlatform } from '../support/platform.js';

let p: TestPlatform;
let service: string;

beforeAll(async () => {
  p = await platform({ services: ['platform'] });
  service = await p.serviceToken();
  await define();
});

const CONFIG = '/platform/v1/admin/config';
const QUIET = 'comms.quiet_hours';
const schema = {
  type: 'object',
  required: ['from', 'to'],
  properties: { from: { type: 'string' }, to: { type: 'string' }, days: { type: 'array', items: { type: 'integer', maximum: 7 } } },
  additionalProperties: false,
  default: { from: '22:00', to: '07:00' },
};
const call = (method: string, path: string, body?: object, token = service): Promise<Answer> => p.rest(method, path, { token, body });
const define = (form: object = {}) =>
  call('POST', CONFIG, { key: QUIET, description: 'No pushes then', schema, scopes: ['global', 'brand'], readers: ['comms'], ...form });
const set = (value: unknown, expected_version: number, form: object = {}, key = QUIET) =>
  call('PUT', `${CONFIG}/${key}`, { brand_id: null, value, expected_version, reason: 'default', ...form });
const pointers = ({ body }: Answer) => body.errors.map(({ pointer }: { pointer: string }) => pointer).sort();
const night = { from: '21:00', to: '08:00' };

describe('a key', () => {
  test('is defined once with 201, and then anew with 200', async () => {
    expect(await define({ key: 'comms.other' })).toMatchObject({
      status: 201,
      body: { key: 'comms.other', readers: ['comms'], scopes: ['global', 'brand'], sensitive: false },
    });
    expect((await define({ key: 'comms.other', readers: ['comms', 'jobs'] })).status).toBe(200);
    expect((await call('GET', CONFIG)).body.data.map(({ key }: { key: string }) => key)).toEqual(['comms.other', QUIET]);
  });

  test('is told everything that is wrong with it', async () => {
    expect(pointers(await define({ key: 'nobody.x', readers: ['nobody-else'] }))).toEqual(['/key', '/readers']);
    expect(pointers(await define({ key: 'comms.x', schema: { type: 'thing' } }))).toEqual(['/schema']);
    expect(pointers(await define({ key: 'comms.x', schema: { $ref: 'https://elsewhere.example/schema.json' } }))).toEqual(['/schema']);
    expect(pointers(await define({ key: 'comms.x', schema: { type: 'string', default: 1 } }))).toEqual(['/schema/default']);
    expect(pointers(await define({ key: 'comms.x', schema: { const: 'AKIAIOSFODNN7EXAMPLE' } }))).toEqual(['/schema/const']);
    expect(pointers(await define({ key: 'UPPER', scopes: [] }))).toEqual(['/key', '/scopes']);
  });

  test('changes its schema only if all current values fit', async () => {
    await define({ key: 'comms.limit', schema: { type: 'integer' } });
    await set(10, 0, {}, 'comms.limit');
    expect(await define({ key: 'comms.limit', schema: { type: 'integer', maximum: 9 } })).toMatchObject({
      status: 409,
      body: { reason: 'values_do_not_fit' },
    });
    expect((await define({ key: 'comms.limit', schema: { type: 'integer', maximum: 10 } })).status).toBe(200);
  });
});

describe('a value', () => {
  test('that does not fit the schema is refused with its place', async () => {
    expect(pointers(await set({ from: 1, days: [1, 8], night: true }, 0))).toEqual([
      '/value/days/1',
      '/value/from',
      '/value/night',
      '/value/to',
    ]);
  });

  test.each([
    ['a PEM key', `-----BEGIN ${'PRIVATE'} KEY-----\nMIIBVgIBADANBgkqhkiG9w0BAQEFAASCAUAwggE8AgEAAkEA\n-----END ${'PRIVATE'} KEY-----`],
    ['a random token', 'q9Xz3LmP7vTn2RkW8sYd5HbGc4JfA6Ue'],
    ['random hex', '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    ['a JSON Web Token', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.c2ln'],
  ])('that is %s is refused, and not repeated', async (_name, secret) => {
    const answer = await set({ from: secret, to: '08:00' }, 0);
    expect([answer.status, pointers(answer), JSON.stringify(answer.body).includes(secret)]).toEqual([400, ['/value/from'], false]);
  });

  test('may name a secret', async () => {
    await define({ key: 'comms.vendor', schema: {} });
    expect((await set({ secret_ref: 'vendor/api-key' }, 0, {}, 'comms.vendor')).status).toBe(200);
  });

  test("is the brand's, else the global one, else the default of the schema", async () => {
    const comms = await p.internalToken('comms');
    const read = async (query: string) => (await p.rest('GET', `/platform/v1/config?prefix=${QUIET}${query}`, { token: comms })).body.data;
    expect(await read(`&brand_id=${BRAND}`)).toEqual([{ key: QUIET, value: schema.default, source: 'default', version: null }]);
    await set(night, 0);
    expect(await read(`&brand_id=${BRAND}`)).toEqual([{ key: QUIET, value: night, source: 'global', version: 1 }]);
    const own = { from: '20:00', to: '09:00' };
    expect(await set(own, 0, { brand_id: BRAND })).toMatchObject({
      status: 200,
      body: { version: 1, brand_id: BRAND, set_by: 'service:demo-m2m' },
    });
    expect(await read(`&brand_id=${BRAND}`)).toEqual([{ key: QUIET, value: own, source: 'brand', version: 1 }]);
    expect(await read('')).toEqual([{ key: QUIET, value: night, source: 'global', version: 1 }]);
  });

  test('with another version than the current is a conflict, also at once', async () => {
    expect(await set(night, 0)).toMatchObject({ status: 409, body: { reason: 'version_conflict', detail: 'The value is at version 1' } });
    const answers = await Promise.all([set(night, 1), set(night, 1)]);
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409]);
  });

  test('tells the brand that it concerns, or all', async () => {
    const last = async () =>
      (
        await p.sql(`select brand_id, data from events.outbox where type = 'platform.brand.cache_invalidated.v1' order by seq desc limit 1`)
      )[0];
    await set({ from: '1', to: '2' }, 1, { brand_id: BRAND });
    expect(await last()).toMatchObject({ brand_id: BRAND, data: { keys: ['config'] } });
  });

  test('is rolled back by a new version with the old value', async () => {
    const { body } = await call('POST', `${CONFIG}/${QUIET}/rollback`, { brand_id: BRAND, version: 1, reason: 'the new one was wrong' });
    expect(body).toMatchObject({ version: 3, value: { from: '20:00', to: '09:00' } });
    const history = await call('GET', `${CONFIG}/${QUIET}/history?brand_id=${BRAND}`);
    expect(history.body.data.map(({ version }: { version: number }) => version)).toEqual([3, 2, 1]);
    expect((await call('POST', `${CONFIG}/${QUIET}/rollback`, { brand_id: BRAND, version: 9, reason: 'not there' })).status).toBe(404);
    expect((await call('GET', `${CONFIG}/comms.nope/history`)).status).toBe(404);
  });

  test('is only for scopes and brands that there are, and for keys that are defined', async () => {
    await define({ key: 'comms.global', schema: {}, scopes: ['global'] });
    expect(pointers(await set(1, 0, { brand_id: BRAND }, 'comms.global'))).toEqual(['/brand_id']);
    expect(pointers(await set(night, 0, { brand_id: '0190b3a0-0000-7000-8000-00000000dead' }))).toEqual(['/brand_id']);
    expect((await set(1, 0, {}, 'comms.nope')).status).toBe(404);
  });

  test('cannot be changed by the role of the service', async () => {
    const host = p.host('platform');
    for (const statement of [`update platform.config_value set value = '1'`, 'delete from platform.config_value'])
      await expect(host.read(ctx => ctx.sql(statement))).rejects.toMatchObject({ code: '42501' });
  });

  test('is audited without being repeated', async () => {
    const rows = await p.sql(`select details from platform.audit_log where action = 'config.set'`);
    expect(rows.length).toBeGreaterThan(3);
    expect(JSON.stringify(rows)).not.toContain('21:00');
  });
});

describe('the configuration of a service', () => {
  test('holds the keys that it reads, all with the scope of the platform, and none for others', async () => {
    const keys = async (token: string) =>
      (await p.rest('GET', '/platform/v1/config', { token })).body.data.map(({ key }: { key: string }) => key);
    expect(await keys(await p.internalToken('jobs'))).toEqual(['comms.other']);
    expect(await keys(await p.internalToken('cash'))).toEqual([]);
    expect(await keys(await p.serviceToken('admin:comms'))).toEqual([]);
    expect(await keys(service)).toContain(QUIET);
    expect((await p.rest('GET', '/platform/v1/config', { token: await p.userToken(DEMO, ['read:profile']) })).status).toBe(403);
  });

  test('is answered with 304 until it changes', async () => {
    const token = await p.internalToken('comms');
    const first = await p.rest('GET', '/platform/v1/config', { token });
    const again = () => p.rest('GET', '/platform/v1/config', { token, headers: { 'if-none-match': String(first.headers.etag) } });
    expect((await again()).status).toBe(304);
    await set(night, 2);
    expect((await again()).status).toBe(200);
  });

  test('is the same in GraphQL', async () => {
    const { data } = await p.graphql(
      `{ effectiveConfig(prefix: "${QUIET}") { key source value } configKeys { key } }`,
      {},
      { token: service },
    );
    expect(data.effectiveConfig).toEqual([{ key: QUIET, source: 'GLOBAL', value: night }]);
    expect(data.configKeys.length).toBeGreaterThan(2);
  });
});
