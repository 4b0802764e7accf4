import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { userErasureRequested } from '../../events/catalogue/identity.js';
import { Problem } from '../../runtime/request/errors.js';
import { ADMIN, DEMO, DEMO2 } from '../support/platform.js';
import { until } from '../support/until.js';
import { anyPurchase, days, minutes, Till, usd } from './till.js';

let till: Till;
beforeAll(async () => {
  till = await Till.open();
});
afterEach(() => void vi.restoreAllMocks());

const staff = (permissions: string[]): Promise<string> =>
  till.p.userToken(ADMIN, ['read:profile'], { clientId: 'demo-admin', amr: ['pwd', 'otp', 'mfa'], roles: ['finance'], permissions });

describe('grants', () => {
  test('one in the future is heard of and counted when its time has come', async () => {
    const user = till.user();
    const { body } = await till.give(user, 300, { activates_at: days(1), expires_at: days(2) });
    expect(body).toMatchObject({ status: 'scheduled', remaining: usd(300) });
    expect([await till.available(user), await till.events(user, 'cash.granted.v1')]).toEqual([0, []]);
    await till.clock(days(1));
    expect(await till.available(user)).toBe(300);
    expect((await till.events(user, 'cash.granted.v1')).map(one => [one.amount, one.balance])).toEqual([[300, 300]]);
  });

  test('bad ones are refused with every violation, and write nothing', async () => {
    const user = till.user();
    const refused = await till.give(user, 0, {
      activates_at: days(5),
      expires_at: days(4),
      restrictions: { min_subtotal: { amount: 1, currency: 'EUR' } },
    });
    expect(refused.status).toBe(400);
    expect(refused.body.errors.map((one: any) => one.pointer)).toEqual([
      '/amount/amount',
      '/expires_at',
      '/restrictions/min_subtotal/currency',
    ]);
    for (const amount of [1.5, -1, 2 ** 53, '100', null]) expect((await till.give(user, amount as number)).status).toBe(400);
    expect((await till.give(user, 1, { amount: { amount: 1, currency: 'XXZ' } })).status).toBe(400);
    expect((await till.give(user, 1, { surprise: 1 })).status).toBe(400);
    expect(await till.grants(user)).toEqual([]);
  });

  test('staff give at most 20000 and say why; a reader of balances gives nothing', async () => {
    const [user, token] = [till.user(), await staff(['admin:cash:grant'])];
    const statuses = async (more: object, amount = 20_000) => (await till.give(user, amount, { source: 'staff', ...more }, token)).status;
    expect(await statuses({ reason: 'Goodwill' })).toBe(201);
    expect(await statuses({})).toBe(400);
    expect(await statuses({ reason: 'Goodwill' }, 20_001)).toBe(400);
    expect(await statuses({ reason: 'Goodwill', source: 'gift' })).toBe(400);
    expect((await till.give(user, 1, {}, await till.member(DEMO))).status).toBe(403);
    expect((await till.give(user, 1, { reason: 'x' }, await staff(['admin:cash:expire']))).status).toBe(403);
  });

  test('a reason is for staff and services, not for whom it concerns', async () => {
    await till.give(DEMO, 100, { reason: 'a reason of staff' });
    const own = await till.member(DEMO);
    expect(JSON.stringify((await till.rest('GET', '/cash/me/grants', undefined, own)).body)).not.toContain('a reason of staff');
    const asked = await till.p.graphql('{ cashGrants { nodes { id reason } } }', {}, { token: own });
    expect(asked.errors[0]?.extensions.code).toBe('FORBIDDEN');
  });

  test('a revoked one loses what is unspent; its reserved part stays until the reservation ends', async () => {
    const user = till.user();
    const { body: grant } = await till.give(user, 1_000);
    const { body: held } = await till.reserve(user, 400);
    await till.spend(user, 100);
    const revoked = await till.rest('POST', `/cash/grants/${grant.id}/revoke`, { reference: { type: 'case', id: randomUUID() } });
    expect(revoked.body).toMatchObject({ status: 'revoked', remaining: usd(0), reserved: usd(400) });
    expect((await till.rest('POST', `/cash/grants/${grant.id}/revoke`, {})).status).toBe(409);
    await till.step(held.id, 'commit', { amount: 150 });
    expect((await till.events(user, 'cash.expired.v1')).map(one => [one.amount, one.reason, one.reference_type])).toEqual([
      [500, 'revoked', 'case'],
      [250, 'revoked', 'case'],
    ]);
    expect(await till.books(user)).toEqual({ total: 0, lots: 0, reserved: 0, held: 0, moved: 0 });
  });

  test('of a campaign: a user who has one with other terms is refused, the others get theirs', async () => {
    const [a, b, campaign] = [till.user(), till.user(), randomUUID()];
    await till.give(a, 77, { reference: { type: 'campaign', id: campaign } });
    const body = { campaign_id: campaign, user_ids: [a, b, b], source: 'promotion', amount: usd(50), reason: 'Spring' };
    expect((await till.rest('POST', '/admin/cash/grants/bulk', body)).status).toBe(202);
    const results = await until(
      'the campaign is worked off',
      () => till.rest('GET', `/admin/cash/grants/bulk/${campaign}/results`),
      ({ body: { data } }) => data.length === 2 && data.every((one: any) => one.outcome !== 'pending'),
    );
    expect(Object.fromEntries(results.body.data.map((one: any) => [one.user_id, one.outcome]))).toEqual({ [a]: 'refused', [b]: 'granted' });
    expect((await till.rest('POST', '/admin/cash/grants/bulk', { ...body, amount: usd(51) })).status).toBe(422);
    expect((await till.rest('POST', '/admin/cash/grants/bulk', { ...body, reason: undefined })).status).toBe(400);
  });
});

describe('reservations', () => {
  test('the same reference holds once; more is refused when it must be exact', async () => {
    const [user, reference] = [till.user(), { type: 'checkout', id: randomUUID() }];
    await till.give(user, 500);
    const first = await till.reserve(user, 300, { reference });
    const again = await till.reserve(user, 300, { reference });
    expect([first.status, again.status, again.body.id]).toEqual([201, 200, first.body.id]);
    expect((await till.reserve(user, 301, { reference })).status).toBe(422);
    const exact = await till.reserve(user, 201, { exact: true });
    expect([exact.status, exact.body.reason]).toEqual([409, 'insufficient_funds']);
    expect((await till.reserve(user, 900)).body.amount).toEqual(usd(200));
    expect((await till.reserve(user, 900)).body.amount).toEqual(usd(0));
    expect(await till.balance(user)).toMatchObject({ available: usd(0), reserved: usd(500), total: usd(500) });
  });

  test('of nothing commits without a spend', async () => {
    const { body: held } = await till.reserve(till.user(), 300);
    const { status, body } = await till.step(held.id, 'commit');
    expect([status, body.status, body.spend]).toEqual([200, 'committed', null]);
  });

  test('repeated steps answer the same; steps that the states do not have are conflicts', async () => {
    const user = till.user();
    await till.give(user, 500);
    const { body: held } = await till.reserve(user, 300);
    const first = await till.step(held.id, 'commit', { amount: 200 });
    const again = await till.step(held.id, 'commit', { amount: 200 });
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect((await till.step(held.id, 'commit', { amount: 100 })).status).toBe(422);
    expect((await till.step(held.id, 'release')).status).toBe(409);
    expect((await till.step(held.id, 'extend')).status).toBe(409);
    expect(await till.events(user, 'cash.spent.v1')).toHaveLength(1);
    const { body: other } = await till.reserve(user, 300);
    expect((await till.step(other.id, 'commit', { amount: 301 })).status).toBe(400);
    for (const _ of [1, 2]) expect((await till.step(other.id, 'release')).status).toBe(200);
    expect((await till.step(other.id, 'commit')).status).toBe(409);
    expect(await till.available(user)).toBe(300);
    expect((await till.step(randomUUID(), 'commit')).status).toBe(404);
  });

  test('20 parallel ones never hold more than there is', async () => {
    const user = till.user();
    await till.give(user, 1_000);
    const answers = await Promise.all(Array.from({ length: 20 }, () => till.reserve(user, 90)));
    expect(answers.reduce((sum, { body }) => sum + body.amount.amount, 0)).toBe(1_000);
    expect(await till.books(user)).toMatchObject({ reserved: 1_000, held: 1_000 });
  });

  test('a purchase in another currency is refused, and cash of another currency is left alone', async () => {
    const user = till.user();
    await till.give(user, 500, { amount: { amount: 500, currency: 'EUR' } });
    expect((await till.reserve(user, 100)).body.amount).toEqual(usd(0));
    const mixed = await till.reserve(user, 100, { max_amount: { amount: 100, currency: 'EUR' } });
    expect(mixed.body.errors).toEqual([expect.objectContaining({ pointer: '/purchase/subtotal/currency' })]);
    expect((await till.rest('GET', `/cash?user_id=${user}&currency=EUR`)).body.available).toEqual({ amount: 500, currency: 'EUR' });
  });
});

describe('spends', () => {
  test('are made once for each reference, and not beside a live reservation', async () => {
    const [user, reference] = [till.user(), { type: 'order', id: randomUUID() }];
    await till.give(user, 500);
    const first = await till.spend(user, 100, { reference });
    const again = await till.spend(user, 100, { reference });
    expect([first.status, again.status, again.body.id]).toEqual([201, 200, first.body.id]);
    expect((await till.spend(user, 101, { reference })).status).toBe(422);
    expect((await till.spend(till.user(), 100, { reference })).status).toBe(409);
    const { body: held } = await till.reserve(user, 100);
    expect((await till.spend(user, 100, { reference: { type: held.reference.type, id: held.reference.id } })).body.reason).toBe('reserved');
    expect((await till.reserve(user, 100, { reference })).body.reason).toBe('already_spent');
    expect((await till.rest('POST', '/cash/spend', { amount: usd(1), reference: { type: 'order', id: randomUUID() } })).status).toBe(400);
  });

  test('a member settles the own invoice, up to what is open, and nobody else’s', async () => {
    await till.give(DEMO, 1_000, { source: 'gift' });
    const token = await till.member(DEMO, ['manage:subscriptions']);
    const invoice = { type: 'invoice', id: randomUUID() };
    const pay = (amount: number, more: object = {}) =>
      till.rest('POST', '/cash/spend', { amount: usd(amount), reference: invoice, ...more }, token);
    till.neighbours({ CashInvoice: { invoice: { user: { id: DEMO }, amountDue: usd(400) } } });
    expect((await pay(401)).status).toBe(409);
    expect((await pay(400)).status).toBe(201);
    expect((await pay(1, { reference: { type: 'order', id: randomUUID() } })).status).toBe(400);
    expect((await pay(1, { user_id: DEMO2 })).status).toBe(404);
    vi.restoreAllMocks();
    till.neighbours({ CashInvoice: { invoice: { user: { id: DEMO2 }, amountDue: usd(400) } } });
    expect((await pay(1, { reference: { type: 'invoice', id: randomUUID() } })).status).toBe(404);
    vi.restoreAllMocks();
    till.neighbours({ CashInvoice: new Problem('unavailable', 'The federation cannot be reached') });
    expect((await pay(1, { reference: { type: 'invoice', id: randomUUID() } })).status).toBe(503);
  });

  test('more than was spent does not come back; the same refund comes back once', async () => {
    const user = till.user();
    await till.give(user, 500);
    const { body: spend } = await till.spend(user, 300);
    const back = (amount: number, id: string) =>
      till.rest('POST', `/cash/spends/${spend.id}/return`, { amount: usd(amount), reference: { type: 'refund', id } });
    const refund = randomUUID();
    expect([(await back(200, refund)).status, (await back(200, refund)).status, (await back(100, refund)).status]).toEqual([201, 200, 422]);
    expect((await back(101, randomUUID())).status).toBe(409);
    expect((await back(100, randomUUID())).status).toBe(201);
    expect(await till.available(user)).toBe(500);
    expect((await till.movements(user)).map(one => [one.kind, one.amount.amount, one.balance_after.amount])).toEqual([
      ['returned', 100, 500],
      ['returned', 200, 400],
      ['spent', 300, 200],
      ['granted', 500, 500],
    ]);
  });
});

describe('events of others', () => {
  test('a bounced refund takes back what is unspent, and tells finance of the rest', async () => {
    const [user, order, refund] = [till.user(), randomUUID(), randomUUID()];
    await till.give(user, 300);
    await till.spend(user, 300, { reference: { type: 'order', id: order } });
    const about = {
      refund_id: refund,
      obligation_type: 'order',
      obligation_id: order,
      obligation_amount: 300,
      obligation_refunded: 300,
    } as const;
    await till.refund(user, { ...about, cash_return_amount: 300 });
    await till.spend(user, 180);
    await till.refund(user, { ...about, cash_return_amount: 300, status: 'failed' }, 2);
    expect(await till.available(user)).toBe(0);
    const alerts = await till.p.sql(
      "select data from events.outbox where data->>'template' = 'cash_refund_bounced' and data->'params'->>'refund_id' = $1",
      [refund],
    );
    expect(alerts.map(({ data }) => data.params.amount)).toEqual([180]);
    expect(await till.p.sql('select returned::int from cash.cash_spend where reference_id = $1', [order])).toEqual([{ returned: 180 }]);
  });

  test('a full refund brings back whatever is left of the spend; of nothing settled nothing comes back', async () => {
    const [user, order] = [till.user(), randomUUID()];
    await till.give(user, 300);
    await till.spend(user, 300, { reference: { type: 'order', id: order } });
    await till.refund(user, { refund_id: randomUUID(), cash_return_amount: 300 });
    expect(await till.available(user)).toBe(0);
    const about = { obligation_type: 'order', obligation_id: order, obligation_amount: 900 } as const;
    await till.refund(user, { ...about, refund_id: randomUUID(), cash_return_amount: 99, obligation_refunded: 300 });
    await till.refund(user, { ...about, refund_id: randomUUID(), cash_return_amount: 100, obligation_refunded: 900 });
    expect(await till.available(user)).toBe(300);
  });

  test('a lapsed membership loses the bonuses whose rule says so', async () => {
    const [user, membership_id] = [till.user(), randomUUID()];
    await till.bonus(user, { membership_id, bonus_key: 'kept', cash_amount: 10 });
    await till.bonus(user, { membership_id, bonus_key: 'lost', cash_amount: 200, revoke_on_lapse: true });
    await till.bonus(user, { membership_id: randomUUID(), bonus_key: 'lost', cash_amount: 3_000, revoke_on_lapse: true });
    await till.lapse(user, membership_id);
    expect(await till.available(user)).toBe(3_010);
    expect((await till.events(user, 'cash.expired.v1')).map(one => [one.amount, one.reference_type, one.reference_id])).toEqual([
      [200, 'membership', membership_id],
    ]);
  });

  test('an erasure takes back what is live and forgets the reasons; the rows stay', async () => {
    const user = till.user();
    await till.give(user, 100, { reason: 'because of a call' });
    await till.give(user, 200, { activates_at: days(30), expires_at: days(31) });
    const request = { request_id: randomUUID(), scope: 'full', requested_at: minutes(0), due_at: days(30) } as const;
    const erased = () => till.p.sql("select details from cash.audit_log where action = 'user.erased' and target = $1", [user]);
    await tellErasure(user, request);
    const [row] = await until('it is erased', erased, rows => rows.length === 1);
    expect(row.details).toMatchObject({ outcome: 'retained', records: { cash_grant: 2 } });
    expect((await till.grants(user)).map(one => one.status)).toEqual(['revoked', 'revoked']);
    expect(await till.p.sql('select reason from cash.cash_grant where user_id = $1 and reason is not null', [user])).toEqual([]);
    expect(await till.books(user)).toMatchObject({ total: 0, moved: 0 });
  });
});

async function tellErasure(user: string, data: Parameters<typeof till.tell>[1]): Promise<void> {
  const { prepareEvent } = await import('../../events/outbox.js');
  const meta = { source: 'identity', requestId: null, causationId: null, actor: 'service:identity', traceparent: null } as const;
  const pending = prepareEvent(userErasureRequested, data as never, { userId: user }, meta);
  await till.p.sql(`set role platform_events; select events.append('${JSON.stringify([pending])}', null); reset role`);
}

describe('what is shown', () => {
  test('a user’s cash through the federation, own for a member, anybody’s for a service', async () => {
    const query =
      'query ($id: ID!) { user(id: $id) { cash { currency available { amount } expiringNext { at amount { amount } } grants(first: 1) { nodes { source } } } } }';
    await till.give(DEMO2, 250, { expires_at: days(20) });
    const seen = await till.p.graphql(query, { id: DEMO2 }, { token: await till.p.serviceToken() });
    expect(seen.data.user.cash).toEqual({
      currency: 'USD',
      available: { amount: 250 },
      expiringNext: { at: days(20), amount: { amount: 250 } },
      grants: { nodes: [{ source: 'PROMOTION' }] },
    });
    const entities = `query ($r: [_Any!]!) { _entities(representations: $r) { ... on User { cash { available { amount } } } } }`;
    const ask = async (id: string) => {
      const body = { query: entities, variables: { r: [{ __typename: 'User', id }] } };
      return (await till.p.rest('POST', '/cash/graphql', { token: await till.member(DEMO2), body })).body.data._entities[0].cash;
    };
    expect([await ask(DEMO2), await ask(DEMO)]).toEqual([{ available: { amount: 250 } }, null]);
  });

  test('in the safe view neither whose a grant is nor why it was given', async () => {
    const user = till.user();
    await till.give(user, 250, { reason: 'because of a call' });
    const rows = await till.p.sql('select * from cash.cash_grant_safe');
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toMatch(new RegExp(`${user}|because of a call`));
    for (const column of ['user_id', 'reason']) expect(Object.keys(rows[0]!)).not.toContain(column);
  });

  test('what a purchase would take, and what would expire unused in 30 days', async () => {
    const user = till.user();
    await till.give(user, 300, { expires_at: days(5) });
    await till.give(user, 400, { expires_at: days(9) });
    await till.give(user, 900, { expires_at: days(60) });
    const { status, body } = await till.rest('POST', '/cash/preview', { user_id: user, purchase: anyPurchase(500) });
    expect([status, body.amount, body.lots.map((one: any) => one.amount.amount)]).toEqual([200, usd(500), [300, 200]]);
    expect(body.expiring_unused).toEqual([{ amount: usd(200), at: days(9) }]);
    expect(await till.available(user)).toBe(1_600);
  });

  test('lists page by their cursors, grants soonest expiry first, endless ones last, and by status', async () => {
    const user = till.user();
    for (const end of [9, 3, 5]) await till.give(user, end, { expires_at: days(end) });
    for (const amount of [70, 80]) await till.give(user, amount, { source: 'gift' });
    const seen: number[] = [];
    for (let cursor = ''; ;) {
      const { body } = await till.rest('GET', `/cash/grants?user_id=${user}&limit=2${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.data.map((one: any) => one.amount.amount));
      if (body.next_cursor === null) break;
      cursor = body.next_cursor;
    }
    expect(seen).toEqual([3, 5, 9, 70, 80]);
    expect((await till.rest('GET', `/cash/grants?user_id=${user}&status=active`)).body.data).toHaveLength(5);
    expect((await till.rest('GET', `/cash/grants?user_id=${user}&status=expired`)).body.data).toEqual([]);
    expect((await till.rest('GET', `/cash/grants?user_id=${user}&cursor=x`)).status).toBe(400);
    expect((await till.rest('GET', `/cash/movements?user_id=${user}&kind=spent`)).body.data).toEqual([]);
    expect((await till.rest('GET', '/cash')).status).toBe(400);
  });
});

describe('by hand and by day', () => {
  test('staff expire what is due, first only to see; not what is to come', async () => {
    const user = till.user();
    await till.give(user, 123, { amount: { amount: 123, currency: 'CHF' }, expires_at: days(1.5) });
    await till.freeze(days(1.6));
    const token = await staff(['admin:cash:expire']);
    const expire = (body: object) => till.rest('POST', '/admin/cash/expire', body, token);
    const chf = { amount: 123, currency: 'CHF' };
    expect((await expire({ dry_run: true })).body.amount).toContainEqual(chf);
    expect(await till.events(user, 'cash.expired.v1')).toEqual([]);
    expect((await expire({ as_of: days(9) })).status).toBe(400);
    expect((await expire({})).body.amount).toContainEqual(chf);
    expect((await expire({})).body).toEqual({ expired_grants: 0, amount: [] });
  });

  test('once a day accounts are compared with the books: silence changes nothing, drift is a message', async () => {
    const user = till.user();
    await till.give(user, 500, { source: 'gift' });
    const drifts = () => till.p.sql("select details from cash.audit_log where action = 'cash_account.drifted' and target = $1", [user]);
    await till.clock(days(3));
    expect(await drifts()).toEqual([]);
    till.neighbours({
      CashWallets: {
        wallets: [
          { kind: 'CASH', balance: usd(450) },
          { kind: 'CREDIT', balance: usd(500) },
        ],
      },
    });
    await till.clock(days(5));
    expect((await drifts()).map(({ details }) => details)).toEqual([{ currency: 'USD', cash: 500, books: 450 }]);
    await till.clock(days(8));
    expect(await drifts()).toHaveLength(1);
  });
});
