import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { outcomeRecorded } from '../../events/catalogue/analytics.js';
import { retestCycleStarted } from '../../events/catalogue/clinical.js';
import { userErasureRequested } from '../../events/catalogue/identity.js';
import type { Handler } from '../../events/consumer.js';
import { appendEvents, prepareEvent } from '../../events/outbox.js';
import type { Context } from '../../runtime/request/context.js';
import { outcomeConsumer } from '../../subgraphs/intelligence/consumers/outcomes.js';
import { copiesOf, rewarded } from './closed-decisions.js';
import { Loop, type TestPolicy } from './loop.js';
import { until } from '../support/until.js';

let loop: Loop;
beforeAll(async () => {
  loop = await Loop.open();
});

/** Texts that stand in every column that may tell of a person's health; all of them must be found nowhere else. */
const CANARY = 'canary7q4z';
const SCHEMA = { type: 'object', properties: { goal: { type: 'string', maxLength: 32 } } };
const person = (id: string) => ({ entity: { type: 'user', id } });

/** Everything that any table, view or event holds, as text, without the given tables. */
async function everything(but: readonly string[] = []): Promise<string> {
  const tables = await loop.p.sql<{ schema: string; name: string }>(
    `select table_schema as schema, table_name as name from information_schema.tables where table_schema not in ('pg_catalog', 'information_schema')`,
  );
  let text = '';
  for (const { schema, name } of tables.filter(one => !but.includes(`${one.schema}.${one.name}`))) {
    const rows = await loop.p.sql<{ row: string }>(`select t::text as row from "${schema}"."${name}" t`);
    text += rows.map(({ row }) => row).join('\n');
  }
  return text;
}

describe('what may be known', () => {
  test('canary values of context, candidates and features stand sealed, and nowhere in plain: tables, safe views, events, audit', async () => {
    const policy = await loop.policy({ context_schema: SCHEMA, candidate_schema: SCHEMA });
    const id = randomUUID();
    const candidates = [{ id: 'a', features: { goal: `${CANARY}_b` }, codes: ['ldl_c'] }];
    const made = await loop.rank(policy, [], { ...person(id), context: { goal: `${CANARY}_a` }, candidates });
    await loop.ok('PUT', `/features/user/${id}/activity`, { values: { score_band: `${CANARY}_c` }, as_of: await loop.now() });
    await loop.outcome(made.id);
    await loop.passDeadline().catch(() => undefined);
    await loop.tick();
    expect(await everything()).not.toContain(CANARY);
    expect(JSON.stringify(await loop.decision(made.id))).toContain(`${CANARY}_a`);
    const views = await loop.p.sql<{ name: string }>(
      "select table_name as name from information_schema.views where table_schema = 'intelligence'",
    );
    expect(views.map(({ name }) => name).sort()).toEqual([
      'decision_outcome_safe',
      'decision_safe',
      'feature_vector_safe',
      'loop_proposal_safe',
      'meta_metric_safe',
    ]);
    for (const { name } of views) expect(JSON.stringify(await loop.p.sql(`select * from intelligence.${name}`))).not.toContain(id);
  });

  test('internal clients of other services read what the safe views show; reads with context leave an audit row', async () => {
    const policy = await loop.policy({ context_schema: SCHEMA });
    const { id } = await loop.rank(policy, ['a'], { context: { goal: CANARY } });
    await loop.outcome(id);
    await loop.p.sql("update identity.oauth_client set scopes = array['admin:ai'] where id = 'svc-ai'");
    const token = await loop.p.internalToken('ai');
    const shown = (await loop.rest('GET', `/decisions/${id}`, undefined, token)).body;
    expect(shown).toMatchObject({
      entity_id: null,
      context: null,
      candidates: null,
      ranked: null,
      outcome: { label: null, source_event_id: null },
    });
    expect((await loop.rest('GET', `/decisions/${id}/explain`, undefined, token)).status).toBe(403);
    expect((await loop.rest('POST', '/rank', loop.question(policy), token)).body.ranked).toHaveLength(1); // the own question
    await loop.decision(id);
    const reads = await loop.p.sql(
      "select actor->>'client_id' as client from intelligence.audit_log where action = 'decision.read' and target = $1",
      [id],
    );
    expect(reads).toEqual([{ client: 'demo-m2m' }]);
  });

  test.each(['ldl_value', 'email', 'home_address', 'note', 'glucose_mg_dl'])(
    'a schema with the key %s is refused: no raw value, contact data or free text',
    async key => {
      const context_schema = { type: 'object', properties: { [key]: { type: 'number' } } };
      const answer = await loop.rest('POST', '/policies', {
        policy_kind: 'recommendation',
        policy_key: 'refused_one',
        outcome_metric: 'retest',
        context_schema,
      });
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: `/context_schema/properties/${key}` }] } });
    },
  );
});

describe('erasure', () => {
  test('23: deletes decisions, outcomes and feature vectors, leaves counts; what comes later finds nothing, metrics of the past stay', async () => {
    const policy = await loop.policy();
    const id = randomUUID();
    const made = [
      await loop.rank(policy, undefined, person(id)),
      await loop.rank(policy, undefined, person(id)),
      await loop.rank(policy, undefined, person(id)),
    ];
    await loop.outcome(made[0].id);
    await loop.p.sql(
      `insert into intelligence.feature_set (key, version, schema, max_age_hours) values ('other_set', 1, '{"type":"object","properties":{}}', 24) on conflict do nothing`,
    );
    await loop.ok('PUT', `/features/user/${id}/activity`, { values: { chats: 1 }, as_of: await loop.now() });
    await loop.ok('PUT', `/features/user/${id}/other_set`, { values: {}, as_of: await loop.now() });
    await loop.passDeadline();
    await loop.tick();
    const before = await loop.metric(policy, 'join_completeness');
    const request_id = randomUUID();
    const asked = { request_id, scope: 'full', requested_at: await loop.now(), due_at: await loop.now() } as const;
    const at = new Date(asked.requested_at);
    const origin = { source: 'identity', requestId: request_id, causationId: null, actor: 'system:test', traceparent: null } as const;
    await loop.p
      .host('identity')
      .transaction(ctx => appendEvents(ctx.sql, [prepareEvent(userErasureRequested, asked, { userId: id }, origin)], at));
    const read = () =>
      loop.p.sql("select details from intelligence.audit_log where action = 'user.erased' and details->>'request_id' = $1", [request_id]);
    const [audit] = await until('the erasure', read, rows => rows.length === 1);
    expect(audit.details).toMatchObject({ outcome: 'erased', records: { decision: 3, decision_outcome: 1, feature_vector: 2 } });
    for (const table of ['decision', 'feature_vector', 'guard_state'])
      expect(await loop.p.sql(`select 1 from intelligence.${table} where entity_id = $1`, [id])).toEqual([]);
    expect(await loop.p.sql('select 1 from intelligence.decision_outcome where decision_id = any($1)', [made.map(one => one.id)])).toEqual(
      [],
    );
    expect((await loop.rest('POST', '/rank', loop.question(policy, ['a'], person(id)))).status).toBe(404);
    expect((await loop.rest('PUT', `/features/user/${id}/activity`, { values: {}, as_of: await loop.now() })).status).toBe(404);
    expect(await loop.metric(policy, 'join_completeness')).toEqual(before);
  });

  test('is done once: again there is nothing, and a rank that races with it leaves nothing', async () => {
    const policy = await loop.policy();
    const id = randomUUID();
    await loop.rank(policy, undefined, person(id));
    const erase = () => loop.ok('POST', '/admin/erasure', { entity_type: 'user', entity_id: id });
    const ranks = Array.from({ length: 10 }, () => loop.rest('POST', '/rank', loop.question(policy, ['a'], person(id))));
    const [erased] = await Promise.all([erase(), ...ranks]);
    expect(erased.outcome).toBe('erased');
    expect(await loop.p.sql('select 1 from intelligence.decision where entity_id = $1', [id])).toEqual([]);
    expect(await erase()).toMatchObject({ outcome: 'nothing_held' });
  });

  test('25: a training wipes retired and candidate versions that learned of an erased entity; the champion at the first training after it retires', async () => {
    const policy = await loop.policy();
    const id = randomUUID();
    await fill(policy, 205, id);
    const train = async (): Promise<string> => {
      const run = await loop.trained(policy, ['popularity', 'thompson']);
      expect(run).toMatchObject({ status: 'completed' });
      return run.registry_id;
    };
    const read = (version: string) => loop.ok('GET', `/registry/${version}`);
    const promote = (version: string) => loop.rest('POST', `/registry/${version}/promote`, {});
    const [retired, champion, candidate] = [await train(), await train(), await train()];
    for (const one of [retired, champion]) expect((await promote(one)).status).toBe(200);
    const served = await loop.rank(policy);
    const explain = () => loop.rest('GET', `/decisions/${served.id}/explain`);
    await loop.ok('POST', '/admin/erasure', { entity_type: 'user', entity_id: id });

    const fresh = await train();
    const wiped = { parameters: {}, artifact_erased_at: expect.any(String) };
    const whole = { parameters: { popularity: expect.anything(), thompson: expect.anything() }, artifact_erased_at: null };
    expect(await read(retired)).toMatchObject({ status: 'retired', ...wiped });
    expect(await read(candidate)).toMatchObject({ status: 'candidate', ...wiped });
    expect(await read(champion)).toMatchObject({ status: 'champion', ...whole });
    expect(await read(fresh)).toMatchObject({ status: 'candidate', ...whole, training: { erasures_honoured_up_to: expect.any(String) } });
    expect(await explain()).toMatchObject({ status: 200, body: { reproduced: true } });
    const erased = { status: 409, body: { code: 'conflict', reason: 'artifact_erased' } };
    for (const one of [retired, candidate]) {
      expect(await promote(one)).toMatchObject(erased);
      expect(await loop.rest('POST', `/registry/${one}/evaluate`, {})).toMatchObject(erased);
    }

    expect((await promote(fresh)).status).toBe(200);
    expect(await read(champion)).toMatchObject({ status: 'retired', ...whole });
    await train();
    expect(await read(champion)).toMatchObject({ status: 'retired', ...wiped });
    expect(await read(fresh)).toMatchObject({ status: 'champion', ...whole });
    expect(await explain()).toMatchObject(erased);
    expect(await loop.decision(served.id)).toMatchObject({ registry_id: champion }); // its row stays for attribution
  });

  test('a training without 200 outcomes fails, and registers nothing', async () => {
    const policy = await loop.policy();
    expect(await loop.trained(policy, ['popularity'])).toMatchObject({ status: 'failed', reason: 'not_enough_data', registry_id: null });
  });
});

/** Joined decisions by the hundred: one is made through the API, the others are copies of it. */
async function fill(policy: TestPolicy, count: number, entity: string): Promise<void> {
  const { id } = await loop.rank(policy, ['a', 'b'], person(entity));
  await loop.outcome(id);
  await copiesOf(loop, id, rewarded(count, 0.5));
}

describe('outcomes', () => {
  test('a started re-test cycle moves the deadline on, never back, and at most to 400 days', async () => {
    const policy = await loop.policy();
    const id = randomUUID();
    const made = await loop.rank(policy, undefined, person(id));
    const at = (days: number) => new Date(Date.parse(made.decided_at) + days * 86_400_000).toISOString();
    const started = (due_at: string) =>
      loop.event(
        retestCycleStarted,
        id,
        { code: 'ldl_c', protocol: 'lipid_reset', window_days: 90, due_at, started_at: made.decided_at },
        'intelligence.outcomes',
      );
    await started(at(90));
    expect((await loop.decision(made.id)).matures_at).toBe(at(127));
    await started(at(10));
    expect((await loop.decision(made.id)).matures_at).toBe(at(127));
    await started(at(390));
    expect((await loop.decision(made.id)).matures_at).toBe(at(400));
  });

  test('LATEST joins the newest waiting decision of the policy, ALL each', async () => {
    for (const [attribution, joined] of [
      ['latest', ['pending', 'joined']],
      ['all', ['joined', 'joined']],
    ] as const) {
      const policy = await loop.policy({ attribution });
      const id = randomUUID();
      const first = await loop.rank(policy, undefined, person(id));
      await loop.clock(new Date(Date.parse(await loop.now()) + 1000).toISOString());
      const second = await loop.rank(policy, undefined, person(id));
      await loop.retested(id, 'ldl_c', 'unchanged');
      expect([(await loop.decision(first.id)).status, (await loop.decision(second.id)).status]).toEqual(joined);
    }
  });

  test('an outcome of analytics about somebody else is refused and counted', async () => {
    const policy = await loop.policy({ outcome_metric: 'opened_article' });
    const id = randomUUID();
    const made = await loop.rank(policy, undefined, person(id));
    const handler = (outcomeConsumer.on as readonly Handler<Context>[]).find(one => one.definition?.name === outcomeRecorded.name)!;
    const tell = async (user_id: string) => {
      const data = {
        outcome_id: randomUUID(),
        decision_id: made.id,
        metric: 'opened_article',
        label: 'positive',
        recorded_at: await loop.now(),
      };
      await loop.p
        .host('intelligence')
        .transaction(ctx => handler(ctx, { id: randomUUID(), user_id, data } as never, new AbortController().signal));
    };
    await tell(randomUUID());
    expect((await loop.decision(made.id)).status).toBe('pending');
    expect(await loop.counter('intelligence_outcome_of_another_entity_total')).toBe(1);
    await tell(id);
    expect(await loop.decision(made.id)).toMatchObject({ status: 'joined', outcome: { label: 'positive', reward: 1 } });
  });

  test('recorded by a caller: 201, the same source again 200, another 409, an unknown label 400', async () => {
    const { id } = await loop.rank(await loop.policy());
    const body = { label: 'improved', source_event_id: 's1' };
    const record = (more: object = {}) => loop.rest('POST', `/decisions/${id}/outcome`, { ...body, ...more });
    expect(await record({ label: 'splendid' })).toMatchObject({ status: 400, body: { errors: [{ pointer: '/label' }] } });
    expect((await record()).status).toBe(201);
    expect((await record()).status).toBe(200);
    expect((await record({ source_event_id: 's2' })).status).toBe(409);
  });

  test('a deferred decision counts from its activation, and lapses after a day', async () => {
    const policy = await loop.policy();
    const defer = { defer_activation: true };
    const [shown, never] = [await loop.rank(policy, undefined, defer), await loop.rank(policy, undefined, defer)];
    expect(shown.status).toBe('deferred');
    await loop.clock(new Date(Date.parse(await loop.now()) + 3_600_000).toISOString());
    const active = await loop.ok('POST', `/decisions/${shown.id}/activate`, {});
    expect(active).toMatchObject({ status: 'pending', activated_at: await loop.now() });
    expect(Date.parse(active.matures_at)).toBe(Date.parse(active.activated_at) + 2 * 86_400_000);
    expect((await loop.rest('POST', `/decisions/${shown.id}/activate`, {})).status).toBe(200);
    await loop.clock(new Date(Date.parse(await loop.now()) + 86_400_000).toISOString());
    expect((await loop.rest('POST', `/decisions/${never.id}/activate`, {})).status).toBe(409);
    await loop.tick();
    expect((await loop.decision(never.id)).status).toBe('discarded');
  });
});

describe('evaluating rows', () => {
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
  const compute = (kind: string, rows: object[]) => loop.rest('POST', '/evaluations/compute', { kind, rows });

  test('19: F1 gives the estimates of the contract', async () => {
    const { body } = await compute(
      'ope',
      F1.map(([action, reward, propensity]) => ({ action, reward, propensity, pi: { A: 0.2, B: 0.8 }, q: { A: 0.4, B: 0.6 } })),
    );
    const found = Object.fromEntries(['ips', 'snips', 'dm', 'dr', 'sndr'].map(name => [name, Number(body[name].value.toFixed(6))]));
    expect(found).toEqual({ ips: 0.883333, snips: 0.646341, dm: 0.56, dr: 0.656667, sndr: 0.630732 });
    expect(body).toMatchObject({ ess: expect.closeTo(4.58663, 5), state: 'inconclusive' });
  });

  test('20: F2 gives calibration and honesty of the contract', async () => {
    const predicted = [0.1, 0.1, 0.3, 0.3, 0.35, 0.6, 0.6, 0.8, 0.8, 0.95];
    const { body } = await compute(
      'calibration',
      predicted.map((one, index) => ({ predicted: one, reward: [0, 1, 0, 1, 0, 1, 0, 1, 1, 1][index] })),
    );
    expect(body).toMatchObject({
      ece: expect.closeTo(0.15, 6),
      brier: expect.closeTo(0.2125, 6),
      realized_vs_predicted: expect.closeTo(0.11, 6),
      n: 10,
      state: 'inconclusive',
    });
  });

  test('probabilities that do not sum to 1 are refused, each row named; as nearly as 1e-6 they do', async () => {
    const row = (pi: object) => ({ action: 'A', reward: 1, propensity: 0.5, pi, q: { A: 0.4, B: 0.6 } });
    const answer = await compute('ope', [
      row({ A: 0.2, B: 0.8 }),
      row({ A: 0.2, B: 0.7 }),
      row({ A: 0.9, B: 0.9 }),
      row({}),
      row({ A: 2 }),
    ]);
    expect(answer.status).toBe(400);
    expect(answer.body.errors.map((one: any) => one.pointer)).toEqual(['/rows/1/pi', '/rows/2/pi', '/rows/3/pi', '/rows/4/pi/A']);
    expect((await compute('ope', [row({ A: 0.2, B: 0.8 + 9e-7 })])).status).toBe(200);
    expect((await compute('ope', [row({ A: 0.2, B: 0.8 + 11e-7 })])).status).toBe(400);
  });

  test('every wrong row is named', async () => {
    const answer = await compute('calibration', [
      { predicted: 2, reward: 0 },
      { predicted: 0.5, reward: 0.5, x: 1 },
    ]);
    expect(answer.body.errors.map((one: any) => one.pointer)).toEqual(['/rows/0/predicted', '/rows/1/x']);
  });
});
