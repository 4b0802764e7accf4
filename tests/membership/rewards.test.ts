import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { userErasureRequested } from '../../events/catalogue/identity.js';
import { ADMIN, BRAND, DEMO } from '../support/platform.js';
import { after, DAY, Members, type Billed } from './fixture.js';

let m: Members;
let now = 0;
beforeAll(async () => {
  m = await Members.open();
});

const advance = async (ms: number): Promise<void> => m.clock((now += ms));
const at = (ms = 0): string => after(now + ms);
const keyOf = (name: string): string => `${name}_${randomUUID().slice(0, 8)}`;

async function bonus(more: object): Promise<string> {
  const key = keyOf('bonus');
  const rule = { key, brand_id: BRAND, trigger: 'activated', tier_keys: [], cash_amount: { amount: 500, currency: 'USD' }, ...more };
  const answer = await m.rest('POST', '/admin/bonus-rules', rule);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return key;
}

async function milestone(more: object): Promise<string> {
  const key = keyOf('milestone');
  const answer = await m.rest('POST', '/admin/milestone-rules', { key, brand_id: BRAND, ...more });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return key;
}

/** Periods for which a bonus was granted. */
const granted = async (user: string, key: string): Promise<string[]> =>
  (await m.told(user)).filter(one => one.data.bonus_key === key).map(one => one.data.period_key);
const unlocked = async (user: string, key: string): Promise<string[]> =>
  (await m.told(user)).filter(one => one.data.milestone === key).map(one => one.data.unlocked_at);

describe('a bonus', () => {
  test('of an activation is granted once, with what the rule says, and not to other tiers', async () => {
    const key = await bonus({ tier_keys: ['basic'], expires_days: 90, revoke_on_lapse: true });
    const [basic, plus] = [await m.member(), await m.member({ plan: '0190b3a0-0000-7000-8000-0000000d0002', tier: 'plus' })];
    await m.create(basic);
    const told = (await m.told(basic.user)).filter(one => one.data.bonus_key === key);
    expect(told.map(one => one.data)).toMatchObject([
      { period_key: 'activated', cash_amount: 500, currency: 'USD', expires_days: 90, revoke_on_lapse: true, tier_key: 'basic' },
    ]);
    expect(await granted(plus.user, key)).toEqual([]);
  });

  test('of an activation is renewed by a return after more than 90 days, not by one within', async () => {
    const key = await bonus({});
    const [soon, late] = [await m.member(), await m.member()];
    for (const who of [soon, late]) await m.cancel(who);
    await advance(90 * DAY);
    await m.create({ ...soon, subscription: randomUUID() });
    await advance(DAY);
    await m.create({ ...late, subscription: randomUUID() });
    expect([await granted(soon.user, key), await granted(late.user, key)]).toEqual([['activated'], ['activated', 'activated']]);
  });

  test('of a return is for those who had left, not for those who were suspended', async () => {
    const key = await bonus({ trigger: 'reactivated' });
    const who = await m.member();
    await m.pause(who);
    await m.resume(who);
    expect(await granted(who.user, key)).toEqual([]);
    await m.cancel(who);
    await m.create({ ...who, subscription: randomUUID() });
    expect(await granted(who.user, key)).toEqual(['reactivated']);
  });

  test('of a change of tier comes once for each tier of a membership', async () => {
    const key = await bonus({ trigger: 'tier_changed', tier_keys: ['plus'] });
    const who = await m.member();
    for (const to of ['plus', 'basic', 'plus']) await m.changeTier(who, to);
    expect(await granted(who.user, key)).toEqual(['tier_plus']);
  });

  test('of a tenure comes when the days are full, without the time of a pause, once over all memberships, and not for the past', async () => {
    const old = await m.member();
    await advance(11 * DAY);
    const key = await bonus({ trigger: 'tenure_days', threshold: 10 });
    await advance(DAY);
    expect(await granted(old.user, key)).toEqual([]);
    const who = await m.member();
    await advance(4 * DAY);
    await m.pause(who);
    await advance(5 * DAY);
    await m.resume(who);
    await advance(6 * DAY - 1);
    expect(await granted(who.user, key)).toEqual([]);
    await advance(1);
    expect(await granted(who.user, key)).toEqual(['tenure_10']);
    await m.cancel(who);
    await m.create({ ...who, subscription: randomUUID() });
    await advance(20 * DAY);
    expect(await granted(who.user, key)).toEqual(['tenure_10']);
  });

  test('rule is checked, its key unique in its brand, and made by staff with the permission', async () => {
    const make = (more: object, token = m.token) =>
      m.rest(
        'POST',
        '/admin/bonus-rules',
        { key: keyOf('b'), brand_id: BRAND, trigger: 'activated', tier_keys: [], cash_amount: { amount: 1, currency: 'USD' }, ...more },
        token,
      );
    const pointersOf = async (more: object) => (await make(more)).body.errors?.map((one: any) => one.pointer);
    expect(await pointersOf({ trigger: 'tenure_days' })).toEqual(['/threshold']);
    expect(await pointersOf({ threshold: 3 })).toEqual(['/threshold']);
    expect(await pointersOf({ cash_amount: { amount: 0, currency: 'USD' } })).toEqual(['/cash_amount/amount']);
    expect(await pointersOf({ cash_amount: { amount: 1.5, currency: 'USD' } })).toEqual(['/cash_amount/amount']);
    expect(await pointersOf({ cash_amount: { amount: 1, currency: 'XXXX' } })).toEqual(['/cash_amount/currency']);
    const key = await bonus({});
    expect((await make({ key })).status).toBe(409);
    expect((await make({ key, brand_id: randomUUID() })).status).toBe(201);
    expect((await m.rest('GET', `/admin/bonus-rules?brand_id=${BRAND}`)).body.data[0]).toMatchObject({ key, cash_amount: { amount: 500 } });
    const writer = await m.userToken(ADMIN, ['read:profile'], { permissions: ['admin:membership:bonus:write'] });
    expect((await make({}, writer)).status).toBe(201);
    expect((await make({}, await m.userToken(DEMO, ['read:membership']))).status).toBe(403);
  });
});

describe('a milestone', () => {
  test('of days is unlocked when they are full, at once for whoever has had them, and once', async () => {
    const who = await m.member();
    await advance(5 * DAY);
    const [reached, coming] = [
      await milestone({ trigger: 'tenure_days', threshold: 3 }),
      await milestone({ trigger: 'tenure_days', threshold: 6 }),
    ];
    await advance(1);
    expect([await unlocked(who.user, reached), await unlocked(who.user, coming)]).toEqual([[at(-1)], []]);
    await advance(DAY - 1);
    expect(await unlocked(who.user, coming)).toEqual([at()]);
    await m.pause(who);
    await m.resume(who);
    expect(await unlocked(who.user, reached)).toHaveLength(1);
    const mine = await m.rest('GET', '/memberships/me/milestones', undefined, await m.userToken(who.user, ['read:membership']));
    expect(mine.body.data.map((one: any) => one.milestone)).toEqual(expect.arrayContaining([reached, coming]));
  });

  test('of orders counts each order once, and none of a guest', async () => {
    const [key, user, order] = [await milestone({ trigger: 'orders_placed', threshold: 2 }), randomUUID(), randomUUID()];
    for (const one of [order, order]) await m.order(user, one);
    await m.order(null);
    expect(await unlocked(user, key)).toEqual([]);
    await m.order(user);
    await m.order(user);
    expect(await unlocked(user, key)).toEqual([at()]);
  });

  test('of returns counts those after a lapse', async () => {
    const key = await milestone({ trigger: 'reactivated', threshold: 1 });
    const who = await m.member();
    await m.pause(who);
    await m.resume(who);
    expect(await unlocked(who.user, key)).toEqual([]);
    await m.cancel(who);
    await m.create({ ...who, subscription: randomUUID() });
    expect(await unlocked(who.user, key)).toEqual([at()]);
  });

  test("is shown to its member and to services, and a foreign user's is a 404", async () => {
    const query = 'query ($id: ID) { memberMilestones(userId: $id) { milestone } milestoneRules(first: 1) { nodes { key active } } }';
    expect((await m.graphql(query, { id: DEMO })).data.milestoneRules.nodes).toMatchObject([{ active: true }]);
    const foreign = 'query ($id: ID) { memberMilestones(userId: $id) { milestone } }';
    const { errors } = await m.graphql(foreign, { id: DEMO }, await m.userToken(randomUUID(), ['read:membership']));
    expect(errors.map(one => one.extensions.code)).toEqual(['NOT_FOUND']);
  });
});

describe('a win-back', () => {
  const left = async (how: Parameters<Members['cancel']>[1] = {}): Promise<Billed> => {
    const who = await m.member();
    await m.cancel(who, how);
    return who;
  };
  const campaign = async (user: string) => (await m.of(user))[0].win_back?.status ?? null;

  test('expires after 60 days', async () => {
    const who = await left();
    await advance(DAY);
    expect(await campaign(who.user)).toBe('open');
    await advance(60 * DAY - 1);
    expect(await campaign(who.user)).toBe('open');
    await advance(1);
    expect(await campaign(who.user)).toBe('expired');
    expect((await m.types(who.user)).filter(type => type === 'win_back.started')).toHaveLength(1);
  });

  test('does not begin for who left with debts, by fraud, by staff, or is back within a day', async () => {
    const debts = await left({ reason: 'payment_failed', involuntary: true });
    const fraud = await left({ reason: 'fraud' });
    const back = await left();
    await m.create({ ...back, subscription: randomUUID() });
    await advance(2 * DAY);
    for (const { user } of [debts, fraud, back]) expect(await m.types(user)).not.toContain('win_back.started');
    expect((await m.told(debts.user)).at(-1)!.data).toMatchObject({ reason: 'payment_failed', involuntary: true });
  });

  test('ends when the member opts out, which holds for the next one', async () => {
    const [open, early] = [await left(), await left()];
    const optOut = async ({ user }: Billed) =>
      m.rest('POST', '/memberships/me/win-back/opt-out', {}, await m.userToken(user, ['manage:preferences', 'read:membership']));
    expect((await optOut(early)).status).toBe(200);
    await advance(DAY);
    expect((await optOut(open)).body.win_back).toMatchObject({ status: 'opted_out' });
    expect((await optOut(open)).status).toBe(200);
    expect(await campaign(early.user)).toBeNull();
    await m.create({ ...open, subscription: randomUUID() });
    const again = (await m.of(open.user))[0];
    await m.cancel({ user: open.user, subscription: again.subscription_id });
    await advance(2 * DAY);
    expect((await m.types(open.user)).filter(type => type === 'win_back.started')).toHaveLength(1);
    expect(
      (await m.rest('POST', '/memberships/me/win-back/opt-out', {}, await m.userToken(randomUUID(), ['manage:preferences']))).status,
    ).toBe(404);
  });
});

describe('an erasure', () => {
  const erase = async (userId: string): Promise<void> => {
    const data = { request_id: randomUUID(), scope: 'full', requested_at: at(), due_at: at(30 * DAY) } as const;
    const { id } = await m.append(userErasureRequested, data as never, userId, at());
    const done = () => m.p.sql(`select 1 from membership.audit_log where action = 'user.erased' and target = $1`, [userId]);
    await expect.poll(async () => (await done()).length, { timeout: 15_000 }).toBeGreaterThan(0);
    expect(id).toBeDefined();
  };

  test('ends the membership without a campaign, forgets the reasons of staff, and lets nothing begin again', async () => {
    const who = await m.member();
    const { id } = await m.only(who.user);
    await m.rest('POST', `/admin/memberships/${id}/suspend`, { reason: 'said something rude' });
    await erase(who.user);
    expect(await m.only(who.user)).toMatchObject({ status: 'lapsed', lapse_reason: 'erasure' });
    expect((await m.told(who.user)).at(-1)).toMatchObject({ type: 'membership.lapsed.v1', data: { reason: 'erasure' } });
    const everything = await m.p.sql('select f::text as row from membership.membership_fact f where user_id = $1', [who.user]);
    expect(JSON.stringify(everything)).not.toContain('rude');
    await m.create({ ...who, subscription: randomUUID() });
    await advance(3 * DAY);
    expect(await m.of(who.user)).toHaveLength(1);
    expect(await m.types(who.user)).not.toContain('win_back.started');
    expect((await m.grant(who.user)).status).toBe(409);
    await erase(who.user);
    expect((await m.types(who.user)).filter(type => type === 'lapsed')).toHaveLength(1);
  });

  test('leaves neither user nor reason in the safe view', async () => {
    const columns = await m.p.sql(
      `select column_name as name from information_schema.columns where table_schema = 'membership' and table_name = 'membership_safe'`,
    );
    const names = columns.map(one => one.name);
    expect(names).toEqual(expect.arrayContaining(['id', 'status', 'tier_id']));
    for (const hidden of ['user_id', 'lapse_reason', 'origin', 'subscription_id']) expect(names).not.toContain(hidden);
  });
});
