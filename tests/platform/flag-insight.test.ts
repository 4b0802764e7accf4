import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { BRAND, DEMO, platform, type TestPlatform } from '../support/platform.js';
import { change, cycleOn, ofBrand, resetFlags, STAGE } from './flag-changes.js';
import { CYCLE, PROMPT, user } from './flag-fixtures.js';

let p: TestPlatform;
let service: string;
let staff: string;

beforeAll(async () => {
  p = await platform({ services: ['platform'] });
  service = await p.serviceToken();
  staff = await p.userToken(DEMO, ['read:profile'], { permissions: ['admin:platform:read'] });
});
beforeEach(() => resetFlags(p));

describe('explaining a flag', () => {
  const explain = (key: string, query = '', token = staff) => p.rest('GET', `/platform/v1/admin/flags/${key}/explain?${query}`, { token });

  test('shows each rule, matched or why not, the bucket and the prerequisites', async () => {
    await cycleOn(p);
    const germans = {
      conditions: [
        { attribute: 'COUNTRY', operator: 'IN', values: ['DE'] },
        { attribute: 'LOCALE', operator: 'NOT_IN', values: ['fr'] },
      ],
      variant: 'on',
    };
    await change(p, PROMPT, { rules: [germans, ofBrand(2500)] });
    const { status, body } = await explain(PROMPT, `brand_id=${BRAND}&user_id=${user(1)}&country=US`);
    expect([status, body.bucket, body.evaluation.value, body.evaluation.reason, body.default_decided]).toEqual([
      200,
      2149,
      true,
      'split',
      false,
    ]);
    expect(body.prerequisites).toEqual([{ key: CYCLE, needed: 'on', actual: 'on', met: true }]);
    expect(body.rules).toEqual([
      {
        position: 0,
        matched: false,
        decided: false,
        conditions: [
          { attribute: 'country', operator: 'in', holds: false, absent: false },
          { attribute: 'locale', operator: 'not_in', holds: false, absent: true },
        ],
        variant: 'on',
        rollout: null,
      },
      {
        position: 1,
        matched: true,
        decided: true,
        conditions: [{ attribute: 'brand', operator: 'in', holds: true, absent: false }],
        variant: null,
        rollout: [{ variant: 'on', basis_points: 2500 }],
      },
    ]);
  });

  test('says that no rule decided, or that a prerequisite is not met', async () => {
    await change(p, PROMPT, { rules: [ofBrand(2500)] });
    const { body } = await explain(PROMPT, `user_id=${user(1)}`);
    expect([body.bucket, body.default_decided, body.prerequisites[0].met, body.evaluation.reason]).toEqual([null, true, false, 'disabled']);
  });

  test('is for staff who may read, and for flags that there are', async () => {
    expect((await explain('feature.nope')).status).toBe(404);
    expect((await explain(PROMPT, 'user_id=somebody')).status).toBe(400);
    expect((await explain(PROMPT, '', service)).status).toBe(403);
  });
});

describe('the use of flags', () => {
  const report = (counts: object[], token = service) => p.rest('POST', '/platform/v1/flags/usage', { token, body: { counts } });
  const count = (flag: string, variant: string | null, n: number) => ({ flag, variant, reason: 'SPLIT', brand_id: BRAND, count: n });

  test('is counted by flag, variant, reason and brand', async () => {
    expect(
      await report([count(CYCLE, 'on', 5), count(CYCLE, 'on', 2), count(CYCLE, null, 1), count('feature.nope', 'on', 9)]),
    ).toMatchObject({
      status: 202,
      body: { accepted: 2 },
    });
    await report([count(CYCLE, 'on', 3)], await p.internalToken('clinical'));
    const rows = await p.sql('select flag_key, variant, reason, brand_id, count::int from platform.flag_usage order by count desc');
    expect(rows).toEqual([
      { flag_key: CYCLE, variant: 'on', reason: 'SPLIT', brand_id: BRAND, count: 10 },
      { flag_key: CYCLE, variant: null, reason: 'SPLIT', brand_id: BRAND, count: 1 },
    ]);
  });

  test('names no users, and is reported by services only', async () => {
    expect((await report([{ ...count(CYCLE, 'on', 1), user_id: DEMO }])).body.errors).toMatchObject([{ pointer: '/counts/0/user_id' }]);
    expect((await report([count(CYCLE, 'on', 0)])).status).toBe(400);
    expect((await report([count(CYCLE, 'on', 1)], staff)).status).toBe(403);
  });
});

describe('a stale flag', () => {
  const key = 'feature.test.old';
  const stale = async () =>
    (await p.rest('GET', '/platform/v1/admin/flags/stale', { token: staff })).body.data.map(
      (one: { flag: { key: string }; reasons: string[] }) => [one.flag.key, one.reasons],
    );
  const create = (form: object) =>
    p.rest('POST', '/platform/v1/admin/flags', {
      token: service,
      body: {
        key,
        description: 'x',
        kind: 'release',
        value_type: 'boolean',
        variants: [
          { name: 'on', value: true },
          { name: 'off', value: false },
        ],
        off_variant: 'off',
        default_rule: { rollout: [{ variant: 'on', basis_points: 5000 }] },
        enabled: true,
        owner: 'commerce',
        reason: 'an experiment',
        ...form,
      },
    });

  test('is past its end, or has one result for everybody for 30 days; permanent ones never are', async () => {
    const now = await p.host('platform').read(async ctx => ctx.now());
    const day = (days: number) => new Date(now.getTime() + days * 86_400_000).toISOString().slice(0, 10);
    await create({ expires_on: day(10) });
    await create({ key: 'feature.test.permanent', permanent: true, expires_on: day(10) });
    await create({ key: 'feature.test.same', default_rule: { variant: 'on' } });
    await create({ key: 'feature.test.used' });
    expect(await stale()).toEqual([]);
    await p.clock('platform', { advance: 'P11D' });
    expect(await stale()).toEqual([[key, ['expired']]]);
    await p.clock('platform', { advance: 'P20D' });
    const count = { flag: 'feature.test.used', variant: 'on', reason: 'SPLIT', count: 1 };
    await p.rest('POST', '/platform/v1/flags/usage', { token: service, body: { counts: [count] } });
    expect(await stale()).toEqual([
      [key, ['expired']],
      ['feature.test.same', ['one_result']],
      ['feature.test.used', ['one_result']],
    ]);
  });
});

describe('waiting for a snapshot', () => {
  const get = (query: string, etag?: string) =>
    p.rest('GET', `/platform/v1/flags/snapshot?${query}`, { token: service, headers: etag ? { 'if-none-match': etag } : {} });

  test('is answered as soon as a flag changes', async () => {
    const { body } = await get('');
    const waiting = get(`revision=${body.revision}&wait=20`);
    await p.rest('POST', `/platform/v1/admin/flags/${STAGE}/kill`, { token: service, body: { reason: 'error rate' } });
    expect((await waiting).body.revision).toBe(body.revision + 1);
  });

  test('is answered with 304 when nothing changed meanwhile, and at once for an old revision', async () => {
    const first = await get('');
    expect((await get(`revision=${first.body.revision}&wait=1`, String(first.headers.etag))).status).toBe(304);
    expect((await get('revision=1&wait=20')).body.revision).toBe(first.body.revision);
    expect((await get('wait=26')).status).toBe(400);
  });

  test('is the same in GraphQL, where no change is null', async () => {
    const ask = async (revision: number) =>
      (await p.graphql('query($r: Int) { flagSnapshot(ifRevisionNot: $r, wait: 1) { revision } }', { r: revision }, { token: service }))
        .data.flagSnapshot;
    const { body } = await get('');
    expect([await ask(body.revision), (await ask(1)).revision]).toEqual([null, body.revision]);
  });
});
