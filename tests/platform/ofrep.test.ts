import { OFREPProvider } from '@openfeature/ofrep-provider';
import { OpenFeature } from '@openfeature/server-sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { BRAND, DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { change, cycleOn, ofBrand, resetFlags, STAGE } from './flag-changes.js';
import { CYCLE, PROMPT, user } from './flag-fixtures.js';

let p: TestPlatform;
let service: string;
let member: string;

beforeAll(async () => {
  p = await platform({ services: ['platform'] });
  service = await p.serviceToken();
  member = await p.userToken(DEMO, ['read:profile']);
});
beforeEach(async () => {
  await resetFlags(p);
  await cycleOn(p);
  await change(p, PROMPT, { rules: [ofBrand(2500)] });
});
afterAll(() => OpenFeature.close());

const BULK = '/platform/ofrep/v1/evaluate/flags';
const post = (path: string, body: unknown, token: string | null = service, etag?: string) =>
  p.rest('POST', path, { token, body, headers: etag ? { 'if-none-match': etag } : {} });
const one = (key: string, context: object, token = service) => post(`${BULK}/${key}`, { context }, token);
const a1 = { targetingKey: user(1), brandId: BRAND };

describe('the OpenFeature SDK with its remote provider', () => {
  const client = async () => {
    const baseUrl = `${p.url}/platform`;
    await OpenFeature.setProviderAndWait('ofrep', new OFREPProvider({ baseUrl, headers: [['authorization', `Bearer ${service}`]] }));
    return OpenFeature.getClient('ofrep');
  };

  test('reads the same values as the evaluator', async () => {
    const flags = await client();
    for (const [index, on] of [true, false, true, false, false, false].entries())
      expect(await flags.getBooleanDetails(PROMPT, false, { targetingKey: user(index + 1), brandId: BRAND })).toMatchObject({
        value: on,
        reason: 'SPLIT',
        variant: on ? 'on' : 'off',
        flagMetadata: { revision: expect.any(Number) },
      });
    expect(await flags.getStringValue(STAGE, 'none', {})).toBe('S0');
  });

  test('falls back to the default of the code for a flag that there is not, or without the user that a rollout needs', async () => {
    const flags = await client();
    expect(await flags.getBooleanDetails('feature.nope', true, a1)).toMatchObject({ value: true, errorCode: 'FLAG_NOT_FOUND' });
    expect(await flags.getBooleanDetails(PROMPT, false, { brandId: BRAND })).toMatchObject({
      value: false,
      errorCode: 'TARGETING_KEY_MISSING',
    });
    expect(await flags.getStringDetails(PROMPT, 'x', a1)).toMatchObject({ value: 'x', errorCode: 'TYPE_MISMATCH' });
  });
});

describe('one flag', () => {
  test('is answered in the form of the protocol', async () => {
    const { status, body } = await one(PROMPT, a1);
    expect([status, body]).toEqual([
      200,
      { key: PROMPT, value: true, reason: 'SPLIT', variant: 'on', metadata: { revision: expect.any(Number) } },
    ]);
  });

  test.each([
    ['feature.nope', a1, 404, 'FLAG_NOT_FOUND'],
    [PROMPT, { brandId: BRAND }, 400, 'TARGETING_KEY_MISSING'],
    [PROMPT, { targetingKey: 'somebody' }, 400, 'INVALID_CONTEXT'],
    [PROMPT, { ...a1, country: 5 }, 400, 'INVALID_CONTEXT'],
    [PROMPT, { ...a1, role: 'owner' }, 400, 'INVALID_CONTEXT'],
  ])('%s for %o is answered with %i %s', async (key, context, status, errorCode) => {
    expect(await one(key, context)).toMatchObject({ status, body: { key, errorCode, errorDetails: expect.any(String) } });
  });

  test('needs an object as body and as context', async () => {
    expect(await post(`${BULK}/${PROMPT}`, [])).toMatchObject({ status: 400, body: { key: PROMPT, errorCode: 'PARSE_ERROR' } });
    expect(await post(`${BULK}/${PROMPT}`, { context: 'x' })).toMatchObject({ status: 400, body: { errorCode: 'INVALID_CONTEXT' } });
    expect(await post(BULK, { context: { targetingKey: 1 } })).toMatchObject({ status: 400, body: { errorCode: 'INVALID_CONTEXT' } });
  });

  test('takes attributes that no flag knows, as SDKs send what they have', async () => {
    expect((await one(PROMPT, { ...a1, device: { os: 'x' } })).status).toBe(200);
  });

  test('is evaluated for the own user of a user token, which says locale and app version only', async () => {
    expect((await one(PROMPT, { brandId: BRAND }, member)).body).toMatchObject({ reason: 'SPLIT' });
    expect((await one(PROMPT, { targetingKey: DEMO, brandId: BRAND, locale: 'de', appVersion: '1.2.3' }, member)).status).toBe(200);
    expect((await one(PROMPT, { targetingKey: DEMO2, brandId: BRAND }, member)).body).toMatchObject({ errorCode: 'INVALID_CONTEXT' });
    expect((await one(PROMPT, { brandId: BRAND, country: 'DE' }, member)).body).toMatchObject({ errorCode: 'INVALID_CONTEXT' });
  });

  test('is answered to nobody without a token', async () => {
    expect(await post(`${BULK}/${PROMPT}`, {}, null)).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    expect((await post(BULK, {}, 'usr_e30.e30.e30')).status).toBe(401);
  });
});

describe('all flags', () => {
  const keys = ({ body }: { body: { flags: { key: string }[] } }) => body.flags.map(({ key }) => key);

  test('are those that concern the caller', async () => {
    expect(keys(await post(BULK, { context: a1 }))).toEqual([CYCLE, PROMPT, STAGE]);
    expect(keys(await post(BULK, { context: a1 }, await p.internalToken('intelligence')))).toEqual([STAGE]);
    const { body } = await post(BULK, { context: a1 }, await p.internalToken('clinical'));
    expect(body.flags).toMatchObject([
      { key: CYCLE, value: true },
      { key: PROMPT, value: true, variant: 'on' },
    ]);
  });

  test('bear an ETag: 304 until a flag changes', async () => {
    const first = await post(BULK, { context: a1 });
    const etag = String(first.headers.etag);
    const again = await post(BULK, { context: a1 }, service, etag);
    expect([again.status, again.body]).toEqual([304, '']);
    await p.rest('POST', `/platform/v1/admin/flags/${STAGE}/kill`, { token: service, body: { reason: 'error rate' } });
    const changed = await post(BULK, { context: a1 }, service, etag);
    expect([changed.status, changed.headers.etag === etag]).toEqual([200, false]);
  });

  test('say of each what is missing', async () => {
    const { body } = await post(BULK, { context: { brandId: BRAND } });
    expect(body.flags.find(({ key }: { key: string }) => key === PROMPT)).toMatchObject({ errorCode: 'TARGETING_KEY_MISSING' });
  });
});
