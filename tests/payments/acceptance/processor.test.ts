import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN } from '../../support/platform.js';
import { Bank } from '../bank.js';
import { neighbours, type Ledger, type Storefront } from '../neighbours.js';

/** Acceptance cases of section 10 that concern the processor's side. */
let bank: Bank;
let ledger: Ledger;
let storefront: Storefront;
let user: string;
beforeAll(async () => {
  bank = await Bank.open();
  ({ ledger, storefront } = neighbours(bank.p));
  ledger.booked = null;
  user = await bank.stranger();
});

const usd = (amount: number) => ({ amount, currency: 'USD' });
const told = async (type: string, paymentId: string) => (await bank.events(type, user)).filter(one => one.payment_id === paymentId);

test('case 9: a dispute a second after the payment blocks its refund, is told once, and is lost', async () => {
  const paymentId = await bank.paid(user, 5_000, 'pm_card_createDispute');
  await bank.disputeOf(paymentId, { status: 'needs_response' });
  const refund = await bank.post('/v1/refunds', { payment_id: paymentId, reason: 'requested_by_customer' });
  expect(refund).toMatchObject({ status: 409, body: { code: 'conflict', reason: 'dispute_open' } });
  expect(await told('payment.dispute.created.v1', paymentId)).toHaveLength(1);
  await bank.act('lose_dispute', paymentId);
  await bank.disputeOf(paymentId, { status: 'lost' });
  expect(await told('payment.dispute.closed.v1', paymentId)).toMatchObject([{ outcome: 'lost' }]);
});

test('case 10: a body signed with a wrong secret, or 301 s ago, is a 401, and nothing is stored', async () => {
  const before = await bank.count('payments.processor_event');
  expect(await bank.notify({ kind: 'charge', id: 'ch_1' }, { secret: 'wrong' })).toMatchObject({ status: 401 });
  expect(await bank.notify({ kind: 'charge', id: 'ch_1' }, { age: 301 })).toMatchObject({ status: 401 });
  expect(await bank.count('payments.processor_event')).toBe(before);
});

test('case 11: a genuine event three times, then all backwards, is 200 each, one state change, and the processor’s state', async () => {
  const paymentId = await bank.paid(user, 4_000, 'sbx_async_success');
  const { processor_payment_id: id } = await bank.payment(paymentId);
  const settled = await bank.settles(paymentId, { status: 'succeeded' });
  const notice = { id: `evt_${randomUUID()}` };
  const answers = [
    await bank.notify({ kind: 'charge', id }, notice),
    await bank.notify({ kind: 'charge', id }, notice),
    await bank.notify({ kind: 'charge', id }, notice),
  ];
  expect(answers.map(({ status, body }) => [status, body])).toEqual(Array(3).fill([200, { received: true }]));
  expect(await bank.act('deliver_reversed', paymentId)).toMatchObject({ status: 200 });
  await bank.handled('true');
  expect(await bank.payment(paymentId)).toMatchObject({ status: 'succeeded', version: settled.version, amount_captured: 4_000 });
  expect(await told('payment.charged.v1', paymentId)).toHaveLength(1);
  expect(await bank.processor.retrieveCharge({ id }, await bank.call())).toMatchObject({
    status: 'succeeded',
    data: { amountCaptured: 4_000 },
  });
});

test('case 22: a telehealth charge is mirrored; an older `authorized` afterwards is stale; there is one payment', async () => {
  const charge = { partner_charge_id: `ch_${randomUUID()}`, user_id: user, amount: usd(4_900) };
  const sync = (more: object) => bank.post('/v1/admin/sync/telehealth-charge', { ...charge, ...more });
  expect(await sync({ status: 'captured', occurred_at: '2026-11-20T09:30:00.000Z' })).toMatchObject({
    status: 200,
    body: { applied: true },
  });
  expect(await sync({ status: 'authorized', occurred_at: '2026-11-20T09:00:00.000Z' })).toMatchObject({
    status: 200,
    body: { applied: false, reason: 'stale' },
  });
  expect(await bank.count('payments.payment where external_ref = $1', [charge.partner_charge_id])).toBe(1);
});

describe('reconciliation', () => {
  const reconcile = async (): Promise<any> => {
    const { status, body } = await bank.post('/v1/admin/reconciliation/processor-storefront', {});
    expect(status).toBe(202);
    const read = async () => (await bank.get(`/v1/admin/reconciliation/runs/${body.id}`)).body;
    await expect.poll(async () => (await read()).status, { timeout: 20_000, interval: 100 }).toBe('completed');
    return read();
  };

  test('case 23: a charge that payments lacks and an order without charge are one discrepancy each, and nothing changes', async () => {
    await bank.advance('P2D');
    await bank.p.sql(
      `insert into payments.processor_object (id, kind, parent_id, data, created_at, updated_at)
       select 'txn_foreign', 'balance', 'ch_foreign', '{"kind":"charge","sourceId":"ch_foreign","chargeId":"ch_foreign","amount":700,"currency":"USD","fee":50}', $1, $1`,
      [await bank.now()],
    );
    const order = { id: randomUUID(), paymentStatus: 'PAID', placedAt: (await bank.now()).toISOString(), totals: { total: usd(9_900) } };
    storefront.orders = [order];
    const before = await bank.p.sql('select id, version, status from payments.payment order by id');
    const run = await reconcile();
    expect(run.discrepancies.data.map((one: any) => one.kind).toSorted()).toEqual(['missing_at_processor', 'missing_in_payments']);
    expect(run.discrepancies.data).toContainEqual(expect.objectContaining({ kind: 'missing_in_payments', processor_ref: 'ch_foreign' }));
    expect(run.discrepancies.data).toContainEqual(expect.objectContaining({ kind: 'missing_at_processor', order_id: order.id }));
    expect(await bank.p.sql('select id, version, status from payments.payment order by id')).toEqual(before);
  });

  test('case 36: without commerce a checkout of an order is a 503, and a run completes without that leg', async () => {
    storefront.orders = null;
    const checkout = { mode: 'payment', order_id: randomUUID(), user_id: user, payment_method_token: 'pm_card_visa' };
    expect(await bank.post('/v1/checkout', checkout)).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    await bank.advance('P2D');
    await bank.paid(user, 1_000);
    expect(await reconcile()).toMatchObject({
      status: 'completed',
      totals: { storefront: null, processor: usd(1_000), payments: usd(1_000) },
    });
  });
});

describe('payouts', () => {
  const becomes = async (id: string, wanted: object): Promise<void> =>
    await expect
      .poll(async () => (await bank.get(`/v1/admin/payouts/${id}`)).body, { timeout: 20_000, interval: 100 })
      .toMatchObject(wanted);
  const destination = (userId: string, token: string) =>
    bank.p.rest('PUT', '/payments/v1/billing/payout-destination', { token: bank.token, body: { user_id: userId, token } });
  const pay = (userId: string, amount: number, token = bank.token) =>
    bank.post('/v1/admin/payouts', { user_id: userId, amount: usd(amount), reference: randomUUID() }, token);

  test('case 28: of two payouts of 800 from a wallet of 1000 at once one is paid; one that fails leaves the wallet as it was', async () => {
    const earner = await bank.stranger();
    ledger.wallets.set(earner, 1_000);
    await destination(earner, 'ba_ok');
    const answers = await Promise.all([pay(earner, 800), pay(earner, 800)]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409]);
    expect(answers.find(({ status }) => status === 409)!.body).toMatchObject({ reason: 'insufficient_funds' });
    await becomes(answers.find(({ status }) => status === 201)!.body.id, { status: 'paid' });
    await expect.poll(() => ledger.wallets.get(earner), { timeout: 20_000 }).toBe(200);
    await destination(earner, 'ba_fail');
    const failed = await pay(earner, 150);
    await becomes(failed.body.id, { status: 'failed' });
    await expect.poll(() => ledger.available(earner), { timeout: 20_000 }).toBe(200);
    expect(ledger.wallets.get(earner)).toBe(200);
  });

  test('case 29: without a destination a payout is a 409; of 60000 by staff it waits, and the processor is not called before another person approves', async () => {
    const earner = await bank.stranger();
    ledger.wallets.set(earner, 100_000);
    expect(await pay(earner, 100)).toMatchObject({ status: 409, body: { reason: 'no_payout_destination' } });
    await destination(earner, 'ba_ok');
    const staff = { clientId: 'demo-admin', amr: ['pwd', 'otp', 'mfa'], roles: ['finance'], permissions: ['admin:payments:payout'] };
    const [one, other] = [
      await bank.p.userToken(ADMIN, ['read:profile'], staff),
      await bank.p.userToken(await bank.stranger(), ['read:profile'], staff),
    ];
    const asked = await pay(earner, 60_000, one);
    expect(asked).toMatchObject({ status: 201, body: { status: 'requires_approval' } });
    const made = () => bank.count(`payments.processor_object where kind = 'payout' and idempotency_key = $1`, [asked.body.id]);
    expect(await bank.post(`/v1/admin/payouts/${asked.body.id}/approve`, undefined, one)).toMatchObject({ status: 403 });
    expect(await made()).toBe(0);
    expect(await bank.post(`/v1/admin/payouts/${asked.body.id}/approve`, undefined, other)).toMatchObject({ status: 200 });
    expect(await made()).toBe(1);
  });
});

test('case 35: an inquiry that escalates is told twice, by its status, and withdraws the funds once', async () => {
  const paymentId = await bank.paid(user, 3_000, 'pm_card_createDisputeInquiry');
  await bank.disputeOf(paymentId, { status: 'warning_needs_response', funds_withdrawn: false });
  expect(await bank.payment(paymentId)).toMatchObject({ amount_disputed: 0 });
  await bank.act('open_dispute', paymentId);
  await bank.disputeOf(paymentId, { status: 'needs_response', funds_withdrawn: true });
  const created = await told('payment.dispute.created.v1', paymentId);
  expect(created.map(one => one.status)).toEqual(['warning_needs_response', 'needs_response']);
  await bank.act('deliver_reversed', paymentId);
  await bank.handled('true');
  expect(await bank.payment(paymentId)).toMatchObject({ amount_disputed: 3_000 });
});
