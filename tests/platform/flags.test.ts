import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { BRAND, DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { change, cycleOn, ofBrand, resetFlags, STAGE, type Row } from './flag-changes.js';
import { CYCLE, PROMPT, user as userId } from './flag-fixtures.js';

let p: TestPlatform;
let service: string;
let user: string;

beforeAll(async () => {
  p = await platform({ services: ['platform', 'clinical', 'intelligence', 'entitlements'] });
  service = await p.serviceToken();
  await p.sql(`update identity.oauth_client set brand_id = $1 where id = 'demo-app'`, [BRAND]);
  user = await p.userToken(DEMO, ['read:profile']);
});
beforeEach(() => resetFlags(p));

const evaluate = (body: object, token = service) => p.rest('POST', '/platform/v1/flags/evaluate', { token, body });
describe('a fresh start', () => {
  test('has the three protected flags, fail closed and permanent', async () => {
    const { status, body } = await p.rest('GET', '/platform/v1/admin/flags?protected=true', { token: service });
    expect(status).toBe(200);
    const seeded = {
      protected: true,
      fail_closed: true,
      permanent: true,
      killed: false,
      rules: [],
      readers: [],
      archived_at: null,
      expires_on: null,
    };
    const onOff = [
      { name: 'on', value: true },
      { name: 'off', value: false },
    ];
    const stages = ['S0', 'S1', 'S2', 'S3', 'S4', 'S5'].map(name => ({ name, value: name }));
    const shared = {
      ...seeded,
      value_type: 'boolean',
      kind: 'release',
      variants: onOff,
      off_variant: 'off',
      default_rule: { variant: 'off', rollout: null },
      guard: null,
      owner: 'clinical',
    };
    expect(body.data).toMatchObject([
      { ...shared, key: CYCLE, prerequisites: [], salt: CYCLE },
      { ...shared, key: PROMPT, prerequisites: [{ key: CYCLE, variant: 'on' }], salt: 's1' },
      {
        ...seeded,
        key: STAGE,
        kind: 'ops',
        value_type: 'string',
        variants: stages,
        off_variant: 'S0',
        default_rule: { variant: 'S0', rollout: null },
        guard: 'stage_gate',
        owner: 'intelligence',
      },
    ]);
  });

  test.each([
    ['a service for anyone', { user_id: DEMO2, brand_id: BRAND }, 'service'],
    ['a service for nobody', {}, 'service'],
    ['a user', {}, 'user'],
  ])('evaluates for %s to S0, off, off with reason default or disabled', async (_, who, kind) => {
    const { status, body } = await evaluate({ keys: [STAGE, CYCLE, PROMPT], ...who }, kind === 'user' ? user : service);
    expect(status).toBe(200);
    expect(body.data.map(({ value }: { value: unknown }) => value)).toEqual(['S0', false, false]);
    for (const { reason, error_code } of body.data) expect([['default', 'disabled'].includes(reason), error_code]).toEqual([true, null]);
  });
});

interface Told {
  value: unknown;
  variant: string | null;
  reason: string;
  error_code: string | null;
  revision: number | null;
}

/** The prompt flag over either API, in the form of REST. */
const PROMPT_OVER = {
  REST: async (target: object): Promise<Told> => (await evaluate({ keys: [PROMPT], ...target })).body.data[0],
  GraphQL: async ({ brand_id, user_id }: { brand_id?: string; user_id?: string }): Promise<Told> => {
    const query = 'query($input: EvaluateFlagsInput!) { evaluateFlags(input: $input) { value variant reason errorCode revision } }';
    const { data } = await p.graphql(query, { input: { keys: [PROMPT], brandId: brand_id, userId: user_id } }, { token: service });
    const { errorCode, reason, ...rest } = data.evaluateFlags[0];
    return { ...rest, reason: reason.toLowerCase(), error_code: errorCode?.toLowerCase() ?? null };
  },
} as const;

describe.each(['REST', 'GraphQL'] as const)('evaluating over %s', api => {
  const promptFor = (one: number) => PROMPT_OVER[api]({ brand_id: BRAND, user_id: userId(one) });
  const usersOn = async () => {
    const answers = await Promise.all([1, 2, 3, 4, 5, 6].map(async one => ((await promptFor(one)).value === true ? one : 0)));
    return answers.filter(Boolean);
  };

  test('a rollout of 2500 is on for …a1 and …a3, of 6000 also for …a2, and back at 2500 not for …a2', async () => {
    await cycleOn(p);
    await change(p, PROMPT, { rules: [ofBrand(2500)] });
    expect(await usersOn()).toEqual([1, 3]);
    expect(await promptFor(1)).toMatchObject({
      value: true,
      variant: 'on',
      reason: 'split',
      error_code: null,
      revision: expect.any(Number),
    });
    await change(p, PROMPT, { rules: [ofBrand(6000)] });
    expect(await usersOn()).toEqual([1, 2, 3]);
    await change(p, PROMPT, { rules: [ofBrand(2500)] });
    expect(await usersOn()).toEqual([1, 3]);
  });

  test('with the cycle flag off the prompt is off for all, at 10000 too', async () => {
    await change(p, PROMPT, { rules: [ofBrand(10_000)] });
    expect(await usersOn()).toEqual([]);
    expect(await promptFor(1)).toMatchObject({ value: false, reason: 'disabled' });
  });

  test('a rollout without a user id is off with targeting_key_missing', async () => {
    await cycleOn(p);
    await change(p, PROMPT, { rules: [ofBrand(5000)] });
    const evaluated = await PROMPT_OVER[api]({ brand_id: BRAND });
    expect(evaluated).toMatchObject({ value: false, variant: 'off', reason: 'error', error_code: 'targeting_key_missing' });
  });
});

describe('evaluating', () => {
  test('an unknown key is answered with flag_not_found, in its place', async () => {
    const { status, body } = await evaluate({ keys: ['feature.nope', CYCLE, 'not a key'] });
    expect(status).toBe(200);
    expect(body.data[0]).toEqual({
      key: 'feature.nope',
      value: null,
      variant: null,
      reason: 'error',
      error_code: 'flag_not_found',
      revision: null,
    });
    expect(body.data.map(({ key }: { key: string }) => key)).toEqual(['feature.nope', CYCLE, 'not a key']);
  });

  test('takes ids in any case', async () => {
    await cycleOn(p);
    await change(p, PROMPT, { rules: [ofBrand(2500)] });
    const { body } = await evaluate({ keys: [PROMPT], brand_id: BRAND.toUpperCase(), user_id: userId(1).toUpperCase() });
    expect(body.data[0].value).toBe(true);
  });

  test('sees a change at once', async () => {
    const before = (await evaluate({ keys: [CYCLE] })).body.data[0];
    await cycleOn(p);
    expect((await evaluate({ keys: [CYCLE] })).body.data[0]).toMatchObject({
      value: true,
      reason: 'default',
      revision: before.revision + 1,
    });
  });

  test.each([
    ['no key', { keys: [] }, '/keys'],
    ['more than 100 keys', { keys: Array(101).fill(CYCLE) }, '/keys'],
    ['keys left out', {}, '/keys'],
    ['a user that is no id', { keys: [CYCLE], user_id: 'nobody' }, '/user_id'],
    ['a brand that is no id', { keys: [CYCLE], brand_id: '1' }, '/brand_id'],
    ['an unknown member', { keys: [CYCLE], tier: 'gold' }, '/tier'],
  ])('%s is an invalid request', async (_, body, pointer) => {
    const answer = await evaluate(body);
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, pointer]);
  });
});

describe('a user token', () => {
  const own = (body: object = {}, token = user) => evaluate({ keys: [PROMPT], ...body }, token);
  const rule = (attribute: string, ...values: string[]): Row => ({ conditions: [{ attribute, operator: 'IN', values }], variant: 'on' });

  test('evaluates for its own user and the brand of its app', async () => {
    await cycleOn(p);
    await change(p, PROMPT, { rules: [ofBrand(2500)] });
    const token = (one: string) => p.userToken(one, ['read:profile']);
    expect((await own({}, await token(userId(1)))).body.data[0].value).toBe(true); // bucket 2149
    expect((await own({}, await token(userId(2)))).body.data[0].value).toBe(false); // bucket 5896
    expect((await own({ user_id: DEMO })).status).toBe(200);
  });

  test('that names another user finds nothing', async () => {
    expect(await own({ user_id: DEMO2 })).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  test('may say its locale and app version only', async () => {
    const { status, body } = await own({
      attributes: { locale: 'de', app_version: '2.0.0', country: 'DE', role: ['owner'], tier: 'gold', client: 'x' },
    });
    expect(status).toBe(400);
    expect(body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '/attributes/country',
      '/attributes/role',
      '/attributes/tier',
      '/attributes/client',
    ]);
  });

  test('is matched by locale, app version, its roles and its app', async () => {
    await cycleOn(p);
    await change(p, PROMPT, {
      rules: [rule('LOCALE', 'de'), { conditions: [{ attribute: 'APP_VERSION', operator: 'GTE', values: ['2.0.0'] }], variant: 'on' }],
    });
    expect((await own({ attributes: { locale: 'de' } })).body.data[0].reason).toBe('targeting_match');
    expect((await own({ attributes: { app_version: '2.10.0' } })).body.data[0].value).toBe(true);
    expect((await own({ attributes: { locale: 'en', app_version: '1.9.0' } })).body.data[0].value).toBe(false);
    await change(p, PROMPT, { rules: [rule('ROLE', 'support'), rule('CLIENT', 'demo-partner-app')] });
    expect((await own()).body.data[0].value).toBe(false);
    const staff = await p.userToken(DEMO, ['read:profile'], { roles: ['support'], permissions: ['admin:content'] });
    expect((await own({}, staff)).body.data[0].value).toBe(true);
    expect((await own({}, await p.userToken(DEMO, ['read:profile'], { clientId: 'demo-partner-app' }))).body.data[0].value).toBe(true);
  });

  describe('with a condition on the tier', () => {
    const TIER = 'membership.tier';
    const GOLD = [{ conditions: [{ attribute: 'TIER', operator: 'IN', values: ['gold'] }], variant: 'on' }];
    const NOT_GOLD = [{ conditions: [{ attribute: 'TIER', operator: 'NOT_IN', values: ['gold'] }], variant: 'on' }];
    const admin = async (method: string, path: string, body?: object) =>
      expect((await p.rest(method, `/entitlements/v1/admin/${path}`, { token: service, body })).status).toBeLessThan(300);
    const give = (user_id: string, value: string) =>
      admin('POST', 'overrides', { user_id, feature_key: TIER, allow: true, value, reason: 'a test' });
    const asks = async (one: string) => (await own({}, await p.userToken(one, ['read:profile']))).body.data[0];

    beforeEach(async () => {
      await cycleOn(p);
      await p.sql('delete from entitlements.entitlement_override');
      await p.clock('platform', { advance: 'PT30S' }); // nothing is believed of the test before
    });

    test('is matched by the tier that entitlements says, and by the one that a service says', async () => {
      await change(p, PROMPT, { rules: GOLD });
      await give(DEMO, 'gold');
      await give(DEMO2, 'silver');
      expect(await asks(DEMO)).toMatchObject({ value: true, reason: 'targeting_match' });
      expect(await asks(DEMO2)).toMatchObject({ value: false, reason: 'default' });
      expect((await evaluate({ keys: [PROMPT], attributes: { tier: 'gold' } })).body.data[0].value).toBe(true);
      expect((await evaluate({ keys: [PROMPT], user_id: DEMO })).body.data[0].value).toBe(false);
      const token = await p.userToken(DEMO, ['read:profile']);
      const ofrep = await p.rest('POST', `/platform/ofrep/v1/evaluate/flags/${PROMPT}`, {
        token,
        body: { context: { targetingKey: DEMO } },
      });
      expect(ofrep.body).toMatchObject({ value: true });
      const bulk = await p.rest('POST', '/platform/ofrep/v1/evaluate/flags', { token, body: { context: { targetingKey: DEMO } } });
      expect(bulk.body.flags.find((one: { key: string }) => one.key === PROMPT)).toMatchObject({ value: true });
    });

    test('is false for a user without a tier, also where it says which tiers it is not', async () => {
      await change(p, PROMPT, { rules: NOT_GOLD });
      expect(await asks(DEMO)).toMatchObject({ value: false, reason: 'default' });
      await give(DEMO2, 'silver');
      expect((await asks(DEMO2)).value).toBe(true);
    });

    test('is judged by the tier of a prerequisite, too', async () => {
      await change(p, CYCLE, { rules: GOLD, set: `enabled = true, default_rule = '{"variant":"off"}'` });
      await change(p, PROMPT, { set: `enabled = true, default_rule = '{"variant":"on"}'` });
      await give(DEMO, 'gold');
      expect((await asks(DEMO)).value).toBe(true);
      expect((await asks(DEMO2)).value).toBe(false);
    });

    test('believes entitlements for 30 seconds', async () => {
      await change(p, PROMPT, { rules: GOLD });
      await give(DEMO, 'gold');
      expect((await asks(DEMO)).value).toBe(true);
      await give(DEMO, 'silver');
      expect((await asks(DEMO)).value).toBe(true);
      await p.clock('platform', { advance: 'PT30S' });
      expect((await asks(DEMO)).value).toBe(false);
    });

    test('is false while entitlements does not answer, and nobody waits for it', async () => {
      await change(p, PROMPT, { rules: GOLD });
      await give(DEMO, 'gold');
      await p.host('entitlements').transaction(async ctx => {
        await ctx.sql('lock table entitlements.feature in access exclusive mode');
        expect(await asks(DEMO)).toMatchObject({ value: false, reason: 'default', error_code: null });
      });
      await p.sql('alter table entitlements.feature rename to hidden');
      expect(await asks(DEMO2)).toMatchObject({ value: false, reason: 'default', error_code: null });
      await p.sql('alter table entitlements.hidden rename to feature');
    });
  });

  test("reads its flags as a field of its user, and nobody else's", async () => {
    const query = `query($refs: [_Any!]!) { _entities(representations: $refs) { ... on User { id flags(keys: ["${STAGE}"]) { value reason } } } }`;
    const ask = async (token: string) =>
      (
        await p.rest('POST', '/platform/graphql', {
          token,
          body: { query, variables: { refs: [DEMO, DEMO2].map(id => ({ __typename: 'User', id })) } },
        })
      ).body.data._entities;
    const stage = { flags: [{ value: 'S0', reason: 'DEFAULT' }] };
    expect((await p.graphql(`{ me { id flags(keys: ["${STAGE}"]) { value reason } } }`, {}, { token: user })).data.me).toEqual({
      id: DEMO,
      ...stage,
    });
    expect(await ask(user)).toEqual([{ id: DEMO, ...stage }, null]);
    expect(await ask(service)).toEqual([
      { id: DEMO, ...stage },
      { id: DEMO2, ...stage },
    ]);
  });
});
