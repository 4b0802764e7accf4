import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { binSums, calibrationOf, calibrationTrips, honestEce } from '../../subgraphs/intelligence/rules/calibration.js';
import { estimates } from '../../subgraphs/intelligence/rules/off-policy.js';
import { uniformsOf } from '../../subgraphs/intelligence/rules/sampling.js';
import { closedDecisions } from './closed-decisions.js';
import { Loop } from './loop.js';
import { onlineMean, rowsOf, thompsonPolicy, uniformLog, uniformPolicy, valueOf } from './open-bandit.js';
import { HONEST, simulate, type World } from './year.js';

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
const mean = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
const seeds = Array.from({ length: 50 }, (_, index) => index + 1);

describe('the estimators on a log of the shape of the Open Bandit Dataset', () => {
  const policy = thompsonPolicy(uniformLog(uniformsOf(1), 100_000));
  const truth = valueOf(policy);

  test('the logger clicks in 0.4 to 0.5 % of impressions, and the sampler is worth a third more', () => {
    expect(mean(uniformLog(uniformsOf(2), 200_000).map(({ click }) => click))).toBeCloseTo(valueOf(uniformPolicy), 3);
    expect(valueOf(uniformPolicy)).toBeGreaterThan(0.004);
    expect(valueOf(uniformPolicy)).toBeLessThan(0.005);
    expect(truth / valueOf(uniformPolicy)).toBeGreaterThan(1.33);
    expect(onlineMean(policy, 3, 400_000)).toBeCloseTo(truth, 3);
  });

  test(
    'IPS, SNIPS, DR and SNDR have no bias, cover the truth in 91 to 98 % of 200 logs of 20,000 impressions, and tell the sampler from the logger',
    { timeout: 180_000 },
    () => {
      const errors = new Map<string, number[]>();
      const covered = new Map<string, number>();
      for (let run = 0; run < 200; run++)
        for (const { name, value, ciLow, ciHigh } of estimates(rowsOf(uniformLog(uniformsOf(1000 + run * 31), 20_000), policy))) {
          errors.set(name, [...(errors.get(name) ?? []), value - truth]);
          if (ciLow !== null) covered.set(name, (covered.get(name) ?? 0) + Number(ciLow <= truth && truth <= ciHigh!));
        }
      for (const name of ['ips', 'snips', 'dr', 'sndr']) {
        const found = errors.get(name)!;
        const rmse = Math.sqrt(mean(found.map(one => one * one)));
        expect(Math.abs(mean(found)), name).toBeLessThanOrEqual((3 * rmse) / Math.sqrt(found.length));
        expect(covered.get(name)! / 200, name).toBeGreaterThanOrEqual(0.91);
        expect(covered.get(name)! / 200, name).toBeLessThanOrEqual(0.98);
        expect(rmse, name).toBeLessThan(truth - valueOf(uniformPolicy));
      }
    },
  );
});

describe('a loop over a year', () => {
  const of = (world: Partial<World>, days: number) => seeds.map(seed => simulate({ ...HONEST, ...world }, seed, days));

  test.each([5, 20])(
    'that is stationary and honest, with %i decisions a day and hourly ticks for 52 weeks, raises at most one wrong proposal (median of 50 seeds)',
    { timeout: 180_000 },
    perDay => {
      const raised = of({ perDay }, 364);
      expect(median(raised.map(list => list.length))).toBeLessThanOrEqual(1);
      expect(raised.filter(list => list.some(({ metric }) => metric === 'join_completeness'))).toEqual([]);
    },
  );

  test(
    'whose lift shrinks to nothing over 12 weeks asks to retrain before 80 % of it is gone, in at least 90 % of 50 seeds',
    { timeout: 180_000 },
    () => {
      const [steady, shrinking] = [28, 84];
      const lift = (day: number): number => 0.25 * (1 - Math.min(1, Math.max(0, (day - steady) / shrinking)));
      const raised = of({ perDay: 400, lift }, steady + shrinking);
      const inTime = raised.filter(list => list.some(({ metric, day }) => metric === 'lift_decay' && day - steady < 0.8 * shrinking));
      expect(inTime.length / seeds.length).toBeGreaterThanOrEqual(0.9);
    },
  );

  test('of 120 honest outcomes in ten bins shows an error above 0.10 by chance alone in many months, and asks for nothing', () => {
    const next = uniformsOf(9);
    const found = seeds.map(() => {
      const rows = Array.from({ length: 120 }, () => next()).map(predicted => ({ predicted, reward: Number(next() < predicted) }));
      const bins = binSums(rows);
      return { ece: calibrationOf(bins).ece, noise: honestEce(bins) };
    });
    expect(found.filter(({ ece }) => calibrationTrips(ece, 120)).length).toBeGreaterThan(seeds.length / 4);
    expect(found.filter(({ ece, noise }) => calibrationTrips(ece, 120, noise))).toEqual([]);
  });

  test(
    'whose model promises 0.15 too much is told of by honesty and by calibration within a month, whatever the seed',
    { timeout: 180_000 },
    () => {
      const raised = of({ promises: day => (day < 0 ? 0 : 0.15) }, 40);
      for (const metric of ['realized_vs_predicted', 'calibration'])
        expect(raised.filter(list => list.some(one => one.metric === metric)).length, metric).toBe(seeds.length);
    },
  );

  test('that loses half of its good outcomes asks about its joins before it doubts its model', { timeout: 180_000 }, () => {
    const raised = of({ perDay: 20, joins: reward => (reward === 1 ? 0.45 : 0.9) }, 2);
    for (const list of raised) expect(list[0]).toMatchObject({ metric: 'join_completeness', day: 0 });
  });
});

describe('outcomes that were dropped', () => {
  let loop: Loop;
  beforeAll(async () => {
    loop = await Loop.open();
  });

  test('trip join_completeness, and the bounds of realized_vs_predicted contain the truth', async () => {
    const policy = await loop.policy();
    await loop.champion(policy, { popularity: { prior_strength: 20, global: { a: { s: 5, c: 10 } }, segments: {} } });
    await loop.stage('S2');
    const next = uniformsOf(77);
    const outcomes = Array.from({ length: 400 }, () => Number(next() < 0.5));
    const dropped = outcomes.map(reward => (reward === 1 && next() < 0.5 ? null : reward));
    await closedDecisions(loop, policy, dropped);
    await loop.stage(null);
    await loop.tick();
    const [truth, honesty] = [mean(outcomes) - 0.5, await loop.metric(policy, 'realized_vs_predicted')];
    expect((await loop.proposals(policy)).map(one => one.metric)).toContain('join_completeness');
    expect(honesty.details.missing).toBe(dropped.filter(one => one === null).length);
    expect(honesty.details.bounds[0]).toBeLessThanOrEqual(truth);
    expect(honesty.details.bounds[1]).toBeGreaterThanOrEqual(truth);
    expect(honesty.value).toBeLessThan(truth - 0.05); // what joined tells less than the truth
  });

  test('50 ticks, joins, promotions and erasures at once leave every decision closed once, one champion, one proposal, and nothing of the erased', async () => {
    const policy = await loop.policy();
    const people: string[] = Array.from({ length: 12 }, () => randomUUID());
    const made = [];
    for (const id of people) made.push(await loop.rank(policy, ['a', 'b'], { entity: { type: 'user', id } }));
    const versions = [await loop.register(policy), await loop.register(policy)];
    await loop.passDeadline();
    const erased = people.slice(0, 4);
    const answers = await Promise.all([
      ...Array.from({ length: 14 }, () => loop.tick()),
      ...made.flatMap(({ id, matures_at }) => [1, 2].map(() => loop.outcome(id, 'improved', { occurred_at: matures_at }))),
      ...Array.from({ length: 8 }, (_, index) => loop.rest('POST', `/registry/${versions[index % 2].id}/promote`, {})),
      ...erased.map(entity_id => loop.rest('POST', '/admin/erasure', { entity_type: 'user', entity_id })),
    ]);
    expect(answers).toHaveLength(50);
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    await loop.tick();
    const rows = await loop.p.sql<{ status: string; outcomes: number; entity_id: string }>(
      `select d.status, d.entity_id, count(o.id)::int as outcomes from intelligence.decision d left join intelligence.decision_outcome o on o.decision_id = d.id where d.policy_id = $1 group by d.id`,
      [policy.id],
    );
    expect(rows).toHaveLength(8);
    for (const row of rows)
      expect([
        ['joined', 1],
        ['expired_unjoined', 0],
      ]).toContainEqual([row.status, row.outcomes]);
    expect(rows.filter(row => erased.includes(row.entity_id))).toEqual([]);
    const { data } = await loop.ok('GET', `/registry?policy_key=${policy.policy_key}`);
    expect(data.filter((one: any) => one.status === 'champion')).toHaveLength(1);
    expect((await loop.proposals(policy)).filter(one => one.metric === 'join_completeness').length).toBeLessThanOrEqual(1);
  });
});
