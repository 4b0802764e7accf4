import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { move } from '../../runtime/request/states.js';
import {
  BillingInterval,
  BillingSubscriptionStatus,
  InvoiceLineKind as Kind,
  InvoiceStatus,
} from '../../subgraphs/payments/entities/enums-billing.js';
import { PromoDuration, PromoKind } from '../../subgraphs/payments/entities/enums-offers.js';
import { DeclineCategory } from '../../subgraphs/payments/entities/enums-payment.js';
import { allowedFrom, dunningPolicy, finalAt, nextAttempt, skipReason, type Collection } from '../../subgraphs/payments/rules/dunning.js';
import { creditFor, documentNumber, dueOf, totalsOf } from '../../subgraphs/payments/rules/invoice.js';
import { INVOICE_STATES, isCollected } from '../../subgraphs/payments/rules/invoice-states.js';
import { compareRates, directionOf, prorate, restOf, shareOf, times } from '../../subgraphs/payments/rules/proration.js';
import { afterOne, discountOf, isReduced, reducedPeriods, type RecurringPromo } from '../../subgraphs/payments/rules/recurring-promo.js';
import { roundHalfEven } from '../../subgraphs/payments/rules/rounding.js';
import { isBilled, isOver, SUBSCRIPTION_STATES } from '../../subgraphs/payments/rules/subscription-states.js';

const NOW = new Date('2026-11-21T12:00:00.000Z');
const DAY_MS = 86_400_000;
const inDays = (days: number): Date => new Date(NOW.getTime() + days * DAY_MS);

describe('states', () => {
  const subscription = [
    'settle',
    'expire',
    'fall_due',
    'be_forgiven',
    'pause',
    'pause_void',
    'resume',
    'resume_unpaid',
    'give_up',
    'give_up_and_pause',
    'change',
    'end_later',
    'cancel',
  ] as const;
  const invoice = ['finalize', 'settle', 'fall_due', 'write_off', 'void'] as const;
  const allowed = new Set([
    'subscription incomplete settle active',
    'subscription incomplete expire incomplete_expired',
    'subscription incomplete cancel incomplete_expired',
    'subscription trialing settle active',
    'subscription trialing fall_due past_due',
    'subscription trialing pause paused',
    'subscription trialing change trialing',
    'subscription trialing end_later trialing',
    'subscription trialing cancel cancelled',
    'subscription active settle active',
    'subscription active fall_due past_due',
    'subscription active pause paused',
    'subscription active change active',
    'subscription active end_later active',
    'subscription active cancel cancelled',
    'subscription past_due settle active',
    'subscription past_due fall_due past_due',
    'subscription past_due be_forgiven active',
    'subscription past_due pause_void paused',
    'subscription past_due give_up cancelled',
    'subscription past_due give_up_and_pause paused',
    'subscription past_due end_later past_due',
    'subscription past_due cancel cancelled',
    'subscription paused resume active',
    'subscription paused resume_unpaid past_due',
    'subscription paused cancel cancelled',
    'invoice draft finalize open',
    'invoice draft settle paid',
    'invoice open settle paid',
    'invoice open fall_due past_due',
    'invoice open write_off uncollectible',
    'invoice open void void',
    'invoice past_due settle paid',
    'invoice past_due fall_due past_due',
    'invoice past_due write_off uncollectible',
    'invoice past_due void void',
    'invoice uncollectible settle paid',
  ]);
  const pairs = [
    ...Object.values(BillingSubscriptionStatus).flatMap(state =>
      subscription.map(trigger => ['subscription', SUBSCRIPTION_STATES, state, trigger] as const),
    ),
    ...Object.values(InvoiceStatus).flatMap(state => invoice.map(trigger => ['invoice', INVOICE_STATES, state, trigger] as const)),
  ];

  test.each(pairs)('a %s, %o: %s, %s', (thing, table, state, trigger) => {
    const next = [...allowed].find(one => one.startsWith(`${thing} ${state} ${trigger} `))?.split(' ')[3];
    const go = () => move(table as never, thing, state as never, trigger as never);
    if (next) expect(go()).toBe(next);
    else expect(go).toThrow(/that is .* cannot/);
  });

  test('a subscription is over, billed, or neither', () => {
    const states = Object.values(BillingSubscriptionStatus);
    expect(states.filter(isOver)).toEqual(['incomplete_expired', 'cancelled']);
    expect(states.filter(isBilled)).toEqual(['trialing', 'active', 'past_due']);
    expect(Object.values(InvoiceStatus).filter(isCollected)).toEqual(['open', 'past_due']);
  });
});

describe('a share of an amount', () => {
  test.each([
    [1n, 2n, 0],
    [3n, 2n, 2],
    [5n, 2n, 2],
    [7n, 2n, 4],
    [-3n, 2n, -2],
    [-5n, 2n, -2],
    [10n, 4n, 2],
    [14n, 4n, 4],
    [2n, 3n, 1],
    [1n, 3n, 0],
    [0n, 7n, 0],
  ])('%d / %d is %d, half to even', (numerator, denominator, share) => expect(roundHalfEven(numerator, denominator)).toBe(share));

  test('is exact past 2^53', () => {
    expect(shareOf(times(99_999_999, 100), 94_672_799, 94_672_800)).toBe(9_999_999_794); // 9 999 999 900 − 105.6…
    expect(() => shareOf(9_007_199_254_740_993n, 1, 1)).toThrow(RangeError);
  });

  test('and the share of the rest differ from the whole by at most one unit, and by none where nothing is rounded', () =>
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9_999_999_900 }), fc.integer({ min: 1, max: 94_672_800 }), fc.nat(), (amount, length, n) => {
        const part = n % (length + 1);
        const sum = shareOf(BigInt(amount), part, length) + shareOf(BigInt(amount), length - part, length);
        expect(Math.abs(sum - amount)).toBeLessThanOrEqual(1);
      }),
    ));
});

/** Old and new price, seconds left of the period's, and what is given back and charged: minor units by hand. */
const PRORATION: [string, number, number, number, number, number, number][] = [
  ['USD', 3000, 9000, 15 * 86_400, 30 * 86_400, 1500, 4500],
  ['USD', 2900, 9900, 1, 2_592_000, 0, 0],
  ['USD', 2900, 9900, 2_591_999, 2_592_000, 2900, 9900],
  ['USD', 2999, 9999, 1_296_000, 2_592_000, 1500, 5000], // 1499.5 and 4999.5, to even
  ['USD', 2997, 9997, 1_296_000, 2_592_000, 1498, 4998], // 1498.5 and 4998.5, to even
  ['EUR', 1990, 4990, 864_000, 2_678_400, 642, 1610], // 641.94, 1609.68
  ['EUR', 29000, 99000, 15_768_000, 31_536_000, 14500, 49500],
  ['JPY', 980, 2980, 1_000_000, 2_592_000, 378, 1150], // 378.09, 1149.69
  ['JPY', 1, 3, 1_296_000, 2_592_000, 0, 2], // 0.5 and 1.5, to even
  ['JPY', 98, 298, 1_296_000, 2_592_000, 49, 149],
  ['KWD', 9500, 29750, 604_801, 2_419_200, 2375, 7438], // 2375.004, 7437.51
  ['KWD', 1, 1001, 1_209_600, 2_419_200, 0, 500], // 0.5 and 500.5, to even
  ['KWD', 12_345, 67_890, 777_777, 2_592_000, 3704, 20_372], // 3704.36, 20371.7…
];

describe('proration', () => {
  test.each(PRORATION)('%s %d to %d with %d of %d s left: −%d, +%d', (_currency, old, fresh, remaining, length, credit, charge) => {
    expect(prorate(BigInt(old), BigInt(fresh), { remaining, length })).toEqual({ credit, charge });
    expect(prorate(BigInt(fresh), BigInt(old), { remaining, length })).toEqual({ credit: charge, charge: credit }); // and back in the same second: nothing
  });

  test('counts seconds, not days', () => {
    const period = { start: new Date('2026-03-01T00:00:00.400Z'), end: new Date('2026-04-01T00:00:00.400Z') };
    expect(restOf(period, new Date('2026-03-16T12:00:00.100Z'))).toEqual({ remaining: 1_339_200, length: 2_678_400 });
    expect(restOf(period, new Date('2026-02-01T00:00:00.000Z')).remaining).toBe(2_678_400);
    expect(restOf(period, new Date('2026-05-01T00:00:00.000Z')).remaining).toBe(0);
    expect(prorate(100n, 200n, restOf({ start: NOW, end: NOW }, NOW))).toEqual({ credit: 0, charge: 0 });
  });

  const plan = (unitAmount: number, interval: BillingInterval, intervalCount = 1, quantity = 1) => ({
    unitAmount,
    interval,
    intervalCount,
    quantity,
  });
  const { DAY, WEEK, MONTH, YEAR } = BillingInterval;
  test.each([
    [plan(2900, MONTH), plan(9900, MONTH), 'upgrade'],
    [plan(9900, MONTH), plan(2900, MONTH), 'downgrade'],
    [plan(2900, MONTH), plan(2900, MONTH), 'downgrade'],
    [plan(2900, MONTH), plan(2900, MONTH, 1, 2), 'upgrade'],
    [plan(2900, MONTH), plan(29000, YEAR), 'downgrade'],
    [plan(2900, MONTH), plan(34801, YEAR), 'upgrade'],
    [plan(2900, MONTH), plan(34800, YEAR), 'downgrade'],
    [plan(100, DAY), plan(701, WEEK), 'upgrade'],
    [plan(3000, MONTH, 3), plan(1001, MONTH), 'upgrade'],
  ])('%o to %o is an %s', (from, to, direction) => expect(directionOf(from, to)).toBe(direction));

  test('compares prices whose products pass 2^53', () =>
    expect(compareRates(plan(99_999_999, YEAR, 3, 100), plan(99_999_998, YEAR, 3, 100))).toBe(1));
});

describe('an invoice', () => {
  test.each([
    [[[Kind.RECURRING, 9900]], { subtotal: 9900, discount: 0, tax: 0, total: 9900 }],
    [
      [
        [Kind.RECURRING, 9900],
        [Kind.DISCOUNT, -1980],
        [Kind.TAX, 634],
      ],
      { subtotal: 9900, discount: 1980, tax: 634, total: 8554 },
    ],
    [
      [
        [Kind.PRORATION_CREDIT, -1500],
        [Kind.PRORATION_CHARGE, 4500],
      ],
      { subtotal: 3000, discount: 0, tax: 0, total: 3000 },
    ],
    [
      [
        [Kind.ONE_TIME, 2500],
        [Kind.SHIPPING, 500],
      ],
      { subtotal: 3000, discount: 0, tax: 0, total: 3000 },
    ],
    [
      [
        [Kind.RECURRING, 980],
        [Kind.DISCOUNT, -980],
      ],
      { subtotal: 980, discount: 980, tax: 0, total: 0 },
    ],
    [[], { subtotal: 0, discount: 0, tax: 0, total: 0 }],
  ] as [[Kind, number][], object][])('of %o is %o', (lines, totals) =>
    expect(totalsOf(lines.map(([kind, amount]) => ({ kind, amount })))).toEqual(totals),
  );

  test('never asks for less than nothing', () => {
    expect(() => totalsOf([{ kind: Kind.PRORATION_CREDIT, amount: -1 }])).toThrow(RangeError);
    expect(dueOf(10_000, { cashApplied: 500, creditApplied: 1500, amountPaid: 8000 })).toBe(0);
    expect(() => dueOf(100, { cashApplied: 0, creditApplied: 101, amountPaid: 0 })).toThrow(RangeError);
  });

  test.each([
    [1000, 0, 0],
    [1000, 400, 400],
    [1000, 5000, 1000],
    [0, 5000, 0],
    [1000, -3, 0],
  ])('of %d takes of a balance of %d: %d', (total, balance, used) => expect(creditFor(total, balance)).toBe(used));

  test.each([
    ['INV', 2026, 42, 'INV-2026-000042'],
    ['CN', 2027, 1, 'CN-2027-000001'],
    ['INV', 2026, 1_000_000, 'INV-2026-1000000'],
  ] as const)('%s %d %d is %s', (prefix, year, n, number) => expect(documentNumber(prefix, year, n)).toBe(number));
});

describe('dunning', () => {
  const { SOFT, HARD, ACTION_REQUIRED, PROCESSOR_ERROR } = DeclineCategory;

  test.each([
    [SOFT, 0, 1],
    [SOFT, 0.5, 1],
    [SOFT, 1, 3],
    [SOFT, 2, 3],
    [SOFT, 3, 7],
    [SOFT, 7, 14],
    [SOFT, 14, null],
    [SOFT, 20, null],
    [PROCESSOR_ERROR, 0, 1],
    [PROCESSOR_ERROR, 7, 14],
    [HARD, 0, null],
    [HARD, 3, null],
    [ACTION_REQUIRED, 0, null],
    [ACTION_REQUIRED, 1, null],
  ] as const)('after a %s failure on day %d tries on day %d', (category, day, next) => {
    expect(nextAttempt(category, NOW, inDays(day))).toEqual(next === null ? null : inDays(next));
  });

  test('gives up on day 21, or by the brand', () => {
    const policy = { retryDays: [2, 4], finalDay: 6, finalAction: 'pause' } as const;
    expect(finalAt(NOW)).toEqual(inDays(21));
    expect([finalAt(NOW, policy), nextAttempt(SOFT, NOW, inDays(2), policy), nextAttempt(SOFT, NOW, inDays(4), policy)]).toEqual([
      inDays(6),
      inDays(4),
      null,
    ]);
  });

  test.each([
    [
      { retry_days: [2, 5], final_day: 9 },
      { retryDays: [2, 5], finalDay: 9, finalAction: 'cancel' },
    ],
    [
      { retry_days: [], final_day: 1, final_action: 'pause' },
      { retryDays: [], finalDay: 1, finalAction: 'pause' },
    ],
    [{ retry_days: [1, 2, 3, 4, 5, 6, 7, 8, 9], final_day: 20 }, null],
    [{ retry_days: [3, 2], final_day: 9 }, null],
    [{ retry_days: [3, 9], final_day: 9 }, null],
    [{ retry_days: [0.5], final_day: 9 }, null],
    [{ retry_days: [1], final_day: 9, final_action: 'sue' }, null],
    [{ retry_days: [1] }, null],
    [null, null],
  ])('the configuration %o is %o', (value, policy) => expect(dunningPolicy(value)).toEqual(policy));

  const attempts = (count: number, firstDay: number) => Array.from({ length: count }, (_, n) => inDays(firstDay + n / 100));
  test.each([
    [14, -1, 0],
    [15, -1, 29],
    [15, -29.5, 0.5],
    [15, -31, 0],
    [20, -1, 29.05],
  ])('%d attempts from day %d on allow one more on day %d', (count, firstDay, day) => {
    expect(allowedFrom(attempts(count, firstDay), NOW).getTime()).toBeCloseTo(inDays(day).getTime(), -1);
  });

  const due: Collection = { isPaid: false, isInProgress: false, isHardDeclined: false, attempts: [], nextAttemptAt: NOW };
  test.each([
    [{}, false, null],
    [{ nextAttemptAt: inDays(1) }, false, 'not_due'],
    [{ nextAttemptAt: inDays(1) }, true, null],
    [{ nextAttemptAt: null }, false, 'not_due'],
    [{ nextAttemptAt: null }, true, null],
    [{ isPaid: true, isHardDeclined: true }, true, 'paid'],
    [{ isInProgress: true }, true, 'in_progress'],
    [{ isHardDeclined: true }, false, 'hard_decline'],
    [{ isHardDeclined: true }, true, 'hard_decline'],
    [{ attempts: attempts(15, -1) }, false, 'ceiling'],
    [{ attempts: attempts(15, -1) }, true, 'ceiling'],
    [{ attempts: attempts(15, -31) }, true, null],
  ] as [Partial<Collection>, boolean, string | null][])(
    'an invoice that is %o, schedule ignored: %s, is skipped as %s',
    (what, ignored, reason) => expect(skipReason({ ...due, ...what }, NOW, ignored)).toBe(reason),
  );
});

describe('a recurring promo', () => {
  const promo = (change: Partial<RecurringPromo>): RecurringPromo => ({
    kind: PromoKind.PERCENT,
    duration: PromoDuration.ONCE,
    durationPeriods: null,
    percentBps: 2000,
    amountOff: null,
    ...change,
  });
  /** What is asked for in each of the periods. */
  function asked(one: RecurringPromo, prices: readonly number[]): number[] {
    let left = reducedPeriods(one);
    return prices.map(price => {
      const off = isReduced(left) ? discountOf(one, BigInt(price)) : 0;
      left = afterOne(left);
      return price - off;
    });
  }
  const periods = (one: RecurringPromo) => asked(one, [100, 100, 100, 100, 100]).map(price => price < 100);

  test('reduces one period, as many as it says, or all', () => {
    expect(periods(promo({}))).toEqual([true, false, false, false, false]);
    expect(periods(promo({ duration: PromoDuration.REPEATING, durationPeriods: 3 }))).toEqual([true, true, true, false, false]);
    expect(periods(promo({ duration: PromoDuration.FOREVER }))).toEqual([true, true, true, true, true]);
  });

  /** A price in each period as cadence and plan change, and what is asked for: minor units by hand. */
  test.each([
    [
      '20 % for 3 periods: month, month, year, year',
      promo({ duration: PromoDuration.REPEATING, durationPeriods: 3 }),
      [9900, 9900, 99000, 99000],
      [7920, 7920, 79200, 99000],
    ],
    ['20 % forever: month, quarter, year', promo({ duration: PromoDuration.FOREVER }), [9900, 29700, 99000], [7920, 23760, 79200]],
    ['USD 50.00 off once: month, year', promo({ kind: PromoKind.AMOUNT, amountOff: 5000 }), [9900, 99000], [4900, 99000]],
    [
      'USD 50.00 off forever: 29.00, 99.00',
      promo({ kind: PromoKind.AMOUNT, amountOff: 5000, duration: PromoDuration.FOREVER }),
      [2900, 9900],
      [0, 4900],
    ],
    ['12.5 % forever, JPY', promo({ percentBps: 1250, duration: PromoDuration.FOREVER }), [980, 1, 4, 12], [858, 1, 4, 10]], // 122.5→122, 0.125→0, 0.5→0, 1.5→2
    ['33.33 % forever, KWD', promo({ percentBps: 3333, duration: PromoDuration.FOREVER }), [9500, 1000], [6334, 667]], // 3166.35, 333.3
    ['100 % once', promo({ percentBps: 10_000 }), [9900, 9900], [0, 9900]],
    ['days of trial', promo({ kind: PromoKind.TRIAL_DAYS, percentBps: null }), [9900], [9900]],
  ])('%s', (_what, one, prices, due) => expect(asked(one, prices)).toEqual(due));
});
