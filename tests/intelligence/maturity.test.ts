import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { rewarded, served, times, type Copy } from './closed-decisions.js';
import { DAY_MS, Loop, type TestPolicy } from './loop.js';

let loop: Loop;
beforeAll(async () => {
  loop = await Loop.open();
});
beforeEach(() => loop.stage('S2'));

/** A model that promises so much of each candidate. */
const promising = (rates: Readonly<Record<string, number>>) => ({
  prior_strength: 20,
  global: Object.fromEntries(Object.entries(rates).map(([id, rate]) => [id, { s: rate * 1000, c: 1000 }])),
  segments: {},
});
const plus = (at: string, ms: number): string => new Date(Date.parse(at) + ms).toISOString();
const unjoined = (count: number, columns: object = {}): Copy[] => times(count, () => ({ reward: null, columns: { ...columns } }));
const lifts = (policy: TestPolicy) => loop.metrics(`&metric=challenger_lift&history=true&policy_key=${policy.policy_key}`);
const promotions = async (policy: TestPolicy) => (await loop.proposals(policy)).filter(({ kind }) => kind === 'promote');

/** A champion that serves `a` with 0.75 and `b` with 0.25, and a candidate that would do it the other way round. */
async function rivals(): Promise<{ policy: TestPolicy; candidate: any }> {
  const policy = await loop.policy({ epsilon: 0.5 });
  await loop.champion(policy, { popularity: promising({ a: 0.6, b: 0.2 }) });
  return { policy, candidate: await loop.register(policy, { popularity: promising({ a: 0.2, b: 0.6 }) }) };
}

test('what joined before its deadline has passed counts in no metric, no evaluation and no look at a candidate, and then in all', async () => {
  const { policy, candidate } = await rivals();
  const { matures_at } = await served(loop, policy, {
    a: [...rewarded(300, 0.2), ...unjoined(100)],
    b: rewarded(100, 0.8),
  });
  const later = { matures_at: plus(matures_at, 10 * DAY_MS) };
  await served(loop, policy, {
    a: rewarded(200, 1, later),
    b: [...rewarded(50, 0, later), ...unjoined(5, { ...later, status: 'pending', closed_at: null })],
  });

  const measured = async () => {
    expect((await loop.tick()).status).toBe(200);
    const { body } = await loop.rest('POST', `/registry/${candidate.id}/evaluate`, {});
    const metrics = await Promise.all(
      ['join_completeness', 'realized_vs_predicted', 'calibration', 'challenger_lift'].map(name => loop.metric(policy, name)),
    );
    return {
      joins: metrics[0],
      counts: metrics.map(({ details }) => details.n),
      n: body.n,
      unjoined: body.unjoined,
      lift: body.lift_over_target,
    };
  };
  await loop.clock(plus(matures_at, 1));
  const before = await measured();
  expect(before.joins).toMatchObject({ value: 0.8, details: { joined: 400, expired_unjoined: 100 } });
  expect([before.counts, before.n, before.unjoined]).toEqual([[500, 400, 400, 400], 400, 100]);
  expect(before.lift.ci_low).toBeGreaterThan(0);
  const facts = (await loop.metrics('&metric=loop_liveness'))[0].details;
  expect([facts.n, facts.join_rate_7d]).toEqual([500, 0.8]);

  await loop.clock(plus(later.matures_at, 1));
  const after = await measured();
  expect(after.joins).toMatchObject({ value: 650 / 755, details: { joined: 650, expired_unjoined: 105 } });
  expect([after.counts.slice(0, 3), after.n, after.unjoined]).toEqual([[755, 650, 650], 650, 105]);
  expect(after.lift.value).toBeLessThan(before.lift.value);
});

describe('a look at a candidate', () => {
  test('proposes what is better under the default ε of 0.05 with three candidates, where weights reach 58', async () => {
    const policy = await loop.policy();
    expect(policy.epsilon).toBe(0.05);
    await loop.champion(policy, { popularity: promising({ a: 0.6, b: 0.2, c: 0.1 }) });
    const candidate = await loop.register(policy, { popularity: promising({ a: 0.2, b: 0.6, c: 0.1 }) });
    const { matures_at } = await served(loop, policy, { a: rewarded(7000, 0.3), b: rewarded(120, 0.7), c: rewarded(120, 0.3) });
    await loop.clock(plus(matures_at, 1));
    expect((await loop.tick()).status).toBe(200);
    expect(await promotions(policy)).toMatchObject([{ suggested_version: candidate.version, registry_id: candidate.id }]);
    const [{ details }] = await lifts(policy);
    expect(details).toMatchObject({ state: 'healthy', n: 7240, max_weight: expect.closeTo(58, 9) });
    expect((await loop.rest('POST', `/registry/${candidate.id}/evaluate`, {})).body.state).toBe('conclusive');
  });

  test('is taken once in 28 days, on the decisions of the last one and what came after, with an interval that holds at all of them', async () => {
    const { policy, candidate } = await rivals();
    const { matures_at } = await served(loop, policy, { a: rewarded(300, 0.4), b: rewarded(100, 0.5) });
    const first = plus(matures_at, 1);
    await loop.clock(first);
    await loop.tick();
    const [one, ...none] = await lifts(policy);
    expect([one.details.n, one.details.looks.length, one.details.looked_at, none]).toEqual([400, 1, first, []]);
    expect(one.details.ci_low).toBeLessThan(0);
    const { lift_over_target: single } = (await loop.rest('POST', `/registry/${candidate.id}/evaluate`, {})).body;
    expect(one.value).toBeCloseTo(single.value, 12);
    expect(one.details.ci_high - one.details.ci_low).toBeGreaterThan(single.ci_high - single.ci_low);

    await served(loop, policy, { a: rewarded(900, 0.4), b: rewarded(300, 0.9) });
    await loop.clock(plus(first, 28 * DAY_MS - 1));
    await loop.tick();
    expect(await lifts(policy)).toHaveLength(1);
    expect(await promotions(policy)).toEqual([]);

    await loop.clock(plus(first, 28 * DAY_MS));
    await loop.tick();
    const [two] = await lifts(policy);
    expect([two.details.n, two.details.window_from]).toEqual([1600, one.details.window_from]);
    expect(two.details.looks).toEqual([...one.details.looks, { information: expect.any(Number), bound: expect.any(Number) }]);
    expect(await promotions(policy)).toHaveLength(1);
  });

  test('is taken again each time while the effective sample is too small to conclude', async () => {
    const { policy } = await rivals();
    const { matures_at } = await served(loop, policy, { a: rewarded(60, 0.2), b: rewarded(20, 0.8) });
    await loop.clock(plus(matures_at, 1));
    await loop.tick();
    await served(loop, policy, { a: rewarded(240, 0.2, { matures_at }), b: rewarded(80, 0.8, { matures_at }) });
    await loop.tick();
    const [two, one] = await lifts(policy);
    expect([one.details.state, one.details.looks, one.details.looked_at]).toEqual(['inconclusive', [], null]);
    expect([two.details.state, two.details.n, two.details.looks.length]).toEqual(['healthy', 400, 1]);
    expect(await promotions(policy)).toHaveLength(1);
  });

  test('and an evaluation read of a trained version only what it has not learned from, unless another window is asked for', async () => {
    const { policy } = await rivals();
    const { decided_at, matures_at } = await served(loop, policy, { a: rewarded(300, 0.2), b: rewarded(100, 0.8) });
    await loop.clock(plus(matures_at, 1));
    const { registry_id } = await loop.trained(policy, ['popularity']);
    const evaluate = async (body: object = {}) => (await loop.rest('POST', `/registry/${registry_id}/evaluate`, body)).body.n;
    await loop.tick();
    expect((await lifts(policy)).filter(({ details }) => details.scope.registry_id === registry_id)).toEqual([]);
    expect([await evaluate(), await evaluate({ from: decided_at })]).toEqual([0, 400]);

    await loop.clock(plus(matures_at, 60_000));
    const more = await served(loop, policy, { a: rewarded(150, 0.2), b: rewarded(150, 0.8) });
    await loop.clock(plus(more.matures_at, 1));
    await loop.tick();
    const [seen] = (await lifts(policy)).filter(({ details }) => details.scope.registry_id === registry_id);
    expect([seen.details.n, await evaluate(), await evaluate({ from: decided_at })]).toEqual([300, 300, 700]);
  });
});
