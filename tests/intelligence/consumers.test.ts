import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { chatCompleted } from '../../events/catalogue/ai.js';
import { clientEventTracked, featuresRefreshed, outcomeCreated, outcomeRecorded } from '../../events/catalogue/analytics.js';
import { biomarkerAdded, healthScoreComputed, protocolStarted, redFlagDetected, retestPrompted } from '../../events/catalogue/clinical.js';
import { userErasureRequested } from '../../events/catalogue/identity.js';
import { encounterRecorded, wearableSynced } from '../../events/catalogue/patient-graph.js';
import { brandCacheInvalidated } from '../../events/catalogue/platform.js';
import type { DataOf, EventDefinition } from '../../events/define.js';
import { appendEvents, prepareEvent } from '../../events/outbox.js';
import { BRAND } from '../support/platform.js';
import { until } from '../support/until.js';
import { DAY_MS, Loop } from './loop.js';

let loop: Loop;
beforeAll(async () => {
  loop = await Loop.open({ env: { LOG_LEVEL: 'fatal' } });
});

const person = (id: string) => ({ entity: { type: 'user', id } });
const activity = async (id: string) => (await loop.ok('GET', `/features/user/${id}/activity`)).values;
const features = <E extends EventDefinition>(definition: E, id: string, data: DataOf<E>) =>
  loop.event(definition, id, data, 'intelligence.features');

describe('what others tell of a user changes counters, bands and recency, and nothing else', () => {
  const at = '2026-12-10T12:00:00.000Z';
  const events: [counter: string, tell: (id: string) => Promise<string>][] = [
    ['prompts_received', id => features(retestPrompted, id, { code: 'ldl_c', prompt_count: 1, prompted_at: at })],
    [
      'results_added',
      id => features(biomarkerAdded, id, { observation_id: randomUUID(), code: 'ldl_c', source: 'lab', collected_at: at, draw_id: null }),
    ],
    [
      'protocols_started',
      id =>
        features(protocolStarted, id, {
          protocol_id: randomUUID(),
          protocol: 'lipid_reset',
          version: 1,
          started_on: '2026-12-10',
          prescriber_id: null,
        }),
    ],
    [
      'chats',
      id =>
        features(chatCompleted, id, {
          conversation_id: randomUUID(),
          turn_id: randomUUID(),
          agent: 'care_guide',
          model: 'text-small-2',
          finish_reason: 'stop',
          tool_calls: 0,
          latency_ms: 1,
        }),
    ],
    [
      'events_tracked',
      id =>
        features(clientEventTracked, id, { track_id: randomUUID(), name: 'page_viewed', source: 'web', session_id: null, tracked_at: at }),
    ],
    [
      'encounters',
      id =>
        features(encounterRecorded, id, { encounter_id: randomUUID(), encounter_class: 'virtual', period_start: at, source: 'booking' }),
    ],
    [
      'wearable_syncs',
      id =>
        features(wearableSynced, id, {
          batch_id: randomUUID(),
          provider: 'oura',
          kinds: ['sleep'],
          sample_count: 3,
          window_start: at,
          window_end: at,
        }),
    ],
    [
      'red_flags',
      id =>
        features(redFlagDetected, id, { flag_id: randomUUID(), rule: 'low_sleep', severity: 'info', source: 'wearable', detected_at: at }),
    ],
  ];

  test.each(events)('%s', async (counter, tell) => {
    const id = randomUUID();
    await tell(id);
    expect(await activity(id)).toEqual({ [counter]: 1 });
    await tell(id);
    expect(await activity(id)).toEqual({ [counter]: 2 });
  });

  test('scores_computed with the band of the newest score', async () => {
    const id = randomUUID();
    const scored = (band: 'fair' | 'good') =>
      features(healthScoreComputed, id, { score_id: randomUUID(), model_version: '2026-10', band, trend: 'first', computed_at: at });
    await scored('fair');
    await scored('good');
    expect(await activity(id)).toEqual({ scores_computed: 2, score_band: 'good' });
  });

  test('a decision is made on them, unless they are older than the set allows', async () => {
    const [policy, id] = [await loop.policy(), randomUUID()];
    await events[3]![1](id);
    const chats = async () => (await loop.decision((await loop.rank(policy, ['a'], person(id))).id)).context.features['activity.chats'];
    expect(await chats()).toBe(1);
    await loop.p.sql(`update intelligence.feature_set set max_age_hours = 2 where key = 'activity'`);
    const seen = Date.parse((await loop.ok('GET', `/features/user/${id}/activity`)).as_of);
    await loop.clock(new Date(seen + 2 * 3_600_000).toISOString());
    expect(await chats()).toBe(1);
    await loop.clock(new Date(seen + 2 * 3_600_000 + 1).toISOString());
    expect(await chats()).toBeUndefined();
    await loop.p.sql(`update intelligence.feature_set set max_age_hours = 9600 where key = 'activity'`);
  });
});

describe('outcomes of analytics', () => {
  const METRIC = 'opened_article';
  const made = async () => {
    const id = randomUUID();
    const decision = await loop.rank(await loop.policy({ outcome_metric: METRIC }), undefined, person(id));
    return { id, decision, at: (days: number) => new Date(Date.parse(decision.decided_at) + days * DAY_MS).toISOString() };
  };

  test('a window that analytics opened moves the deadline to a day after it, never back, and at most to 400 days', async () => {
    const { id, decision, at } = await made();
    const opened = (matures_at: string) =>
      loop.event(
        outcomeCreated,
        id,
        { outcome_id: randomUUID(), decision_id: decision.id, metric: METRIC, matures_at },
        'intelligence.outcomes',
      );
    const deadlines = [];
    for (const days of [30, 5, 399.5]) {
      await opened(at(days));
      deadlines.push((await loop.decision(decision.id)).matures_at);
    }
    expect(deadlines).toEqual([at(31), at(31), at(400)]);
  });

  test('one of another metric than the decision waits for is refused and counted; its own joins', async () => {
    const { id, decision } = await made();
    const recorded = (metric: string) =>
      loop
        .now()
        .then(recorded_at =>
          loop.event(
            outcomeRecorded,
            id,
            { outcome_id: randomUUID(), decision_id: decision.id, metric, label: 'positive', recorded_at },
            'intelligence.outcomes',
          ),
        );
    await recorded('bought_panel');
    expect((await loop.decision(decision.id)).status).toBe('pending');
    expect(await loop.counter('intelligence_outcome_of_another_metric_total')).toBe(1);
    await recorded(METRIC);
    expect(await loop.decision(decision.id)).toMatchObject({ status: 'joined', outcome: { metric: METRIC, label: 'positive', reward: 1 } });
  });

  test('an outcome for a decision that was discarded counts as late, and rewrites nothing', async () => {
    const [policy, id] = [await loop.policy({ guardrails: [{ rule: 'unsafe_content' }] }), randomUUID()];
    const blocked = await loop.rank(policy, [], {
      ...person(id),
      candidates: [{ id: 'a', tags: ['unsafe'] }],
      outcome: { codes: ['ldl_c'] },
    });
    expect(blocked.status).toBe('discarded');
    await loop.retested(id, 'ldl_c', 'improved');
    expect(await loop.decision(blocked.id)).toMatchObject({ status: 'discarded', outcome: null });
    expect(await loop.p.sql('select 1 from intelligence.late_outcome where decision_id = $1', [blocked.id])).toHaveLength(1);
  });
});

/** Analytics as the federation would answer for it; what is not about it goes on as before. */
async function withAnalytics(answer: (document: string, variables: any) => unknown, work: () => Promise<void>): Promise<void> {
  const { federation } = loop.p.host('intelligence');
  const run = federation.run.bind(federation);
  federation.run = async <Data>(...call: Parameters<typeof run>): Promise<Data> => {
    const document = JSON.stringify(call[0]);
    return /nalytics/.test(document) ? ((await answer(document, call[1])) as Data) : run<Data>(...call);
  };
  try {
    await work();
  } finally {
    federation.run = run;
  }
}

describe('a decision whose outcome analytics knows', () => {
  test('has its window asked for from a retry table, which the answer never waits for, until analytics takes it', async () => {
    const policy = await loop.policy({ outcome_metric: 'opened_article' });
    const asked: any[] = [];
    let refusing = true;
    const analytics = (_document: string, { input }: any): unknown => {
      asked.push(input);
      if (refusing) throw new Error('analytics is down');
      return { openAnalyticsOutcome: { id: randomUUID() } };
    };
    const waiting = (id: string) => loop.p.sql('select metric, attempts from intelligence.outcome_window where decision_id = $1', [id]);
    await withAnalytics(analytics, async () => {
      const user = randomUUID();
      const { id, decided_at } = await loop.rank(policy, undefined, person(user));
      expect(asked).toEqual([]);
      expect(await waiting(id)).toEqual([{ metric: 'opened_article', attempts: 0 }]);
      await loop.clock(await loop.now());
      await until(
        'a first attempt',
        () => waiting(id),
        ([row]) => row.attempts === 1,
      );
      await loop.clock(new Date(Date.parse(await loop.now()) + 60_000).toISOString());
      await until(
        'a second attempt',
        () => waiting(id),
        ([row]) => row.attempts === 2,
      );
      refusing = false;
      await loop.clock(new Date(Date.parse(await loop.now()) + 120_000).toISOString());
      await until(
        'the window to be open',
        () => waiting(id),
        rows => rows.length === 0,
      );
      const mine = asked.filter(one => one.decisionId === id);
      expect(mine).toHaveLength(3);
      expect(new Set(mine.map(one => JSON.stringify(one)))).toEqual(
        new Set([JSON.stringify({ decisionId: id, userId: user, metric: 'opened_article', openedAt: decided_at })]),
      );
    });
  });

  test('has none where the decision could not be written, or waits for a re-test', async () => {
    const [policy, retest] = [await loop.policy({ outcome_metric: 'opened_article' }), await loop.policy()];
    const { id } = await loop.rank(retest);
    const deferred = await loop.rank(policy, undefined, { defer_activation: true });
    const windows = () => loop.p.sql('select 1 from intelligence.outcome_window where decision_id = any($1)', [[id, deferred.id]]);
    expect(await windows()).toEqual([]);
    await withAnalytics(
      () => {
        throw new Error('analytics is down');
      },
      async () => {
        await loop.ok('POST', `/decisions/${deferred.id}/activate`, {});
        expect(await windows()).toHaveLength(1);
      },
    );
  });
});

test('a refreshed feature set is fetched from analytics in pages, and stored as far as its schema allows', async () => {
  await loop.p.sql(
    `insert into intelligence.feature_set (key, version, schema, max_age_hours) values ('engagement', 1, '{"type":"object","additionalProperties":false,"properties":{"visits":{"type":"integer"}}}', 24)`,
  );
  const people = [randomUUID(), randomUUID(), randomUUID()];
  const now = await loop.now();
  const pages: any[] = [];
  const analytics = (document: string, variables: any): unknown => {
    if (!document.includes('analyticsFeatureVectors')) throw new Error('analytics is down');
    pages.push(variables);
    const place = variables.after === null ? 0 : Number(variables.after);
    const values = place === 2 ? { ldl_c: 131 } : { visits: place + 1 };
    const pageInfo = { endCursor: String(place + 1), hasNextPage: place < 2 };
    return { analyticsFeatureVectors: { nodes: [{ entityId: people[place], values, asOf: now }], pageInfo } };
  };
  await withAnalytics(analytics, async () => {
    await loop.event(
      featuresRefreshed,
      null,
      { feature_set: 'engagement', version: 7, entity_type: 'user', entity_count: 3, as_of: now },
      'intelligence.features',
    );
    const look = async () => {
      await loop.clock(new Date(Date.parse(await loop.now()) + 1000).toISOString());
      return loop.p.sql('select 1 from intelligence.feature_refresh');
    };
    await until('all pages', look, rows => rows.length === 0);
  });
  expect(pages.map(one => [one.key, one.version, one.after])).toEqual([
    ['engagement', 7, null],
    ['engagement', 7, '1'],
    ['engagement', 7, '2'],
  ]);
  const read = (id: string) => loop.rest('GET', `/features/user/${id}/engagement`);
  expect((await read(people[0]!)).body).toMatchObject({ version: 7, values: { visits: 1 } });
  expect((await read(people[1]!)).body).toMatchObject({ version: 7, values: { visits: 2 } });
  expect((await read(people[2]!)).body?.values).toBeUndefined();
});

test('a changed flag drops the stage cache at once; other keys do not', async () => {
  const refresh = vi.spyOn(loop.p.host('intelligence').flags, 'refresh');
  const tell = (keys: string[]) => loop.event(brandCacheInvalidated, null, { brand_id: BRAND, keys, version: 7 }, 'intelligence.flags');
  const before = refresh.mock.calls.length;
  await tell(['theme']);
  await tell(['flags', 'theme']);
  expect(refresh.mock.calls.length).toBeGreaterThan(before);
  refresh.mockRestore();
});

describe('user.erasure_requested', () => {
  const request = async (userId: string, scope: 'health' | 'marketing'): Promise<any> => {
    const request_id = randomUUID();
    const now = await loop.now();
    const origin = { source: 'identity', requestId: request_id, causationId: null, actor: 'system:test', traceparent: null } as const;
    const event = prepareEvent(userErasureRequested, { request_id, scope, requested_at: now, due_at: now }, { userId }, origin);
    await loop.p.host('identity').transaction(ctx => appendEvents(ctx.sql, [event], new Date(now)));
    const read = () =>
      loop.p.sql("select details from intelligence.audit_log where action = 'user.erased' and details->>'request_id' = $1", [request_id]);
    return (await until('the erasure', read, rows => rows.length === 1))[0].details;
  };
  const held = (id: string) => loop.p.sql('select 1 from intelligence.decision where entity_id = $1', [id]);

  test('of scope health deletes what is held and leaves a tombstone; of scope marketing nothing', async () => {
    const [policy, id] = [await loop.policy(), randomUUID()];
    await loop.rank(policy, undefined, person(id));
    expect(await request(id, 'marketing')).toMatchObject({ scope: 'marketing', outcome: 'nothing_held', records: {} });
    expect(await held(id)).toHaveLength(1);
    expect((await loop.rest('POST', '/rank', loop.question(policy, ['a'], person(id)))).status).toBe(201);
    expect(await request(id, 'health')).toMatchObject({ scope: 'health', outcome: 'erased', records: { decision: 2 } });
    expect(await held(id)).toEqual([]);
    expect((await loop.rest('POST', '/rank', loop.question(policy, ['a'], person(id)))).status).toBe(404);
    await features(biomarkerAdded, id, {
      observation_id: randomUUID(),
      code: 'ldl_c',
      source: 'lab',
      collected_at: await loop.now(),
      draw_id: null,
    });
    expect(await loop.p.sql('select 1 from intelligence.feature_vector where entity_id = $1', [id])).toEqual([]);
  });
});
