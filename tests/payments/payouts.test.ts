import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ADMIN } from '../support/platform.js';
import { Bank } from './bank.js';
import { neighbours, type Ledger } from './neighbours.js';

let bank: Bank;
let ledger: Ledger;
let user: string;
let first: string;
let second: string;

/** An app of somebody else. */
const THIRD_PARTY = 'demo-partner-app';
const STAFF = { clientId: 'demo-admin', amr: ['pwd', 'otp', 'mfa'], roles: ['finance'], permissions: ['admin:payments:payout'] };

beforeAll(async () => {
  bank = await Bank.open();
  ({ ledger } = neighbours(bank.p));
  first = await bank.p.userToken(ADMIN, ['read:profile'], STAFF);
  second = await bank.p.userToken(await bank.stranger(), ['read:profile'], STAFF);
});
beforeEach(async () => {
  ledger.isDown = false;
  user = await bank.stranger();
  ledger.wallets.set(user, 1_000);
  await destination('ba_ok');
});

const destination = (token: string) =>
  bank.p.rest('PUT', '/payments/v1/billing/payout-destination', { token: bank.token, body: { user_id: user, token } });
const usd = (amount: number) => ({ amount, currency: 'USD' });
const pay = (amount: number, reference: string = randomUUID(), token = bank.token) =>
  bank.post('/v1/admin/payouts', { user_id: user, amount: usd(amount), reference }, token);
const read = async (id: string) => (await bank.get(`/v1/admin/payouts/${id}`)).body;
const becomes = async (id: string, wanted: object): Promise<void> =>
  await expect.poll(() => read(id), { timeout: 20_000, interval: 100 }).toMatchObject(wanted);
const booked = async (id: string, state: string, isReversed = false): Promise<void> =>
  await expect
    .poll(() => [...ledger.held.values()].find(one => one.source === id), { timeout: 20_000, interval: 100 })
    .toMatchObject({ state, isReversed });
const madeFor = (id: string) => bank.count(`payments.processor_object where kind = 'payout' and idempotency_key = $1`, [id]);

describe('a payout', () => {
  test('is held in the books, paid by the processor, and then posted', async () => {
    const answer = await pay(800);
    expect(answer).toMatchObject({
      status: 201,
      body: { status: 'pending', amount: usd(800), destination_summary: 'bank •6789', user: { id: user } },
    });
    expect(ledger.available(user)).toBe(200);
    await becomes(answer.body.id, { status: 'paid' });
    await booked(answer.body.id, 'posted');
    expect(ledger.wallets.get(user)).toBe(200);
  });

  test('of a reference that is known answers 200 with the first one', async () => {
    const reference = randomUUID();
    const one = await pay(100, reference);
    expect(await pay(100, reference)).toMatchObject({ status: 200, body: { id: one.body.id } });
    expect(ledger.available(user)).toBe(900);
  });

  test('that the wallet cannot pay is refused, and leaves nothing behind', async () => {
    const reference = randomUUID();
    expect(await pay(1_001, reference)).toMatchObject({ status: 409, body: { reason: 'insufficient_funds' } });
    expect(await bank.count('payments.payout where reference = $1', [reference])).toBe(0);
    expect(ledger.available(user)).toBe(1_000);
  });

  test('of nothing, or with a float, is refused by its pointer', async () => {
    expect(await pay(0)).toMatchObject({ status: 400, body: { errors: [{ pointer: '/amount/amount' }] } });
    expect(await pay(1.5)).toMatchObject({ status: 400, body: { errors: [{ pointer: '/amount/amount' }] } });
    expect(await pay(-5)).toMatchObject({ status: 400 });
  });

  test('while the books are silent is a 503, and goes on when they answer', async () => {
    const reference = randomUUID();
    ledger.isDown = true;
    expect(await pay(300, reference)).toMatchObject({ status: 503 });
    ledger.isDown = false;
    await bank.advance('PT1M');
    const { body } = await pay(300, reference);
    await becomes(body.id, { status: 'paid' });
    expect([...ledger.held.values()].filter(one => one.user === user)).toHaveLength(1);
    expect(await madeFor(body.id)).toBe(1);
  });

  test('that the bank refuses gives the money back', async () => {
    await destination('ba_fail');
    const { body } = await pay(400);
    await becomes(body.id, { status: 'failed', failure_code: 'account_closed' });
    await booked(body.id, 'voided');
    expect([ledger.wallets.get(user), ledger.available(user)]).toEqual([1_000, 1_000]);
  });

  test('that the bank returns within 30 days is reversed in the books', async () => {
    const { body } = await pay(500);
    await becomes(body.id, { status: 'paid' });
    await booked(body.id, 'posted');
    expect(await bank.post('/v1/admin/sandbox/actions', { action: 'payout_fail', payment_id: body.id })).toMatchObject({ status: 200 });
    await becomes(body.id, { status: 'failed', failure_code: 'returned_by_bank' });
    await booked(body.id, 'posted', true);
    expect(ledger.wallets.get(user)).toBe(1_000);
  });

  /** What the processor does is told by its call before it answers; an error stands for a process that dies meanwhile. */
  test.each([
    ['ba_ok', 'paid', 'posted', 200, 'answers late'],
    ['ba_ok', 'paid', 'posted', 200, 'is not heard any more'],
    ['ba_fail', 'failed', 'voided', 1_000, 'answers late'],
    ['ba_fail', 'failed', 'voided', 1_000, 'is not heard any more'],
  ])('to %s that is %s before the processor answers is %s in the books: %i are left (it %s)', async (token, status, state, left, how) => {
    await destination(token);
    const { processor } = bank;
    const make = processor.createPayout.bind(processor);
    const reference = randomUUID();
    const ended = () => bank.count('payments.payout where reference = $1 and status = $2', [reference, status]);
    const spy = vi.spyOn(processor, 'createPayout').mockImplementationOnce(async (...given) => {
      const answer = await make(...given);
      await expect.poll(ended, { timeout: 20_000, interval: 50 }).toBe(1);
      if (how !== 'answers late') throw new Error('the process died');
      return answer;
    });
    expect((await pay(800, reference)).status).toBe(how === 'answers late' ? 201 : 500);
    spy.mockRestore();
    const { body } = await pay(800, reference);
    await booked(body.id, state);
    await expect.poll(() => bank.count('payments.payout where id = $1 and ledger_settled', [body.id]), { timeout: 20_000 }).toBe(1);
    expect([ledger.wallets.get(user), ledger.available(user)]).toEqual([left, left]);
    expect(await madeFor(body.id)).toBe(1);
  });

  test('is cancelled while the bank has not taken it, and not afterwards', async () => {
    const { body } = await pay(100);
    const cancelled = await bank.post(`/v1/admin/payouts/${body.id}/cancel`, undefined);
    expect([200, 409]).toContain(cancelled.status);
    if (cancelled.status === 200) await booked(body.id, 'voided');
    const paid = await pay(100);
    await becomes(paid.body.id, { status: 'paid' });
    expect(await bank.post(`/v1/admin/payouts/${paid.body.id}/cancel`, undefined)).toMatchObject({ status: 409 });
  });
});

describe('a payout of staff above the threshold', () => {
  const big = async (): Promise<string> => {
    ledger.wallets.set(user, 60_000);
    const answer = await pay(60_000, randomUUID(), first);
    expect(answer).toMatchObject({ status: 201, body: { status: 'requires_approval' } });
    return answer.body.id;
  };

  test('holds the money, and is not sent before another person approves', async () => {
    const id = await big();
    expect(ledger.available(user)).toBe(0);
    expect(await madeFor(id)).toBe(0);
    expect(await bank.post(`/v1/admin/payouts/${id}/approve`, undefined, first)).toMatchObject({ status: 403 });
    expect(await madeFor(id)).toBe(0);
    expect(await bank.post(`/v1/admin/payouts/${id}/approve`, undefined, second)).toMatchObject({
      status: 200,
      body: { status: 'pending' },
    });
    await becomes(id, { status: 'paid' });
    expect(await bank.post(`/v1/admin/payouts/${id}/approve`, undefined, second)).toMatchObject({ status: 409 });
  });

  test('approved and rejected at once has one outcome', async () => {
    const id = await big();
    const answers = await Promise.all(
      ['approve', 'reject', 'approve', 'reject'].map(what => bank.post(`/v1/admin/payouts/${id}/${what}`, undefined, second)),
    );
    expect(answers.filter(one => one.status === 200)).toHaveLength(1);
    expect(answers.filter(one => one.status === 409)).toHaveLength(3);
  });

  test('that is rejected frees the money; the requester cannot reject either', async () => {
    const id = await big();
    expect(await bank.post(`/v1/admin/payouts/${id}/reject`, undefined, first)).toMatchObject({ status: 403 });
    expect(await bank.post(`/v1/admin/payouts/${id}/reject`, undefined, second)).toMatchObject({
      status: 200,
      body: { status: 'cancelled' },
    });
    await booked(id, 'voided');
    expect(ledger.available(user)).toBe(60_000);
  });

  test('is cancelled after seven days', async () => {
    const id = await big();
    await bank.advance('P7D');
    await becomes(id, { status: 'cancelled' });
    await booked(id, 'voided');
    expect(await madeFor(id)).toBe(0);
  });

  test('of a service needs nobody', async () => {
    ledger.wallets.set(user, 60_000);
    expect(await pay(60_000)).toMatchObject({ status: 201, body: { status: 'pending' } });
  });
});

describe('a payout destination', () => {
  const path = () => `/v1/billing/payout-destination?user_id=${user}`;
  test('is a token of the processor: kept sealed, shown in four digits, gone when it is removed', async () => {
    const { body } = await bank.get(path());
    expect(body).toEqual({ id: expect.any(String), summary: 'bank •6789', created_at: expect.any(String) });
    const [row] = await bank.p.sql('select token_sealed from payments.payout_destination where user_id = $1', [user]);
    expect(row.token_sealed.toString()).not.toContain('ba_ok');
    expect(await bank.p.rest('DELETE', `/payments${path()}`, { token: bank.token })).toMatchObject({ status: 204 });
    expect(await bank.get(path())).toMatchObject({ status: 404 });
    expect(await bank.p.rest('DELETE', `/payments${path()}`, { token: bank.token })).toMatchObject({ status: 404 });
    expect(await pay(100)).toMatchObject({ status: 409, body: { reason: 'no_payout_destination' } });
  });

  test.each(['ba_nobody', '000123456789'])('that is %s is refused', async token => {
    expect(await destination(token)).toMatchObject({ status: 400, body: { errors: [{ pointer: '/token' }] } });
  });

  test('is set by its owner in an app of ours after a recent sign-in, never for somebody else', async () => {
    const scopes = ['manage:subscriptions'];
    const body = { token: 'ba_ok' };
    const set = (token: string, more: object = {}) =>
      bank.p.rest('PUT', '/payments/v1/billing/payout-destination', { token, body: { ...body, ...more } });
    const fresh = await bank.p.userToken(user, scopes);
    expect(await set(fresh)).toMatchObject({ status: 200 });
    expect(await set(fresh, { user_id: randomUUID() })).toMatchObject({ status: 404 });
    expect(await set(await bank.p.userToken(user, scopes, { clientId: THIRD_PARTY }))).toMatchObject({ status: 403 });
    const old = await bank.p.userToken(user, scopes, { authTime: new Date(Date.now() - 3_600_000) });
    expect(await set(old)).toMatchObject({ status: 401, body: { code: 'step_up_required' } });
  });
});

test('users reach no payout of staff', async () => {
  const token = await bank.buyer(user);
  for (const path of ['/v1/admin/payouts', `/v1/admin/payouts/${randomUUID()}`])
    expect(await bank.get(path, token)).toMatchObject({ status: 403 });
  expect(await pay(10, randomUUID(), token)).toMatchObject({ status: 403 });
});
