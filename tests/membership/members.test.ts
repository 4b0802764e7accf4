import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { subscriptionCreated } from '../../events/catalogue/payments.js';
import { ADMIN, BRAND, DEMO, DEMO2 } from '../support/platform.js';
import { after, BASIC, createdData, DAY, Members, PLUS, someone } from './fixture.js';

let m: Members;
let now = 0;
beforeAll(async () => {
  m = await Members.open();
});

const advance = async (ms: number): Promise<void> => m.clock((now += ms));
const at = (ms = 0): string => after(now + ms);
const act = (id: string, what: string, body: object = { reason: 'a test' }) => m.rest('POST', `/admin/memberships/${id}/${what}`, body);

describe('a membership', () => {
  test("is one's own at /me; without one it is a 404, with several brands a 400 that names the brand", async () => {
    const [user, brand] = [DEMO2, randomUUID()];
    const token = await m.userToken(user, ['read:membership'], { clientId: 'demo-partner-app' });
    const mine = (query = '', who = token) => m.rest('GET', `/memberships/me${query}`, undefined, who);
    expect((await mine()).status).toBe(404);
    await m.create({ user, subscription: randomUUID() });
    expect((await mine()).body).toMatchObject({ status: 'active', user: { id: user }, plan: { brand_id: BRAND } });
    const tiers = [{ key: 'there', name: 'There', rank: 1, benefits: [], feature_keys: [] }];
    const { id: plan } = (await m.rest('POST', '/admin/plans', { key: 'elsewhere', brand_id: brand, name: 'Elsewhere', tiers })).body;
    await m.rest('POST', `/admin/plans/${plan}/publish`);
    await m.grant(user, { plan_id: plan, tier_key: 'there' });
    expect(await mine()).toMatchObject({ status: 400, body: { errors: [{ pointer: '/brand_id' }] } });
    expect((await mine(`?brand_id=${brand}`)).body.plan.key).toBe('elsewhere');
    expect((await mine(`?brand_id=${randomUUID()}`)).status).toBe(404);
    expect((await mine('', await m.userToken(user, ['read:membership']))).body.plan.key).toBe('basic');
    expect((await m.rest('GET', '/memberships/me')).status).toBe(403);
  });

  test('is a field of the user, null for another user, and of its subscription', async () => {
    const who = { user: DEMO, subscription: randomUUID() };
    await m.create(who);
    const query =
      'query ($id: ID!) { user(id: $id) { membership { id status tier { key } periods { nodes { status from to } } winBack { status } } } }';
    const { data, errors } = await m.graphql(query, { id: DEMO }, await m.userToken(DEMO, ['read:membership', 'read:profile']));
    expect(errors).toEqual([]);
    expect(data.user.membership).toMatchObject({
      tier: { key: 'basic' },
      periods: { nodes: [{ status: 'ACTIVE', to: null }] },
      winBack: null,
    });
    const ask = (type: string, key: object, fields: string, token: string) =>
      m.p.rest('POST', '/membership/graphql', {
        token,
        body: {
          query: `query ($r: [_Any!]!) { _entities(representations: $r) { ... on ${type} { ${fields} } } }`,
          variables: { r: [{ __typename: type, ...key }] },
        },
      });
    const [own, other] = [await m.userToken(DEMO, ['read:membership']), await m.userToken(DEMO2, ['read:membership'])];
    const subscription = { id: who.subscription };
    expect((await ask('BillingSubscription', subscription, 'membership { status }', own)).body.data._entities).toEqual([
      { membership: { status: 'ACTIVE' } },
    ]);
    expect((await ask('BillingSubscription', subscription, 'membership { status }', other)).body.data._entities).toEqual([
      { membership: null },
    ]);
    expect((await ask('User', { id: DEMO }, 'membership { status }', other)).body.data._entities).toEqual([null]);
    expect((await ask('Membership', { id: data.user.membership.id }, 'status', other)).body.data._entities).toEqual([null]);
  });

  test('of anybody is listed for services, by user, status, plan and tier', async () => {
    const who = await m.member({ plan: PLUS.plan, tier: 'plus' });
    const list = async (query: string) => (await m.rest('GET', `/memberships?user_id=${who.user}&${query}`)).body.data.length;
    expect([await list('status=active'), await list('status=lapsed'), await list(`plan_id=${PLUS.plan}`)]).toEqual([1, 0, 1]);
    expect([await list('tier_key=plus'), await list('tier_key=basic'), await list('tier_key=none')]).toEqual([1, 0, 0]);
    expect((await m.rest('GET', '/memberships', undefined, await m.userToken(DEMO, ['read:membership']))).status).toBe(403);
  });

  test('of a price without a tier is on the lowest one; of a gift it is a gift', async () => {
    const who = await m.member({ tier: null, source: 'gift' });
    expect(await m.only(who.user)).toMatchObject({ tier: { key: 'basic' }, source: 'gift' });
  });

  test('of a plan that there is not waits as a dead letter', async () => {
    const who = someone();
    const { id } = await m.append(subscriptionCreated, createdData(who, { plan: randomUUID() }), who.user, at());
    const dead = () => m.p.sql('select reason, status from events.dead_letter where event_id = $1', [id]);
    await expect.poll(dead, { timeout: 15_000 }).toMatchObject([{ status: 'dead' }]);
    expect(await m.of(who.user)).toEqual([]);
  });

  test('ends the same whatever the order in which six events arrive, and its history too', async () => {
    const seen: unknown[] = [];
    const invoice = randomUUID();
    for (const order of [
      [0, 1, 2, 3, 4, 5],
      [5, 4, 3, 2, 1, 0],
      [3, 0, 5, 1, 4, 2],
      [2, 2, 5, 0, 0, 3, 1, 4],
    ]) {
      const who = someone();
      const events = [
        () => m.create(who, { at: at(1000) }),
        () => m.pause(who, at(2000)),
        () => m.resume(who, at(3000), at(31 * DAY)),
        () => m.pastDue(who.user, invoice, who.subscription, at(4000)),
        () => m.changeTier(who, 'plus', 'upgrade', at(5000)),
        () => m.paid(who.user, invoice, who.subscription, [at(31 * DAY), at(61 * DAY)], at(6000)),
      ];
      for (const index of order) await events[index]!();
      const { id, user: _user, subscription_id: _subscription, version: _version, ...state } = await m.only(who.user);
      seen.push({ state, history: await m.history(id), types: [...new Set(await m.types(who.user))].includes('lapsed') });
    }
    for (const one of seen) expect(one).toEqual(seen[0]);
    expect(seen[0]).toMatchObject({
      state: { status: 'active', tier: { key: 'plus' }, grace_until: null, current_period_end: at(61 * DAY) },
    });
    expect((seen[0] as any).history.map((one: any) => `${one.status} ${one.tier.key}`)).toEqual([
      'active plus',
      'active basic',
      'suspended basic',
      'active basic',
    ]);
    await advance(DAY);
  });

  test('was at any instant what its periods say, which the database lets neither overlap nor end before they begin', async () => {
    const who = await m.member();
    const begin = at();
    await advance(DAY);
    await m.pause(who);
    const paused = at();
    await advance(DAY);
    await m.cancel(who);
    const [{ membership }] = await m.at(who.user, begin);
    expect((await m.at(who.user, begin)).map(one => one.status)).toEqual(['active']);
    expect((await m.at(who.user, paused)).map(one => one.status)).toEqual(['suspended']);
    expect((await m.at(who.user, at())).map(one => one.status)).toEqual(['lapsed']);
    expect(await m.at(who.user, after(-DAY))).toEqual([]);
    const insert = (from: string, to: string) =>
      m.p.sql(
        `insert into membership.membership_period select gen_random_uuid(), membership_id, user_id, brand_id, tier_id, status, $2, $3
         from membership.membership_period where membership_id = $1 limit 1`,
        [membership.id, from, to],
      );
    await expect(insert(begin, paused)).rejects.toThrow(/membership_period_no_overlap/);
    await expect(insert(begin, begin)).rejects.toThrow(/valid_to_check/);
    const reader = await m.userToken(ADMIN, ['read:profile'], { permissions: ['admin:membership:read'] });
    expect((await m.rest('GET', `/memberships/at?user_id=${who.user}&at=${begin}`, undefined, reader)).status).toBe(200);
    expect(
      (await m.rest('GET', `/memberships/at?user_id=${DEMO}&at=${begin}`, undefined, await m.userToken(DEMO, ['read:membership']))).status,
    ).toBe(403);
  });
});

describe('staff', () => {
  test('add and remove their own reason only', async () => {
    const who = await m.member();
    const { id } = await m.only(who.user);
    expect((await act(id, 'unsuspend', {})).status).toBe(409);
    expect((await act(id, 'suspend', {})).status).toBe(400);
    expect((await act(id, 'suspend')).body).toMatchObject({ status: 'suspended', suspension_reasons: ['staff'], suspended_at: at() });
    expect((await act(id, 'suspend')).status).toBe(409);
    await m.pause(who);
    expect((await act(id, 'unsuspend')).body).toMatchObject({ status: 'suspended', suspension_reasons: ['paused'] });
    expect((await act(id, 'unsuspend')).status).toBe(409);
    expect((await act(randomUUID(), 'suspend')).status).toBe(404);
    const told = (await m.told(who.user)).filter(one => one.type === 'membership.suspended.v1');
    expect(told.map(one => one.data)).toMatchObject([{ reason: 'staff', grace_used: false }]);
  });

  test('move a member to another tier; while it is suspended that is shown, and told after the return', async () => {
    const who = await m.member();
    const { id } = await m.only(who.user);
    expect((await act(id, 'change-tier', { tier_key: 'basic', reason: 'a test' })).status).toBe(409);
    expect((await act(id, 'change-tier', { tier_key: 'gold', reason: 'a test' })).body.errors).toMatchObject([{ pointer: '/tier_key' }]);
    await m.pause(who);
    expect((await act(id, 'change-tier', { tier_key: 'plus', reason: 'a test' })).body).toMatchObject({
      tier: { key: 'plus' },
      status: 'suspended',
    });
    expect(await m.types(who.user)).toEqual(['activated', 'suspended']);
    await m.resume(who);
    expect((await m.types(who.user)).slice(2)).toEqual(['reactivated', 'tier.changed']);
    expect((await act(id, 'change-tier', { tier_key: 'basic', reason: 'a test' })).status).toBe(200);
    expect((await m.told(who.user)).at(-1)!.data).toMatchObject({ from_tier: 'plus', to_tier: 'basic', direction: 'down' });
  });

  test('give a comp with a reason and an end at most two years ahead, which ends it', async () => {
    const user = randomUUID();
    expect((await m.grant(user, { ends_at: at(2 * 366 * DAY) })).body.errors).toMatchObject([{ pointer: '/ends_at' }]);
    expect((await m.grant(user, { ends_at: at(-1) })).status).toBe(400);
    expect((await m.grant(user, { reason: ' ' })).body.errors).toMatchObject([{ pointer: '/reason' }]);
    expect((await m.grant(user, { tier_key: 'plus' })).body.errors).toMatchObject([{ pointer: '/tier_key' }]);
    const made = await m.grant(user, { ends_at: at(10 * DAY) });
    expect(made).toMatchObject({ status: 201, body: { source: 'comp', current_period_start: null, current_period_end: at(10 * DAY) } });
    expect(made.headers.location).toContain(`/v1/memberships/${made.body.id}`);
    expect((await m.grant(user)).status).toBe(409);
    await advance(10 * DAY);
    expect(await m.only(user)).toMatchObject({ status: 'lapsed', lapse_reason: 'comp_ended', lapsed_at: at(), tenure_days: 10 });
    expect((await m.told(user)).at(-1)!.data).toMatchObject({ reason: 'comp_ended', involuntary: false, tenure_days: 10 });
  });

  test('see a comp taken over by a subscription, of which only a change of tier is told', async () => {
    const [same, higher] = [someone(), someone()];
    for (const { user } of [same, higher]) await m.grant(user, { ends_at: at(5 * DAY) });
    await m.create(same);
    await m.create(higher, { plan: PLUS.plan, tier: 'plus', end: at(30 * DAY) });
    expect(await m.only(higher.user)).toMatchObject({
      source: 'subscription',
      subscription_id: higher.subscription,
      current_period_end: at(30 * DAY),
    });
    await advance(6 * DAY);
    expect((await m.only(higher.user)).status).toBe('active');
    expect([await m.types(same.user), await m.types(higher.user)]).toEqual([['activated'], ['activated', 'tier.changed']]);
  });

  test('need the permission of each act', async () => {
    const who = await m.member();
    const { id } = await m.only(who.user);
    const granter = await m.userToken(ADMIN, ['read:profile'], { permissions: ['admin:membership:grant'] });
    const writer = await m.userToken(ADMIN, ['read:profile'], { permissions: ['admin:membership:write'] });
    const suspend = (token: string) => m.rest('POST', `/admin/memberships/${id}/suspend`, { reason: 'a test' }, token);
    expect([(await suspend(granter)).status, (await suspend(writer)).status]).toEqual([403, 200]);
    const audits = await m.p.sql('select action, actor, details from membership.audit_log where target = $1', [id]);
    expect(audits).toMatchObject([
      { action: 'membership.staff_suspended', actor: { kind: 'staff', sub: ADMIN }, details: { status: 'suspended' } },
    ]);
    const body = { user_id: randomUUID(), plan_id: BASIC.plan, tier_key: 'basic', reason: 'a test' };
    expect((await m.rest('POST', '/admin/memberships', body, writer)).status).toBe(403);
    expect((await m.rest('POST', '/admin/memberships', body, granter)).status).toBe(201);
  });
});

describe('a dispute', () => {
  test('that is lost suspends, and one that is won takes that back; one that is withdrawn does nothing', async () => {
    const [who, dispute] = [await m.member(), randomUUID()];
    await m.dispute(who, dispute, 'withdrawn');
    expect((await m.only(who.user)).status).toBe('active');
    await m.dispute(who, dispute, 'lost');
    await m.resume(who);
    expect(await m.only(who.user)).toMatchObject({ status: 'suspended', suspension_reasons: ['dispute'] });
    await m.dispute(who, dispute, 'won');
    expect((await m.only(who.user)).status).toBe('active');
  });
});

describe('figures', () => {
  test('count who is what at the end, and what happened in the time', async () => {
    const tiers = [{ key: 'figure', name: 'Figure', rank: 9, benefits: [], feature_keys: [] }];
    const { id: plan } = (await m.rest('POST', '/admin/plans', { key: 'figures', brand_id: BRAND, name: 'Figures', tiers })).body;
    await m.rest('POST', `/admin/plans/${plan}/publish`);
    const join = () => m.member({ plan, tier: 'figure' });
    const [stays, leaves, pauses] = [await join(), await join(), await join()];
    await advance(DAY);
    const from = at();
    await advance(DAY);
    await m.cancel(leaves);
    await m.pause(pauses);
    await m.member({ plan, tier: 'figure' });
    await advance(1000);
    const { body } = await m.rest('GET', `/admin/stats?from=${from}&to=${at()}&plan_id=${plan}`);
    expect(body).toMatchObject({ active: 2, suspended: 1, lapsed: 1, activated: 1, reactivated: 0, churn_rate_bps: 3333 });
    expect(body.by_tier).toMatchObject([{ tier: { key: 'figure' }, active: 2 }]);
    await m.resume(pauses);
    await m.create({ ...leaves, subscription: randomUUID() }, { plan, tier: 'figure' });
    await advance(1000);
    expect((await m.rest('GET', `/admin/stats?from=${from}&to=${at()}&plan_id=${plan}`)).body).toMatchObject({ active: 4, reactivated: 2 });
    expect((await m.rest('GET', `/admin/stats?from=${at()}&to=${from}`)).status).toBe(400);
    expect((await m.rest('GET', '/admin/stats', undefined, await m.userToken(DEMO, ['read:membership']))).status).toBe(403);
    expect((await m.only(stays.user)).status).toBe('active');
  });
});
