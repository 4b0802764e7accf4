import { describe, expect, test } from 'vitest';
import {
  AffiliateAttributionModel,
  AffiliateStatus,
  CommissionKind,
  CommissionStatus,
  PriceSubjectKind,
  WinBackClaimStatus,
} from '../../subgraphs/affiliates/entities/enums.js';
import { AFFILIATE_STATES, isBot, isOnHosts, tierViolations } from '../../subgraphs/affiliates/rules/affiliates.js';
import { monthsAfter, ratioOf, shareOf } from '../../subgraphs/affiliates/rules/arithmetic.js';
import { isInTime, wins } from '../../subgraphs/affiliates/rules/attribution.js';
import { amountOf, baseOf, isEligible, refundDifference, statusOf } from '../../subgraphs/affiliates/rules/commission.js';
import { claimStateAt } from '../../subgraphs/affiliates/rules/win-back.js';
import { move, type TransitionTable } from '../../runtime/request/states.js';
import { days, T0 } from './agency.js';

const at = (time: string): Date => new Date(time);

test.each([
  [7_920, 1_000, 792],
  [5, 1_000, 0], // 0.5 to even
  [15, 1_000, 2], // 1.5 to even
  [25, 1_000, 2], // 2.5 to even
  [9_007_199_254_740_991, 9_999, 9_006_298_534_815_517],
])('of a base of %d a rate of %d basis points is %d', (base, rate, amount) => {
  expect(shareOf(base, rate)).toBe(amount);
});

test.each([
  [792, 2_640, 7_920, 264],
  [1, 1, 2, 0],
  [3, 1, 2, 2],
  [9_007_199_254_740_991, 9_007_199_254_740_990, 9_007_199_254_740_991, 9_007_199_254_740_990],
])('%d × %d / %d is %d', (amount, part, whole, ratio) => {
  expect(ratioOf(amount, part, whole)).toBe(ratio);
});

test.each([
  ['2026-01-31T10:00:00.000Z', 1, '2026-02-28T10:00:00.000Z'],
  ['2028-01-31T10:00:00.000Z', 1, '2028-02-29T10:00:00.000Z'],
  ['2026-11-24T12:00:00.000Z', 12, '2027-11-24T12:00:00.000Z'],
  ['2028-02-29T00:00:00.000Z', 12, '2029-02-28T00:00:00.000Z'],
])('%s and %d months are %s', (from, months, to) => {
  expect(monthsAfter(at(from), months).toISOString()).toBe(to);
});

const settled = { subtotal: 9_900, discount: 1_980, tax: 700, shipping: 500, cash: 3_000 };
test.each([
  [{ includeTax: false, includeShipping: false, includeCash: true }, 7_920],
  [{ includeTax: true, includeShipping: true, includeCash: true }, 9_120],
  [{ includeTax: false, includeShipping: false, includeCash: false }, 4_920],
])('with %j the base is %d', (terms, base) => {
  expect(baseOf(settled, terms)).toBe(base);
});
test('a base is never below 0', () => {
  expect(baseOf({ ...settled, cash: 9_000 }, { includeTax: false, includeShipping: false, includeCash: false })).toBe(0);
});

const percent = { kind: CommissionKind.PERCENT, rateBps: 1_000, flatUnits: null };
const flat = { kind: CommissionKind.FLAT, rateBps: null, flatUnits: 500 };
test.each([
  [percent, 7_920, true, 792],
  [percent, 7_920, false, 792],
  [flat, 7_920, true, 500],
  [flat, 7_920, false, 0],
  [flat, 0, true, 0],
])('%j of %d, the first purchase: %s, earns %d', (tier, base, isFirst, amount) => {
  expect(amountOf(tier, base, isFirst)).toBe(amount);
});

const { MEMBERSHIP_PLAN, PRODUCT_VARIANT } = PriceSubjectKind;
const program = { active: true, subjectKinds: [] as PriceSubjectKind[], renewalMonths: 12 };
const purchase = { purpose: 'order', isRenewal: false, customerSince: at(T0), at: at(T0) };
test.each([
  ['anything', purchase, program, true],
  ['nothing of a program that is over', purchase, { ...program, active: false }, false],
  ['its kind', purchase, { ...program, subjectKinds: [PRODUCT_VARIANT] }, true],
  ['no other kind', purchase, { ...program, subjectKinds: [MEMBERSHIP_PLAN] }, false],
  ['a renewal in time', { ...purchase, purpose: 'invoice', isRenewal: true, at: at('2027-11-24T11:59:59.999Z') }, program, true],
  ['no renewal after it', { ...purchase, purpose: 'invoice', isRenewal: true, at: at('2027-11-24T12:00:00.000Z') }, program, false],
])('%s counts', (_name, bought, terms, counts) => {
  expect(isEligible(bought, terms)).toBe(counts);
});

const standing = { isHeld: false, isPosted: false, isPaid: false, net: 1 };
test.each([
  [standing, CommissionStatus.ACCRUED],
  [{ ...standing, isHeld: true }, CommissionStatus.HELD],
  [{ ...standing, isPosted: true }, CommissionStatus.POSTED],
  [{ ...standing, isPosted: true, isPaid: true }, CommissionStatus.PAID],
  [{ ...standing, isPosted: true, isPaid: true, net: 0 }, CommissionStatus.REVERSED],
  [{ ...standing, isHeld: true, net: 0 }, CommissionStatus.REVERSED],
])('%j is %s', (one, status) => {
  expect(statusOf(one)).toBe(status);
});

describe('a refund of an obligation of 7920', () => {
  test.each([
    [2_640, { byRefunds: 0, byOthers: 0 }, false, 264],
    [5_280, { byRefunds: 264, byOthers: 0 }, false, 264],
    [7_920, { byRefunds: 528, byOthers: 0 }, false, 264],
    [2_640, { byRefunds: 264, byOthers: 0 }, false, 0], // told again by another
    [0, { byRefunds: 264, byOthers: 0 }, true, -264],
    [2_640, { byRefunds: 528, byOthers: 0 }, true, -264],
    [2_640, { byRefunds: 0, byOthers: 300 }, false, 0], // staff took more already
    [0, { byRefunds: 264, byOthers: 300 }, true, -264], // what staff took stays taken
    [9_999, { byRefunds: 0, byOthers: 0 }, false, 792], // more than all is all
  ])('of which %d has gone back, with %j taken so far, bounced: %s, takes %d', (refunded, reversed, isFailed, units) => {
    expect(refundDifference(792, { amount: 7_920, refunded }, reversed, isFailed)).toBe(units);
  });
});

test.each([
  [days(-30), T0, true],
  [new Date(Date.parse(days(-30)) - 1).toISOString(), T0, false],
  [days(-1), days(1), true],
  [days(-1), new Date(Date.parse(days(1)) + 1).toISOString(), false],
])('clicked at %s and claimed at %s, a sign-up is in time: %s', (clickedAt, claimedAt, expected) => {
  expect(isInTime({ clickedAt: at(clickedAt), claimedAt: at(claimedAt) }, at(T0), 30)).toBe(expected);
});

test.each([
  [AffiliateAttributionModel.LAST_CLICK, days(1), true],
  [AffiliateAttributionModel.LAST_CLICK, days(-1), false],
  [AffiliateAttributionModel.FIRST_CLICK, days(1), false],
  [AffiliateAttributionModel.FIRST_CLICK, days(-1), true],
])('by %s a click at %s wins: %s', (model, clickedAt, expected) => {
  expect(wins(model, at(clickedAt), at(T0))).toBe(expected);
});

test('the states of an affiliate are those of the contract, and no others', () => {
  const { APPLIED, APPROVED, CLOSED, REJECTED, SUSPENDED } = AffiliateStatus;
  expect(AFFILIATE_STATES).toEqual({
    [APPLIED]: { approve: APPROVED, reject: REJECTED, close: CLOSED },
    [APPROVED]: { suspend: SUSPENDED, close: CLOSED },
    [SUSPENDED]: { restore: APPROVED, close: CLOSED },
    [REJECTED]: {},
    [CLOSED]: {},
  });
  expect(() => move(AFFILIATE_STATES as TransitionTable<AffiliateStatus, 'approve'>, 'affiliate', REJECTED, 'approve')).toThrow(
    /rejected cannot approve/,
  );
});

test.each([
  ['https://main.example/shop?x=1', true],
  ['https://shop.main.example/', true],
  ['http://main.example/', false],
  ['https://main.example.evil.test/', false],
  ['https://notmain.example/', false],
  ['https://user:pw@main.example/', false],
  ['javascript:alert(1)', false],
  ['main.example', false],
])('%s is on the brand: %s', (target, expected) => {
  expect(isOnHosts(target, ['main.example'])).toBe(expected);
});

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36', false],
  ['Googlebot/2.1 (+http://www.google.com/bot.html)', true],
  ['curl/8.5.0', true],
  ['', true],
])('%j reads by itself: %s', (agent, expected) => {
  expect(isBot(agent)).toBe(expected);
});

test('tiers have a rate or an amount, keys and ranks of their own, and the currency of their program', () => {
  const [usd, eur] = [{ currency: 'USD' }, { currency: 'EUR' }];
  const tiers = [
    { key: 'a', rank: 1, kind: CommissionKind.PERCENT, rateBps: 100, threshold: usd },
    { key: 'a', rank: 1, kind: CommissionKind.FLAT, flat: eur, threshold: eur },
    { key: 'b', rank: 2, kind: CommissionKind.PERCENT, flat: usd, threshold: usd },
  ];
  expect(tierViolations(tiers, 'USD').map(({ pointer }) => pointer)).toEqual([
    '/input/tiers',
    '/input/tiers',
    '/input/tiers/1/flat/currency',
    '/input/tiers/1/threshold/currency',
    '/input/tiers/2/rateBps',
    '/input/tiers/2/flat',
  ]);
});

test.each([
  [WinBackClaimStatus.OFFERED, days(1), WinBackClaimStatus.OFFERED],
  [WinBackClaimStatus.SENT, T0, WinBackClaimStatus.EXPIRED],
  [WinBackClaimStatus.CONVERTED, T0, WinBackClaimStatus.CONVERTED],
])('a claim that is %s until %s is %s now', (state, until, expected) => {
  expect(claimStateAt({ state, expiresAt: at(until) }, at(T0))).toBe(expected);
});
