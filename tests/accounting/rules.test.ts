import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { auditPath, merkleRoot } from '../../subgraphs/accounting/rules/chain.js';
import { chartAccount } from '../../subgraphs/accounting/rules/chart.js';
import { allocate } from '../../subgraphs/accounting/rules/entries.js';
import { explain } from '../../subgraphs/accounting/rules/explanation.js';
import { announceRefund, cut, deposit, newSchedule, recognise, refund, setPeriod } from '../../subgraphs/accounting/rules/recognition.js';
import { leaf, node, treeHead } from './verify/canonical.js';

const DAY = 86_400_000;
const START = new Date('2026-11-10T10:00:00.000Z');
const day = (count: number): Date => new Date(START.getTime() + count * DAY);
/** 11,000 over 30 days. */
const schedule = () => setPeriod(deposit(newSchedule('invoice', 'USD'), 11_000), START, day(30));

test.each([
  [0, 0],
  [0.9, 0],
  [1, 366],
  [15, 5_500],
  [29.9, 10_633],
  [30, 11_000],
  [99, 11_000],
])('after %d of 30 days %d of 11,000 are income', (days, income) => {
  expect(recognise(schedule(), day(days)).amount).toBe(income);
});

test('what is recognised every day is what is recognised at once', () => {
  let [daily, sum] = [schedule(), 0];
  for (let at = 1; at <= 30; at++) {
    const done = recognise(daily, day(at));
    [daily, sum] = [done.schedule, sum + done.amount];
    expect(sum).toBe(Math.floor((11_000 * at) / 30));
  }
  expect(daily.nextAt).toBeNull();
});

test('a cut spreads what is open over the time that is left, and takes no more than that', () => {
  const half = recognise(schedule(), day(15)).schedule;
  const left = cut(half, 2_750);
  expect(recognise(left, day(22)).amount).toBe(Math.floor((2_750 * 7) / 15));
  expect(recognise(left, day(30)).amount).toBe(2_750);
  expect(cut(half, 99_999)).toMatchObject({ drawn: 5_500, recognised: 5_500, nextAt: null });
});

test('a cut that comes before the payment is taken from it', () => {
  expect(deposit(cut(newSchedule('invoice', 'USD'), 400), 1_000)).toMatchObject({ amount: 1_000, drawn: 400, owed: 0 });
});

test('a refund draws what is open; one that the invoice announces is kept until it is booked', () => {
  const half = recognise(schedule(), day(15)).schedule;
  expect(refund(half, 6_000, 6_500).drawn).toBe(5_500);
  const announced = announceRefund(half, 6_000, 12_000);
  expect(recognise(announced, day(30)).amount).toBe(0);
  expect(refund(announced, 5_500, 6_000).drawn).toBe(5_500);
});

test.each([1, 2, 3, 4, 5, 7, 8, 9, 31, 64, 100])(
  'the root of %d leaves is that of another way to make it, and each path leads there',
  count => {
    const contents = Array.from({ length: count }, (_, at) => createHash('sha256').update(String(at)).digest());
    expect(merkleRoot(contents)).toEqual(treeHead(contents));
    for (const [at, content] of contents.entries()) {
      const root = auditPath(contents, at).reduce(
        (below, { side, hash }) => (side === 'left' ? node(hash, below) : node(below, hash)),
        leaf(content),
      );
      expect(root).toEqual(treeHead(contents));
    }
  },
);

test.each([
  [100, [1, 1, 1], [34, 33, 33]],
  [1, [5, 5], [1, 0]],
  [Number.MAX_SAFE_INTEGER, [2, 1], [6004799503160661, 3002399751580330]],
])('%d in the proportion %j is %j', (total, parts, shares) => {
  expect(allocate(total, parts)).toEqual(shares);
});

test.each([
  ['assets:processor:stripe:usd', { type: 'asset', normalSide: 'debit', currency: 'USD', floor: null }],
  ['contra_income:refunds:eur', { type: 'income', normalSide: 'debit', currency: 'EUR' }],
  ['liabilities:wallet:cash:0190b3a0-0000-7000-8000-0000000000a1:usd', { wallet: 'cash', floor: 0, normalSide: 'credit' }],
  ['liabilities:wallet:earnings:0190b3a0-0000-7000-8000-0000000000a1:usd', { wallet: 'earnings', floor: null }],
])('the chart knows %s', (code, account) => expect(chartAccount(code)).toMatchObject(account));

test.each(['assets:processor:usd', 'liabilities:wallet:cash:someone:usd', 'income:sales:gifts:usd', 'assets:bank', 'ASSETS:bank:usd'])(
  'and not %s',
  code => expect(chartAccount(code)).toBeNull(),
);

test('a balance below zero is explained by what took it there', () => {
  const moves = [100, -300, 50, -20].map((amount, at) => ({ transactionId: String(at), amount }));
  expect(explain(moves, new Set()).map(({ entry, amount }) => [entry.transactionId, amount])).toEqual([
    ['3', -20],
    ['1', -150],
  ]);
});
