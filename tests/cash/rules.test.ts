import { describe, expect, test } from 'vitest';
import { CashGrantStatus, CashReservationStatus, CashSource, PriceSubjectKind } from '../../subgraphs/cash/entities/enums.js';
import { byEnd, figuresAt } from '../../subgraphs/cash/rules/balance.js';
import { defaultEnd, termViolations, type Terms } from '../../subgraphs/cash/rules/grants.js';
import { allot, coverOf, inSpendOrder, shareOf, stateAt, type Lot } from '../../subgraphs/cash/rules/lots.js';
import { holdUntil, reservationStateAt } from '../../subgraphs/cash/rules/reservations.js';
import { lotsToReturn, returnedEnd } from '../../subgraphs/cash/rules/returns.js';
import { days, minutes, T0 } from './till.js';

const { ACTIVE, EXHAUSTED, EXPIRED, REVOKED, SCHEDULED } = CashGrantStatus;
const at = (time: string): Date => new Date(time);
const NOW = at(T0);

const lot = (id: string, more: Partial<Lot> = {}): Lot => ({
  id,
  state: ACTIVE,
  left: 100,
  activatesAt: at(minutes(-60)),
  expiresAt: at(days(10)),
  createdAt: at(minutes(-60)),
  minSubtotal: null,
  subjectKinds: [],
  maxShareBps: 10_000,
  ...more,
});
const { MEMBERSHIP_PLAN, PRODUCT_VARIANT } = PriceSubjectKind;

test.each([
  [1_000, 5_000, 500],
  [1, 5_000, 0], // 0.5 to even
  [3, 5_000, 2], // 1.5 to even
  [5, 5_000, 2], // 2.5 to even
  [999, 3_333, 333],
  [9_007_199_254_740_991, 10_000, 9_007_199_254_740_991],
  [9_007_199_254_740_991, 9_999, 9_006_298_534_815_517],
])('of %d a share of %d basis points is %d', (amount, bps, share) => {
  expect(shareOf(amount, bps)).toBe(share);
});

test.each([
  [ACTIVE, minutes(-60), minutes(1), ACTIVE],
  [ACTIVE, minutes(-60), T0, EXPIRED], // the end itself is too late
  [ACTIVE, minutes(-60), null, ACTIVE],
  [SCHEDULED, T0, minutes(1), ACTIVE], // the beginning itself is in time
  [SCHEDULED, minutes(1), null, SCHEDULED],
  [SCHEDULED, minutes(-2), minutes(-1), EXPIRED],
  [REVOKED, minutes(-60), minutes(-1), REVOKED],
  [EXHAUSTED, minutes(-60), minutes(-1), EXHAUSTED],
])('a grant stored as %s, from %s to %s, is %s now', (state, from, to, expected) => {
  expect(stateAt({ state, activatesAt: at(from), expiresAt: to === null ? null : at(to) }, NOW)).toBe(expected);
});

test('the order of spending is: end, restricted first, age, id', () => {
  const lots = [
    lot('endless', { expiresAt: null }),
    lot('b'),
    lot('a'),
    lot('older', { createdAt: at(minutes(-90)) }),
    lot('restricted', { maxShareBps: 9_999 }),
    lot('soonest', { expiresAt: at(days(1)) }),
  ];
  expect(lots.sort(inSpendOrder).map(({ id }) => id)).toEqual(['soonest', 'restricted', 'older', 'a', 'b', 'endless']);
});

const purchase = { subtotal: 1_000, subjectKinds: [PRODUCT_VARIANT] };
test.each([
  ['free', {}, purchase, 1_000],
  ['free, of no purchase', {}, null, Number.MAX_SAFE_INTEGER],
  ['half', { maxShareBps: 5_000 }, purchase, 500],
  ['half, of no purchase', { maxShareBps: 5_000 }, null, 0],
  ['from 1000', { minSubtotal: 1_000 }, purchase, 1_000],
  ['from 1001', { minSubtotal: 1_001 }, purchase, 0],
  ['of its kind', { subjectKinds: [PRODUCT_VARIANT] }, purchase, 1_000],
  ['of another kind', { subjectKinds: [MEMBERSHIP_PLAN] }, purchase, 0],
  ['of a mixed purchase', { subjectKinds: [PRODUCT_VARIANT] }, { subtotal: 1_000, subjectKinds: [PRODUCT_VARIANT, MEMBERSHIP_PLAN] }, 0],
  ['of both kinds', { subjectKinds: [PRODUCT_VARIANT, MEMBERSHIP_PLAN] }, { subtotal: 1_000, subjectKinds: [MEMBERSHIP_PLAN] }, 1_000],
])('a lot that is %s covers as much of the purchase', (_name, more, bought, covered) => {
  expect(coverOf(lot('a', more), bought)).toBe(covered);
});

describe('what is taken', () => {
  const amounts = (lots: Lot[], wanted: number, bought = purchase as typeof purchase | null) =>
    allot(lots, wanted, bought, NOW).map(take => [take.lot.id, take.amount]);

  test('never exceeds the purchase, whatever is wanted', () => {
    expect(amounts([lot('a', { left: 800 }), lot('b', { left: 800 })], 5_000)).toEqual([
      ['a', 800],
      ['b', 200],
    ]);
  });
  test('leaves out what is used up, has ended, waits or is revoked', () => {
    const gone = [
      lot('x', { left: 0 }),
      lot('y', { expiresAt: NOW }),
      lot('z', { state: REVOKED }),
      lot('w', { activatesAt: at(minutes(1)), state: SCHEDULED }),
    ];
    expect(amounts([...gone, lot('a')], 100)).toEqual([['a', 100]]);
  });
  test('passes a lot by that does not fit, and goes on', () => {
    expect(amounts([lot('a', { subjectKinds: [MEMBERSHIP_PLAN] }), lot('b')], 70)).toEqual([['b', 70]]);
  });
});

test('a balance counts what an ended reservation gives back, unless its lot has ended', () => {
  const lots = [lot('a', { left: 60 }), lot('b', { left: 0, expiresAt: NOW })];
  const held = [
    { grantId: 'a', units: 40, expiresAt: NOW },
    { grantId: 'b', units: 100, expiresAt: NOW },
    { grantId: 'a', units: 7, expiresAt: at(minutes(1)) },
  ];
  expect(figuresAt(lots, held, NOW)).toEqual({ available: 100, reserved: 7, expiringNext: { amount: 100, at: at(days(10)) } });
});

test('what ends at one instant is one sum, and what never ends is in none', () => {
  const parts = [lot('a'), lot('b', { expiresAt: null }), lot('c', { expiresAt: at(days(1)) }), lot('d')].map(one => ({
    lot: one,
    amount: 10,
  }));
  expect(byEnd(parts)).toEqual([
    { amount: 10, at: at(days(1)) },
    { amount: 20, at: at(days(10)) },
  ]);
});

test.each([
  [CashSource.PROMOTION, days(365)],
  [CashSource.BONUS, days(365)],
  [CashSource.REFERRAL, days(365)],
  [CashSource.STAFF, days(365)],
  [CashSource.GIFT, null],
  [CashSource.REFUND, null],
])('a grant of source %s ends at %s by default', (source, end) => {
  expect(defaultEnd(source, NOW)?.toISOString() ?? null).toBe(end);
});

describe('terms', () => {
  const terms = (more: Partial<Terms>): Terms => ({
    source: CashSource.PROMOTION,
    units: 100,
    currency: 'USD',
    activatesAt: NOW,
    expiresAt: at(days(1)),
    reason: 'why',
    minSubtotalCurrency: null,
    ...more,
  });
  test.each([
    [{ units: 0 }, false, ['/input/amount/amount']],
    [{ units: 10_000_000 }, false, []],
    [{ units: 10_000_001 }, false, ['/input/amount/amount']],
    [{ units: 20_000 }, true, []],
    [{ units: 20_001 }, true, ['/input/amount/amount']],
    [{ expiresAt: NOW }, false, ['/input/expiresAt']],
    [{ expiresAt: at('2036-11-24T12:00:00.000Z') }, false, []],
    [{ expiresAt: at('2036-11-24T12:00:00.001Z') }, false, ['/input/expiresAt']],
    [{ minSubtotalCurrency: 'EUR' }, false, ['/input/restrictions/minSubtotal/currency']],
    [{ reason: null }, true, ['/input/reason']],
    [{ source: CashSource.GIFT }, true, ['/input/source']],
    [{ units: 0, reason: null }, true, ['/input/amount/amount', '/input/reason']],
  ])('%j given by staff %s: wrong at %j', (more, byStaff, pointers) => {
    expect(termViolations(terms(more), byStaff).map(({ pointer }) => pointer)).toEqual(pointers);
  });
});

test.each([
  [T0, T0, minutes(30)],
  [T0, days(7), new Date(Date.parse(days(7)) + 1_800_000).toISOString()],
  [T0, minutes(8 * 1440 - 10), days(8)],
])('made at %s and extended at %s, a reservation holds until %s', (made, now, end) => {
  expect(holdUntil(at(made), at(now)).toISOString()).toBe(end);
});

test.each([
  [CashReservationStatus.HELD, minutes(1), CashReservationStatus.HELD],
  [CashReservationStatus.HELD, T0, CashReservationStatus.EXPIRED],
  [CashReservationStatus.COMMITTED, T0, CashReservationStatus.COMMITTED],
])('a reservation stored as %s until %s is %s now', (state, until, expected) => {
  expect(reservationStateAt({ state, expiresAt: at(until) }, NOW)).toBe(expected);
});

test('what comes back first is what ends last, then what was spent last; never more than is out', () => {
  const spent = (id: string, position: number, units: number, end: string | null, givenBack = 0) => ({
    id,
    position,
    units,
    givenBack,
    expiresAt: end === null ? null : at(end),
  });
  const lots = [spent('a', 0, 300, days(1)), spent('b', 1, 200, days(9)), spent('c', 2, 50, null, 20), spent('d', 3, 70, days(9))];
  expect(lotsToReturn(lots, 250).map(take => [take.lot.id, take.amount])).toEqual([
    ['c', 30],
    ['d', 70],
    ['b', 150],
  ]);
  expect(lotsToReturn(lots, 9_999).map(take => take.amount)).toEqual([30, 70, 200, 300]);
});

test.each([
  [days(10), days(30)],
  [days(30), days(30)],
  [days(90), days(90)],
  [null, null],
])('what would end at %s ends at %s once it comes back', (original, end) => {
  expect(returnedEnd(original === null ? null : at(original), NOW)?.toISOString() ?? null).toBe(end);
});
