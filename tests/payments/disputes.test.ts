import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { Bank } from './bank.js';

let bank: Bank;
let user: string;
beforeAll(async () => {
  bank = await Bank.open();
  user = await bank.stranger();
});

const about = async (type: string, paymentId: string): Promise<any[]> =>
  (await bank.events(type, user)).filter(one => one.payment_id === paymentId);
const evidence = { uncategorized_text: 'The parcel was signed for.' };

describe('a chargeback', () => {
  test('withdraws the money, is told once with its obligation, and blocks refunds of it', async () => {
    const paymentId = await bank.paid(user, 5_000, 'pm_card_createDisputeProductNotReceived');
    const dispute = await bank.disputeOf(paymentId, { status: 'needs_response', funds_withdrawn: true, reason: 'product_not_received' });
    expect(await bank.payment(paymentId)).toMatchObject({ amount_disputed: 5_000 });
    const [created, ...more] = await about('payment.dispute.created.v1', paymentId);
    expect(more).toEqual([]);
    expect(created).toMatchObject({
      dispute_id: dispute.id,
      amount: 5_000,
      fee_amount: 1_500,
      status: 'needs_response',
      obligation_type: 'checkout',
      obligation_amount: 5_000,
      obligation_refunded: 0,
    });
    const refund = await bank.post('/v1/refunds', { payment_id: paymentId, reason: 'requested_by_customer' });
    expect(refund).toMatchObject({ status: 409, body: { reason: 'dispute_open' } });
  });

  test('that is won gives the money back, and is told as won', async () => {
    const paymentId = await bank.paid(user, 2_000);
    await bank.act('open_dispute', paymentId, 1_200);
    await bank.disputeOf(paymentId, { status: 'needs_response', amount: 1_200 });
    expect(await bank.payment(paymentId)).toMatchObject({ amount_disputed: 1_200 });
    await bank.act('win_dispute', paymentId);
    await bank.disputeOf(paymentId, { status: 'won', funds_withdrawn: false });
    expect(await bank.payment(paymentId)).toMatchObject({ amount_disputed: 0 });
    expect(await about('payment.dispute.closed.v1', paymentId)).toMatchObject([{ outcome: 'won', obligation_refunded: 0 }]);
  });

  test('that is lost keeps the money disputed, and counts as gone back', async () => {
    const paymentId = await bank.paid(user, 2_100);
    await bank.act('open_dispute', paymentId);
    await bank.disputeOf(paymentId, { status: 'needs_response' });
    await bank.act('lose_dispute', paymentId);
    await bank.disputeOf(paymentId, { status: 'lost' });
    expect(await bank.payment(paymentId)).toMatchObject({ amount_disputed: 2_100 });
    expect(await about('payment.dispute.closed.v1', paymentId)).toMatchObject([
      { outcome: 'lost', obligation_amount: 2_100, obligation_refunded: 2_100 },
    ]);
  });

  test('never counts more than had not gone back before', async () => {
    const paymentId = await bank.paid(user, 3_000);
    const refund = await bank.post('/v1/refunds', {
      payment_id: paymentId,
      amount: { amount: 2_000, currency: 'USD' },
      reason: 'goodwill',
    });
    expect(refund).toMatchObject({ status: 201 });
    const { processor_payment_id: chargeId } = await bank.payment(paymentId);
    await bank.p.sql(`update payments.processor_object set data = data || '{"refunded":0}' where id = $1`, [chargeId]);
    await bank.act('open_dispute', paymentId);
    await bank.disputeOf(paymentId, { status: 'needs_response', amount: 3_000 });
    expect(await bank.payment(paymentId)).toMatchObject({ amount_refunded: 2_000, amount_disputed: 1_000 });
  });

  test('whose evidence is not there in time is lost', async () => {
    const paymentId = await bank.paid(user, 900);
    await bank.act('open_dispute', paymentId);
    await bank.disputeOf(paymentId, { status: 'needs_response' });
    await bank.advance('P7D');
    expect(await bank.disputeOf(paymentId)).toMatchObject({ status: 'lost', evidence_submitted_at: null });
  });
});

describe('evidence', () => {
  test('is kept sealed, sent once, and leads to a review', async () => {
    const paymentId = await bank.paid(user, 1_000);
    await bank.act('open_dispute', paymentId);
    const { id } = await bank.disputeOf(paymentId, { status: 'needs_response' });
    const answer = await bank.post(`/v1/admin/disputes/${id}/evidence`, { evidence });
    expect(answer).toMatchObject({
      status: 200,
      body: { id, status: 'under_review', evidence, evidence_submitted_at: expect.any(String) },
    });
    const row = await bank.disputeOf(paymentId);
    expect(row.evidence_sealed.toString()).not.toContain('parcel');
    const again = await bank.post(`/v1/admin/disputes/${id}/evidence`, { evidence });
    expect(again).toMatchObject({ status: 409, body: { reason: 'evidence_submitted' } });
  });

  test.each([[{}], [{ A: 'x' }], [{ a: '4242 4242 4242 4242' }]])('that is %j is refused by its pointer', async wrong => {
    const paymentId = await bank.paid(user, 1_000);
    await bank.act('open_dispute', paymentId);
    const { id } = await bank.disputeOf(paymentId, { status: 'needs_response' });
    const answer = await bank.post(`/v1/admin/disputes/${id}/evidence`, { evidence: wrong });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '/evidence' }] } });
  });

  test('of an inquiry leads to its review; accepting an inquiry is a conflict', async () => {
    const paymentId = await bank.paid(user, 1_100, 'pm_card_createDisputeInquiry');
    const { id } = await bank.disputeOf(paymentId, { status: 'warning_needs_response', funds_withdrawn: false });
    expect(await bank.post(`/v1/admin/disputes/${id}/accept`, undefined)).toMatchObject({ status: 409 });
    expect(await bank.post(`/v1/admin/disputes/${id}/evidence`, { evidence })).toMatchObject({
      status: 200,
      body: { status: 'warning_under_review' },
    });
    await bank.act('win_dispute', paymentId);
    await bank.disputeOf(paymentId, { status: 'warning_closed' });
    expect(await about('payment.dispute.closed.v1', paymentId)).toMatchObject([{ outcome: 'withdrawn' }]);
  });
});

test('a dispute that is accepted is lost, once', async () => {
  const paymentId = await bank.paid(user, 1_300);
  await bank.act('open_dispute', paymentId);
  const { id } = await bank.disputeOf(paymentId, { status: 'needs_response' });
  expect(await bank.post(`/v1/admin/disputes/${id}/accept`, undefined)).toMatchObject({ status: 200, body: { status: 'lost' } });
  expect(await bank.post(`/v1/admin/disputes/${id}/accept`, undefined)).toMatchObject({ status: 409 });
  await bank.handled(`object_ref like 'dispute:%'`);
  expect(await about('payment.dispute.closed.v1', paymentId)).toHaveLength(1);
});

test('an inquiry that a refund answers is prevented', async () => {
  const paymentId = await bank.paid(user, 1_400, 'pm_card_createDisputeInquiry');
  await bank.disputeOf(paymentId, { status: 'warning_needs_response' });
  expect(await bank.act('external_refund', paymentId)).toMatchObject({ status: 200 });
  await bank.disputeOf(paymentId, { status: 'prevented' });
  expect(await about('payment.dispute.closed.v1', paymentId)).toMatchObject([{ outcome: 'withdrawn' }]);
  await bank.settles(paymentId, { amount_refunded: 1_400, amount_disputed: 0 });
  expect(await about('payment.refunded.v1', paymentId)).toMatchObject([
    { amount: 1_400, origin: 'dispute_prevention', obligation_refunded: 1_400 },
  ]);
});

describe('a refund that others made', () => {
  test('in the processor’s dashboard is recorded once, and told as ours are', async () => {
    const paymentId = await bank.paid(user, 6_000);
    await bank.act('external_refund', paymentId, 2_500);
    await bank.settles(paymentId, { amount_refunded: 2_500 });
    await bank.act('deliver_reversed', paymentId);
    await bank.handled('true');
    expect(await about('payment.refunded.v1', paymentId)).toMatchObject([
      { amount: 2_500, origin: 'external', status: 'succeeded', total_refunded: 2_500 },
    ]);
  });

  test('that comes back from the bank is undone', async () => {
    const paymentId = await bank.paid(user, 6_100);
    const refund = await bank.post('/v1/refunds', {
      payment_id: paymentId,
      amount: { amount: 1_000, currency: 'USD' },
      reason: 'goodwill',
    });
    expect(refund).toMatchObject({ status: 201, body: { status: 'succeeded' } });
    await bank.act('settle_refund', paymentId, 0);
    await bank.settles(paymentId, { amount_refunded: 0 });
    expect(await about('payment.refunded.v1', paymentId)).toMatchObject([{ status: 'succeeded' }, { status: 'failed', total_refunded: 0 }]);
  });
});

const RETURNS = `query($id: ID!, $after: String) { payment(id: $id) {
  refunds(first: 1, after: $after) { nodes { amount { amount } status note } pageInfo { endCursor hasNextPage } }
  disputes { amount { amount } status evidence } } }`;
const RETURNS_OF_ALL = `query($userId: ID) { payments(userId: $userId, first: 100) { nodes { id refunds { nodes { amount { amount } } } disputes { id } } } }`;

describe('a payment', () => {
  test('shows its refunds page by page, the newest first, and its disputes, to its owner without what only staff may know', async () => {
    const owner = await bank.stranger();
    const [paymentId, other] = [await bank.paid(owner, 2_000), await bank.paid(owner, 3_000)];
    for (const amount of [300, 200])
      await bank.post('/v1/refunds', { payment_id: paymentId, amount: { amount, currency: 'USD' }, reason: 'goodwill', note: 'late' });
    await bank.act('open_dispute', paymentId, 1_200);
    const { id: disputeId } = await bank.disputeOf(paymentId, { status: 'needs_response' });
    const token = await bank.buyer(owner);
    const read = async (after: string | null) => (await bank.p.graphql(RETURNS, { id: paymentId, after }, { token })).data.payment;
    const first = await read(null);
    expect(first).toMatchObject({
      refunds: { nodes: [{ amount: { amount: 200 }, status: 'SUCCEEDED', note: null }], pageInfo: { hasNextPage: true } },
      disputes: [{ amount: { amount: 1_200 }, status: 'NEEDS_RESPONSE', evidence: null }],
    });
    expect((await read(first.refunds.pageInfo.endCursor)).refunds).toMatchObject({
      nodes: [{ amount: { amount: 300 } }],
      pageInfo: { hasNextPage: false },
    });
    const all = (await bank.p.graphql(RETURNS_OF_ALL, { userId: owner }, { token })).data.payments.nodes;
    expect(all).toEqual([
      { id: other, refunds: { nodes: [] }, disputes: [] },
      { id: paymentId, refunds: { nodes: [{ amount: { amount: 200 } }, { amount: { amount: 300 } }] }, disputes: [{ id: disputeId }] },
    ]);
    expect((await bank.p.graphql(RETURNS, { id: paymentId }, { token: await bank.buyer(await bank.stranger()) })).data.payment).toBeNull();
  });
});

describe('the listing', () => {
  test('begins with what is due soonest, and filters', async () => {
    const { body } = await bank.get('/v1/admin/disputes?limit=100');
    const due = body.data.map((one: any) => one.evidence_due_at);
    expect(due).toEqual(due.toSorted());
    const lost = await bank.get(`/v1/admin/disputes?status=lost&user_id=${user}`);
    expect(lost.body.data.map((one: any) => one.status)).toEqual(lost.body.data.map(() => 'lost'));
    expect(await bank.get(`/v1/admin/disputes/${body.data[0].id}`)).toMatchObject({
      status: 200,
      body: { id: body.data[0].id, payment: { id: expect.any(String) } },
    });
    expect(await bank.get(`/v1/admin/disputes/${randomUUID()}`)).toMatchObject({ status: 404 });
  });

  test('is not for users', async () => {
    expect(await bank.get('/v1/admin/disputes', await bank.buyer(user))).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  });
});
