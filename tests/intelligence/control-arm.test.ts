import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { afterDeadlines, copiesOf, rankedUntil, rewarded, times } from './closed-decisions.js';
import { DAY_MS, Loop, type TestPolicy } from './loop.js';

let loop: Loop;
beforeAll(async () => {
  loop = await Loop.open();
});
afterEach(() => loop.stage(null));

/** Rules that want `b`, and a model that wants `a`. */
const BUNDLE = {
  rules: { rules: [{ when: { '==': [{ var: 'cand.id' }, 'b'] }, add: 1 }], denylist: [] },
  popularity: { prior_strength: 20, global: { a: { s: 900, c: 1000 }, b: { s: 100, c: 1000 } }, segments: {} },
};
const person = (id: string) => ({ entity: { type: 'user', id } });

describe('the control arm', () => {
  test('is a share of the entities from S2 on, the same ones at every decision and version; S1 serves them', async () => {
    const policy = await loop.policy({ control_share: 0.5, epsilon: 0.01 });
    await loop.champion(policy, BUNDLE);
    const people = times(100, () => randomUUID());
    const arms = async (): Promise<string[]> => {
      const found: string[] = [];
      for (const id of people) {
        const one = await loop.rank(policy, ['a', 'b'], person(id));
        found.push(one.arm);
        const { ranker, served_candidate_id, propensity } = one;
        if (one.arm === 'control')
          expect({ ranker, served_candidate_id, propensity }).toEqual({ ranker: 'rules', served_candidate_id: 'b', propensity: 1 });
        else expect(ranker).toBe('popularity');
      }
      return found;
    };
    await loop.stage('S2');
    const first = await arms();
    const share = first.filter(arm => arm === 'control').length;
    expect(share).toBeGreaterThan(25); // of 100 by a fair coin: less than one in a million is outside
    expect(share).toBeLessThan(75);
    await loop.champion(policy, BUNDLE);
    await loop.stage('S3');
    expect(await arms()).toEqual(first);
  });

  test.each([null, 'S1'])('does not exist at %s', async stage => {
    const policy = await loop.policy({ control_share: 0.5 });
    await loop.stage(stage);
    const arms = await Promise.all(times(20, async () => (await loop.rank(policy)).arm));
    expect(new Set(arms)).toEqual(new Set(['treatment']));
  });

  test('has nobody with a share of 0, and 0.05 of the entities unless told otherwise', async () => {
    expect(
      (await loop.ok('POST', '/policies', { policy_kind: 'recommendation', policy_key: 'share_untold', outcome_metric: 'retest' }))
        .control_share,
    ).toBe(0.05);
    const policy = await loop.policy({ control_share: 0 });
    await loop.stage('S2');
    const arms = await Promise.all(times(20, async () => (await loop.rank(policy)).arm));
    expect(new Set(arms)).toEqual(new Set(['treatment']));
  });
});

interface Rewards {
  treatment: number;
  control: number;
}

/** Decisions of both arms with their shares of rewards, the first month's and the last month's, closed in the ledger. */
async function months(policy: TestPolicy, first: Rewards, last: Rewards, controls = 100): Promise<void> {
  const made = await rankedUntil(loop, policy, one => one.arm === 'treatment' && one.served_candidate_id === 'a');
  const control = await rankedUntil(loop, policy, one => one.arm === 'control');
  const at = (days: number) => ({ matures_at: new Date(Date.parse(made.matures_at) + days * DAY_MS).toISOString() });
  for (const [days, rewards] of [
    [0, first],
    [60, last],
  ] as const) {
    await copiesOf(loop, made.id, rewarded(300, rewards.treatment, at(days)));
    await copiesOf(loop, control.id, rewarded(controls, rewards.control, at(days)));
  }
  await loop.p.sql('delete from intelligence.decision where id = any($1)', [[made.id, control.id]]);
  await afterDeadlines(loop, policy);
  expect((await loop.tick()).status).toBe(200);
}

const decay = async (policy: TestPolicy) =>
  [(await loop.metric(policy, 'lift_decay'))!, (await loop.proposals(policy)).filter(one => one.metric === 'lift_decay')] as const;

describe('lift_decay', () => {
  const served = async (more: object = {}) => {
    const policy = await loop.policy({ control_share: 0.5, epsilon: 0.2, ...more });
    const champion = await loop.champion(policy, BUNDLE);
    await loop.stage('S2');
    return { policy, champion };
  };

  test('compares the lift over the control in the last month with that of the first: gone, it asks for RETRAIN', async () => {
    const { policy, champion } = await served();
    await months(policy, { treatment: 0.8, control: 0.3 }, { treatment: 0.3, control: 0.3 });
    const [metric, proposals] = await decay(policy);
    expect(metric).toMatchObject({
      value: expect.closeTo(1, 9),
      details: { state: 'unhealthy', lift_reference: expect.closeTo(0.5, 9), lift_now: expect.closeTo(0, 9), n: 300 },
    });
    expect(metric.details.ci_low).toBeGreaterThan(0);
    expect(proposals).toMatchObject([{ kind: 'retrain', registry_id: champion.id, threshold: 0.5, suggested_version: null }]);
  });

  test('is healthy, and asks for nothing, where the lift is kept', async () => {
    const { policy } = await served();
    await months(policy, { treatment: 0.8, control: 0.3 }, { treatment: 0.8, control: 0.3 });
    const [metric, proposals] = await decay(policy);
    expect(metric).toMatchObject({ value: expect.closeTo(0, 9), details: { state: 'healthy' } });
    expect(proposals).toEqual([]);
  });

  test('with fewer than 30 control outcomes measures against what S1 would have earned, by SNIPS of the treatment', async () => {
    const { policy } = await served();
    const b = await rankedUntil(loop, policy, one => one.arm === 'treatment' && one.served_candidate_id === 'b');
    const at = (days: number) => ({ matures_at: new Date(Date.parse(b.matures_at) + days * DAY_MS).toISOString() });
    await copiesOf(loop, b.id, [...rewarded(100, 0.2, at(0)), ...rewarded(100, 0.2, at(60))]); // S1 serves b
    await loop.p.sql('delete from intelligence.decision where id = $1', [b.id]);
    await months(policy, { treatment: 0.8, control: 1 }, { treatment: 0.8, control: 1 }, 29);
    const [{ details }] = await decay(policy);
    const treatment = (300 * 0.8 + 100 * 0.2) / 400;
    expect([details.lift_reference, details.lift_now]).toEqual([expect.closeTo(treatment - 0.2, 9), expect.closeTo(treatment - 0.2, 9)]);
  });
});
