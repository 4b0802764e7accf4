import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN, DEMO, DEMO2 } from '../support/platform.js';
import { askedDuring } from '../support/statements.js';
import { after, Counter, T0 } from './counter.js';

let c: Counter;
let demo: string;
let demo2: string;
beforeAll(async () => {
  c = await Counter.open();
  [demo, demo2] = [await c.p.userToken(DEMO, ['read:entitlements']), await c.p.userToken(DEMO2, ['read:entitlements'])];
});

/** Statements on the tables of this service while something is asked. */
async function statements(work: () => Promise<unknown>): Promise<string[]> {
  const texts = (await askedDuring(c.p, work)).map(({ text }) => text);
  return texts.filter(text =>
    /entitlement_override|usage_counter|entitlement_snapshot|membership_copy|tier_feature|"?entitlements"?\."?feature"?/.test(text),
  );
}

describe('the entitlements of a user', () => {
  test('are the defaults for somebody unknown', async () => {
    const user = c.stranger();
    const answer = await c.rest('GET', `/entitlements?user_id=${user}`);
    expect(answer).toMatchObject({ status: 200, body: { user_id: user, version: 1, computed_at: T0 } });
    const of = (key: string) => answer.body.features.find((one: any) => one.key === key);
    const nothing = { limit: null, used: null, remaining: null, resets_at: null, ends_at: null };
    expect(of('labs.discount')).toEqual({
      key: 'labs.discount',
      access: 'denied',
      reason: 'no_membership',
      value: null,
      source: 'default',
      ...nothing,
    });
    expect(of('content.quality')).toEqual({
      key: 'content.quality',
      access: 'granted',
      reason: null,
      value: 'standard',
      source: 'default',
      ...nothing,
    });
    expect(of('ai.messages')).toMatchObject({
      access: 'granted',
      limit: 20,
      used: 0,
      remaining: 20,
      resets_at: '2026-12-11T00:00:00.000Z',
    });
    expect(answer.body.valid_until).toBe('2026-12-11T00:00:00.000Z');
    expect(answer.body.features.map((one: any) => one.key)).toEqual(answer.body.features.map((one: any) => one.key).toSorted());
  });

  test('bear an ETag that stands while nothing changes; the version grows only when the answer differs', async () => {
    const [user, key] = [c.stranger(), await c.feature()];
    const path = `/entitlements?user_id=${user}`;
    const first = await c.rest('GET', path);
    const again = await c.rest('GET', path, undefined, c.token, { 'if-none-match': String(first.headers.etag) });
    expect([first.body.version, again.status, again.body]).toEqual([1, 304, '']);
    await c.override(user, key);
    const changed = await c.rest('GET', path, undefined, c.token, { 'if-none-match': String(first.headers.etag) });
    expect([changed.status, changed.body.version]).toEqual([200, 2]);
    await c.override(user, key, { allow: true, starts_at: T0 }); // says the same
    expect((await c.all(user)).version).toBe(2);
    await c.consume(user, 'ai.messages');
    expect((await c.all(user)).version).toBe(3);
  });

  test('of twenty readers at once have one version', async () => {
    const user = c.stranger();
    await c.override(user, 'live.host');
    const answers = await Promise.all(Array.from({ length: 20 }, () => c.all(user)));
    expect(new Set(answers.map(one => one.version))).toEqual(new Set([1]));
  });

  test('are own for a member, at two paths; another user is a 404', async () => {
    const own = await c.rest('GET', '/entitlements/me', undefined, demo);
    expect(own).toMatchObject({ status: 200, body: { user_id: DEMO }, headers: { etag: expect.any(String) } });
    expect((await c.rest('GET', '/entitlements', undefined, demo)).body).toEqual(own.body);
    expect((await c.rest('GET', `/entitlements?user_id=${DEMO}`, undefined, demo)).status).toBe(200);
    for (const path of [`/entitlements?user_id=${DEMO}`, `/entitlements/check/live.host?user_id=${DEMO}`])
      expect(await c.rest('GET', path, undefined, demo2)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect((await c.rest('GET', '/entitlements/me', undefined, await c.p.userToken(DEMO, ['read:profile']))).status).toBe(403);
    expect((await c.rest('GET', '/entitlements/me')).status).toBe(403);
    expect(await c.rest('GET', '/entitlements')).toMatchObject({ status: 400, body: { errors: [{ pointer: '/user_id' }] } });
  });

  test("are anybody's for services that administer entitlements or identity, and for support", async () => {
    const support = await c.p.userToken(ADMIN, ['read:profile'], { permissions: ['admin:entitlements:read'] });
    for (const token of [c.token, await c.p.serviceToken('admin:identity'), support, await c.p.internalToken('labs')])
      expect((await c.rest('GET', `/entitlements?user_id=${DEMO}`, undefined, token)).status).toBe(200);
    expect((await c.rest('GET', `/entitlements?user_id=${DEMO}`, undefined, await c.p.serviceToken('admin:follows'))).status).toBe(403);
  });

  test('are a field of the user, in one statement per table for many users', async () => {
    const query = `query ($id: ID!) { user(id: $id) { entitlements { userId version features { key access remaining resetsAt } } } }`;
    const { data, errors } = await c.p.graphql(
      query,
      { id: DEMO },
      { token: await c.p.userToken(DEMO, ['read:entitlements', 'read:profile']) },
    );
    expect(errors).toEqual([]);
    expect(data.user.entitlements).toMatchObject({
      userId: DEMO,
      features: expect.arrayContaining([expect.objectContaining({ key: 'live.host' })]),
    });
    const users = '{ users(first: 3) { nodes { id entitlements { version } } } }';
    const token = await c.p.serviceToken();
    await c.p.graphql(users, {}, { token });
    const asked = await statements(async () => {
      const answer = await c.p.graphql(users, {}, { token });
      expect(answer.data.users.nodes).toHaveLength(3);
      for (const one of answer.data.users.nodes) expect(one.entitlements.version).toBeGreaterThan(0);
    });
    expect(asked).toHaveLength(5); // what membership said is remembered
  });

  test("are nobody's for another user who asks by reference", async () => {
    const ask = (type: string, key: object, fields: string) =>
      c.p.rest('POST', '/entitlements/graphql', {
        token: demo2,
        body: {
          query: `query ($r: [_Any!]!) { _entities(representations: $r) { ... on ${type} { ${fields} } } }`,
          variables: { r: [{ __typename: type, ...key }] },
        },
      });
    expect((await ask('UserEntitlements', { userId: DEMO }, 'version')).body.data._entities).toEqual([null]);
    expect((await ask('User', { id: DEMO }, 'entitlements { version }')).body.data._entities).toEqual([null]);
    expect((await ask('UserEntitlements', { userId: DEMO2 }, 'userId')).body.data._entities).toEqual([{ userId: DEMO2 }]);
  });
});

describe('a check', () => {
  test('of an unknown key is a denial, not an error', async () => {
    const unknown = {
      allowed: false,
      reason: 'unknown_feature',
      remaining: null,
      resets_at: null,
      valid_until: null,
      is_fallback: false,
      upgrade_to: [],
    };
    expect(await c.rest('GET', `/entitlements/check/no.such?user_id=${DEMO}`)).toMatchObject({
      status: 200,
      body: { key: 'no.such', ...unknown },
    });
    expect((await c.rest('GET', '/entitlements/me/check/No%20Such', undefined, demo)).body).toEqual({ key: 'No Such', ...unknown });
    const key = await c.feature({ default_value: true });
    await c.rest('DELETE', `/admin/features/${key}`);
    expect(await c.check(DEMO, key)).toEqual({ key, ...unknown });
    expect((await c.all(DEMO)).features.map((one: any) => one.key)).not.toContain(key);
  });

  test('of an override until T is allowed at T - 1 ms and denied at T, without any event', async () => {
    const [user, key, end] = [c.stranger(), await c.feature(), after(86_400_000)];
    await c.override(user, key, { ends_at: end });
    await c.clock(after(86_400_000 - 1));
    expect(await c.check(user, key)).toMatchObject({ allowed: true, reason: null, valid_until: end });
    const before = await c.all(user);
    await c.clock(end);
    expect(await c.check(user, key)).toMatchObject({ allowed: false, reason: 'not_in_tier', valid_until: null });
    expect((await c.all(user)).version).toBe(before.version + 1);
  });

  test('of an override from T on is allowed at T, without any event', async () => {
    const [user, key, start] = [c.stranger(), await c.feature(), after(2 * 86_400_000)];
    await c.override(user, key, { starts_at: start });
    expect(await c.check(user, key)).toMatchObject({ allowed: false, valid_until: start });
    await c.clock(start);
    expect(await c.check(user, key)).toMatchObject({ allowed: true });
  });

  test('sees the change of a feature at once, for everybody', async () => {
    const [user, key] = [c.stranger(), await c.feature()];
    expect((await c.check(user, key)).allowed).toBe(false);
    await c.rest('PATCH', `/admin/features/${key}`, { default_value: true });
    expect((await c.check(user, key)).allowed).toBe(true);
  });

  test('of 100 users and 50 features costs one statement per table, in the order of the question', async () => {
    const users = Array.from({ length: 100 }, () => c.stranger());
    const keys = ['ai.messages', 'no.such', 'live.host', ...Array.from({ length: 47 }, (_, index) => `no.such.${index}`)];
    await c.override(users[7]!, 'live.host');
    let answer: any;
    const asked = await statements(async () => (answer = await c.rest('POST', '/entitlements/check', { user_ids: users, keys })));
    expect(asked).toHaveLength(4);
    expect(answer.status).toBe(200);
    expect(answer.body.data.map((one: any) => one.user_id)).toEqual(users);
    expect(answer.body.data[7].checks.map((one: any) => one.key)).toEqual(keys);
    expect(answer.body.data[7].checks.slice(0, 3)).toMatchObject([{ allowed: true }, { reason: 'unknown_feature' }, { allowed: true }]);
    expect(answer.body.data[8].checks[2]).toMatchObject({ allowed: false, reason: 'not_in_tier' });
    expect(answer.body.data[8].checks[0]).toMatchObject({ allowed: true, remaining: 20 });
  });

  test('of many is for services, and bounded', async () => {
    const ask = (body: object, token = c.token) => c.rest('POST', '/entitlements/check', body, token);
    expect((await ask({ user_ids: [DEMO], keys: ['live.host'] }, demo)).status).toBe(403);
    const many = { user_ids: Array.from({ length: 101 }, () => c.stranger()), keys: [] };
    expect((await ask(many)).body.errors.map((one: any) => one.pointer).toSorted()).toEqual(['/keys', '/user_ids']);
  });

  test('is the same in GraphQL', async () => {
    const query = `query ($id: ID, $input: CheckEntitlementsInput!) { checkEntitlement(userId: $id, key: "no.such") { allowed reason isFallback }
      checkEntitlements(input: $input) { userId checks { key allowed } } entitlements(userId: $id) { version } }`;
    const { data, errors } = await c.graphql(query, { id: DEMO, input: { userIds: [DEMO], keys: ['content.quality'] } });
    expect(errors).toEqual([]);
    expect(data.checkEntitlement).toEqual({ allowed: false, reason: 'UNKNOWN_FEATURE', isFallback: false });
    expect(data.checkEntitlements).toEqual([{ userId: DEMO, checks: [{ key: 'content.quality', allowed: true }] }]);
    const foreign = await c.graphql('query ($id: ID) { entitlements(userId: $id) { version } }', { id: DEMO }, demo2);
    expect(foreign.errors.map(one => one.extensions.code)).toEqual(['NOT_FOUND']);
  });
});

describe('an explanation', () => {
  test('names every rule in order, with facts and versions', async () => {
    const [user, key] = [c.stranger(), await c.feature({ default_value: true })];
    const { version } = await c.all(user);
    const { body: denial } = await c.override(user, key, { allow: false });
    await c.override(user, key, { source: 'purchase', reference: 'order-1' });
    const { status, body } = await c.rest('GET', `/admin/entitlements/${user}/explain/${key}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ user_id: user, key, snapshot_version: version, feature: { key, version: 1 } });
    expect(body.check).toMatchObject({ allowed: false, reason: 'override_deny' });
    expect(body.entitlement).toMatchObject({ access: 'denied', source: 'override' });
    const rules = body.rules.map((one: any) => [one.rule, one.access, one.decisive, one.overrides.length]);
    expect(rules).toEqual([
      ['override', 'denied', true, 1],
      ['purchase', 'granted', false, 1],
      ['tier', null, false, 0],
      ['default', 'granted', false, 0],
    ]);
    expect(body.rules[0].overrides[0]).toMatchObject({ id: denial.id, reason: 'a test', state: 'active' });
    await c.rest('DELETE', `/admin/overrides/${denial.id}`);
    const again = (await c.rest('GET', `/admin/entitlements/${user}/explain/${key}`)).body;
    expect(again.rules[0]).toMatchObject({ access: null, decisive: false, overrides: [{ id: denial.id, state: 'ended' }] });
    expect(again.check.allowed).toBe(true);
  });

  test('of an unknown feature has no rules', async () => {
    const query = `query ($id: ID!) { explainEntitlement(userId: $id, key: "no.such") { check { reason } feature { key } entitlement { key } rules { rule } } }`;
    const { data } = await c.graphql(query, { id: DEMO });
    expect(data.explainEntitlement).toEqual({ check: { reason: 'UNKNOWN_FEATURE' }, feature: null, entitlement: null, rules: [] });
  });

  test('is for support, not for members', async () => {
    const support = await c.p.userToken(ADMIN, ['read:profile'], { permissions: ['admin:entitlements:read'] });
    expect((await c.rest('GET', `/admin/entitlements/${DEMO}/explain/live.host`, undefined, support)).status).toBe(200);
    expect((await c.rest('GET', `/admin/entitlements/${DEMO}/explain/live.host`, undefined, demo)).status).toBe(403);
  });
});

describe("identity's fronts", () => {
  const identity = (path: string, token: string | null = c.token) => c.p.rest('GET', `/identity/v1/entitlements/${path}`, { token });

  test('answer as entitlements does', async () => {
    const own = await identity(DEMO, demo);
    expect(own).toMatchObject({ status: 200, headers: { etag: expect.any(String) } });
    expect(own.body).toEqual((await c.rest('GET', '/entitlements/me', undefined, demo)).body);
    const check = await identity(`${DEMO}/check/content.quality`, demo);
    const { upgrade_to, ...same } = (await c.rest('GET', '/entitlements/me/check/content.quality', undefined, demo)).body;
    expect([check.body, upgrade_to]).toEqual([same, []]);
    expect(await identity(`${DEMO}/check/no.such`, demo)).toMatchObject({
      status: 200,
      body: { allowed: false, reason: 'unknown_feature' },
    });
  });

  test('are for the user and for services that administer entitlements or identity', async () => {
    for (const path of [DEMO, `${DEMO}/check/live.host`]) {
      for (const scope of ['admin:entitlements', 'admin:identity'])
        expect((await identity(path, await c.p.serviceToken(scope))).status).toBe(200);
      expect((await identity(path, demo2)).status).toBe(404);
      expect((await identity(path, await c.p.serviceToken('admin:follows'))).status).toBe(403);
      expect((await identity(path, null)).status).toBe(401);
    }
  });
});
