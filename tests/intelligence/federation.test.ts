import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { BRAND, DEMO } from '../support/platform.js';
import { Loop, STAGE } from './loop.js';

let loop: Loop;
beforeAll(async () => {
  loop = await Loop.open();
});

describe('fields on the types of others', () => {
  test('a user shows its decisions, newest first, to services only', async () => {
    const policy = await loop.policy();
    const made = [];
    for (let index = 0; index < 2; index++) made.push((await loop.rank(policy, ['a'], { entity: { type: 'user', id: DEMO } })).id);
    const query = `{ user(id: "${DEMO}") { loopDecisions(first: 10) { nodes { id entityId } pageInfo { hasNextPage } } } }`;
    const { data } = await loop.graphql(query);
    expect(new Set(data.user.loopDecisions.nodes.map((one: any) => one.id))).toEqual(new Set(made));
    const own = await loop.graphql(query, {}, await loop.p.userToken(DEMO, ['read:profile']));
    expect(own.data).toEqual({ user: { loopDecisions: null } });
  });

  test('a brand shows its policies, and the flag of the stage the gate of the next one', async () => {
    const policy = await loop.policy({ brand_id: BRAND });
    const { data, errors } = await loop.graphql(
      `{ brands(ids: ["${BRAND}"]) { nodes { rankingPolicies { nodes { id } } } } featureFlags(keys: ["${STAGE}", "feature.clinical.retest-cycle"]) { key stageGate { to met reasons } } }`,
    );
    expect(errors).toEqual([]);
    expect(JSON.stringify(data.brands.nodes[0].rankingPolicies)).toContain(policy.id);
    const gates = Object.fromEntries(data.featureFlags.map((one: any) => [one.key, one.stageGate]));
    expect(gates[STAGE]).toMatchObject({ to: 'S1', met: false });
    expect(gates['feature.clinical.retest-cycle']).toBeNull();
  });

  test('the board of the loop is one federated query', async () => {
    const { policy } = await loop.proposed();
    const { data, errors } =
      await loop.graphql(`query LoopBoard { intelligenceStage { stage since next { to met reasons } } metaMetrics { nodes { metric value details computedAt } }
      loopProposals(status: RAISED, first: 20) { nodes { id metric observed threshold policyKey suggestedVersion raisedAt } } featureFlags(keys: ["${STAGE}"]) { key killed revision } }`);
    expect(errors).toEqual([]);
    expect(data).toMatchObject({ intelligenceStage: { stage: 'S0', next: { to: 'S1' } }, featureFlags: [{ key: STAGE, killed: false }] });
    expect(data.loopProposals.nodes.filter((one: any) => one.policyKey === policy.policy_key)).toMatchObject([
      { metric: 'join_completeness', observed: 0.25 },
    ]);
  });
});

describe('a policy', () => {
  const change = (id: string, body: object) => loop.rest('PATCH', `/policies/${id}`, body);

  test('is changed on the version that was read, and another one is a conflict', async () => {
    const policy = await loop.policy();
    expect(await change(policy.id, { version: 1, epsilon: 0.1 })).toMatchObject({ status: 200, body: { epsilon: 0.1, version: 2 } });
    expect(await change(policy.id, { version: 1, epsilon: 0.2 })).toMatchObject({ status: 409, body: { reason: 'version_conflict' } });
  });

  test('keeps its reward map once a decision exists', async () => {
    const policy = await loop.policy();
    const rewards = { reward_map: { improved: 1, unchanged: 0.5, worsened: 0 } };
    expect((await change(policy.id, { version: 1, ...rewards })).status).toBe(200);
    await loop.rank(policy);
    expect(await change(policy.id, { version: 2, ...rewards })).toMatchObject({ status: 409, body: { reason: 'reward_map_fixed' } });
  });

  test('of the same kind, key and brand is there once, and an archived one serves nobody', async () => {
    const policy = await loop.policy();
    const { policy_kind, policy_key } = policy;
    expect((await loop.rest('POST', '/policies', { policy_kind, policy_key, outcome_metric: 'retest' })).status).toBe(409);
    expect((await change(policy.id, { version: 1, status: 'archived' })).status).toBe(200);
    expect((await loop.rest('POST', '/rank', loop.question(policy))).status).toBe(404);
  });

  test('of a brand comes before that of every brand', async () => {
    const all = await loop.policy();
    const { policy_kind, policy_key } = all;
    const own = await loop.ok('POST', '/policies', { policy_kind, policy_key, brand_id: BRAND, outcome_metric: 'retest' });
    const of = async (brand_id: string | null) => (await loop.rank({ ...all, brand_id })).registry_id;
    const champion = async (brand: string | null) =>
      (await loop.ok('GET', `/registry?policy_key=${policy_key}&status=champion`)).data.find((one: any) => one.brand_id === brand).id;
    expect(own.brand_id).toBe(BRAND);
    expect([await of(BRAND), await of(null), await of(randomUUID())]).toEqual([
      await champion(BRAND),
      await champion(null),
      await champion(null),
    ]);
  });
});

describe('what a service keeps and evaluates', () => {
  test('a vector of features is kept while it is the newest; an older one is a conflict', async () => {
    const id = randomUUID();
    const put = (chats: number, as_of: string) => loop.rest('PUT', `/features/user/${id}/activity`, { values: { chats }, as_of });
    expect((await put(2, '2026-12-10T11:00:00.000Z')).status).toBe(200);
    expect(await put(1, '2026-12-10T10:00:00.000Z')).toMatchObject({ status: 409, body: { reason: 'older_as_of' } });
    expect(await loop.ok('GET', `/features/user/${id}/activity`)).toMatchObject({ values: { chats: 2 }, version: 1 });
  });

  test('a version is evaluated on logged decisions; without any the answer is inconclusive', async () => {
    const policy = await loop.policy();
    const version = await loop.register(policy, { popularity: { prior_strength: 20, global: {}, segments: {} } });
    const made = await loop.rest('POST', `/registry/${version.id}/evaluate`, {});
    expect(made).toMatchObject({
      status: 201,
      body: { candidate_version: 2, target_version: 1, n: 0, state: 'inconclusive', estimators: [] },
    });
    expect(await loop.ok('GET', `/evaluations/${made.body.id}`)).toMatchObject({ id: made.body.id });
    expect((await loop.rest('POST', `/registry/${version.id}/evaluate`, { target_version: 9 })).status).toBe(404);
  });

  test('of two trainings of a policy at once one runs', async () => {
    const policy = await loop.policy();
    const start = () => loop.rest('POST', '/training-runs', { policy_id: policy.id, rankers: ['popularity'] });
    await loop.p.sql(
      `insert into intelligence.training_run (id, policy_id, rankers, data_from, data_to, seed, status, created_at) values ($1, $2, '{popularity}', $3, $3, 1, 'running', $3)`,
      [randomUUID(), policy.id, await loop.now()],
    );
    expect(await start()).toMatchObject({ status: 409, body: { reason: 'training_running' } });
    await loop.clock(new Date(Date.parse(await loop.now()) + 2 * 3_600_000).toISOString());
    expect(await loop.trained(policy, ['popularity'])).toMatchObject({ status: 'failed', reason: 'not_enough_data' });
    const lost = await loop.p.sql(`select reason from intelligence.training_run where policy_id = $1 order by created_at`, [policy.id]);
    expect(lost).toEqual([{ reason: 'lost' }, { reason: 'not_enough_data' }]);
  });
});
