import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN, BRAND, DEMO } from '../support/platform.js';
import { BASIC, Members, PLUS } from './fixture.js';
import { monthly, Payments } from './payments.js';

let m: Members;
beforeAll(async () => {
  m = await Members.open();
});

const keyOf = (): string => `plan_${randomUUID().slice(0, 8)}`;
const tier = (key: string, rank: number, more: object = {}) => ({ key, name: key, rank, benefits: [], feature_keys: [], ...more });
const draft = (more: object = {}) =>
  m.rest('POST', '/admin/plans', { key: keyOf(), brand_id: BRAND, name: 'A plan', tiers: [tier('one', 1)], ...more });
const turn = (id: string, to: 'publish' | 'retire') => m.rest('POST', `/admin/plans/${id}/${to}`);
const listed = async (): Promise<string[]> =>
  (await m.rest('GET', '/plans?limit=100', undefined, null)).body.data.map((one: any) => one.id);

describe('the public list of plans', () => {
  test('needs no token, has published plans only, and may be kept for 60 s by its ETag', async () => {
    const first = await m.rest('GET', '/plans', undefined, null);
    expect(first).toMatchObject({ status: 200, headers: { 'cache-control': 'public, max-age=60', etag: expect.any(String) } });
    expect(first.body.data.map((one: any) => [one.key, one.status, one.tiers[0].rank, one.prices])).toEqual([
      ['basic', 'published', 1, null],
      ['plus', 'published', 2, null],
    ]);
    const again = await m.rest('GET', '/plans', undefined, null, { 'if-none-match': String(first.headers.etag) });
    expect([again.status, again.body]).toEqual([304, '']);
    const { id } = (await draft()).body;
    expect(await listed()).not.toContain(id);
    expect((await m.rest('GET', `/plans/${id}`, undefined, null)).status).toBe(404);
    await turn(id, 'publish');
    expect(await listed()).toContain(id);
    expect((await m.rest('GET', '/plans', undefined, null)).headers.etag).not.toBe(first.headers.etag);
    expect((await m.rest('GET', `/plans/${id}`, undefined, null)).headers['cache-control']).toBe('public, max-age=60');
    await turn(id, 'retire');
    expect(await listed()).not.toContain(id);
  });

  test('is of a brand where one is named, and pages', async () => {
    const page = await m.rest('GET', `/plans?brand_id=${BRAND}&limit=1`, undefined, null);
    const next = await m.rest('GET', `/plans?brand_id=${BRAND}&limit=1&cursor=${page.body.next_cursor}`, undefined, null);
    expect([page.body.data[0].key, next.body.data[0].key]).toEqual(['basic', 'plus']);
    expect((await m.rest('GET', `/plans?brand_id=${randomUUID()}`, undefined, null)).body.data).toEqual([]);
    expect((await m.rest('GET', '/plans?limit=0', undefined, null)).status).toBe(400);
  });

  test('has the active prices of payments where they are asked for, and is a 503 while payments is not there', async () => {
    const absent = await m.rest('GET', '/plans?include=prices', undefined, null);
    expect(absent).toMatchObject({ status: 503, body: { code: 'unavailable' }, headers: { 'retry-after': expect.any(String) } });
    const payments = new Payments(m);
    const price = monthly('plus');
    const nodes = [{ id: PLUS.plan, prices: [price, monthly('plus', { active: false })] }];
    payments.answer('MembershipPlansPrices', () => ({ membershipPlans: { nodes } }));
    payments.answer('MembershipPlanPrices', () => ({ membershipPlan: nodes[0] }));
    const shown = { id: price.id, key: 'plus-monthly', tier: 'plus', recurring: { interval: 'month', interval_count: 1 } };
    const list = (await m.rest('GET', '/plans?include=prices', undefined, null)).body.data;
    expect(list.find((one: any) => one.id === PLUS.plan).prices).toMatchObject([
      { ...shown, unit_amount: { amount: 9_900, currency: 'USD' } },
    ]);
    expect(list.find((one: any) => one.id === BASIC.plan).prices).toEqual([]);
    expect((await m.rest('GET', `/plans/${PLUS.plan}?include=prices`, undefined, null)).body.prices).toMatchObject([shown]);
    payments.leave();
    expect((await m.rest('GET', '/plans?include=brand', undefined, null)).status).toBe(400);
  });

  test('is in GraphQL the same, with tiers in one statement', async () => {
    const query = '{ membershipPlans(first: 2) { nodes { key brand { slug } tiers { key plan { key } benefits { key label value } } } } }';
    const { data, errors } = await m.graphql(query);
    expect(errors).toEqual([]);
    expect(data.membershipPlans.nodes[1]).toMatchObject({
      key: 'plus',
      brand: { slug: 'main' },
      tiers: [{ key: 'plus', plan: { key: 'plus' }, benefits: [{ key: 'content' }, { key: 'labs_discount', value: '20 %' }] }],
    });
  });
});

describe('a plan', () => {
  test('is made as a draft, with everything that is wrong with it named', async () => {
    const made = await draft({
      description: 'Good',
      grace_days: 3,
      tiers: [tier('one', 1), tier('two', 2, { benefits: [{ key: 'a', label: 'A' }] })],
    });
    expect(made).toMatchObject({
      status: 201,
      body: { status: 'draft', grace_days: 3, version: 1, tiers: [{ key: 'one' }, { benefits: [{ value: null }] }] },
    });
    const wrong = await draft({ tiers: [tier('one', 1), tier('one', 2), tier('two', 2)] });
    expect(wrong.body.errors.map((one: any) => one.pointer)).toEqual(['/tiers/1/key', '/tiers/2/rank']);
    expect((await draft({ tiers: [] })).body.errors).toMatchObject([{ pointer: '/tiers' }]);
    expect(await draft({ key: made.body.key })).toMatchObject({ status: 409 });
  });

  test('is a draft, then published, then retired, and nothing else', async () => {
    const { id } = (await draft()).body;
    expect((await turn(id, 'retire')).status).toBe(409);
    expect((await turn(id, 'publish')).body.status).toBe('published');
    expect((await turn(id, 'publish')).status).toBe(409);
    expect((await turn(id, 'retire')).body.status).toBe('retired');
    expect(await turn(id, 'publish')).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect((await turn(randomUUID(), 'publish')).status).toBe(404);
  });

  test('keeps its tiers as they are in everything but their keys once it is published', async () => {
    const { id, tiers } = (await draft({ tiers: [tier('one', 1), tier('two', 2)] })).body;
    const change = (body: object) => m.rest('PATCH', `/admin/plans/${id}`, body);
    expect((await change({ tiers: [tier('two', 1), tier('three', 2)] })).body.tiers).toMatchObject([
      { id: tiers[1].id, key: 'two' },
      { key: 'three' },
    ]);
    await turn(id, 'publish');
    expect(await change({ tiers: [tier('two', 1), tier('four', 2)] })).toMatchObject({
      status: 409,
      body: { reason: 'tier_keys_immutable' },
    });
    const swapped = await change({ tiers: [tier('two', 2), tier('three', 1)], description: null, name: 'Other' });
    expect(swapped.body).toMatchObject({ name: 'Other', description: null, version: 4, tiers: [{ key: 'three' }, { id: tiers[1].id }] });
    expect((await change({ name: 'Again', version: 1 })).body).toMatchObject({ status: 409, reason: 'version_conflict' });
  });

  test('takes no new members once it is retired, and keeps those that it has', async () => {
    const { id } = (await draft({ tiers: [tier('old', 1)] })).body;
    await turn(id, 'publish');
    const user = randomUUID();
    expect((await m.grant(user, { plan_id: id, tier_key: 'old' })).status).toBe(201);
    await turn(id, 'retire');
    const refused = await m.grant(randomUUID(), { plan_id: id, tier_key: 'old' });
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ pointer: '/plan_id' }] } });
    expect(await m.only(user)).toMatchObject({ status: 'active', plan: { id } });
  });

  test('is written by staff with the permission, and by services', async () => {
    const writer = await m.p.userToken(ADMIN, ['read:profile'], { permissions: ['admin:membership:plan:write'] });
    const other = await m.p.userToken(ADMIN, ['read:profile'], { permissions: ['admin:membership:read'] });
    const body = { key: keyOf(), brand_id: BRAND, name: 'A plan', tiers: [tier('one', 1)] };
    expect((await m.rest('POST', '/admin/plans', body, writer)).status).toBe(201);
    expect((await m.rest('GET', '/admin/plans?status=draft', undefined, writer)).body.data.length).toBeGreaterThan(0);
    expect((await m.rest('POST', '/admin/plans', body, other)).status).toBe(403);
    expect((await m.rest('GET', '/admin/plans', undefined, await m.p.userToken(DEMO, ['read:membership']))).status).toBe(403);
    const audits = await m.p.sql(`select action from membership.audit_log where details->>'key' = $1`, [body.key]);
    expect(audits).toEqual([{ action: 'membership_plan.created' }]);
  });
});

test('the seed has two published plans of the default brand under fixed ids', async () => {
  const rows = await m.p.sql(
    `select p.id as plan, p.key, p.brand_id, t.id as tier, t.key as tier_key, t.rank from membership.membership_plan p
     join membership.membership_tier t on t.plan_id = p.id where p.id = any($1) order by t.rank`,
    [[BASIC.plan, PLUS.plan]],
  );
  expect(rows).toEqual([
    { ...BASIC, key: 'basic', brand_id: BRAND, tier_key: 'basic', rank: 1 },
    { ...PLUS, key: 'plus', brand_id: BRAND, tier_key: 'plus', rank: 2 },
  ]);
});
