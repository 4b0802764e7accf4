import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  DisputeStatus as D,
  PayoutStatus as P,
  ReconciliationDiscrepancyKind as Kind,
} from '../../subgraphs/payments/entities/enums-operations.js';
import { declineCategory } from '../../subgraphs/payments/rules/decline.js';
import { DISPUTE_STATES, isOpen, openedAs, outcomeOf, stepsTo, type DisputeTrigger } from '../../subgraphs/payments/rules/dispute.js';
import { evidenceFault, passesLuhn } from '../../subgraphs/payments/rules/evidence.js';
import { isBreached, rateBps } from '../../subgraphs/payments/rules/failures.js';
import { exponentOf } from '../../subgraphs/payments/rules/iso-4217.js';
import { ledgerStep, PAYOUT_STATES, stepTo, type PayoutTrigger } from '../../subgraphs/payments/rules/payout.js';
import { retryMs } from '../../subgraphs/payments/rules/processor-event.js';
import { compare, type OwnItem, type ProcessorItem } from '../../subgraphs/payments/rules/reconciliation.js';
import { fromStripe, toStripe } from '../../subgraphs/payments/rules/stripe-amount.js';
import { isStale, type PartnerState } from '../../subgraphs/payments/rules/telehealth.js';
import { isTimely, parseSignature } from '../../subgraphs/payments/rules/webhook-signature.js';

const DISPUTE_TRIGGERS: DisputeTrigger[] = ['submit_evidence', 'escalate', 'close', 'win', 'lose', 'accept', 'miss_deadline', 'prevent'];
const PAYOUT_TRIGGERS: PayoutTrigger[] = ['approve', 'reject', 'cancel', 'send', 'pay', 'fail'];

/** Every pair of the contract's table 3.6; all others are refused. */
const DISPUTES: readonly [D, DisputeTrigger, D][] = [
  [D.WARNING_NEEDS_RESPONSE, 'submit_evidence', D.WARNING_UNDER_REVIEW],
  [D.WARNING_NEEDS_RESPONSE, 'escalate', D.NEEDS_RESPONSE],
  [D.WARNING_NEEDS_RESPONSE, 'close', D.WARNING_CLOSED],
  [D.WARNING_NEEDS_RESPONSE, 'prevent', D.PREVENTED],
  [D.WARNING_UNDER_REVIEW, 'escalate', D.NEEDS_RESPONSE],
  [D.WARNING_UNDER_REVIEW, 'close', D.WARNING_CLOSED],
  [D.WARNING_UNDER_REVIEW, 'prevent', D.PREVENTED],
  [D.NEEDS_RESPONSE, 'submit_evidence', D.UNDER_REVIEW],
  [D.NEEDS_RESPONSE, 'win', D.WON],
  [D.NEEDS_RESPONSE, 'lose', D.LOST],
  [D.NEEDS_RESPONSE, 'accept', D.LOST],
  [D.NEEDS_RESPONSE, 'miss_deadline', D.LOST],
  [D.NEEDS_RESPONSE, 'prevent', D.PREVENTED],
  [D.UNDER_REVIEW, 'win', D.WON],
  [D.UNDER_REVIEW, 'lose', D.LOST],
  [D.UNDER_REVIEW, 'accept', D.LOST],
  [D.UNDER_REVIEW, 'miss_deadline', D.LOST],
  [D.UNDER_REVIEW, 'prevent', D.PREVENTED],
];

/** The same for payouts, 3.7. */
const PAYOUTS: readonly [P, PayoutTrigger, P][] = [
  [P.REQUIRES_APPROVAL, 'approve', P.PENDING],
  [P.REQUIRES_APPROVAL, 'reject', P.CANCELLED],
  [P.REQUIRES_APPROVAL, 'cancel', P.CANCELLED],
  [P.PENDING, 'send', P.IN_TRANSIT],
  [P.PENDING, 'pay', P.PAID],
  [P.PENDING, 'fail', P.FAILED],
  [P.PENDING, 'cancel', P.CANCELLED],
  [P.IN_TRANSIT, 'pay', P.PAID],
  [P.IN_TRANSIT, 'fail', P.FAILED],
  [P.PAID, 'fail', P.FAILED],
];

const pairs = <S extends string, T extends string>(states: readonly S[], triggers: readonly T[]): [S, T][] =>
  states.flatMap(state => triggers.map(trigger => [state, trigger] as [S, T]));

describe('states', () => {
  test.each(pairs(Object.values(D), DISPUTE_TRIGGERS))('a dispute that is %s, and %s', (state, trigger) => {
    const wanted = DISPUTES.find(([from, by]) => from === state && by === trigger)?.[2];
    expect((DISPUTE_STATES[state] as Record<string, D>)[trigger]).toBe(wanted);
  });

  test.each(pairs(Object.values(P), PAYOUT_TRIGGERS))('a payout that is %s, and %s', (state, trigger) => {
    const wanted = PAYOUTS.find(([from, by]) => from === state && by === trigger)?.[2];
    expect((PAYOUT_STATES[state] as Record<string, P>)[trigger]).toBe(wanted);
  });

  test.each([
    [D.NEEDS_RESPONSE, D.NEEDS_RESPONSE, []],
    [D.WARNING_NEEDS_RESPONSE, D.NEEDS_RESPONSE, ['escalate']],
    [D.WARNING_NEEDS_RESPONSE, D.UNDER_REVIEW, ['escalate', 'submit_evidence']],
    [D.WARNING_UNDER_REVIEW, D.WON, ['escalate', 'win']],
    [D.NEEDS_RESPONSE, D.LOST, ['lose']],
    [D.NEEDS_RESPONSE, D.WARNING_NEEDS_RESPONSE, null],
    [D.LOST, D.WON, null],
    [D.WON, D.UNDER_REVIEW, null],
  ])('from %s to %s a dispute goes by %j', (from, to, steps) => {
    expect(stepsTo(from, to)).toEqual(steps);
  });

  test('whatever is reported in whatever order, a dispute never goes back', () => {
    const any = fc.constantFrom(...Object.values(D));
    fc.assert(
      fc.property(any, fc.array(any, { maxLength: 12 }), (first, reports) => {
        let state = openedAs(first, true);
        for (const report of reports) {
          const steps = stepsTo(state, report) ?? [];
          if (!isOpen(state)) expect(steps).toEqual([]);
          for (const step of steps) state = (DISPUTE_STATES[state] as Record<string, D>)[step]!;
        }
      }),
    );
  });

  test.each([
    [D.WON, 'won'],
    [D.LOST, 'lost'],
    [D.PREVENTED, 'withdrawn'],
    [D.WARNING_CLOSED, 'withdrawn'],
    [D.UNDER_REVIEW, null],
  ])('the outcome of %s is %s', (status, outcome) => expect(outcomeOf(status)).toBe(outcome));

  const now = new Date('2026-11-23T12:00:00.000Z');
  const ago = (days: number): Date => new Date(now.getTime() - days * 86_400_000);
  test.each([
    [P.PENDING, P.PENDING, null, null],
    [P.PENDING, P.PAID, null, 'pay'],
    [P.IN_TRANSIT, P.CANCELLED, null, null],
    [P.PAID, P.FAILED, ago(30), 'fail'],
    [P.PAID, P.FAILED, ago(31), null],
    [P.FAILED, P.PAID, null, null],
  ])('a payout that is %s and reported %s, paid at %s: %s', (from, reported, paidAt, step) => {
    expect(stepTo(from, reported, paidAt, now)).toBe(step);
  });

  test.each([
    [P.REQUIRES_APPROVAL, false, null],
    [P.PENDING, false, null],
    [P.IN_TRANSIT, false, null],
    [P.PAID, false, 'post'],
    [P.PAID, true, null],
    [P.FAILED, false, 'void'],
    [P.FAILED, true, 'reverse'],
    [P.CANCELLED, false, 'void'],
  ])('the books of a payout that is %s (posted: %s) have to %s', (status, isPosted, step) =>
    expect(ledgerStep(status, isPosted)).toBe(step),
  );
});

describe('calls of the processor', () => {
  test.each([
    [1, 60_000],
    [2, 300_000],
    [3, 1_800_000],
    [4, 7_200_000],
    [5, 43_200_000],
    [6, null],
  ])('after failure %d the next try comes in %s ms', (failures, wait) => expect(retryMs(failures)).toBe(wait));

  const v1 = 'a'.repeat(64);
  test.each([
    [`t=1,v1=${v1}`, { timestamp: '1', seconds: 1, signatures: [v1] }],
    [`t=1, v1=${v1},v1=${'b'.repeat(64)},v0=zz`, { timestamp: '1', seconds: 1, signatures: [v1, 'b'.repeat(64)] }],
    [null, null],
    ['', null],
    [`v1=${v1}`, null],
    [`t=1`, null],
    [`t=1,t=2,v1=${v1}`, null],
    [`t=x,v1=${v1}`, null],
    [`t=1,v1=${'A'.repeat(64)}`, null],
    [`t=1,v1=${'a'.repeat(63)}`, null],
  ])('%j is read as %j', (header, wanted) => expect(parseSignature(header)).toEqual(wanted));

  test.each([
    [300, true],
    [301, false],
    [-300, true],
    [-301, false],
  ])('%d s away is in time: %s', (seconds, isWanted) => {
    expect(isTimely(1_000_000 - seconds, new Date(1_000_000_000))).toBe(isWanted);
  });
});

describe('declines', () => {
  test.each([
    ['insufficient_funds', 'soft'],
    ['generic_decline', 'soft'],
    ['try_again_later', 'soft'],
    ['processing_error', 'soft'],
    ['lost_card', 'hard'],
    ['stolen_card', 'hard'],
    ['pickup_card', 'hard'],
    ['fraudulent', 'hard'],
    ['expired_card', 'hard'],
    ['invalid_account', 'hard'],
    ['revocation_of_authorization', 'hard'],
    ['authentication_required', 'action_required'],
    ['processor_error', 'processor_error'],
    ['something_new', 'soft'],
  ])('%s is %s', (code, category) => expect(declineCategory(code)).toBe(category));
});

describe('amounts at Stripe', () => {
  test.each([
    ['USD', 2, 999, 999],
    ['JPY', 0, 500, 500],
    ['ISK', 0, 500, 50_000],
    ['UGX', 0, 5, 500],
    ['KWD', 3, 5_120, 5_120],
    ['KWD', 3, 5_124, null],
    ['BHD', 3, 1_000, 1_000],
    ['BHD', 3, 1_001, null],
    ['JOD', 3, 10, 10],
    ['MGA', 2, 500, 5],
    ['MGA', 2, 501, null],
    ['HUF', 2, 101, 101],
    ['CLP', 0, 7, 7],
    ['ISK', 0, Number.MAX_SAFE_INTEGER, null],
  ])('%s (exponent %d): %d is %s', (currency, exponent, amount, stripe) => {
    expect(exponentOf(currency)).toBe(exponent);
    expect(toStripe(amount, currency)).toBe(stripe);
    if (stripe !== null) expect(fromStripe(stripe, currency)).toBe(amount);
  });

  test('an amount with a fraction of a minor unit is an error', () => expect(() => fromStripe(101, 'ISK')).toThrow('whole'));
});

describe('a partner’s report', () => {
  const at = (minute: number): Date => new Date(Date.UTC(2026, 10, 23, 12, minute));
  test.each<[PartnerState, number, PartnerState, number, boolean]>([
    ['authorized', 0, 'captured', 1, false],
    ['captured', 1, 'authorized', 0, true],
    ['captured', 1, 'authorized', 2, true],
    ['captured', 1, 'captured', 1, true],
    ['failed', 0, 'captured', 1, false],
    ['captured', 1, 'failed', 2, true],
    ['refunded', 1, 'refunded', 2, false],
    ['refunded', 1, 'captured', 3, true],
    ['captured', 5, 'refunded', 4, false],
    ['disputed', 1, 'refunded', 2, false],
  ])('%s at minute %d, then %s at %d is stale: %s', (known, knownAt, state, stateAt, isWanted) => {
    expect(isStale({ state: known, at: at(knownAt) }, { state, at: at(stateAt) })).toBe(isWanted);
  });
});

describe('evidence', () => {
  test.each([
    ['4242424242424242', true],
    ['4242424242424241', false],
    ['79927398713', true],
  ])('%s passes Luhn: %s', (digits, isWanted) => expect(passesLuhn(digits)).toBe(isWanted));

  test.each([
    [{ uncategorized_text: 'Delivered on 2026-11-20.' }, null],
    [{}, 'must have 1 to 30 texts'],
    [{ Name: 'x' }, 'must have texts of at most 20000 characters by lower-case names'],
    [{ a: 1 }, 'must have texts of at most 20000 characters by lower-case names'],
    [{ a: 'x'.repeat(20_001) }, 'must have texts of at most 20000 characters by lower-case names'],
    [{ a: 'paid by 4242 4242 4242 4242' }, 'must not hold a card number'],
    [{ a: 'order 1234567890123456' }, null],
  ])('case %#: %s', (evidence, fault) => expect(evidenceFault(evidence)).toBe(fault));
});

describe('failures', () => {
  test.each([
    [0, 0, 0],
    [240, 52, 2_167],
    [3, 1, 3_333],
    [3, 2, 6_667],
  ])('of %d attempts %d failures are %d bps', (attempts, failures, bps) => expect(rateBps({ attempts, failures })).toBe(bps));

  test.each([
    [20, 3, true],
    [19, 19, false],
    [20, 2, false],
  ])('%d attempts with %d failures breach 15 %% of at least 20: %s', (attempts, failures, isWanted) => {
    expect(isBreached({ attempts, failures }, 20, 1_500)).toBe(isWanted);
  });
});

describe('reconciliation', () => {
  const theirs = (more: Partial<ProcessorItem> = {}): ProcessorItem => ({
    ref: 'ch_1',
    kind: 'charge',
    amount: 100,
    currency: 'USD',
    count: 1,
    isInside: true,
    ...more,
  });
  const ours = (more: Partial<OwnItem> = {}): OwnItem => ({
    ref: 'ch_1',
    kind: 'charge',
    paymentId: 'p1',
    orderId: null,
    amount: 100,
    currency: 'USD',
    isSettled: true,
    isInside: true,
    isLedgered: null,
    ...more,
  });
  const kinds = (processor: ProcessorItem[], payments: OwnItem[], more: object = {}) =>
    compare({ processor, payments, storefront: null, settledOrders: [], ...more }).discrepancies.map(one => one.kind);

  test.each<[string, ProcessorItem[], OwnItem[], Kind[]]>([
    ['both agree', [theirs()], [ours()], []],
    ['the processor alone has it', [theirs()], [], [Kind.MISSING_IN_PAYMENTS]],
    ['we alone have it', [], [ours()], [Kind.MISSING_AT_PROCESSOR]],
    ['we alone have it, and it has not settled', [], [ours({ isSettled: false })], []],
    ['the amounts differ', [theirs({ amount: 90 })], [ours()], [Kind.AMOUNT_MISMATCH]],
    ['the currencies differ', [theirs({ currency: 'EUR' })], [ours()], [Kind.CURRENCY_MISMATCH]],
    ['we think that it failed', [theirs()], [ours({ isSettled: false })], [Kind.STATUS_MISMATCH]],
    ['it was charged twice', [theirs({ count: 2, amount: 200 })], [ours()], [Kind.DUPLICATE_CHARGE]],
    ['the books lack it', [theirs()], [ours({ isLedgered: false })], [Kind.UNLEDGERED]],
    ['it lies across the edge of the period', [theirs({ isInside: false })], [ours()], []],
    [
      'a refund of the same id is another thing',
      [theirs({ kind: 'refund' })],
      [ours()],
      [Kind.MISSING_IN_PAYMENTS, Kind.MISSING_AT_PROCESSOR],
    ],
  ])('%s', (_name, processor, payments, wanted) => expect(kinds(processor, payments)).toEqual(wanted));

  const order = { id: 'o1', currency: 'USD', paid: 100, paymentId: null, isInside: true };
  test.each([
    ['agrees', [order], [order], []],
    ['was not charged', [order], [], [Kind.MISSING_AT_PROCESSOR]],
    ['is unknown to the shop', [], [order], [Kind.MISSING_IN_STOREFRONT]],
    ['costs something else', [order], [{ ...order, paid: 90 }], [Kind.AMOUNT_MISMATCH]],
    ['costs another currency', [order], [{ ...order, currency: 'EUR' }], [Kind.CURRENCY_MISMATCH]],
  ])('an order that %s', (_name, storefront, settledOrders, wanted) =>
    expect(kinds([], [], { storefront, settledOrders })).toEqual(wanted),
  );

  test('what is compared is counted, and what agrees', () => {
    const processor = [theirs(), theirs({ ref: 'ch_2' })];
    expect(compare({ processor, payments: [ours()], storefront: null, settledOrders: [] })).toMatchObject({ compared: 2, matched: 1 });
  });
});
