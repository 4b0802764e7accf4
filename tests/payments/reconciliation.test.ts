import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Bank } from './bank.js';
import { neighbours, type Ledger, type Storefront } from './neighbours.js';

let bank: Bank;
let user: string;
let ledger: Ledger;
let storefront: Storefront;
beforeAll(async () => {
  bank = await Bank.open();
  ({ ledger, storefront } = neighbours(bank.p));
});
beforeEach(async () => {
  user = await bank.stranger();
  ledger.booked = null;
  storefront.orders = null;
  await bank.advance('P2D'); // what other tests did lies before the period
});

const PATH = '/v1/admin/reconciliation/processor-storefront';
const finished = async (body: object = {}): Promise<any> => {
  const asked = await bank.post(PATH, body);
  expect(asked).toMatchObject({ status: 202, headers: { location: expect.stringContaining(asked.body.id) } });
  const read = async () => (await bank.get(`/v1/admin/reconciliation/runs/${asked.body.id}`)).body;
  await expect.poll(async () => (await read()).status, { timeout: 20_000, interval: 100 }).not.toBe('running');
  return read();
};
const kindsOf = (run: any): string[] => run.discrepancies.data.map((one: any) => one.kind);
const usd = (amount: number) => ({ amount, currency: 'USD' });

/** A charge that the processor has and payments does not. */
async function foreignCharge(amount: number): Promise<string> {
  const { processor } = bank;
  const customer = await processor.ensureCustomer({ userId: randomUUID(), brandId: randomUUID(), email: null }, await bank.call());
  const customerId = (customer as { data: { id: string } }).data.id;
  const method = await processor.attachMethod({ customerId, token: 'pm_card_visa' }, await bank.call());
  const input = {
    customerId,
    methodId: (method as { data: { id: string } }).data.id,
    amount,
    currency: 'USD',
    capture: 'automatic',
    offSession: false,
    statementDescriptor: 'X',
    returnUrl: null,
    authenticationUrl: null,
    metadata: {},
  } as const;
  const made = await processor.charge(input, await bank.call());
  return (made as { data: { id: string } }).data.id;
}

describe('a reconciliation', () => {
  test('finds nothing where all agree, with totals by side; without shop and books these are null', async () => {
    const paymentId = await bank.paid(user, 5_000);
    await bank.post('/v1/refunds', { payment_id: paymentId, amount: usd(1_000), reason: 'goodwill' });
    const run = await finished();
    expect(run).toMatchObject({
      status: 'completed',
      compared: 2,
      matched: 2,
      totals: { processor: usd(4_000), payments: usd(4_000), storefront: null, ledger: null },
    });
    expect(kindsOf(run)).toEqual([]);
  });

  test('names a charge that only the processor has, and one that only we have, and changes nothing', async () => {
    const [ours, ref] = [await bank.paid(user, 700), await foreignCharge(1_234)];
    const { processor_payment_id: charge } = await bank.payment(ours);
    await bank.p.sql(`delete from payments.processor_object where kind = 'balance' and parent_id = $1`, [charge]);
    const before = await bank.payment(ours);
    const run = await finished();
    expect(run.discrepancies.data).toHaveLength(2);
    expect(run.discrepancies.data).toContainEqual(
      expect.objectContaining({ kind: 'missing_in_payments', processor_ref: ref, actual: usd(1_234) }),
    );
    expect(run.discrepancies.data).toContainEqual(
      expect.objectContaining({ kind: 'missing_at_processor', payment_id: ours, expected: usd(700) }),
    );
    expect(await bank.payment(ours)).toEqual(before);
    const filtered = await bank.p.graphql(
      'query ($id: ID!) { reconciliationRun(id: $id) { discrepancies(kind: MISSING_AT_PROCESSOR) { nodes { kind } } } }',
      { id: run.id },
      { token: bank.token },
    );
    expect(filtered.data.reconciliationRun.discrepancies.nodes).toHaveLength(1);
  });

  test('names a charge without entries in the books', async () => {
    const [booked, missing] = [await bank.paid(user, 300), await bank.paid(user, 400)];
    ledger.booked = new Map([[booked, 300]]);
    const run = await finished();
    expect(run).toMatchObject({ totals: { ledger: usd(300) } });
    expect(run.discrepancies.data).toMatchObject([{ kind: 'unledgered', payment_id: missing, expected: usd(400) }]);
    expect(kindsOf(await finished({ include_ledger: false }))).toEqual([]);
  });

  test('names an order that the shop calls paid and nobody charged', async () => {
    const order = { id: randomUUID(), paymentStatus: 'PAID', placedAt: (await bank.now()).toISOString(), totals: { total: usd(9_900) } };
    storefront.orders = [{ ...order, placedAt: new Date((await bank.now()).getTime() - 60_000).toISOString() }];
    const run = await finished();
    expect(run).toMatchObject({ totals: { storefront: usd(9_900) } });
    expect(run.discrepancies.data).toMatchObject([{ kind: 'missing_at_processor', order_id: order.id, expected: usd(9_900) }]);
  });

  test('runs once at a time, over at most 31 days that begin before they end', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => bank.post(PATH, {})));
    expect(answers.filter(one => one.status === 202)).toHaveLength(1);
    expect(answers.filter(one => one.status === 409)).toHaveLength(2);
    await expect.poll(() => bank.count(`payments.reconciliation_run where status = 'running'`), { timeout: 20_000 }).toBe(0);
    const [from, to] = ['2026-01-01T00:00:00.000Z', '2026-02-02T00:00:00.000Z'];
    expect(await bank.post(PATH, { from, to })).toMatchObject({ status: 400, body: { errors: [{ pointer: '/from' }] } });
    expect(await bank.post(PATH, { from: to, to: from })).toMatchObject({ status: 400 });
  });

  test('is not for users', async () => {
    expect(await bank.post(PATH, {}, await bank.buyer(user))).toMatchObject({ status: 403 });
  });
});

describe('the monitor of failures', () => {
  const monitor = (body: object = {}) => bank.post('/v1/admin/payments/monitor-failures', body);
  const failing = async (times: number): Promise<void> => {
    const items = [{ priceId: await bank.price(1_000), quantity: 1 }];
    const BUY = `mutation ($input: CreateCheckoutInput!) { createCheckout(input: $input) { id } }`;
    for (let i = 0; i < times; i++)
      await bank.p.graphql(
        BUY,
        { input: { mode: 'PAYMENT', items, userId: user, paymentMethodToken: 'pm_card_visa_chargeDeclined' } },
        { token: bank.token },
      );
  };

  test('counts by what failures have in common, and raises one alert for a breach', async () => {
    await bank.paid(user, 1_000);
    await failing(3);
    const asked = { min_attempts: 4, threshold_bps: 5_000, group_by: ['decline_code', 'processor', 'card_brand'] };
    const first = await monitor(asked);
    expect(first).toMatchObject({
      status: 200,
      body: { attempts: 4, failures: 3, failure_rate_bps: 7_500, breached: true, alert_id: expect.any(String) },
    });
    expect(first.body.groups).toEqual([
      { key: 'card_brand', value: 'visa', failures: 3 },
      { key: 'decline_code', value: 'generic_decline', failures: 3 },
      { key: 'processor', value: 'sandbox', failures: 3 },
    ]);
    expect((await monitor(asked)).body.alert_id).toBe(first.body.alert_id);
    expect(await bank.count(`payments.failure_alert`)).toBe(1);
    expect(await bank.count(`events.outbox where data->>'template' = 'payment_failures'`)).toBe(1);
  });

  test('breaches nothing on few attempts', async () => {
    await failing(2);
    expect(await monitor({ min_attempts: 20 })).toMatchObject({ body: { attempts: 2, failures: 2, breached: false, alert_id: null } });
  });

  test('asks for attempts without an answer', async () => {
    const paymentId = await bank.paid(user, 2_000, 'sbx_timeout_success');
    expect(await bank.payment(paymentId)).toMatchObject({ status: 'processing' });
    expect((await monitor()).body.stuck).toMatchObject([{ payment_id: paymentId, resolved_to: null }]);
    expect((await monitor({ resolve_stuck: true })).body.stuck).toMatchObject([{ payment_id: paymentId, resolved_to: 'succeeded' }]);
    expect((await monitor()).body.stuck).toEqual([]);
  });

  test('takes no nonsense', async () => {
    expect(await monitor({ window_minutes: 0 })).toMatchObject({ status: 400, body: { errors: [{ pointer: '/window_minutes' }] } });
    expect(await monitor({ threshold_bps: 10_001 })).toMatchObject({ status: 400 });
  });
});

test('the overview shows the money of a period in one currency, and what waits', async () => {
  const paymentId = await bank.paid(user, 10_000);
  await bank.post('/v1/refunds', { payment_id: paymentId, amount: usd(2_500), reason: 'goodwill' });
  await bank.act('open_dispute', paymentId, 1_000);
  await bank.disputeOf(paymentId, { status: 'needs_response' });
  expect(await bank.get('/v1/admin/finance')).toMatchObject({
    status: 200,
    body: {
      currency: 'USD',
      charged: usd(10_000),
      fees: usd(320),
      refunded: usd(2_500),
      disputed: usd(1_000),
      paid_out: usd(0),
      open_disputes: 1,
      dead_processor_events: 0,
    },
  });
  expect(await bank.get('/v1/admin/finance?currency=EUR')).toMatchObject({ body: { charged: { amount: 0, currency: 'EUR' } } });
  expect(await bank.get('/v1/admin/finance?from=2026-02-01T00:00:00.000Z&to=2026-01-01T00:00:00.000Z')).toMatchObject({ status: 400 });
});
