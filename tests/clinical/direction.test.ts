import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BiomarkerDirection, type BiomarkerNoise, BiomarkerNoiseModel } from '../../subgraphs/clinical/entities/biomarker.js';
import { BiomarkerObservationComparator as Comparator } from '../../subgraphs/clinical/entities/result.js';
import {
  RetestCycleOutcomeBasis as Basis,
  RetestCycleOutcomeDirection as Direction,
} from '../../subgraphs/clinical/entities/retest-cycle.js';
import { TrendChange } from '../../subgraphs/clinical/entities/trend.js';
import type { ValueRange } from '../../subgraphs/clinical/entities/units.js';
import {
  changeBetween,
  compare,
  type Comparison,
  isComparable,
  type Measured,
  noiseLimit,
  spanOf,
} from '../../subgraphs/clinical/rules/direction.js';

const { LOWER_IS_BETTER, HIGHER_IS_BETTER, WITHIN_RANGE } = BiomarkerDirection;
const { IMPROVED, WORSENED, UNCHANGED } = Direction;

const logNormal = (cvAnalytical: number, cvWithin: number): BiomarkerNoise => ({
  model: BiomarkerNoiseModel.LOG_NORMAL,
  cvWithin,
  cvAnalytical,
  cvAnalyticalBetween: null,
  sd: null,
  z: 1.645,
  source: 'a test',
  sourceYear: 2026,
});
const absolute = (sd: number): BiomarkerNoise => ({
  ...logNormal(0, 0),
  model: BiomarkerNoiseModel.ABSOLUTE,
  cvWithin: null,
  cvAnalytical: null,
  sd,
});
const exact = (value: number): Measured => ({ value, comparator: null });
const below = (value: number): Measured => ({ value, comparator: Comparator.LT });
const above = (value: number): Measured => ({ value, comparator: Comparator.GT });

const LDL = logNormal(0.03, 0.083);
const comparison = (
  direction: BiomarkerDirection,
  target: ValueRange | null,
  b: Measured | number,
  f: Measured | number,
  noise = LDL,
  otherLab = false,
): Comparison => ({
  direction,
  noise,
  target,
  otherLab,
  baseline: typeof b === 'number' ? exact(b) : b,
  followUp: typeof f === 'number' ? exact(f) : f,
});
const judge = (...args: Parameters<typeof comparison>) => compare(comparison(...args));
const outcome = (direction: Direction, basis: Basis, crossedTarget = false) => ({ direction, basis, crossedTarget });

describe('the noise limit', () => {
  test('is z·√2·√ln(1 + CVa² + CVi²) of the logarithm', () => {
    expect(noiseLimit(LDL, false)).toBeCloseTo(1.645 * Math.SQRT2 * Math.sqrt(Math.log(1 + 0.03 ** 2 + 0.083 ** 2)), 12);
  });

  test('takes the imprecision between laboratories when they differ: the given one, else twice that of one', () => {
    expect(noiseLimit(LDL, true)).toBe(noiseLimit(logNormal(0.06, 0.083), false));
    expect(noiseLimit({ ...LDL, cvAnalyticalBetween: 0.05 }, true)).toBe(noiseLimit(logNormal(0.05, 0.083), false));
  });

  test('is z·√2·sd of the difference for ABSOLUTE', () => expect(noiseLimit(absolute(2), false)).toBeCloseTo(1.645 * Math.SQRT2 * 2, 12));

  test('is not passed by a change that equals it', () => {
    const limit = noiseLimit(absolute(2), false);
    expect(judge(LOWER_IS_BETTER, null, 100, 100 - limit, absolute(2)).direction).toBe(UNCHANGED);
    expect(judge(LOWER_IS_BETTER, null, 100, 100 - limit * 1.0000001, absolute(2)).direction).toBe(IMPROVED);
  });
});

describe('an exact pair', () => {
  const T: ValueRange = { low: 70, high: 100 };
  test.each<[string, BiomarkerDirection, ValueRange | null, number, number, ReturnType<typeof outcome>]>([
    [
      'no significant change, also across an edge',
      LOWER_IS_BETTER,
      { low: null, high: 100 },
      102,
      98,
      outcome(UNCHANGED, Basis.WITHIN_NOISE),
    ],
    ['closer to the high edge', LOWER_IS_BETTER, { low: null, high: 100 }, 200, 120, outcome(IMPROVED, Basis.TARGET)],
    ['farther from the high edge', LOWER_IS_BETTER, { low: null, high: 100 }, 120, 200, outcome(WORSENED, Basis.TARGET)],
    ['out of the target', LOWER_IS_BETTER, { low: null, high: 100 }, 80, 140, outcome(WORSENED, Basis.TARGET)],
    ['inside the target both times', LOWER_IS_BETTER, { low: null, high: 100 }, 90, 40, outcome(UNCHANGED, Basis.INSIDE_TARGET)],
    ['a low edge does not count where lower is better', LOWER_IS_BETTER, T, 90, 10, outcome(UNCHANGED, Basis.INSIDE_TARGET)],
    [
      'only a low edge leaves the direction alone',
      LOWER_IS_BETTER,
      { low: 70, high: null },
      90,
      10,
      outcome(IMPROVED, Basis.DIRECTION_ONLY),
    ],
    ['closer to the low edge where higher is better', HIGHER_IS_BETTER, { low: 60, high: null }, 30, 50, outcome(IMPROVED, Basis.TARGET)],
    [
      'a high edge does not count where higher is better',
      HIGHER_IS_BETTER,
      { low: 60, high: 80 },
      90,
      150,
      outcome(UNCHANGED, Basis.INSIDE_TARGET),
    ],
    ['from below into the range', WITHIN_RANGE, T, 40, 80, outcome(IMPROVED, Basis.TARGET)],
    ['from above to below, closer', WITHIN_RANGE, T, 200, 60, outcome(IMPROVED, Basis.TARGET, true)],
    ['from above to below, farther', WITHIN_RANGE, T, 120, 20, outcome(WORSENED, Basis.TARGET, true)],
    ['from above to below, equally far', WITHIN_RANGE, T, 200, 35, outcome(UNCHANGED, Basis.TARGET, true)],
    ['no target, lower is better', LOWER_IS_BETTER, null, 100, 160, outcome(WORSENED, Basis.DIRECTION_ONLY)],
    ['no target, higher is better', HIGHER_IS_BETTER, null, 100, 160, outcome(IMPROVED, Basis.DIRECTION_ONLY)],
    ['no target, within range', WITHIN_RANGE, null, 100, 160, outcome(UNCHANGED, Basis.NO_TARGET)],
    ['a target without edges', WITHIN_RANGE, { low: null, high: null }, 100, 160, outcome(UNCHANGED, Basis.NO_TARGET)],
    ['exactly on the edge is inside', LOWER_IS_BETTER, { low: null, high: 100 }, 100, 60, outcome(UNCHANGED, Basis.INSIDE_TARGET)],
  ])('%s', (_what, direction, target, b, f, expected) => expect(judge(direction, target, b, f)).toEqual(expected));

  test('by the ABSOLUTE model measures distances as differences', () => {
    expect(judge(WITHIN_RANGE, { low: 0, high: 10 }, -50, 40, absolute(1))).toEqual(outcome(IMPROVED, Basis.TARGET, true));
    expect(judge(WITHIN_RANGE, { low: 0, high: 10 }, -20, 40, absolute(1))).toEqual(outcome(WORSENED, Basis.TARGET, true));
    expect(judge(WITHIN_RANGE, { low: 0, high: 10 }, -30, 40, absolute(1))).toEqual(outcome(UNCHANGED, Basis.TARGET, true));
  });
});

describe('a censored result', () => {
  const high = (edge: number): ValueRange => ({ low: null, high: edge });
  test.each<[string, Measured | number, Measured | number, ValueRange | null, Direction]>([
    ['2.0 -> <0.3 is better wherever it lies', 2, below(0.3), high(1), IMPROVED],
    ['0.4 -> <0.3 stays in the target', 0.4, below(0.3), high(1), UNCHANGED],
    ['<0.3 -> 2.0 is worse', below(0.3), 2, high(1), WORSENED],
    ['<0.3 -> <0.3 says nothing', below(0.3), below(0.3), high(0.1), UNCHANGED],
    ['2.0 -> <5 may be anything', 2, below(5), high(1), UNCHANGED],
    ['100 -> >400 is worse', 100, above(400), high(90), WORSENED],
    ['>400 -> 100 is better', above(400), 100, high(90), IMPROVED],
    ['>400 -> >400 says nothing', above(400), above(400), high(90), UNCHANGED],
    ['2.0 -> <0.3 without a target', 2, below(0.3), null, IMPROVED],
  ])('%s', (_what, b, f, target, direction) => {
    expect(judge(LOWER_IS_BETTER, target, b, f, logNormal(0.05, 0.341))).toMatchObject({ direction, basis: Basis.CENSORED });
  });

  test('is looked at on the edges of the target inside it: 30 -> <20 with a target of 10 to 15 is not surely better', () => {
    expect(judge(WITHIN_RANGE, { low: 10, high: 15 }, 30, below(20)).direction).toBe(UNCHANGED);
    expect(judge(WITHIN_RANGE, { low: null, high: 15 }, 30, below(20)).direction).toBe(IMPROVED);
  });

  test.each([[Comparator.LT], [Comparator.LE]])('%s L stands for (0, L]', comparator => {
    const [start, end] = spanOf({ value: 3, comparator });
    expect(start).toBeGreaterThan(0);
    expect([start < 1e-200, end]).toEqual([true, 3]);
  });

  test.each([[Comparator.GT], [Comparator.GE]])('%s L stands for [L, ∞)', comparator => {
    const [start, end] = spanOf({ value: 3, comparator });
    expect([start, end > 1e200, Number.isFinite(end)]).toEqual([3, true, true]);
  });

  test('can be compared where its logarithm exists', () => {
    expect(isComparable(LDL, exact(0))).toBe(false);
    expect(isComparable(LDL, below(0))).toBe(false);
    expect(isComparable(LDL, above(0))).toBe(true);
    expect(isComparable(LDL, exact(Number.NaN))).toBe(false);
    expect(isComparable(absolute(1), exact(-3))).toBe(true);
  });
});

describe('properties of the direction', () => {
  const value = fc.double({ min: 0.01, max: 10_000, noNaN: true });
  const cv = fc.double({ min: 0.005, max: 0.4, noNaN: true });
  const target = fc.oneof(
    fc.constant(null),
    fc
      .tuple(fc.option(value), fc.option(value))
      .map(([a, b]): ValueRange => (a !== null && b !== null ? { low: Math.min(a, b), high: Math.max(a, b) } : { low: a, high: b })),
  );
  const any = fc.record({
    direction: fc.constantFrom(LOWER_IS_BETTER, HIGHER_IS_BETTER, WITHIN_RANGE),
    cva: cv,
    cvi: cv,
    target,
    otherLab: fc.boolean(),
    b: value,
    f: value,
  });
  type Any = typeof any extends fc.Arbitrary<infer T> ? T : never;
  const of = ({ direction, cva, cvi, target: goal, otherLab, b, f }: Any): Comparison =>
    comparison(direction, goal, b, f, logNormal(cva, cvi), otherLab);
  const off = (edge: number | null, value: number): number => (edge === null ? 1 : Math.abs(Math.log(value / edge)));
  const distance = (goal: ValueRange | null, value: number): number =>
    Math.max(goal?.low ? Math.log(goal.low / value) : 0, 0, goal?.high ? Math.log(value / goal.high) : 0);
  /** Where a change lies within 1e-9 of a limit, rounding may decide; what is the same to the last digits is no such case. */
  const undecided = (gap: number): boolean => Math.abs(gap) > 1e-13 && Math.abs(gap) < 1e-9;
  const clear = ({ noise, otherLab, target: goal, baseline: { value: b }, followUp: { value: f } }: Comparison): boolean => {
    const beyondNoise = Math.abs(Math.log(f / b)) - noiseLimit(noise, otherLab);
    const gaps = [
      distance(goal, b) - distance(goal, f),
      ...[b, f].flatMap(one => [off(goal?.low ?? null, one), off(goal?.high ?? null, one)]),
    ];
    return Math.abs(beyondNoise) > 1e-9 && !gaps.some(undecided);
  };

  test('the same value twice is unchanged', () =>
    fc.assert(fc.property(any, one => compare(of({ ...one, f: one.b })).direction === UNCHANGED)));

  test('swapping baseline and follow-up swaps improved and worsened', () => {
    const swapped = { [IMPROVED]: WORSENED, [WORSENED]: IMPROVED, [UNCHANGED]: UNCHANGED };
    fc.assert(
      fc.property(any, one => {
        const [there, back] = [of(one), of({ ...one, b: one.f, f: one.b })];
        fc.pre(clear(there));
        expect(compare(back)).toEqual({ ...compare(there), direction: swapped[compare(there).direction] });
      }),
    );
  });

  test('scaling values and target together changes nothing, so the direction does not depend on the unit', () => {
    fc.assert(
      fc.property(any, fc.double({ min: 0.001, max: 1000, noNaN: true }), (one, factor) => {
        const scale = (edge: number | null) => (edge === null ? null : edge * factor);
        const scaled = {
          ...one,
          b: one.b * factor,
          f: one.f * factor,
          target: one.target && { low: scale(one.target.low), high: scale(one.target.high) },
        };
        fc.pre(clear(of(one)));
        expect(compare(of(scaled))).toEqual(compare(of(one)));
      }),
    );
  });

  test('a change below the noise limit is unchanged, whatever the target', () => {
    fc.assert(
      fc.property(any, fc.double({ min: -0.999, max: 0.999, noNaN: true }), (one, share) => {
        const f = one.b * Math.exp(share * noiseLimit(logNormal(one.cva, one.cvi), one.otherLab));
        expect(compare(of({ ...one, f }))).toMatchObject({ direction: UNCHANGED, basis: Basis.WITHIN_NOISE });
      }),
    );
  });
});

describe('the change between two results', () => {
  test.each([
    ['a rise beyond noise', exact(100), exact(140), TrendChange.RISE],
    ['a fall beyond noise', exact(140), exact(100), TrendChange.FALL],
    ['noise', exact(100), exact(101), TrendChange.NONE],
    ['less than what was above it for sure', above(200), below(100), TrendChange.FALL],
    ['more than what was below it for sure', below(100), above(200), TrendChange.RISE],
    ['more than a limit below what was', exact(100), above(90), TrendChange.NONE],
    ['less than a limit above what was', exact(100), below(110), TrendChange.NONE],
    ['two limits of one side', below(100), below(200), TrendChange.NONE],
  ])('is told only where all values that a result stands for agree: %s', (_what, before, after, change) =>
    expect(changeBetween(LDL, false, before, after)).toBe(change),
  );
});

test('an interval that reaches over the target is worse at both ends and better between them, so nothing is told', () => {
  const target = { low: 70, high: 90 };
  const precise = logNormal(0.005, 0.01);
  expect(judge(WITHIN_RANGE, target, 100, below(200), precise)).toEqual(outcome(UNCHANGED, Basis.CENSORED));
  expect(judge(WITHIN_RANGE, target, 100, below(60), precise)).toEqual(outcome(WORSENED, Basis.CENSORED, true)); // ends before the target begins
  expect(judge(WITHIN_RANGE, target, 100, above(200), precise)).toEqual(outcome(WORSENED, Basis.CENSORED));
});
