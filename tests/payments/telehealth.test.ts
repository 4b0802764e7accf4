import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Bank } from './bank.js';
import { publish } from './partner.js';

let bank: Bank;
let user: string;
let charge: string;
beforeAll(async () => {
  bank = await Bank.open();
});
beforeEach(async () => {
  user = await bank.stranger();
  charge = `ch_${randomUUID()}`;
});

const at = (minute: number): string => new Date(Date.UTC(2026, 10, 20, 9, minute)).toISOString();
const usd = (amount: number) => ({ amount, currency: 'USD' });
const sync = (status: string, minute: number, more: object = {}, token = bank.token) =>
  bank.post(
    '/v1/admin/sync/telehealth-charge',
    { partner_charge_id: charge, user_id: user, status, amount: usd(4_900), occurred_at: at(minute), ...more },
    token,
  );
const told = async (type: string) => (await bank.events(type, user)).map(({ payment_id: _paymentId, ...data }) => data);

describe('a charge of the telehealth partner', () => {
  test('is mirrored: charged and paid as ours are, by the partner', async () => {
    const answer = await sync('authorized', 0);
    expect(answer).toMatchObject({
      status: 200,
      body: {
        applied: true,
        reason: null,
        payment: { status: 'authorized', processor: 'partner', purpose: 'telehealth', external_ref: charge },
      },
    });
    const { body } = await sync('captured', 1);
    expect(body).toMatchObject({
      applied: true,
      payment: { id: answer.body.payment.id, status: 'succeeded', amount_captured: usd(4_900) },
    });
    expect(await told('payment.charged.v1')).toMatchObject([
      { amount: 4_900, processor: 'partner', purpose: 'telehealth', fee_amount: null },
    ]);
    expect(await told('payment.paid.v1')).toMatchObject([{ obligation_id: body.payment.id, total_amount: 4_900, first_purchase: true }]);
  });

  test('that is older, or tells less, changes nothing', async () => {
    await sync('captured', 1);
    expect(await sync('authorized', 0)).toMatchObject({ status: 200, body: { applied: false, reason: 'stale' } });
    expect(await sync('captured', 1)).toMatchObject({ body: { applied: false } });
    expect(await bank.count('payments.payment where external_ref = $1', [charge])).toBe(1);
    expect(await told('payment.paid.v1')).toHaveLength(1);
  });

  test('goes back in parts, each told once', async () => {
    await sync('captured', 0);
    expect(await sync('refunded', 1, { amount: usd(1_000) })).toMatchObject({ body: { payment: { amount_refunded: usd(1_000) } } });
    expect(await sync('refunded', 2, { amount: usd(4_900) })).toMatchObject({ body: { payment: { amount_refunded: usd(4_900) } } });
    expect(await told('payment.refunded.v1')).toMatchObject([
      { amount: 1_000, origin: 'external', obligation_amount: 4_900, obligation_refunded: 1_000 },
      { amount: 3_900, total_refunded: 4_900, obligation_refunded: 4_900 },
    ]);
  });

  test('that failed can be tried again', async () => {
    expect(await sync('failed', 0)).toMatchObject({ body: { payment: { status: 'requires_payment_method' } } });
    expect(await told('payment.failed.v1')).toMatchObject([{ attempt: 1, amount: 4_900 }]);
    expect(await sync('captured', 1)).toMatchObject({ body: { payment: { status: 'succeeded' } } });
  });

  test('that is disputed opens a dispute', async () => {
    const { body } = await sync('disputed', 0);
    await bank.disputeOf(body.payment.id, { status: 'needs_response', amount: 4_900 });
    expect(await told('payment.dispute.created.v1')).toMatchObject([{ amount: 4_900, status: 'needs_response' }]);
  });

  test('reported by many at once is one payment', async () => {
    const answers = await Promise.all([0, 1, 2, 3].map(() => sync('captured', 0)));
    expect(answers.map(one => one.status)).toEqual([200, 200, 200, 200]);
    expect(answers.filter(one => one.body.applied)).toHaveLength(1);
    expect(await told('payment.charged.v1')).toHaveLength(1);
  });

  test('of another user or currency, of nothing, or from a user is refused', async () => {
    await sync('captured', 0);
    expect(await sync('refunded', 1, { user_id: await bank.stranger() })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/user_id' }] },
    });
    expect(await sync('refunded', 1, { amount: { amount: 1, currency: 'EUR' } })).toMatchObject({ status: 400 });
    expect(await sync('refunded', 1, { amount: usd(0) })).toMatchObject({ status: 400 });
    expect(await sync('refunded', 1, { amount: usd(1.5) })).toMatchObject({ status: 400 });
    expect(await sync('refunded', 1, {}, await bank.buyer(user))).toMatchObject({ status: 403 });
  });
});

describe('the partner’s events', () => {
  const report = (minute: number, more: object = {}) => ({
    partner_event_id: `evt_${randomUUID()}`,
    partner_ref: 'pt_1',
    reported_at: at(minute),
    charge_ref: charge,
    amount: 4_900,
    currency: 'USD',
    ...more,
  });
  const mirrored = async () =>
    (
      await bank.p.sql('select status, amount_captured::int, amount_refunded::int from payments.payment where external_ref = $1', [charge])
    )[0];

  test('do the same, in whatever order they come', async () => {
    await publish(bank.p, 'captured', user, report(1));
    await publish(bank.p, 'refunded', user, report(2, { refunded_total: 900 }));
    await publish(bank.p, 'authorized', user, report(0, { expires_at: null }));
    await expect.poll(mirrored, { timeout: 20_000 }).toMatchObject({ status: 'succeeded', amount_captured: 4_900, amount_refunded: 900 });
  });

  test('of nobody known are kept aside, sealed, and applied when they are linked', async () => {
    const one = report(1);
    await publish(bank.p, 'captured', null, one);
    const kept = () => bank.p.sql(`select status, body_sealed from payments.processor_event where object_ref = $1`, [charge]);
    await expect.poll(kept, { timeout: 20_000 }).toMatchObject([{ status: 'received' }]);
    expect(await mirrored()).toBeUndefined();
    await publish(bank.p, 'captured', user, { ...one, partner_event_id: `${one.partner_event_id}:linked` });
    await expect.poll(mirrored, { timeout: 20_000 }).toMatchObject({ status: 'succeeded', amount_captured: 4_900 });
    expect(await kept()).toMatchObject([{ status: 'processed', body_sealed: null }]);
    expect(await told('payment.charged.v1')).toHaveLength(1);
  });
});
