import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { DEMO } from '../support/platform.js';
import { after, Counter } from './counter.js';

let c: Counter;
beforeAll(async () => {
  c = await Counter.open();
});

const metered = (more: object = {}) => c.feature({ kind: 'metered', unit: 'use', default_value: 5, ...more });
const usedBy = async (user: string, key: string): Promise<number> => (await c.all(user)).features.find((one: any) => one.key === key).used;

describe('consuming', () => {
  test('twenty at once with a limit of 5 count 5 and refuse 15 with limit_reached', async () => {
    const [user, key] = [c.stranger(), await metered()];
    const answers = await Promise.all(Array.from({ length: 20 }, () => c.consume(user, key)));
    expect(answers.filter(one => one.status === 200)).toHaveLength(5);
    const refused = answers.filter(one => one.status === 409);
    expect(refused).toHaveLength(15);
    for (const { body } of refused) expect(body).toMatchObject({ code: 'conflict', reason: 'limit_reached' });
    expect(await usedBy(user, key)).toBe(5);
    expect(await c.check(user, key)).toMatchObject({ allowed: false, reason: 'limit_reached', remaining: 0 });
    expect(await c.p.sql('select 1 from entitlements.usage_event where user_id = $1', [user])).toHaveLength(5);
  });

  test('with the same key twice, or ten times at once, counts once', async () => {
    const [user, key, idempotency_key] = [c.stranger(), await metered(), randomUUID()];
    const answers = await Promise.all(Array.from({ length: 10 }, () => c.consume(user, key, { idempotency_key, amount: 2 })));
    expect(answers.map(one => one.status)).toEqual(Array.from({ length: 10 }, () => 200));
    expect(await usedBy(user, key)).toBe(2);
    expect(await c.consume(user, key, { idempotency_key, amount: 3 })).toMatchObject({
      status: 422,
      body: { code: 'idempotency_mismatch' },
    });
    expect((await c.consume(user, key, { idempotency_key: undefined })).body.errors).toMatchObject([{ pointer: '/idempotency_key' }]);
  });

  test('the same key is free for another user and another feature', async () => {
    const [user, key, other, idempotency_key] = [c.stranger(), await metered(), await metered(), 'order-42'];
    const calls = [
      c.consume(user, key, { idempotency_key }),
      c.consume(c.stranger(), key, { idempotency_key }),
      c.consume(user, other, { idempotency_key }),
    ];
    for (const { body } of await Promise.all(calls)) expect(body).toMatchObject({ allowed: true, remaining: 4 });
  });

  test('says what is left, the last one too, and counts all of an amount or nothing', async () => {
    const [user, key] = [c.stranger(), await metered()];
    expect(await c.consume(user, key, { amount: 4 })).toMatchObject({
      status: 200,
      body: { key, allowed: true, reason: null, remaining: 1 },
    });
    expect(await c.consume(user, key, { amount: 2 })).toMatchObject({ status: 409, body: { reason: 'limit_reached' } });
    expect(await c.consume(user, key)).toMatchObject({ status: 200, body: { allowed: true, remaining: 0 } });
    expect(await c.consume(c.stranger(), key, { amount: 6 })).toMatchObject({ status: 409 });
  });

  test('a soft limit counts and allows', async () => {
    const [user, key] = [c.stranger(), await metered({ soft_limit: true })];
    for (let use = 0; use < 3; use++) expect((await c.consume(user, key, { amount: 3 })).status).toBe(200);
    expect(await usedBy(user, key)).toBe(9);
    expect(await c.check(user, key)).toMatchObject({ allowed: true, remaining: 0 });
  });

  test('an override raises the limit, or takes it away; a lower one than what is used deletes nothing', async () => {
    const [user, key] = [c.stranger(), await metered()];
    await c.consume(user, key, { amount: 5 });
    await c.override(user, key, { limit: 8 });
    expect(await c.consume(user, key, { amount: 3 })).toMatchObject({ status: 200 });
    await c.clock(after(1));
    await c.override(user, key, { limit: 2 });
    expect(await c.check(user, key)).toMatchObject({ allowed: false, reason: 'limit_reached', remaining: 0 });
    expect(await usedBy(user, key)).toBe(8);
    await c.clock(after(2));
    await c.override(user, key);
    expect(await c.consume(user, key, { amount: 1_000 })).toMatchObject({ status: 200, body: { remaining: null } });
  });

  test('what is denied is not counted, and says why', async () => {
    const user = c.stranger();
    const denied = await metered({ default_value: null });
    expect(await c.consume(user, denied)).toMatchObject({ status: 409, body: { code: 'conflict', reason: 'not_in_tier' } });
    await c.override(user, denied, { allow: false });
    expect(await c.consume(user, denied)).toMatchObject({ status: 409, body: { reason: 'override_deny' } });
    expect(await c.consume(user, 'no.such')).toMatchObject({ status: 409, body: { reason: 'unknown_feature' } });
    expect(await c.consume(user, 'live.host')).toMatchObject({ status: 400, body: { errors: [{ pointer: '/key' }] } });
    expect(await c.p.sql('select 1 from entitlements.usage_counter where user_id = $1', [user])).toEqual([]);
  });

  test.each([
    ['amount', 0],
    ['amount', -1],
    ['amount', 1.5],
    ['user_id', 'x'],
    ['idempotency_key', ' '],
  ])('refuses %s %s', async (name, value) => {
    const answer = await c.consume(DEMO, 'ai.messages', { [name]: value });
    expect([answer.status, answer.body.errors?.map((one: any) => one.pointer)]).toEqual([400, [`/${name}`]]);
  });

  test('is for services', async () => {
    const body = { user_id: DEMO, key: 'ai.messages', idempotency_key: 'x' };
    for (const token of [await c.p.userToken(DEMO, ['read:entitlements']), await c.p.serviceToken('admin:identity')])
      expect((await c.rest('POST', '/entitlements/usage', body, token)).status).toBe(403);
  });

  test('leaves an audit row', async () => {
    const [user, key] = [c.stranger(), await metered()];
    await c.consume(user, key, { amount: 2, idempotency_key: 'a' });
    await c.giveBack(user, key, 'a');
    expect(await c.p.sql('select action, details from entitlements.audit_log where target = $1 order by at, id', [user])).toEqual([
      { action: 'entitlement.consumed', details: { feature: key, amount: 2, repeated: false } },
      { action: 'entitlement.returned', details: { feature: key, amount: 2 } },
    ]);
  });
});

describe('returning', () => {
  test('takes a use back once, by its key', async () => {
    const [user, key] = [c.stranger(), await metered()];
    await c.consume(user, key, { amount: 3, idempotency_key: 'a' });
    await c.consume(user, key, { amount: 2, idempotency_key: 'b' });
    const answers = await Promise.all(Array.from({ length: 5 }, () => c.giveBack(user, key, 'a')));
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: { allowed: true, remaining: 3 } });
    expect(await usedBy(user, key)).toBe(2);
    expect(await c.giveBack(user, key, 'c')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await c.consume(user, key, { amount: 3, idempotency_key: 'a' })).toMatchObject({ status: 409, body: { reason: 'returned' } });
  });
});

describe('a period', () => {
  test.each([
    ['day', '2026-12-20T23:59:59.999Z', '2026-12-21T00:00:00.000Z', '2026-12-22T00:00:00.000Z'],
    ['calendar_month', '2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00.000Z', '2027-02-01T00:00:00.000Z'],
  ])('of a %s ends by itself: what is left is the limit again, without any job', async (usage_reset, last, next, then) => {
    const [user, key] = [c.stranger(), await metered({ usage_reset })];
    await c.clock(last);
    await c.consume(user, key, { amount: 5, idempotency_key: 'a' });
    expect(await c.check(user, key)).toMatchObject({ allowed: false, remaining: 0, resets_at: next, valid_until: next });
    await c.clock(next);
    expect(await c.check(user, key)).toMatchObject({ allowed: true, remaining: 5, resets_at: then });
    expect(await c.giveBack(user, key, 'a')).toMatchObject({ status: 404 });
    expect(await c.consume(user, key, { amount: 2, idempotency_key: 'a' })).toMatchObject({ status: 200, body: { remaining: 3 } });
    expect(await c.p.sql('select used::int from entitlements.usage_counter where user_id = $1', [user])).toEqual([{ used: 2 }]);
  });

  test('that never ends keeps counting', async () => {
    const [user, key] = [c.stranger(), await metered()];
    await c.consume(user, key, { amount: 5, idempotency_key: 'a' });
    await c.clock('2029-01-01T00:00:00.000Z');
    expect(await c.check(user, key)).toMatchObject({ allowed: false, remaining: 0, resets_at: null });
  });
});

test('GraphQL counts and takes back', async () => {
  const [user, key] = [c.stranger(), await metered()];
  const input = { userId: user, key, idempotencyKey: 'a' };
  const consume = `mutation ($input: ConsumeEntitlementInput!) { consumeEntitlement(input: $input) { allowed remaining } }`;
  expect((await c.graphql(consume, { input: { ...input, amount: 5 } })).data.consumeEntitlement).toEqual({ allowed: true, remaining: 0 });
  const { errors } = await c.graphql(consume, { input: { ...input, idempotencyKey: 'b' } });
  expect(errors.map(one => one.extensions)).toMatchObject([{ code: 'CONFLICT', reason: 'LIMIT_REACHED' }]);
  const back = await c.graphql(`mutation ($input: ReturnEntitlementInput!) { returnEntitlement(input: $input) { allowed remaining } }`, {
    input,
  });
  expect(back.data.returnEntitlement).toEqual({ allowed: true, remaining: 5 });
});
