import { describe, expect, test } from 'vitest';
import { IntelligenceStage as Stage, OffPolicyState, Ranker } from '../../subgraphs/intelligence/entities/enums.js';
import {
  binOf,
  binSums,
  calibrationOf,
  calibrationState,
  calibrationTrips,
  clusteredError,
  honestyState,
  honestyTrips,
} from '../../subgraphs/intelligence/rules/calibration.js';
import { effectiveSampleSize, estimates, stateOf, weightsOf, type LoggedRow } from '../../subgraphs/intelligence/rules/off-policy.js';
import { studentQuantile, Z95 } from '../../subgraphs/intelligence/rules/quantiles.js';
import { crossFit } from '../../subgraphs/intelligence/rules/reward-model.js';
import { drawIndex, uniformsOf } from '../../subgraphs/intelligence/rules/sampling.js';
import { train } from '../../subgraphs/intelligence/rules/training.js';
import {
  CANDIDATES,
  CONTEXT_SCHEMA,
  CONTEXTS,
  easyTruth,
  greedy,
  KEYS,
  served,
  truth,
  UNIFORM,
  valueOf,
  type PolicyTable,
  type Truth,
} from './world.js';

/** F1 of the contract: action, reward, propensity. */
const F1 = [
  ['A', 1, 0.5],
  ['B', 1, 0.5],
  ['B', 0, 0.25],
  ['A', 0, 0.75],
  ['B', 1, 0.25],
  ['A', 1, 0.75],
  ['B', 1, 0.5],
  ['A', 0, 0.5],
] as const;
const PI = { A: 0.2, B: 0.8 };
const Q = { A: 0.4, B: 0.6 };
const rows: LoggedRow[] = F1.map(([action, reward, propensity]) => ({
  reward,
  propensity,
  target: PI[action],
  q: Q[action],
  expected: PI.A * Q.A + PI.B * Q.B,
}));

describe('the estimators on F1', () => {
  test.each([
    ['ips', 0.883333],
    ['snips', 0.646341],
    ['dm', 0.56],
    ['dr', 0.656667],
    ['sndr', 0.630732],
  ])('%s is %d', (name, value) => expect(estimates(rows).find(one => one.name === name)!.value).toBeCloseTo(value, 6));

  test('the effective sample size is 4.586630, so nothing is concluded', () => {
    const ess = effectiveSampleSize(weightsOf(rows));
    expect(ess).toBeCloseTo(4.58663, 5);
    expect(stateOf(8, ess, 0)).toBe(OffPolicyState.INCONCLUSIVE);
  });

  test('the variance of IPS is the sample variance over n, worked out by hand', () => {
    const terms = [0.4, 1.6, 0, 0, 3.2, 0.2 / 0.75, 1.6, 0];
    const mean = terms.reduce((sum, one) => sum + one, 0) / 8;
    const variance = terms.reduce((sum, one) => sum + (one - mean) ** 2, 0) / 7 / 8;
    expect(estimates(rows)[0]!.se).toBeCloseTo(Math.sqrt(variance), 12);
  });

  test('the variances of SNIPS, DR and SNDR, worked out by hand; that of SNDR has both parts', () => {
    const sum = (list: number[]): number => list.reduce((total, one) => total + one, 0);
    const unlike = rows.map((row, index) => ({ ...row, expected: 0.5 + index / 20 }));
    const w = weightsOf(unlike);
    const se = (name: string) => estimates(unlike).find(one => one.name === name)!.se!;
    const v = sum(unlike.map((row, index) => w[index]! * row.reward)) / sum(w);
    const ratio = unlike.map((row, index) => w[index]! * (row.reward - v));
    expect(se('snips')).toBeCloseTo(Math.sqrt(sum(ratio.map(one => one * one))) / sum(w), 12);
    const terms = unlike.map((row, index) => row.expected + w[index]! * (row.reward - row.q));
    expect(se('dr')).toBeCloseTo(Math.sqrt(sum(terms.map(one => (one - sum(terms) / 8) ** 2)) / 7 / 8), 12);
    const [dm, c] = [sum(unlike.map(row => row.expected)) / 8, sum(unlike.map((row, index) => w[index]! * (row.reward - row.q))) / sum(w)];
    const both = unlike.map((row, index) => (row.expected - dm) / 8 + (w[index]! * (row.reward - row.q - c)) / sum(w));
    expect(se('sndr')).toBeCloseTo(Math.sqrt(sum(both.map(one => one * one))), 12);
  });

  test.each([
    [8, 2.306],
    [20, 2.086],
    [200, 1.972],
  ])('equal normal terms of n − 1 = %d have as many degrees of freedom, and %d standard errors to either side', (degrees, quantile) =>
    expect(studentQuantile(Z95, degrees)).toBeCloseTo(quantile, 3),
  );

  test('few rows with great weights make an interval wider than 1.96 standard errors, many equal ones do not', () => {
    const widthOf = (given: readonly LoggedRow[]): number => {
      const { ciLow, ciHigh, se } = estimates(given)[0]!;
      return (ciHigh! - ciLow!) / (2 * se!);
    };
    const row = (index: number, propensity: number): LoggedRow => ({ reward: index % 2, propensity, target: 0.5, q: 0.5, expected: 0.5 });
    const equal = Array.from({ length: 1000 }, (_, index) => row(index, 0.5));
    expect(widthOf(equal)).toBeCloseTo(1.96, 2);
    expect(widthOf(equal.map((one, index) => (index % 100 === 1 ? { ...one, propensity: 0.01 } : one)))).toBeGreaterThan(2.05);
  });

  test('repeated rows of one entity count once: clustering by entity doubles nothing', () => {
    const twice = rows.flatMap((row, index) => [
      { ...row, cluster: `e${index}` },
      { ...row, cluster: `e${index}` },
    ]);
    const [once, clustered] = [estimates(rows.map((row, index) => ({ ...row, cluster: `e${index}` })))[0]!, estimates(twice)[0]!];
    expect(clustered.value).toBeCloseTo(once.value, 12);
    expect(clustered.se).toBeCloseTo(once.se!, 12);
  });

  test.each([
    ['enough', 1000, 500, 0, OffPolicyState.CONCLUSIVE],
    ['just enough', 1000, 100, 0, OffPolicyState.CONCLUSIVE],
    ['too small a sample', 1000, 99, 0, OffPolicyState.INCONCLUSIVE],
    ['1 % without support', 1000, 500, 10, OffPolicyState.CONCLUSIVE],
    ['more than 1 % without support', 1000, 500, 11, OffPolicyState.UNSUPPORTED],
    ['more than 1 % without support in too small a sample', 1000, 99, 11, OffPolicyState.UNSUPPORTED],
  ])('%s', (_what, n, ess, violations, state) => expect(stateOf(n, ess, violations)).toBe(state));
});

/** Logs of E1, as the contract says; of the other world fewer, unless `COVERAGE_LOGS=2000` asks for as many. */
const LOGS = 2000;
const MORE_LOGS = Number(process.env.COVERAGE_LOGS ?? 500);

describe('against simulated worlds with known truth', () => {
  const STAGES = [Stage.S2, Stage.S4, Stage.S5];
  const setting = {
    rankers: [Ranker.POPULARITY, Ranker.THOMPSON, Ranker.LINUCB],
    segmentKeys: KEYS,
    contextSchema: CONTEXT_SCHEMA,
    candidateSchema: { type: 'object', properties: {} },
    seed: 1,
  };
  const xs = CONTEXTS.map(context => KEYS.map(key => Number(context[key])));

  interface Log {
    x: number;
    a: number;
    reward: number;
  }

  function logOf(truth: Truth, logging: PolicyTable, seed: number, n: number): Log[] {
    const next = uniformsOf(seed);
    return Array.from({ length: n }, () => {
      const x = Math.floor(next() * CONTEXTS.length);
      const a = drawIndex(logging[x]!, next());
      return { x, a, reward: Number(next() < truth(x, a)) };
    });
  }

  /** What versions serve at each stage that have learned from a log of uniform serving. */
  function targetsOf(truth: Truth): { stage: Stage; target: PolicyTable }[] {
    const log = logOf(truth, UNIFORM, 5, 3000);
    const rows = log.map(({ x, a, reward }) => ({ context: CONTEXTS[x]!, features: {}, served: CANDIDATES[a]!, reward }));
    const bundle = train(rows, setting);
    return STAGES.map(stage => ({ stage, target: served(bundle, stage) }));
  }

  /** Rows of each target with cross-fitted expectations; a model is asked once per context. */
  function rowsOf(log: readonly Log[], logging: PolicyTable, targets: readonly PolicyTable[]): LoggedRow[][] {
    const modelOf = crossFit(
      log.map(({ x, a, reward }) => ({ action: CANDIDATES[a]!.id, x: xs[x]!, reward })),
      index => (index % 2) as 0 | 1,
    );
    const tables = [0, 1].map(fold => xs.map(x => CANDIDATES.map(({ id }) => modelOf(fold)(x, id))));
    return targets.map(target => {
      const expected = tables.map(table => table.map((q, x) => q.reduce((sum, one, a) => sum + target[x]![a]! * one, 0)));
      return log.map(({ x, a, reward }, index) => ({
        reward,
        propensity: logging[x]![a]!,
        target: target[x]![a]!,
        q: tables[index % 2]![x]![a]!,
        expected: expected[index % 2]![x]!,
      }));
    });
  }

  /** Share of intervals that hold the truth, and the errors, by stage and estimator. */
  function measure(truth: Truth, logging: PolicyTable, logs: number): Map<string, { covered: number; errors: number[] }> {
    const targets = targetsOf(truth);
    const found = new Map<string, { covered: number; errors: number[] }>();
    for (let run = 0; run < logs; run++) {
      const rows = rowsOf(
        logOf(truth, logging, 1000 + run * 17, 2000),
        logging,
        targets.map(({ target }) => target),
      );
      targets.forEach(({ stage, target }, index) => {
        const value = valueOf(target, truth);
        for (const one of estimates(rows[index]!)) {
          if (one.ciLow === null) continue;
          const key = `${one.name} at ${stage}`;
          const kept = found.get(key) ?? { covered: 0, errors: [] };
          kept.covered += Number(one.ciLow <= value && value <= one.ciHigh!) / logs;
          kept.errors.push(one.value - value);
          found.set(key, kept);
        }
      });
    }
    return found;
  }

  const mean = (list: readonly number[]): number => list.reduce((sum, one) => sum + one, 0) / list.length;
  const rmse = (errors: readonly number[]): number => Math.sqrt(mean(errors.map(error => error * error)));
  const badScorer = greedy((x, a) => -truth(x, a) + 0.3 * truth(x, (a + 2) % 5), 0.3);
  const worst = greedy((x, a) => -easyTruth(x, a), 0.3);
  const names = ['ips', 'snips', 'dr', 'sndr'];
  const keys = STAGES.flatMap(stage => names.map(name => `${name} at ${stage}`));

  const worlds = [
    { what: 'E1, where a bad scorer logs', world: truth, logging: badScorer, logs: LOGS },
    { what: 'a world where a few failures with great weights decide', world: easyTruth, logging: worst, logs: MORE_LOGS },
  ];

  test.each(worlds)(
    '95 % intervals of every estimator at S2, S4 and S5 cover the truth in 93 to 97 % of logs, without bias, and DR and SNIPS beat IPS: $what',
    { timeout: 600_000 },
    ({ world, logging, logs }) => {
      const found = measure(world, logging, logs);
      expect([...found.keys()].sort()).toEqual([...keys].sort());
      for (const [key, { covered, errors }] of found) {
        expect(covered, key).toBeGreaterThanOrEqual(0.93);
        expect(covered, key).toBeLessThanOrEqual(0.97);
        expect(Math.abs(mean(errors)), key).toBeLessThanOrEqual((2 * rmse(errors)) / Math.sqrt(logs));
      }
      for (const stage of STAGES)
        for (const name of ['dr', 'snips'])
          expect(rmse(found.get(`${name} at ${stage}`)!.errors)).toBeLessThan(rmse(found.get(`ips at ${stage}`)!.errors));
    },
  );
});

describe('calibration', () => {
  /** F2 of the contract. */
  const predicted = [0.1, 0.1, 0.3, 0.3, 0.35, 0.6, 0.6, 0.8, 0.8, 0.95];
  const rewards = [0, 1, 0, 1, 0, 1, 0, 1, 1, 1];
  const F2 = predicted.map((one, index) => ({ predicted: one, reward: rewards[index]! }));

  test('F2 by hand: ECE 0.15, Brier 0.2125, realized minus predicted 0.11', () => {
    const found = calibrationOf(binSums(F2));
    expect(found.ece).toBeCloseTo(0.15, 12);
    expect(found.brier).toBeCloseTo(0.2125, 12);
    expect(found.realizedVsPredicted).toBeCloseTo(0.11, 12);
    expect(calibrationState(found.ece, found.n)).toBe('inconclusive');
  });

  test.each([
    [0, 0],
    [0.0999, 0],
    [0.1, 1],
    [1 - 0.9, 1], // 0.09999999999999998
    [0.3, 3],
    [0.7, 7],
    [0.9, 9],
    [1, 9],
  ])('a prediction of %d is in bin %d', (prediction, bin) => expect(binOf(prediction)).toBe(bin));

  test('predictions that are all one have no slope; perfect ones have slope 1 and intercept 0', () => {
    expect(
      calibrationOf(
        binSums([
          { predicted: 0.5, reward: 1 },
          { predicted: 0.5, reward: 0 },
        ]),
      ),
    ).toMatchObject({ slope: null, ece: 0, brier: 0.25 });
    const found = calibrationOf(
      binSums([
        { predicted: 0, reward: 0 },
        { predicted: 1, reward: 1 },
      ]),
    );
    expect([found.slope, found.intercept, found.brier]).toEqual([1, 0, 0]);
  });

  test('rewards drawn from the predictions themselves are calibrated within 0.05 in at least 95 % of 200 runs', () => {
    let within = 0;
    for (let run = 0; run < 200; run++) {
      const next = uniformsOf(40_000 + run);
      const drawn = Array.from({ length: 5000 }, () => next()).map(p => ({ predicted: p, reward: Number(next() < p) }));
      within += Number(calibrationOf(binSums(drawn)).ece <= 0.05);
    }
    expect(within / 200).toBeGreaterThanOrEqual(0.95);
  });

  test('a model that promises 0.15 too much trips honesty and calibration', () => {
    const next = uniformsOf(99);
    const drawn = Array.from({ length: 2000 }, () => 0.2 + 0.5 * next()).map(p => ({ predicted: p + 0.15, reward: Number(next() < p) }));
    const { ece, n, realizedVsPredicted } = calibrationOf(binSums(drawn));
    const residuals = drawn.map(one => one.reward - one.predicted);
    const sums = {
      groups: n,
      n,
      sum: residuals.reduce((a, b) => a + b, 0),
      sumSquared: residuals.reduce((a, b) => a + b * b, 0),
      sumTimesSize: residuals.reduce((a, b) => a + b, 0),
      sizeSquared: n,
    };
    const se = clusteredError(sums);
    expect(calibrationTrips(ece, n)).toBe(true);
    expect(honestyTrips(n, realizedVsPredicted - 1.96 * se, realizedVsPredicted + 1.96 * se)).toBe(true);
  });

  test.each([
    [0.05, 50, 'healthy'],
    [-0.05, 50, 'healthy'],
    [0.051, 50, 'unhealthy'],
    [0, 49, 'inconclusive'],
  ])('realized minus predicted of %d over %d is %s', (value, n, state) => expect(honestyState(value, n)).toBe(state));

  test.each([
    [0.05, 100, 'healthy', false],
    [0.0501, 100, 'unhealthy', false],
    [0.1, 100, 'unhealthy', false],
    [0.1001, 100, 'unhealthy', true],
    [0.5, 99, 'inconclusive', false],
  ])('an error of calibration of %d over %d is %s, and trips: %s', (ece, n, state, trips) => {
    expect([calibrationState(ece, n), calibrationTrips(ece, n)]).toEqual([state, trips]);
    expect([calibrationTrips(0.3, 100, 0.3), calibrationTrips(0.3, 100, 0.29)]).toEqual([false, true]); // chance alone shows as much
  });

  test.each([
    [50, 0.051, 0.2, true],
    [50, -0.2, -0.051, true],
    [50, 0.04, 0.2, false],
    [49, 0.1, 0.2, false],
  ])('an interval over %d from %d to %d trips: %s', (n, low, high, trips) => expect(honestyTrips(n, low, high)).toBe(trips));

  test('one entity with many outcomes tells less than many entities: the clustered error by hand', () => {
    const single = clusteredError({ groups: 4, n: 4, sum: 2, sumSquared: 2, sumTimesSize: 2, sizeSquared: 4 });
    expect(single).toBeCloseTo(Math.sqrt((4 / 3) * (0.25 * 4)) / 4, 12);
    const grouped = clusteredError({ groups: 2, n: 4, sum: 2, sumSquared: 4, sumTimesSize: 4, sizeSquared: 8 }); // sums 2 and 0, sizes 2 and 2
    expect(grouped).toBeCloseTo(Math.sqrt(2 * 2) / 4, 12);
    expect(clusteredError({ groups: 1, n: 4, sum: 2, sumSquared: 4, sumTimesSize: 8, sizeSquared: 16 })).toBeNaN();
  });
});
