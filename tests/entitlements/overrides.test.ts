import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN, DEMO } from '../support/platform.js';
import { after, Counter, T0 } from './counter.js';

let c: Counter;
let staff: string;
beforeAll(async () => {
  c = await Counter.open();
  staff = await c.p.userToken(ADMIN, ['read:profile'], { permissions: ['admin:entitlements:override:write'] });
});

describe('an override', () => {
  test('is made by staff with a reason, read, listed and revoked', async () => {
    const [user, key] = [c.stranger(), await c.feature()];
    const { status, headers, body } = await c.override(user, key, { reason: 'goodwill', ends_at: after(1_000) }, staff);
    expect([status, headers.location]).toEqual([201, expect.stringContaining(`/v1/admin/overrides/${body.id}`)]);
    expect(body).toMatchObject({
      user: { id: user },
      feature: { key },
      allow: true,
      value: null,
      limit: null,
      source: 'override',
      state: 'active',
      starts_at: T0,
      ends_at: after(1_000),
      reason: 'goodwill',
      created_by: ADMIN,
      created_at: T0,
      reference: null,
    });
    expect((await c.rest('GET', `/admin/overrides/${body.id}`)).body).toEqual(body);
    expect((await c.rest('GET', `/admin/overrides?user_id=${user}`)).body.data).toEqual([body]);
    expect((await c.rest('DELETE', `/admin/overrides/${body.id}`, undefined, staff)).status).toBe(204);
    expect((await c.rest('GET', `/admin/overrides/${body.id}`)).body).toMatchObject({ state: 'ended', ends_at: T0 });
    expect((await c.rest('DELETE', `/admin/overrides/${body.id}`)).status).toBe(204);
    const rows = await c.p.sql('select action, actor, details from entitlements.audit_log where target = $1 order by at, id', [body.id]);
    expect(rows).toMatchObject([
      { action: 'entitlement_override.created', actor: { sub: ADMIN }, details: { user_id: user, feature: key, allow: true } },
      { action: 'entitlement_override.revoked', details: { was: 'active', ends_at: after(1_000) } },
      { action: 'entitlement_override.revoked', details: { was: 'ended' } },
    ]);
    expect(JSON.stringify(rows)).not.toContain('goodwill');
  });

  test('that is revoked before it begins never begins', async () => {
    const [user, key] = [c.stranger(), await c.feature()];
    const { body } = await c.override(user, key, { starts_at: after(60_000) });
    expect(body.state).toBe('scheduled');
    await c.rest('DELETE', `/admin/overrides/${body.id}`);
    expect((await c.check(user, key)).valid_until).toBe(after(60_000));
    expect((await c.rest('GET', `/admin/overrides/${body.id}`)).body).toMatchObject({ ends_at: after(60_000) });
  });

  test('the newest wins, whatever the older ones say', async () => {
    const [user, key] = [c.stranger(), await c.feature({ default_value: true })];
    const allowed = async () => (await c.check(user, key)).allowed;
    await c.override(user, key, { allow: false });
    expect(await allowed()).toBe(false);
    expect(await c.override(user, key)).toMatchObject({ status: 201 }); // of the same instant: the denial stays
    expect(await allowed()).toBe(false);
    await c.clock(after(1));
    const { body } = await c.override(user, key);
    expect(await allowed()).toBe(true);
    await c.rest('DELETE', `/admin/overrides/${body.id}`);
    expect(await c.check(user, key)).toMatchObject({ allowed: false, reason: 'override_deny' });
  });

  test.each([
    ['no reason', { reason: undefined }, ['/reason']],
    ['a blank reason', { reason: ' ' }, ['/reason']],
    ['an end in the past', { starts_at: after(-9), ends_at: after(-5) }, ['/ends_at']],
    ['an end before its start', { starts_at: after(900_000), ends_at: after(800_000) }, ['/ends_at']],
    ['a limit below nothing', { limit: -1 }, ['/limit']],
    ['a limit and a value of a feature that is on or off', { limit: 1, value: 'x' }, ['/value', '/limit']],
    ['an unknown feature', { feature_key: 'no.such' }, ['/feature_key']],
    ['a user that is no id', { user_id: 'mara' }, ['/user_id']],
    ['a tier as its source', { source: 'tier' }, ['/source']],
  ])('is refused with %s', async (_what, change, pointers) => {
    const answer = await c.override(c.stranger(), await c.feature(), change);
    expect([answer.status, answer.body.errors?.map((one: any) => one.pointer)]).toEqual([400, pointers]);
  });

  test('is hidden from members, its reason too', async () => {
    const member = await c.p.userToken(DEMO, ['read:entitlements']);
    const { body } = await c.override(DEMO, 'live.host');
    for (const [method, path] of [
      ['GET', ''],
      ['GET', `/${body.id}`],
      ['DELETE', `/${body.id}`],
    ] as const)
      expect((await c.rest(method, `/admin/overrides${path}`, undefined, member)).status).toBe(403);
    expect((await c.override(DEMO, 'live.host', {}, member)).status).toBe(403);
    expect((await c.rest('DELETE', `/admin/overrides/${randomUUID()}`)).status).toBe(404);
    expect((await c.rest('DELETE', '/admin/overrides/nonsense')).status).toBe(404);
  });

  test('the list has pages and is of one state, as the time has it', async () => {
    const [user, key] = [c.stranger(), await c.feature()];
    const ids: string[] = [];
    for (const more of [{}, { ends_at: after(3_600_000) }, { starts_at: after(3_600_000) }])
      ids.push((await c.override(user, key, more)).body.id);
    const of = async (state: string) =>
      (await c.rest('GET', `/admin/overrides?user_id=${user}&state=${state}`)).body.data.map((one: any) => one.id).toSorted();
    expect([await of('active'), await of('scheduled'), await of('ended')]).toEqual([ids.slice(0, 2).toSorted(), [ids[2]], []]);
    const page = await c.rest('GET', `/admin/overrides?feature_key=${key}&limit=2`);
    const rest = await c.rest('GET', `/admin/overrides?feature_key=${key}&limit=2&cursor=${page.body.next_cursor}`);
    const found: string[] = [...page.body.data, ...rest.body.data].map(one => one.id);
    expect(found.toSorted()).toEqual(ids.toSorted());
    await c.clock(after(3_600_000));
    expect([await of('active'), await of('scheduled'), await of('ended')]).toEqual([[ids[0]!, ids[2]!].toSorted(), [], [ids[1]]]);
  });
});

describe('a purchase', () => {
  const buy = (user: string, key: string, reference: string | null, token?: string) =>
    c.override(user, key, { source: 'purchase', reference }, token);

  test('is made once for its reference, also by ten requests at once', async () => {
    const [user, key, order] = [c.stranger(), await c.feature(), randomUUID()];
    const answers = await Promise.all(Array.from({ length: 10 }, () => buy(user, key, order)));
    expect(answers.map(one => String(one.status)).toSorted()).toEqual([...Array.from({ length: 9 }, () => '200'), '201']);
    expect(new Set(answers.map(one => one.body.id)).size).toBe(1);
    expect((await c.all(user)).features.find((one: any) => one.key === key)).toMatchObject({ access: 'granted', source: 'purchase' });
    expect(await buy(c.stranger(), key, order)).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect((await buy(user, await c.feature(), order)).status).toBe(201);
  });

  test('is told by a service, with what it goes back to', async () => {
    const key = await c.feature();
    expect((await buy(c.stranger(), key, randomUUID(), staff)).status).toBe(403);
    expect(await buy(c.stranger(), key, null)).toMatchObject({ status: 400, body: { errors: [{ pointer: '/reference' }] } });
  });
});

test('GraphQL makes, lists and revokes overrides, and shows whom and what they concern', async () => {
  const [user, key] = [c.stranger(), await c.feature({ kind: 'config' })];
  const created = await c.graphql(
    `mutation ($input: CreateEntitlementOverrideInput!) { createEntitlementOverride(input: $input) { id value state user { id } feature { key kind } } }`,
    { input: { userId: user, featureKey: key, allow: true, value: { quality: 'high' }, reason: 'a test' } },
  );
  const made = created.data.createEntitlementOverride;
  expect(made).toMatchObject({ value: { quality: 'high' }, state: 'ACTIVE', user: { id: user }, feature: { key, kind: 'CONFIG' } });
  const listed = await c.graphql(`query ($id: ID) { entitlementOverrides(userId: $id) { nodes { id source } } }`, { id: user });
  expect(listed.data.entitlementOverrides.nodes).toEqual([{ id: made.id, source: 'OVERRIDE' }]);
  const revoked = await c.graphql(`mutation ($id: ID!) { revokeEntitlementOverride(id: $id) { state } }`, { id: made.id });
  expect(revoked.data.revokeEntitlementOverride).toEqual({ state: 'ENDED' });
});
