import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { afterDeadlines, copiesOf, explored, rankedUntil, rewarded, times, type Copy } from './closed-decisions.js';
import { Loop, type TestPolicy } from './loop.js';

let loop: Loop;
beforeAll(async () => {
  loop = await Loop.open();
});
beforeEach(() => loop.stage('S2'));

const promising = (a: number, b: number) => ({
  prior_strength: 20,
  global: { a: { s: a * 1000, c: 1000 }, b: { s: b * 1000, c: 1000 } },
  segments: {},
});
const evaluate = (version: any, body: object = {}) => loop.rest('POST', `/registry/${version.id}/evaluate`, body);

/** A champion that serves `a` with 0.75 and `b` with 0.25, and a candidate that would do it the other way round. */
async function rivals(): Promise<{ policy: TestPolicy; candidate: any }> {
  const policy = await loop.policy({ epsilon: 0.5 });
  await loop.champion(policy, { popularity: promising(0.6, 0.2) });
  return { policy, candidate: await loop.register(policy, { popularity: promising(0.2, 0.6) }) };
}

const unjoined = (count: number, columns: object = {}): Copy[] => times(count, () => ({ reward: null, columns: { ...columns } }));

describe('POST /registry/{id}/evaluate on real decisions', () => {
  test('is conclusive with enough of them: estimates by hand, the lift over the champion with its interval, what did not join beside', async () => {
    const { policy, candidate } = await rivals();
    const aside = [...unjoined(7), ...rewarded(5, 1, { arm: 'control' }), ...unjoined(3, { arm: 'control' })];
    await explored(loop, policy, { a: [...rewarded(300, 0.2), ...aside], b: rewarded(100, 0.8) });
    const { status, body } = await evaluate(candidate);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      candidate_version: 3,
      target_version: 2,
      n: 400,
      unjoined: 7,
      support_violations: 0,
      state: 'conclusive',
    });
    expect([body.ess, body.max_weight]).toEqual([expect.closeTo(400 ** 2 / (300 / 9 + 100 * 9), 6), expect.closeTo(3, 9)]);
    const of = (name: string) => body.estimators.find((one: any) => one.name === name);
    expect([of('ips').value, of('snips').value]).toEqual([expect.closeTo(0.65, 9), expect.closeTo(0.65, 9)]);
    for (const name of ['dm', 'dr', 'sndr']) expect(Math.abs(of(name).value - 0.65), name).toBeLessThan(0.05);
    const { value, ci_low, ci_high } = body.lift_over_target;
    expect(Math.abs(value - 0.3)).toBeLessThan(0.05);
    expect([ci_low > 0, ci_low < value, value < ci_high]).toEqual([true, true, true]);
    expect(await loop.ok('GET', `/evaluations/${body.id}`)).toEqual(body);
    const back = (await evaluate(candidate, { target_version: 3 })).body; // against itself there is no lift
    expect(back.lift_over_target).toMatchObject({ value: expect.closeTo(0, 9) });
  });

  test('is inconclusive with an effective sample below 100', async () => {
    const { policy, candidate } = await rivals();
    await explored(loop, policy, { a: rewarded(90, 0.2), b: rewarded(30, 0.8) });
    const { body } = await evaluate(candidate);
    expect(body).toMatchObject({ n: 120, state: 'inconclusive' });
    expect(body.ess).toBeLessThan(100);
  });

  test('is unsupported where the version would serve, in more than 1 % of them, what could not have been logged', async () => {
    const { policy, candidate } = await rivals();
    const { id } = await rankedUntil(loop, policy, one => one.served_candidate_id === 'a');
    await copiesOf(loop, id, rewarded(300, 0.5));
    await copiesOf(loop, id, rewarded(3, 0.5), record => ({ ...record, propensities: { a: 1, b: 0 } }));
    await afterDeadlines(loop, policy);
    const few = (await evaluate(candidate)).body;
    expect([few.support_violations, few.state]).toEqual([3, expect.not.stringMatching('unsupported')]);
    await copiesOf(loop, id, rewarded(1, 0.5), record => ({ ...record, propensities: { a: 1, b: 0 } }));
    expect((await evaluate(candidate)).body).toMatchObject({ n: 304, support_violations: 4, state: 'unsupported' });
    await loop.tick();
    expect(await loop.metric(policy, 'challenger_lift')).toBeUndefined();
  });

  test('reads the newest 20,000, and says so: its window begins with them, and what did not join is counted in it', async () => {
    const { policy, candidate } = await rivals();
    const made = await rankedUntil(loop, policy, one => one.served_candidate_id === 'a');
    const at = (minutes: number) => ({ decided_at: new Date(Date.parse(made.decided_at) + minutes * 60_000).toISOString() });
    await copiesOf(loop, made.id, [...rewarded(10, 0.5, at(0)), ...unjoined(4, at(0))]);
    await copiesOf(loop, made.id, [...rewarded(20_000, 0.5, at(10)), ...unjoined(6, at(20))]);
    await afterDeadlines(loop, policy);
    const to = at(30).decided_at;
    const { body } = await evaluate(candidate, { from: at(-10).decided_at, to });
    expect(body).toMatchObject({ n: 20_000, unjoined: 6, window_from: at(10).decided_at, window_to: to });
    const first = (await evaluate(candidate, { from: at(-10).decided_at, to: at(5).decided_at })).body;
    expect(first).toMatchObject({ n: 10, unjoined: 5, window_from: at(-10).decided_at }); // the one that was copied waits still
  });
});
