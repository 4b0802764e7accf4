import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Processor, ProcessorCharge, ProcessorResult } from '../../subgraphs/payments/ports/processor.js';
import { until } from '../support/until.js';
import { call, charge, got, sandboxSubject, stripeSubject, type Subject } from './processors.js';
import { testModeSubject } from './stripe-test-mode.js';

/**
 * One suite for all processors. Stripe's own test mode is a third subject where STRIPE_TEST_KEY is set; without it that part is not
 * registered, and nothing here claims that it ran.
 */
const SUBJECTS: readonly [string, () => Promise<Subject>][] = [
  ['the sandbox', sandboxSubject],
  ['Stripe against its double', stripeSubject],
  ...(process.env.STRIPE_TEST_KEY ? [['Stripe in test mode', testModeSubject] as [string, () => Promise<Subject>]] : []),
];

const key = (): string => randomUUID();

describe.each(SUBJECTS)('%s', (_name, start) => {
  let subject: Subject;
  let processor: Processor;
  let customerId: string;
  beforeAll(async () => {
    subject = await start();
    ({ processor } = subject);
    customerId = (await got(processor.ensureCustomer({ userId: key(), brandId: key(), email: null }, call(key())))).id;
  });
  afterAll(() => subject.stop());

  const attach = async (token: string): Promise<string> => (await got(processor.attachMethod({ customerId, token }, call(key())))).id;
  const pay = async (token: string, more: object = {}, idempotencyKey = key()): Promise<ProcessorResult<ProcessorCharge>> =>
    processor.charge(charge(customerId, await attach(token), more), call(idempotencyKey));
  const paid = async (more: object = {}): Promise<ProcessorCharge> => got(pay('pm_card_visa', more));

  test('the same key makes one customer', async () => {
    const [input, same] = [{ userId: key(), brandId: key(), email: null }, call(key())];
    const first = await got(processor.ensureCustomer(input, same));
    expect(await got(processor.ensureCustomer(input, same))).toEqual(first);
  });

  test('a method is shown by brand and last digits, listed while it is attached, and not after', async () => {
    const method = await got(processor.attachMethod({ customerId, token: 'pm_card_mastercard' }, call(key())));
    expect(method).toMatchObject({ type: 'card', card: { last4: expect.stringMatching(/^\d{4}$/), expYear: expect.any(Number) } });
    expect(await got(processor.listMethods({ customerId }, call(key())))).toContainEqual(expect.objectContaining({ id: method.id }));
    await got(processor.detachMethod({ customerId, methodId: method.id }, call(key())));
    expect(await got(processor.listMethods({ customerId }, call(key())))).not.toContainEqual(expect.objectContaining({ id: method.id }));
  });

  test('an unknown token is declined as missing', async () => {
    const result = await processor.attachMethod({ customerId, token: 'pm_nobody' }, call(key()));
    expect(result).toMatchObject({ status: 'declined', decline: { code: 'resource_missing', category: 'processor_error' } });
  });

  test('a charge succeeds with its fee, and bears the key that made it', async () => {
    const idempotencyKey = key();
    expect(await pay('pm_card_visa', {}, idempotencyKey)).toMatchObject({
      status: 'succeeded',
      data: {
        key: idempotencyKey,
        amount: 10_000,
        currency: 'USD',
        amountCaptured: 10_000,
        amountRefunded: 0,
        fee: 320,
        capturedAt: expect.any(Date),
      },
    });
  });

  test('the same key charges once, and finds the charge by id and by key', async () => {
    const [idempotencyKey, methodId] = [key(), await attach('pm_card_visa')];
    const since = new Date();
    const results = [1, 2, 3].map(() => processor.charge(charge(customerId, methodId), call(idempotencyKey)));
    const charges = await Promise.all(results.map(got));
    expect(new Set(charges.map(({ id }) => id)).size).toBe(1);
    expect(await got(processor.retrieveCharge({ id: charges[0]!.id }, call(key())))).toEqual(charges[0]);
    expect(await got(processor.retrieveCharge({ key: idempotencyKey, customerId, since }, call(key())))).toEqual(charges[0]);
  });

  test('a key that made nothing finds nothing', async () => {
    const missing = { status: 'declined', decline: { code: 'resource_missing' } };
    expect(await processor.retrieveCharge({ key: key(), customerId, since: new Date() }, call(key()))).toMatchObject(missing);
    expect(await processor.retrieveCharge({ id: 'pi_nobody' }, call(key()))).toMatchObject(missing);
    expect(await processor.retrieveRefund({ id: 're_nobody' }, call(key()))).toMatchObject(missing);
    expect(await processor.retrieveDispute({ id: 'dp_nobody' }, call(key()))).toMatchObject(missing);
    expect(await processor.retrievePayout({ id: 'po_nobody' }, call(key()))).toMatchObject(missing);
  });

  test.each([
    ['pm_card_visa_chargeDeclined', 'generic_decline', 'soft'],
    ['pm_card_visa_chargeDeclinedInsufficientFunds', 'insufficient_funds', 'soft'],
    ['pm_card_visa_chargeDeclinedLostCard', 'lost_card', 'hard'],
    ['pm_card_visa_chargeDeclinedStolenCard', 'stolen_card', 'hard'],
    ['pm_card_chargeDeclinedExpiredCard', 'expired_card', 'hard'],
    ['pm_card_chargeDeclinedIncorrectCvc', 'incorrect_cvc', 'soft'],
  ])('%s is declined as %s, which is %s, each time', async (token, code, category) => {
    const [idempotencyKey, methodId] = [key(), await attach(token)];
    const declined = { status: 'declined', decline: { code, category }, data: { key: idempotencyKey, amountCaptured: 0 } };
    expect(await processor.charge(charge(customerId, methodId), call(idempotencyKey))).toMatchObject(declined);
    expect(await processor.charge(charge(customerId, methodId), call(idempotencyKey))).toMatchObject(declined);
  });

  test('a customer who is there is asked to authenticate; one who is absent is declined', async () => {
    const asked = { status: 'requires_action', nextAction: { type: 'redirect_to_url', url: expect.stringMatching(/^https:/) } };
    expect(await pay('pm_card_authenticationRequired')).toMatchObject(asked);
    expect(await pay('pm_card_authenticationRequired', { offSession: true })).toMatchObject({
      status: 'declined',
      decline: { code: 'authentication_required', category: 'action_required' },
    });
  });

  test('what is authorized is captured in part, once, and cannot be cancelled then', async () => {
    const held = await pay('pm_card_visa', { capture: 'manual' });
    expect(held).toMatchObject({ status: 'authorized', data: { amountCaptured: 0, capturedAt: null } });
    const chargeId = (held as { data: ProcessorCharge }).data.id;
    const [input, same] = [{ chargeId, amount: 4_000, currency: 'USD' }, call(key())];
    expect(await got(processor.capture(input, same))).toMatchObject({ amount: 10_000, amountCaptured: 4_000 });
    expect(await got(processor.capture(input, same))).toMatchObject({ amountCaptured: 4_000 });
    expect(await processor.capture({ ...input, amount: 9_000 }, call(key()))).toMatchObject({ status: 'declined' });
    expect(await processor.cancel({ chargeId }, call(key()))).toMatchObject({ status: 'declined' });
  });

  test('what is authorized is cancelled, and is found as cancelled', async () => {
    const held = (await pay('pm_card_visa', { capture: 'manual' })) as { data: ProcessorCharge };
    expect(await processor.cancel({ chargeId: held.data.id }, call(key()))).toMatchObject({ status: 'succeeded' });
    expect(await processor.retrieveCharge({ id: held.data.id }, call(key()))).toMatchObject({
      status: 'declined',
      decline: { code: 'charge_cancelled' },
    });
  });

  test('refunds are made once for a key and never exceed what was captured', async () => {
    const { id: chargeId } = await paid();
    const [input, idempotencyKey] = [{ chargeId, amount: 4_000, currency: 'USD' }, key()];
    const first = await got(processor.refund(input, call(idempotencyKey)));
    expect(first).toMatchObject({ key: idempotencyKey, chargeId, amount: 4_000, currency: 'USD' });
    expect(await got(processor.refund(input, call(idempotencyKey)))).toEqual(first);
    expect(await got(processor.retrieveRefund({ id: first.id }, call(key())))).toEqual(first);
    expect(await got(processor.retrieveRefund({ key: idempotencyKey, chargeId }, call(key())))).toEqual(first);
    expect(await processor.refund({ ...input, amount: 7_000 }, call(key()))).toMatchObject({
      status: 'declined',
      decline: { code: 'amount_too_large' },
    });
    expect(await got(processor.retrieveCharge({ id: chargeId }, call(key())))).toMatchObject({ amountRefunded: 4_000 });
  });

  test('a dispute is read, answered and accepted', async () => {
    const [one, other] = [await subject.dispute((await paid()).id), await subject.dispute((await paid()).id)];
    expect(await got(processor.retrieveDispute({ id: one }, call(key())))).toMatchObject({
      status: 'needs_response',
      reason: 'fraudulent',
      amount: 10_000,
      fee: 1_500,
      fundsWithdrawn: true,
      evidenceDueAt: expect.any(Date),
    });
    const evidence = { uncategorized_text: 'It was delivered.' };
    expect(await got(processor.submitEvidence({ disputeId: one, evidence }, call(key())))).toMatchObject({ status: 'under_review' });
    expect(await got(processor.acceptDispute({ disputeId: other }, call(key())))).toMatchObject({ status: 'lost' });
  });

  test('a payout is made once for a key, to a known destination only, and cancelled while it is pending', async () => {
    expect(await got(processor.describeDestination({ token: 'ba_ok' }, call(key())))).toEqual({ summary: 'bank •6789' });
    const missing = { status: 'declined', decline: { code: 'resource_missing' } };
    expect(await processor.describeDestination({ token: 'ba_nobody' }, call(key()))).toMatchObject(missing);
    const [input, idempotencyKey, since] = [{ destination: 'ba_ok', reference: 'r-1', amount: 800, currency: 'USD' }, key(), new Date()];
    const made = (await processor.createPayout(input, call(idempotencyKey))) as { status: string; data: { id: string } };
    expect(made).toMatchObject({ status: 'processing', data: { key: idempotencyKey, amount: 800, status: 'pending' } });
    expect(await processor.createPayout(input, call(idempotencyKey))).toMatchObject({ data: { id: made.data.id } });
    expect(await processor.retrievePayout({ key: idempotencyKey, since }, call(key()))).toMatchObject({ data: { id: made.data.id } });
    expect(await processor.createPayout({ ...input, destination: 'ba_nobody' }, call(key()))).toMatchObject(missing);
    expect(await processor.cancelPayout({ payoutId: made.data.id }, call(key()))).toMatchObject({ status: 'succeeded' });
    expect(await processor.retrievePayout({ id: made.data.id }, call(key()))).toMatchObject({ status: 'declined' });
  });

  test('movements of the balance name their charge, sign and fee', async () => {
    const from = new Date(Date.now() - 60_000);
    const { id: chargeId } = await paid();
    await got(processor.refund({ chargeId, amount: 2_500, currency: 'USD' }, call(key())));
    const to = new Date(Date.now() + 60_000);
    const { items } = await got(processor.listBalanceTransactions({ from, to, cursor: null }, call(key())));
    const mine = items.filter(one => one.chargeId === chargeId).map(({ kind, amount, fee, currency }) => ({ kind, amount, fee, currency }));
    expect(mine).toHaveLength(2);
    expect(mine).toContainEqual({ kind: 'charge', amount: 10_000, fee: 320, currency: 'USD' });
    expect(mine).toContainEqual({ kind: 'refund', amount: -2_500, fee: 0, currency: 'USD' });
  });

  test.each([
    ['JPY', 1_000],
    ['KWD', 12_340],
    ['EUR', 999],
  ])('amounts in %s come back in minor units of ISO 4217', async (currency, amount) => {
    expect(await paid({ currency, amount })).toMatchObject({ currency, amount, amountCaptured: amount });
  });

  test('a page of a customer is made for a purchase and for the portal', async () => {
    const urls = { pageUrl: 'https://api.example.com/payments/pay/x', returnUrl: 'https://app.example.com/done' };
    const checkout = { customerId, amount: 500, currency: 'USD', cancelUrl: null, mode: 'payment' as const, metadata: {}, ...urls };
    expect(await got(processor.createHostedCheckout(checkout, call(key())))).toMatchObject({ url: expect.stringMatching(/^https:/) });
    expect(await got(processor.createPortal({ customerId, ...urls }, call(key())))).toMatchObject({
      url: expect.stringMatching(/^https:/),
    });
  });

  test('one that cannot be reached was not asked; one that gives no answer was', async () => {
    expect(await subject.unreachable.charge(charge(customerId, 'pm_x'), call(key()))).toEqual({ status: 'unknown', wasAsked: false });
    expect((await subject.slow()).result).toEqual({ status: 'unknown', wasAsked: true });
  });

  test('a deleted customer is deleted again without complaint', async () => {
    const { id } = await got(processor.ensureCustomer({ userId: key(), brandId: key(), email: null }, call(key())));
    await got(processor.deleteCustomer({ customerId: id }, call(key())));
    expect(await got(processor.deleteCustomer({ customerId: id }, call(key())))).toEqual({ id });
  });

  describe('a call of it', () => {
    const now = new Date('2026-11-23T12:00:00.000Z');
    const verified = (
      { body, header }: ReturnType<Subject['notice']>,
      { secrets = [subject.secret], at = now }: { secrets?: string[]; at?: Date } = {},
    ) => processor.verifyWebhook(body, header, secrets, at);

    test.each(['charge', 'refund', 'dispute', 'payout'] as const)('names the %s that is to be read again', kind => {
      expect(verified(subject.notice(kind, 'x_1', now))).toMatchObject({ type: `${kind}.updated`, object: { kind, id: 'x_1' } });
    });

    test('about something else names nothing', () => {
      expect(verified(subject.notice('other', 'x_1', now))).toMatchObject({ object: null });
    });

    test('is believed with either of two secrets, and with no other', () => {
      expect(verified(subject.notice('charge', 'x_1', now), { secrets: ['new-secret', subject.secret] })).toMatchObject({
        object: { id: 'x_1' },
      });
      expect(verified(subject.notice('charge', 'x_1', now), { secrets: ['new-secret'] })).toBe('signature');
      expect(verified(subject.notice('charge', 'x_1', now), { secrets: [] })).toBe('signature');
    });

    test.each([
      [300, true],
      [301, false],
      [-300, true],
      [-301, false],
    ])('%d s old is believed: %s', (seconds, isBelieved) => {
      const result = verified(subject.notice('charge', 'x_1', now), { at: new Date(now.getTime() + seconds * 1000) });
      expect(result === 'signature').toBe(!isBelieved);
    });

    test('whose body was changed is not believed', () => {
      const { body, header } = subject.notice('charge', 'x_1', now);
      expect(processor.verifyWebhook(Buffer.from(body.toString().replace('x_1', 'x_2')), header, [subject.secret], now)).toBe('signature');
      expect(processor.verifyWebhook(body, () => null, [subject.secret], now)).toBe('signature');
    });
  });
});

test('the sandbox keeps calls apart that bear the same key at once: both have the one charge', async () => {
  const { processor, sql, stop } = await sandboxSubject();
  const customer = await got(processor.ensureCustomer({ userId: key(), brandId: key(), email: null }, call(key())));
  const method = await got(processor.attachMethod({ customerId: customer.id, token: 'pm_card_visa' }, call(key())));
  const other = await sql.connect();
  await other.query('begin');
  await other.query('select 1 from payments.processor_object where id = $1 for update', [method.id]);
  const same = call(key());
  const both = Promise.all([1, 2].map(() => got(processor.charge(charge(customer.id, method.id), same))));
  const query = async (text: string) => (await other.query<{ n: number }>(text)).rows;
  const waiting = `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await until(
    'both of them to wait',
    () => query(waiting),
    ([row]) => row!.n === 2,
  );
  await other.query('commit');
  other.release();
  const [first, second] = await both;
  expect(first).toEqual(second);
  await stop();
});
