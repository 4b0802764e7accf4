import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import table from '../../rest-adapter/routes/intelligence.js';
import { ADMIN } from '../support/platform.js';
import { Loop } from './loop.js';

let loop: Loop;
beforeAll(async () => {
  loop = await Loop.open();
});

/** Rows per table of the schema, the tick's own table left out. */
async function rowCounts(): Promise<Record<string, number>> {
  const tables = await loop.p.sql<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'intelligence' and table_type = 'BASE TABLE' and table_name not in ('loop_tick', 'test_clock', 'schedule_slot')",
  );
  const counts: Record<string, number> = {};
  for (const { name } of tables)
    counts[name] = (await loop.p.sql<{ n: number }>(`select count(*)::int as n from intelligence."${name}"`))[0]!.n;
  return counts;
}

describe('an empty ledger', () => {
  test('1: a tick over an empty ledger writes nothing but its own row', async () => {
    const before = await rowCounts();
    const events = await loop.p.sql("select 1 from events.outbox where source = 'intelligence'");
    const { status, body } = await loop.tick();
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'empty', trigger: 'manual' });
    expect(body.phases.map((one: any) => [one.phase, Object.values(one.counts)])).toEqual([
      ['monitor', [0, 0]],
      ['analyze', [0]],
      ['propose', [0, 0]],
    ]);
    expect(await rowCounts()).toEqual(before);
    expect(await loop.p.sql("select 1 from events.outbox where source = 'intelligence'")).toEqual(events);
    expect(await loop.metrics()).toMatchObject([{ metric: 'loop_liveness', value: 1, details: { stalled: false, n: 0 } }]);
    expect((await loop.ok('GET', '/governance/proposals')).data).toEqual([]);
  });
});

describe('who may call', () => {
  test('2: a user token of a staff owner gets 403 on every operation, no token 401', async () => {
    const staff = await loop.p.userToken(ADMIN, ['read:profile'], { clientId: 'demo-admin', amr: ['pwd', 'otp', 'mfa'] });
    for (const { method, path } of table.routes) {
      const [at, body] = [path.replace('/v1', '').replace(/\{\w+\}/g, randomUUID()), method === 'GET' ? undefined : {}];
      const name = `${method} ${path}`;
      expect(await loop.rest(method, at, body, staff), name).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      expect((await loop.rest(method, at, body, null)).status, name).toBe(401);
    }
  });

  test('14: the internal client of workflow may tick, and neither apply, promote nor roll back, with or without admin:ai', async () => {
    await loop.p.sql("update identity.oauth_client set scopes = scopes || array['admin:ai'] where id = 'svc-workflow'");
    const who = { id: 'svc-workflow', secret: 'test-secret-of-workflow-0123456789abcdef' };
    for (const scope of ['admin:jobs', 'admin:ai']) {
      const token = await vi.waitFor(() => loop.p.serviceToken(scope, who), 40_000); // identity may still know the client as it was
      expect(await loop.tick(token)).toMatchObject({ status: 200, body: { trigger: 'scheduled' } });
      const id = randomUUID();
      const forbidden = { status: 403, body: { code: 'forbidden' } };
      expect(await loop.rest('POST', `/governance/proposals/${id}/apply`, { version: 1 }, token)).toMatchObject(forbidden);
      expect(await loop.rest('POST', `/governance/proposals/${id}/approve`, { reviewer_id: 'x' }, token)).toMatchObject(forbidden);
      expect(await loop.rest('POST', `/registry/${id}/promote`, {}, token)).toMatchObject(forbidden);
      expect(
        await loop.rest('POST', '/registry/rollback', { policy_kind: 'a_b', policy_key: 'a_b', brand_id: null, to_version: 1 }, token),
      ).toMatchObject(forbidden);
    }
  });
});

describe('Monitor, Analyze, Propose', () => {
  test('3: decisions past their deadline expire, completeness is measured, one proposal is raised with its event and alarm', async () => {
    const policy = await loop.policy();
    await loop.decisions(policy, 4, 1);
    await loop.passDeadline();
    const alarms = await loop.counter('intelligence_join_completeness_below_floor_total');
    const { body } = await loop.tick();
    expect(body.status).toBe('completed');
    expect(body.phases.map((one: any) => [one.phase, one.status])).toEqual([
      ['monitor', 'completed'],
      ['analyze', 'completed'],
      ['propose', 'completed'],
    ]);
    expect(body.phases[0].counts).toEqual({ expired_unjoined: 3, discarded: 0 });
    expect(await loop.metric(policy, 'join_completeness')).toMatchObject({
      value: 0.25,
      details: { state: 'unhealthy', n: 4, joined: 1, expired_unjoined: 3, floor: 0.8 },
    });
    const [proposal, ...others] = await loop.proposals(policy);
    expect(others).toEqual([]);
    expect(proposal).toMatchObject({
      status: 'raised',
      kind: 'investigate',
      metric: 'join_completeness',
      threshold: 0.8,
      observed: 0.25,
      version: 1,
      tick_id: body.id,
    });
    const events = await loop.p.sql(
      "select data from events.outbox where type = 'intelligence.proposal.raised.v1' and data->>'policy_key' = $1",
      [policy.policy_key],
    );
    expect(events).toMatchObject([{ data: { proposal_id: proposal.id, metric: 'join_completeness', threshold: 0.8, observed: 0.25 } }]);
    expect(await loop.counter('intelligence_join_completeness_below_floor_total')).toBeGreaterThan(alarms);

    const again = await loop.tick(); // 4
    expect(again.body.phases[0].counts.expired_unjoined).toBe(0);
    expect(again.body.phases[2].counts.raised).toBe(0);
    expect(await loop.proposals(policy)).toHaveLength(1);
  });

  test('4: a second tick over the same ledger expires nothing and raises nothing', async () => {
    const { policy } = await loop.proposed();
    const { body } = await loop.tick();
    expect([body.phases[0].counts.expired_unjoined, body.phases[2].counts.raised]).toEqual([0, 0]);
    expect(await loop.proposals(policy)).toHaveLength(1);
  });

  test('5: 8 of 10 joined is healthy and raises nothing', async () => {
    const policy = await loop.policy();
    await loop.decisions(policy, 10, 8);
    await loop.passDeadline();
    await loop.tick();
    expect(await loop.metric(policy, 'join_completeness')).toMatchObject({ value: 0.8, details: { state: 'healthy' } });
    expect(await loop.proposals(policy)).toEqual([]);
  });

  test('6: a decision at its deadline stays pending; a millisecond later it expires', async () => {
    const policy = await loop.policy();
    const { id, matures_at } = await loop.rank(policy);
    await loop.clock(matures_at);
    await loop.tick();
    expect((await loop.decision(id)).status).toBe('pending');
    await loop.clock(new Date(Date.parse(matures_at) + 1).toISOString());
    await loop.tick();
    expect(await loop.decision(id)).toMatchObject({ status: 'expired_unjoined', closed_at: await loop.now() });
  });

  test('15: of 20 parallel ticks one has effects, the others answer 409 or find nothing to do; one proposal', async () => {
    const policy = await loop.policy();
    await loop.decisions(policy, 4, 1);
    await loop.passDeadline();
    const answers = await Promise.all(Array.from({ length: 20 }, () => loop.tick()));
    const done = answers.filter(({ status }) => status === 200);
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect(done.filter(({ body }) => body.phases[0].counts.expired_unjoined > 0)).toHaveLength(1);
    expect(done.filter(({ body }) => body.phases[2].counts.raised > 0)).toHaveLength(1);
    expect(await loop.proposals(policy)).toHaveLength(1);
  });

  test('two ticks at once: one 409, which changes nothing', async () => {
    await loop.rank(await loop.policy());
    const host = loop.p.host('intelligence');
    const { withTickLock } = await import('../../subgraphs/intelligence/commands/tick-lock.js');
    const refused = await withTickLock(host, () => loop.tick());
    expect(refused).toMatchObject({ status: 409, body: { code: 'conflict', reason: 'tick_running' } });
  });

  test('the same Idempotency-Key answers as before and runs nothing', async () => {
    const policy = await loop.policy();
    await loop.decisions(policy, 2, 0);
    const headers = { 'idempotency-key': `loop:${randomUUID()}` };
    const first = await loop.tick(loop.token, headers);
    await loop.passDeadline();
    const second = await loop.tick(loop.token, headers);
    expect(second).toMatchObject({ status: 200, body: first.body });
    expect(JSON.stringify(second.body)).toBe(JSON.stringify(first.body)); // in the same order, too
    expect((await loop.ok('GET', `/decisions?policy_key=${policy.policy_key}&status=pending`)).data).toHaveLength(2);
  });

  test('a failing phase ends the tick failed, later phases do not run, and the next tick repeats them', async () => {
    const policy = await loop.policy();
    await loop.decisions(policy, 4, 1);
    await loop.passDeadline();
    loop.p.host('intelligence').faults.set('loop.phase', { match: 'analyze', times: 1 });
    expect((await loop.tick()).status).toBe(500);
    const [failed] = (await loop.ok('GET', '/loop/ticks?limit=1')).data;
    expect(failed).toMatchObject({
      status: 'failed',
      phases: [
        { phase: 'monitor', status: 'completed' },
        { phase: 'analyze', status: 'failed' },
      ],
    });
    expect(await loop.proposals(policy)).toEqual([]);
    await loop.tick();
    expect(await loop.proposals(policy)).toHaveLength(1);
  });
});

describe('outcomes', () => {
  test('7: the Outcome Record of a re-test joins; again, nothing changes; after expiry it counts as late', async () => {
    const policy = await loop.policy();
    const user = randomUUID();
    const { id } = await loop.rank(policy, undefined, { entity: { type: 'user', id: user } });
    const eventId = await loop.retested(user, 'ldl_c', 'improved');
    const joined = await loop.decision(id);
    expect(joined).toMatchObject({ status: 'joined', outcome: { label: 'improved', reward: 1, source_event_id: eventId } });
    const { joinByCode } = await import('../../subgraphs/intelligence/commands/outcome-join.js');
    const again = { metric: 'retest', label: 'improved', sourceType: 'x', sourceEventId: eventId, occurredAt: new Date(await loop.now()) };
    await loop.p.host('intelligence').transaction(ctx => joinByCode(ctx, user, 'ldl_c', again));
    expect(await loop.decision(id)).toEqual(joined);
    expect(await loop.p.sql('select 1 from intelligence.late_outcome where decision_id = $1', [id])).toEqual([]);

    const other = randomUUID();
    const late = await loop.rank(policy, undefined, { entity: { type: 'user', id: other } });
    await loop.passDeadline();
    await loop.tick();
    await loop.retested(other, 'ldl_c', 'improved');
    expect(await loop.decision(late.id)).toMatchObject({ status: 'expired_unjoined', outcome: null });
    await loop.tick();
    expect((await loop.metric(policy, 'join_completeness')).details.late_outcomes).toBe(1);
  });

  test('24: with no tick for 3 h 1 min the loop reads as stalled when it is read, and an alarm is raised', async () => {
    await loop.rank(await loop.policy());
    await loop.tick();
    const now = Date.parse(await loop.now());
    expect((await loop.metrics('&metric=loop_liveness'))[0].details.reasons).not.toContain('orchestrator_dead');
    const alarms = await loop.counter('intelligence_loop_liveness_alarm_total');
    await loop.clock(new Date(now + 181 * 60_000).toISOString());
    const [live] = await loop.metrics('&metric=loop_liveness');
    expect(live).toMatchObject({ value: 0, details: { stalled: true, state: 'unhealthy' } });
    expect(live.details.reasons).toContain('orchestrator_dead');
    expect(await loop.counter('intelligence_loop_liveness_alarm_total')).toBeGreaterThan(alarms);
    await loop.tick();
  });
});

describe('ranking', () => {
  test('16: with the flag unset the order of the caller is returned unchanged and logged', async () => {
    const policy = await loop.policy();
    const body = await loop.rank(policy, ['c', 'a', 'b'], { slots: 3 });
    expect(body).toMatchObject({
      stage: 's0',
      ranker: 'passthrough',
      propensity: 1,
      predicted_outcome: null,
      status: 'pending',
      served_candidate_id: 'c',
    });
    expect(body.ranked).toEqual([
      { candidate_id: 'c', rank: 1, score: null, propensity: 1 },
      { candidate_id: 'a', rank: 2, score: null, propensity: 0 },
      { candidate_id: 'b', rank: 3, score: null, propensity: 0 },
    ]);
  });

  test('17: at S2 with epsilon 0.05 and two candidates the propensities are 0.975 and 0.025', async () => {
    await loop.stage('S2');
    const policy = await loop.policy();
    await loop.champion(policy, { popularity: { prior_strength: 20, global: { a: { s: 9, c: 10 }, b: { s: 1, c: 10 } }, segments: {} } });
    const body = await loop.rank(policy, ['a', 'b'], { slots: 2 });
    expect(Object.fromEntries(body.ranked.map((one: any) => [one.candidate_id, one.propensity]))).toEqual({ a: 0.975, b: 0.025 });
    expect(body).toMatchObject({ stage: 's2', ranker: 'popularity', policy_version: 2 });
    await loop.stage(null);
  });

  test('18: at S4 the propensities are those of the posteriors, mixed with epsilon', async () => {
    await loop.stage('S4');
    const policy = await loop.policy();
    const segments = { '': { a: { alpha: 8, beta: 4 }, b: { alpha: 5, beta: 5 }, c: { alpha: 2, beta: 2 } } };
    await loop.champion(policy, { thompson: { segments, default: { alpha: 1, beta: 1 } } });
    const body = await loop.rank(policy, ['a', 'b', 'c'], { slots: 3 });
    const of = (id: string): number => body.ranked.find((one: any) => one.candidate_id === id).propensity;
    for (const [id, wanted] of [
      ['a', 0.5975],
      ['b', 0.1554],
      ['c', 0.2471],
    ] as const)
      expect(Math.abs(of(id) - wanted)).toBeLessThanOrEqual(0.001);
    await loop.stage(null);
  });

  test('21: the same decision key twice at once is one decision and one answer; another body is refused', async () => {
    const policy = await loop.policy();
    const question = loop.question(policy);
    const answers = await Promise.all([loop.rest('POST', '/rank', question), loop.rest('POST', '/rank', question)]);
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 201]);
    expect(answers[0]!.body).toEqual(answers[1]!.body);
    expect(await loop.p.sql('select 1 from intelligence.decision where decision_key = $1', [question.decision_key])).toHaveLength(1);
    const other = await loop.rest('POST', '/rank', { ...question, candidates: question.candidates.slice(1) });
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } });
  });
});
