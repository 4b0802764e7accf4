import { describe, expect, test } from 'vitest';
import { BiomarkerCategory as Category } from '../../subgraphs/clinical/entities/biomarker.js';
import { HealthScoreBand as Band } from '../../subgraphs/clinical/entities/health-score.js';
import {
  bandOf,
  isNews,
  SCORE_MODEL,
  scoreOf,
  subscore,
  trendOf,
  type ScoredResult,
  type ScoreModel,
} from '../../subgraphs/clinical/rules/health-score.js';

const range = (low: number | null, high: number | null) => ({ low, high });
const LOWER = { optimal: range(null, 100), reference: range(null, 130) };
const HIGHER = { optimal: range(60, null), reference: range(40, null) };
const WITHIN = { optimal: range(75, 90), reference: range(70, 99) };
/** 60·exp(-1): a factor of 1.5 beyond the reference edge. */
const FAR = 60 * Math.exp(-1);

describe('the subscore of a result', () => {
  test.each([
    ['inside optimal', LOWER, 40, 100],
    ['at the optimal edge', LOWER, 100, 100],
    ['half way to the reference edge, by ratio', LOWER, Math.sqrt(100 * 130), 80],
    ['at the reference edge', LOWER, 130, 60],
    ['1.5 times beyond the reference edge', LOWER, 195, FAR],
    ['mirrored below: at the optimal edge', HIGHER, 60, 100],
    ['mirrored below: half way', HIGHER, Math.sqrt(60 * 40), 80],
    ['mirrored below: at the reference edge', HIGHER, 40, 60],
    ['mirrored below: 1.5 times beyond', HIGHER, 40 / 1.5, FAR],
    ['a range of two sides: inside', WITHIN, 80, 100],
    ['a range of two sides: upper reference edge', WITHIN, 99, 60],
    ['a range of two sides: lower reference edge', WITHIN, 70, 60],
    ['without optimal, inside reference', { optimal: null, reference: range(70, 99) }, 99, 100],
    ['without optimal, beyond reference', { optimal: null, reference: range(70, 99) }, 99 * 1.5, FAR],
    ['without a reference edge above: at 1.3 times optimal', { optimal: range(null, 100), reference: null }, 130, 60],
    ['without a reference edge below: at optimal by 1.3', { optimal: range(60, null), reference: range(null, 90) }, 60 / 1.3, 60],
  ])('%s', (_where, ranges, value, expected) => expect(subscore({ value, ...ranges })).toBeCloseTo(expected, 9));

  test('is none without any range', () => expect(subscore({ value: 5, optimal: null, reference: null })).toBeNull());
});

/** A result with a wanted subscore of 60 to 100. */
const result = (code: string, category: Category, wanted: number, ageDays = 0): ScoredResult => ({
  code,
  category,
  value: 100 * 1.3 ** ((100 - wanted) / 40),
  ageDays,
  ...LOWER,
});
const EVEN: ScoreModel = { version: 'test', markers: {}, categories: {} };
const five = (...wanted: number[]): ScoredResult[] =>
  [Category.LIPIDS, Category.LIPIDS, Category.LIPIDS, Category.METABOLIC, Category.METABOLIC].map((category, index) =>
    result(`m${index}`, category, wanted[index]!),
  );

describe('the score', () => {
  test('is the mean of categories, each the mean of its markers', () => {
    const computed = scoreOf(five(60, 70, 80, 90, 100), 10, EVEN);
    expect(computed).toMatchObject({ score: 82.5, band: Band.GOOD, coverage: 0.5, status: 'partial' });
    expect(computed.components).toMatchObject([
      { category: Category.LIPIDS, score: 70, weight: 1, contributors: [{ code: 'm0', subscore: 60, freshnessDays: 0 }, {}, {}] },
      { category: Category.METABOLIC, score: 95 },
    ]);
    expect(scoreOf(five(60, 70, 80, 90, 100), 6, EVEN).status).toBe('complete');
    const eight = [...five(60, 70, 80, 90, 100), ...['x', 'y', 'z'].map(code => result(code, Category.LIVER, 90))];
    expect(scoreOf(eight, 10, EVEN)).toMatchObject({ coverage: 0.8, status: 'complete' });
    expect(scoreOf(eight, 11, EVEN).status).toBe('partial');
  });

  test('weighs a marker by the model times 0.5 per 180 days, and a category by the model', () => {
    const rows = [
      result('old', Category.LIPIDS, 60, 180),
      result('new', Category.LIPIDS, 90),
      result('heavy', Category.LIPIDS, 70),
      result('x', Category.METABOLIC, 100),
      result('y', Category.METABOLIC, 100),
    ];
    const model = { version: 'test', markers: { heavy: 2 }, categories: { [Category.METABOLIC]: 3 } };
    const lipids = (60 * 0.5 + 90 * 1 + 70 * 2) / 3.5;
    expect(scoreOf(rows, 5, model).score).toBe(Math.round(((lipids + 3 * 100) / 4) * 10) / 10);
  });

  test('is rounded once, at the end, to 1 decimal', () => {
    const rows = [
      result('a', Category.LIPIDS, 80.14),
      result('b', Category.METABOLIC, 80.14),
      result('c', Category.LIVER, 80.19),
      result('d', Category.LIPIDS, 80.14),
      result('e', Category.LIVER, 80.19),
    ];
    expect(scoreOf(rows, 5, EVEN).score).toBe(80.2);
  });

  test.each([
    ['fewer than 5 markers', five(100, 100, 100, 100, 100).slice(0, 4)],
    ['fewer than 2 categories', five(100, 100, 100, 100, 100).map(row => ({ ...row, category: Category.LIPIDS }))],
    ['a fifth one older than 365 days', five(100, 100, 100, 100, 100).map((row, index) => (index ? row : { ...row, ageDays: 365.1 }))],
  ])('with %s is insufficient_data and null', (_why, rows) =>
    expect(scoreOf(rows, 14, EVEN)).toMatchObject({ status: 'insufficient_data', score: null, band: null }),
  );

  test('counts a result of exactly 365 days', () =>
    expect(
      scoreOf(
        five(100, 100, 100, 100, 100).map(row => ({ ...row, ageDays: 365 })),
        14,
        EVEN,
      ).score,
    ).toBe(100));

  test('of the same inputs and model version is the same, in any order', () => {
    const rows = five(61, 72, 83, 94, 99);
    expect(scoreOf([...rows].reverse(), 14, SCORE_MODEL)).toEqual(scoreOf(rows, 14, SCORE_MODEL));
  });
});

test.each([
  [0, Band.LOW],
  [49.9, Band.LOW],
  [50, Band.FAIR],
  [69.9, Band.FAIR],
  [70, Band.GOOD],
  [84.9, Band.GOOD],
  [85, Band.OPTIMAL],
  [100, Band.OPTIMAL],
])('a score of %d is %s', (score, band) => expect(bandOf(score)).toBe(band));

test.each([
  [null, 80, 'first'],
  [80, 80, 'flat'],
  [80, 81.9, 'flat'],
  [80, 78.1, 'flat'],
  [80, 82, 'up'],
  [80, 78, 'down'],
])('after %s, %d is %s', (before, now, trend) => expect(trendOf(before, now)).toBe(trend));

test('is told with another band than was told last, or after 30 days', () => {
  const at = new Date('2026-08-01T08:00:00Z');
  const after = (days: number): Date => new Date(at.getTime() + days * 86_400_000);
  expect(isNews(Band.GOOD, null, at)).toBe(true);
  expect(isNews(Band.GOOD, { band: Band.GOOD, at }, after(29.999))).toBe(false);
  expect(isNews(Band.GOOD, { band: Band.GOOD, at }, after(30))).toBe(true);
  expect(isNews(Band.FAIR, { band: Band.GOOD, at }, after(1))).toBe(true);
  expect(isNews(null, { band: Band.GOOD, at }, after(31))).toBe(false);
});
