import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { Loop, type TestPolicy } from './loop.js';

let loop: Loop;
beforeAll(async () => {
  loop = await Loop.open();
});

const act = (id: string, verb: string, body: object) => loop.rest('POST', `/governance/proposals/${id}/${verb}`, body);
const read = (id: string) => loop.ok('GET', `/governance/proposals/${id}`);
const versions = async (policy: TestPolicy) => {
  const { data } = await loop.ok('GET', `/registry?policy_key=${policy.policy_key}`);
  return Object.fromEntries(data.map((one: any) => [one.version, one.status]));
};
const rollback = (policy: TestPolicy, to_version: number, more: object = {}) =>
  loop.rest('POST', '/registry/rollback', {
    policy_kind: policy.policy_kind,
    policy_key: policy.policy_key,
    brand_id: null,
    to_version,
    ...more,
  });

describe('a proposal', () => {
  test('8: needs a reviewer, is approved once, and says by whom', async () => {
    const { proposal } = await loop.proposed();
    for (const body of [{}, { reviewer_id: '' }, { reviewer_id: '  ' }])
      expect(await act(proposal.id, 'approve', body)).toMatchObject({ status: 400, body: { errors: [{ pointer: '/reviewer_id' }] } });
    expect(await act(proposal.id, 'approve', { reviewer_id: ' staff-1 ', notes: 'seen' })).toMatchObject({
      status: 200,
      body: { status: 'approved', reviewer_id: 'staff-1', notes: 'seen' },
    });
    expect(await act(proposal.id, 'approve', { reviewer_id: 'staff-1' })).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(await act(randomUUID(), 'approve', { reviewer_id: 'staff-1' })).toMatchObject({ status: 404 });
  });

  test('9: is applied only after it was approved; then that version is champion and the prior one retired', async () => {
    const { policy, proposal } = await loop.proposed();
    const version = await loop.register(policy, { popularity: { prior_strength: 20, global: {}, segments: {} } });
    expect((await act(proposal.id, 'apply', { version: 2 })).status).toBe(409);
    expect(await versions(policy)).toEqual({ 1: 'champion', 2: 'candidate' });
    await act(proposal.id, 'approve', { reviewer_id: 'staff-1' });
    expect(await versions(policy)).toEqual({ 1: 'champion', 2: 'candidate' });
    expect(await act(proposal.id, 'apply', { version: 2, actor_id: 'staff-2' })).toMatchObject({
      status: 200,
      body: { status: 'applied', applied_version: 2, applied_registry_id: version.id, applied_by: 'staff-2' },
    });
    expect(await versions(policy)).toEqual({ 1: 'retired', 2: 'champion' });
    expect((await act(proposal.id, 'apply', { version: 1 })).status).toBe(409);
  });

  test('10: with an unknown version or the champion stays approved', async () => {
    const { proposal } = await loop.proposed();
    await act(proposal.id, 'approve', { reviewer_id: 'staff-1' });
    expect((await act(proposal.id, 'apply', { version: 99 })).status).toBe(404);
    expect((await act(proposal.id, 'apply', { version: 1 })).status).toBe(409);
    expect((await act(proposal.id, 'apply', { version: 0 })).status).toBe(400);
    expect((await read(proposal.id)).status).toBe('approved');
  });

  test('11: that was rejected takes neither approval nor application, and is not raised again for a week', async () => {
    const { policy, proposal } = await loop.proposed();
    expect(await act(proposal.id, 'reject', { reviewer_id: 'staff-1' })).toMatchObject({ status: 200, body: { status: 'rejected' } });
    expect((await act(proposal.id, 'approve', { reviewer_id: 'staff-1' })).status).toBe(409);
    expect((await act(proposal.id, 'apply', { version: 1 })).status).toBe(409);
    await loop.tick();
    expect(await loop.proposals(policy, '&status=raised')).toEqual([]);
    await loop.clock(new Date(Date.parse(await loop.now()) + 7 * 86_400_000 + 1).toISOString());
    await loop.tick();
    expect(await loop.proposals(policy, '&status=raised')).toHaveLength(1);
  });

  test('reaches the review queue by its event, and whoever governs is asked for by message', async () => {
    const { proposal } = await loop.proposed();
    const [event] = await loop.p.sql<{ id: string }>(
      "select id from events.outbox where type = 'intelligence.proposal.raised.v1' and data->>'proposal_id' = $1",
      [proposal.id],
    );
    await loop.settled(event!.id, 'intelligence.governance');
    expect(await loop.p.sql('select 1 from intelligence.governance_queue where proposal_id = $1', [proposal.id])).toHaveLength(1);
    const [message] = await loop.p.sql(
      "select data from events.outbox where type = 'comms.message.send_requested.v1' and data->>'dedupe_key' = $1",
      [`loop_proposal_raised:${proposal.id}`],
    );
    expect(message).toMatchObject({ data: { template: 'loop_proposal_raised', recipient_type: 'staff_role', recipient_id: 'admin' } });
  });

  test('leaves audit rows of approval and application with reviewer, versions and the hash of the notes, not their text', async () => {
    const { policy, proposal } = await loop.proposed();
    await loop.register(policy);
    await act(proposal.id, 'approve', { reviewer_id: 'staff-1', notes: 'canary-note-7q' });
    await act(proposal.id, 'apply', { version: 2 });
    const rows = await loop.p.sql('select action, details from intelligence.audit_log where target = $1 order by at, id', [proposal.id]);
    expect(rows.map(one => one.action)).toEqual(['loop_proposal.raised', 'loop_proposal.approved', 'loop_proposal.applied']);
    expect(rows[1].details).toMatchObject({ reviewer_id: 'staff-1', notes_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(JSON.stringify(rows)).not.toContain('canary-note-7q');
  });

  test('an unknown status of the list is refused', async () =>
    expect((await loop.rest('GET', '/governance/proposals?status=open')).status).toBe(400));

  test('a reviewer must be an active member of the staff where that is asked for', async () => {
    const strict = await Loop.open({ env: { GOVERNANCE_VERIFY_REVIEWER: 'true' } });
    const { proposal } = await strict.proposed();
    const approve = (reviewer_id: string) => strict.rest('POST', `/governance/proposals/${proposal.id}/approve`, { reviewer_id });
    expect(await approve('staff-1')).toMatchObject({ status: 400, body: { errors: [{ pointer: '/reviewer_id' }] } });
    const [member] = await strict.p.sql<{ id: string }>("select id from identity.staff_member where status = 'active' limit 1");
    expect((await approve(member!.id)).status).toBe(200);
  });
});

describe('the registry', () => {
  test('12: a rollback leaves every decision byte-identical, and outcomes join the version that decided', async () => {
    const policy = await loop.policy();
    const second = await loop.champion(policy, { popularity: { prior_strength: 20, global: { a: { s: 5, c: 10 } }, segments: {} } });
    const made = [];
    for (let index = 0; index < 5; index++) made.push(await loop.rank(policy));
    const bytes = () =>
      loop.p.sql('select md5(t::text) as hash, t::text as row from intelligence.decision t where policy_id = $1 order by id', [policy.id]);
    const before = await bytes();
    expect(await rollback(policy, 1, { actor_id: 'staff-1', reason: 'worse' })).toMatchObject({
      status: 200,
      body: { version: 1, status: 'champion' },
    });
    expect(await versions(policy)).toEqual({ 1: 'champion', 2: 'retired' });
    expect(await bytes()).toEqual(before);
    expect((await loop.outcome(made[0]!.id)).body).toMatchObject({ status: 'joined', policy_version: 2, registry_id: second.id });
    await loop.passDeadline();
    await loop.tick();
    const records = (await loop.metrics(`&policy_key=${policy.policy_key}&metric=realized_vs_predicted`)).map(
      one => one.details.scope.policy_version,
    );
    expect(records).toEqual([2]);
  });

  test('no operation and no statement rewrites what was served', async () => {
    const { id } = await loop.rank(await loop.policy());
    for (const change of [
      'policy_version = 9',
      "registry_id = '0190b3a0-0000-7000-8000-00000000dead'",
      'propensity = 0.5',
      "stage = 's5'",
      "ranker = 'linucb'",
      "policy_kind = 'other_kind'",
      "policy_key = 'other_key'",
      "brand_id = '0190b3a0-0000-7000-8000-00000000dead'",
      "entity_type = 'visitor'",
      "baseline_candidate_id = 'z'",
      'fallback = true',
      'predicted_outcome = 0.5',
    ])
      await expect(loop.p.sql(`update intelligence.decision set ${change} where id = $1`, [id])).rejects.toThrow(/not rewritten/);
  });

  test('13: a rollback without the key brand_id is refused there', async () => {
    const answer = await loop.rest('POST', '/registry/rollback', {
      policy_kind: 'recommendation',
      policy_key: 'next_retest_panel',
      to_version: 1,
    });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '/brand_id' }] } });
  });

  test('rolls back only to what was champion before; unknown policies and versions are not found', async () => {
    const policy = await loop.policy();
    await loop.register(policy);
    expect((await rollback(policy, 2)).status).toBe(409);
    expect((await rollback(policy, 1)).status).toBe(409);
    expect((await rollback(policy, 7)).status).toBe(404);
    expect((await rollback({ ...policy, policy_key: 'no_such_policy' }, 1)).status).toBe(404);
  });

  test('has one champion per policy at every instant, also when promotions and rollbacks race', async () => {
    const policy = await loop.policy();
    const made = await Promise.all([loop.register(policy), loop.register(policy), loop.register(policy)]);
    expect(made.map(one => one.version).sort((a, b) => a - b)).toEqual([2, 3, 4]);
    const calls = made.flatMap(({ id }) => [() => loop.rest('POST', `/registry/${id}/promote`, {}), () => rollback(policy, 1)]);
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => calls)
        .flat()
        .map(call => call()),
    );
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect(Object.values(await versions(policy)).filter(status => status === 'champion')).toHaveLength(1);
    await expect(
      loop.p.sql("update intelligence.registry_version set status = 'champion' where policy_id = $1", [policy.id]),
    ).rejects.toThrow(/registry_version_champion/);
  });

  test('a version that an applied proposal names serves the next decision; the loop itself never changes one', async () => {
    const { policy, proposal } = await loop.proposed();
    await loop.register(policy, { rules: { rules: [], denylist: [] } });
    await loop.tick();
    expect((await loop.rank(policy)).policy_version).toBe(1);
    await act(proposal.id, 'approve', { reviewer_id: 'staff-1' });
    expect((await loop.rank(policy)).policy_version).toBe(1);
    await act(proposal.id, 'apply', { version: 2 });
    expect((await loop.rank(policy)).policy_version).toBe(2);
  });
});

describe('the stage', () => {
  test('is S0 with the flag unset, unknown or unreadable; going back needs nothing but the flag', async () => {
    const policy = await loop.policy();
    await loop.champion(policy, { popularity: { prior_strength: 20, global: {}, segments: {} } });
    for (const value of [null, 'S9', '!error']) {
      await loop.stage(value);
      expect(await loop.rank(policy)).toMatchObject({ stage: 's0', ranker: 'passthrough' });
    }
    await loop.stage('S2');
    const kept = await loop.rank(policy);
    expect(kept).toMatchObject({ stage: 's2', ranker: 'popularity' });
    await loop.stage('S0');
    expect(await loop.rank(policy)).toMatchObject({ stage: 's0' });
    expect((await loop.decision(kept.id)).stage).toBe('s2');
    await loop.stage(null);
  });

  test('every stage answers the same rank contract; only the ranker differs', async () => {
    const policy = await loop.policy();
    const linucb = { alpha: 1, features: ['1'], arms: {} };
    const logistic = { features: [], weights: [], intercept: 0 };
    const thompson = { segments: {}, default: { alpha: 1, beta: 1 } };
    await loop.champion(policy, {
      rules: { rules: [], denylist: [] },
      popularity: { prior_strength: 20, global: {}, segments: {} },
      logistic,
      thompson,
      linucb,
    });
    const rankers = [];
    let keys: string[] | null = null;
    for (const stage of ['S0', 'S1', 'S2', 'S3', 'S4', 'S5']) {
      await loop.stage(stage);
      const body = await loop.rank(policy, ['a', 'b', 'c'], { slots: 3 });
      keys ??= Object.keys(body);
      expect(Object.keys(body)).toEqual(keys);
      expect(body.ranked.reduce((sum: number, one: any) => sum + one.propensity, 0)).toBeCloseTo(1, 6);
      expect(await loop.ok('GET', `/decisions/${body.id}/explain`)).toMatchObject({ reproduced: true });
      rankers.push(body.ranker);
    }
    expect(rankers).toEqual(['passthrough', 'rules', 'popularity', 'logistic', 'thompson', 'linucb']);
    await loop.stage(null);
  });

  test('advances only through its gate: joins complete and the loop live for S1, honest and calibrated for S2', async () => {
    const own = await Loop.open();
    const gate = (to: string) => own.ok('GET', `/loop/stage/gate?to=${to}`);
    expect(await gate('s0')).toEqual({ to: 's0', met: true, reasons: [] });
    expect(await gate('s1')).toEqual({ to: 's1', met: false, reasons: ['join_completeness_missing'] });
    const policy = await own.policy();
    await own.decisions(policy, 4, 4);
    await own.rank(policy);
    await own.passDeadline();
    await own.tick();
    expect(await gate('s1')).toMatchObject({ met: true });
    expect((await gate('s2')).reasons).toEqual(['realized_vs_predicted_missing', 'calibration_missing']);
    expect(await own.ok('GET', '/loop/stage')).toMatchObject({ stage: 's0', flag_value: 'S0', next: { to: 's1', met: true } });
    expect((await own.rest('GET', '/loop/stage/gate?to=s1', undefined, await own.p.internalToken('platform'))).status).toBe(200);
    expect((await own.rest('GET', '/loop/stage/gate?to=s7')).status).toBe(400);
  });
});
