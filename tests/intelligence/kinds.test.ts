import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { afterDeadlines, closedCopies, copiesOf, explored, rewarded, times } from './closed-decisions.js';
import { DAY_MS, Loop, type TestPolicy } from './loop.js';

let loop: Loop;
beforeAll(async () => {
  loop = await Loop.open();
});
afterEach(() => loop.stage(null));

/** A model that promises so much of each candidate. */
const promising = (a: number, b = a) => ({
  prior_strength: 20,
  global: { a: { s: a * 1000, c: 1000 }, b: { s: b * 1000, c: 1000 } },
  segments: {},
});
const raised = async (policy: TestPolicy) => {
  expect((await loop.tick()).status).toBe(200);
  return (await loop.proposals(policy)).map(({ kind, metric, suggested_version, registry_id, threshold }) => ({
    kind,
    metric,
    suggested_version,
    registry_id,
    threshold,
  }));
};

/** A policy served at S2 by a champion that promises 0.9 and gives 0.3; the champion before it is version 2. */
async function overpromising(): Promise<{ policy: TestPolicy; champion: any }> {
  const policy = await loop.policy();
  await loop.champion(policy, { popularity: promising(0.5) });
  const champion = await loop.champion(policy, { popularity: promising(0.9) });
  await loop.stage('S2');
  await closedCopies(loop, policy, rewarded(60, 0.3));
  return { policy, champion };
}

describe('a tick proposes', () => {
  test('ROLLBACK to the prior champion where the champion promises what does not come true', async () => {
    const { policy, champion } = await overpromising();
    expect(await raised(policy)).toEqual([
      { kind: 'rollback', metric: 'realized_vs_predicted', suggested_version: 2, registry_id: champion.id, threshold: 0.05 },
    ]);
  });

  test('RETRAIN for the same where no prior champion can serve again', async () => {
    const { policy, champion } = await overpromising();
    await loop.p.sql(`update intelligence.registry_version set artifact_erased_at = now() where policy_id = $1 and status = 'retired'`, [
      policy.id,
    ]);
    expect(await raised(policy)).toEqual([
      { kind: 'retrain', metric: 'realized_vs_predicted', suggested_version: null, registry_id: champion.id, threshold: 0.05 },
    ]);
  });

  test('RECALIBRATE where predictions are right on the whole and wrong one by one', async () => {
    const policy = await loop.policy();
    const champion = await loop.champion(policy, { popularity: promising(0.5) });
    await loop.stage('S2');
    const high = rewarded(100, 0.6, { predicted_outcome: 0.9 });
    await closedCopies(loop, policy, [...high, ...rewarded(100, 0.4, { predicted_outcome: 0.1 })]);
    expect(await raised(policy)).toEqual([
      { kind: 'recalibrate', metric: 'calibration', suggested_version: null, registry_id: champion.id, threshold: 0.1 },
    ]);
    expect(await loop.metric(policy, 'realized_vs_predicted')).toMatchObject({ details: { state: 'healthy', n: 200 } });
  });

  test('PROMOTE of a candidate whose lift over the champion is above nothing for sure, with its version', async () => {
    const policy = await loop.policy({ epsilon: 0.5 });
    await loop.champion(policy, { popularity: promising(0.6, 0.2) });
    const candidate = await loop.register(policy, { popularity: promising(0.2, 0.6) });
    await loop.register(policy, { popularity: promising(0.7, 0.2) }); // serves what the champion serves
    await loop.stage('S2');
    await explored(loop, policy, { a: rewarded(300, 0.2), b: rewarded(100, 0.8) });
    const found = (await raised(policy)).filter(({ metric }) => metric === 'challenger_lift');
    expect(found).toEqual([
      { kind: 'promote', metric: 'challenger_lift', suggested_version: candidate.version, registry_id: candidate.id, threshold: 0 },
    ]);
    expect((await loop.ok('GET', `/registry/${candidate.id}`)).status).toBe('candidate');
  });

  test('nothing of a candidate while the effective sample is below 100', async () => {
    const policy = await loop.policy({ epsilon: 0.5 });
    await loop.champion(policy, { popularity: promising(0.6, 0.2) });
    await loop.register(policy, { popularity: promising(0.2, 0.6) });
    await loop.stage('S2');
    await explored(loop, policy, { a: rewarded(90, 0.2), b: rewarded(30, 0.8) });
    expect((await raised(policy)).filter(({ metric }) => metric === 'challenger_lift')).toEqual([]);
    expect(await loop.metric(policy, 'challenger_lift')).toMatchObject({ details: { state: 'inconclusive', ci_low: null } });
  });

  test('INVESTIGATE where the joins of a week collapse, though they are complete enough in the window', async () => {
    const policy = await loop.policy();
    const { id } = await loop.rank(policy, ['a', 'b']);
    const [row] = await loop.p.sql<{ at: Date }>('select matures_at as at from intelligence.decision where id = $1', [id]);
    const at = (days: number) => ({ matures_at: new Date(row!.at.getTime() + days * DAY_MS).toISOString() });
    const before = rewarded(200, 1, at(0));
    const lately = times(25, index => ({ reward: index < 8 ? 1 : null, columns: at(12) }));
    await copiesOf(loop, id, [...before, ...lately]);
    await loop.p.sql('delete from intelligence.decision where id = $1', [id]);
    await afterDeadlines(loop, policy);
    expect(await raised(policy)).toEqual([
      { kind: 'investigate', metric: 'loop_liveness', suggested_version: null, registry_id: null, threshold: 0.5 },
    ]);
    expect((await loop.metric(policy, 'join_completeness')).details.state).toBe('healthy');
  });
});

test('shadow records are measured and never trip a proposal', async () => {
  const policy = await loop.policy();
  await loop.champion(policy, { popularity: promising(0.5), thompson: { segments: {}, default: { alpha: 95, beta: 5 } } });
  await loop.stage('S2');
  await closedCopies(loop, policy, rewarded(200, 0.5));
  expect(await raised(policy)).toEqual([]);
  const shadows = (await loop.metrics(`&policy_key=${policy.policy_key}`)).filter(({ details }) => details.shadow === true);
  expect(shadows.map(({ metric, details }) => [metric, details.ranker, details.state].join(' ')).sort()).toEqual([
    'calibration thompson unhealthy',
    'realized_vs_predicted thompson unhealthy',
  ]);
});

test('the gate opens by what the champion of every policy at work has shown, not of one', async () => {
  const own = await Loop.open();
  const gate = async () => (await own.ok('GET', '/loop/stage/gate?to=s2')).reasons;
  const [honest, other] = [await own.policy(), await own.policy()];
  await own.champion(honest, { popularity: promising(0.5) });
  await closedCopies(own, honest, rewarded(200, 0.5)); // at S0: by shadow records
  await own.tick();
  expect(await gate()).toEqual([]);
  await closedCopies(own, other, rewarded(200, 0.5));
  await own.tick();
  expect(await gate()).toEqual(['realized_vs_predicted_missing', 'calibration_missing']);
  await own.champion(other, { popularity: promising(0.5) });
  await closedCopies(own, other, rewarded(200, 0.5));
  await own.tick();
  expect(await gate()).toEqual([]);

  const left = await own.policy();
  await closedCopies(
    own,
    left,
    rewarded(100, 0.5).map(one => ({ ...one, reward: one.reward || null })),
  );
  await own.tick();
  expect(await gate()).toEqual(expect.arrayContaining(['join_completeness_unhealthy']));
  await own.ok('PATCH', `/policies/${left.id}`, { version: left.version, status: 'archived' }); // it serves nobody any more
  expect(await gate()).toEqual([]);
});
