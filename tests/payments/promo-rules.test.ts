import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { move } from '../../runtime/request/states.js';
import { PriceSubjectKind } from '../../runtime/schema/price-subjects.js';
import { PromoHoldStatus, PromoKind, PromoRefusal, PromoStatus } from '../../subgraphs/payments/entities/enums-offers.js';
import { allocate } from '../../subgraphs/payments/rules/allocation.js';
import {
  discountOf,
  normalizedCode,
  promoStatusAt,
  PROMO_STATES,
  REDEMPTION_STATES,
  refusalOf,
  type PromoLine,
  type PromoQuestion,
  type PromoTerms,
} from '../../subgraphs/payments/rules/promo.js';

const NOW = new Date('2026-11-21T12:00:00.000Z');
const at = (ms: number): Date => new Date(NOW.getTime() + ms);
const { MEMBERSHIP_PLAN, PRODUCT_VARIANT, PROTOCOL } = PriceSubjectKind;

const promo = (changes: Partial<PromoTerms> = {}): PromoTerms => ({
  brandId: 'brand',
  kind: PromoKind.PERCENT,
  percentBps: 2000,
  amountOffMinor: null,
  currency: null,
  status: PromoStatus.ACTIVE,
  startsAt: null,
  endsAt: null,
  minSubtotalMinor: null,
  firstPurchaseOnly: false,
  maxRedemptions: null,
  perUserLimit: 1,
  redeemedCount: 0,
  reservedCount: 0,
  priceIds: [],
  subjectKinds: [],
  ...changes,
});
const line = (subtotal: number, changes: Partial<PromoLine> = {}): PromoLine => ({
  priceId: 'price',
  subjectKind: MEMBERSHIP_PLAN,
  subjectId: 'plan',
  recurring: true,
  subtotal,
  ...changes,
});
const asked = (changes: Partial<PromoQuestion> = {}): PromoQuestion => ({
  brandId: 'brand',
  currency: 'USD',
  lines: [line(9900)],
  usedByUser: 0,
  hasPurchased: false,
  at: NOW,
  ...changes,
});
const amountOff = (amount: number, currency = 'USD'): Partial<PromoTerms> => ({
  kind: PromoKind.AMOUNT,
  percentBps: null,
  amountOffMinor: amount,
  currency,
});
const trial: Partial<PromoTerms> = { kind: PromoKind.TRIAL_DAYS, percentBps: null };

describe('a code is refused', () => {
  test.each<[string, Partial<PromoTerms> | null, Partial<PromoQuestion>, PromoRefusal | null]>([
    ['never without a reason', {}, {}, null],
    ['when it does not exist', null, {}, PromoRefusal.UNKNOWN],
    ['of another brand', {}, { brandId: 'other' }, PromoRefusal.UNKNOWN],
    ['when staff has disabled it', { status: PromoStatus.DISABLED }, {}, PromoRefusal.UNKNOWN],
    ['when it is disabled and expired', { status: PromoStatus.DISABLED, endsAt: NOW }, {}, PromoRefusal.UNKNOWN],
    ['until it starts', { startsAt: at(1) }, {}, PromoRefusal.UNKNOWN],
    ['no more at the instant of its start', { startsAt: NOW }, {}, null],
    ['from the instant of its end', { endsAt: NOW }, {}, PromoRefusal.EXPIRED],
    ['not before its end', { endsAt: at(1) }, {}, null],
    ['when all are redeemed', { maxRedemptions: 2, redeemedCount: 2 }, {}, PromoRefusal.EXHAUSTED],
    ['when the last one is reserved', { maxRedemptions: 2, redeemedCount: 1, reservedCount: 1 }, {}, PromoRefusal.EXHAUSTED],
    ['when more were redeemed late than it has', { maxRedemptions: 2, redeemedCount: 3 }, {}, PromoRefusal.EXHAUSTED],
    ['not while one is left', { maxRedemptions: 2, redeemedCount: 1 }, {}, null],
    ['for another price', { priceIds: ['other'] }, {}, PromoRefusal.NOT_APPLICABLE],
    ['not for its price', { priceIds: ['price'] }, {}, null],
    ['for another kind', { subjectKinds: [PROTOCOL] }, {}, PromoRefusal.NOT_APPLICABLE],
    ['not for its kind', { subjectKinds: [MEMBERSHIP_PLAN] }, {}, null],
    ['not for a price of another kind that it names', { priceIds: ['price'], subjectKinds: [PROTOCOL] }, {}, null],
    ['in another currency', amountOff(500, 'EUR'), {}, PromoRefusal.NOT_APPLICABLE],
    ['for a trial of what does not recur', trial, { lines: [line(100, { recurring: false })] }, PromoRefusal.NOT_APPLICABLE],
    ['not for a trial of what recurs', trial, {}, null],
    ['for nothing', {}, { lines: [] }, PromoRefusal.NOT_APPLICABLE],
    ['below its least subtotal', { minSubtotalMinor: 9901, currency: 'USD' }, {}, PromoRefusal.MIN_SUBTOTAL],
    ['not at its least subtotal', { minSubtotalMinor: 9900, currency: 'USD' }, {}, null],
    ['when the user has used it', {}, { usedByUser: 1 }, PromoRefusal.ALREADY_USED],
    ['not before the limit of the user', { perUserLimit: 2 }, { usedByUser: 1 }, null],
    ['after a first purchase', { firstPurchaseOnly: true }, { hasPurchased: true }, PromoRefusal.NOT_FIRST_PURCHASE],
    ['not for a first purchase', { firstPurchaseOnly: true }, {}, null],
  ])('%s', (_case, terms, question, reason) => {
    expect(refusalOf(terms && promo(terms), asked(question))).toBe(reason);
  });

  test('counts the whole subtotal for its least one, also lines that it is not for', () => {
    const lines = [line(600), line(400, { subjectKind: PROTOCOL })];
    expect(refusalOf(promo({ subjectKinds: [PROTOCOL], minSubtotalMinor: 1000, currency: 'USD' }), asked({ lines }))).toBeNull();
  });
});

describe('the discount', () => {
  test.each<[string, Partial<PromoTerms>, number[], number[]]>([
    ['of 20 % of 99.00', {}, [9900], [1980]],
    ['of 0.01 % of 50 cents is nothing', { percentBps: 1 }, [50], []],
    ['is rounded half to even, down', { percentBps: 5000 }, [25], [12]],
    ['is rounded half to even, up', { percentBps: 5000 }, [27], [14]],
    ['of 100 % is the subtotal', { percentBps: 10_000 }, [3, 5], [3, 5]],
    ['of an amount is spread in proportion', amountOff(1000), [3000, 1000], [750, 250]],
    ['leaves no cent over', amountOff(100), [1, 1, 1].map(n => n * 1000), [34, 33, 33]],
    ['is never above the subtotal', amountOff(5000), [3000, 1000], [3000, 1000]],
    ['of a trial is nothing', trial, [9900], []],
    ['keeps its cents past 2^53 in the product', { percentBps: 3333 }, [99_999_999_00], [3_332_999_967]],
  ])('%s', (_case, terms, subtotals, parts) => {
    const { amount, allocations } = discountOf(
      promo(terms),
      subtotals.map(subtotal => line(subtotal)),
    );
    expect(allocations.map(one => one.amount)).toEqual(parts);
    expect(amount).toBe(parts.reduce((sum, part) => sum + part, 0));
  });

  test('is spread over the lines that it is for, by their place in the input', () => {
    const lines = [line(1000, { subjectId: 'a' }), line(2000, { subjectId: 'b', subjectKind: PRODUCT_VARIANT, priceId: null })];
    expect(discountOf(promo({ subjectKinds: [PRODUCT_VARIANT] }), lines)).toEqual({
      amount: 400,
      allocations: [{ line: 1, subjectId: 'b', amount: 400 }],
    });
  });

  test('sums to the whole, and no part is above its line or off its share by a cent', () => {
    const weights = fc.array(fc.integer({ min: 0, max: 99_999_999_00 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(weights, fc.integer({ min: 0, max: 10_000 }), (lines, bps) => {
        const total = lines.reduce((sum, one) => sum + one, 0);
        const amount = Math.floor((total / 10_000) * bps);
        const parts = allocate(amount, lines);
        expect(parts.reduce((sum, part) => sum + part, 0)).toBe(total === 0 ? 0 : amount);
        parts.forEach((part, index) => {
          expect(part).toBeLessThanOrEqual(lines[index]!);
          const off = BigInt(part) * BigInt(total) - BigInt(amount) * BigInt(lines[index]!);
          expect(off < BigInt(total || 1) && -off < BigInt(total || 1)).toBe(true);
        });
      }),
    );
  });
});

test.each([
  ['spring20', 'SPRING20'],
  ['  Spring-20_a ', 'SPRING-20_A'],
  ['ab', null],
  ['A'.repeat(33), null],
  ['SPRING 20', null],
  ['ŚPRING', null],
])('the code %j is read as %j', (typed, code) => expect(normalizedCode(typed)).toBe(code));

describe('states', () => {
  const promoTriggers = ['start', 'exhaust', 'release', 'expire', 'disable'] as const;
  const redemptionTriggers = ['redeem', 'release', 'refund'] as const;
  const allowed = new Set([
    'scheduled start active',
    'scheduled disable disabled',
    'active exhaust exhausted',
    'active expire expired',
    'active disable disabled',
    'exhausted release active',
    'exhausted expire expired',
    'exhausted disable disabled',
    'expired disable disabled',
    'reserved redeem redeemed',
    'reserved release released',
    'redeemed refund released',
    'released redeem redeemed',
  ]);
  const pairs = [
    ...Object.values(PromoStatus).flatMap(state => promoTriggers.map(trigger => ['promo', PROMO_STATES, state, trigger] as const)),
    ...Object.values(PromoHoldStatus).flatMap(state =>
      redemptionTriggers.map(trigger => ['promo redemption', REDEMPTION_STATES, state, trigger] as const),
    ),
  ];

  test.each(pairs)('a %s, %o: %s, %s', (thing, table, state, trigger) => {
    const next = [...allowed].find(one => one.startsWith(`${state} ${trigger} `))?.split(' ')[2];
    const go = () => move(table as never, thing, state as never, trigger as never);
    if (next) expect(go()).toBe(next);
    else expect(go).toThrow(/that is .* cannot/);
  });

  test.each<[string, Partial<PromoTerms>, PromoStatus]>([
    ['before its start', { startsAt: at(1) }, PromoStatus.SCHEDULED],
    ['without times', {}, PromoStatus.ACTIVE],
    ['at its limit', { maxRedemptions: 1, reservedCount: 1 }, PromoStatus.EXHAUSTED],
    ['when a reservation was given back', { maxRedemptions: 1, reservedCount: 0 }, PromoStatus.ACTIVE],
    ['at its end', { endsAt: NOW }, PromoStatus.EXPIRED],
    ['at its end, exhausted', { endsAt: NOW, maxRedemptions: 1, redeemedCount: 1 }, PromoStatus.EXPIRED],
    ['when staff disabled it', { status: PromoStatus.DISABLED, endsAt: NOW }, PromoStatus.DISABLED],
  ])('a promo %s', (_case, terms, status) => expect(promoStatusAt(promo(terms), NOW)).toBe(status));
});
