import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { redFlagDetected } from '../../events/catalogue/clinical.js';
import type { GuardrailRule } from '../../subgraphs/intelligence/entities/policy.js';
import { GuardrailKind, GuardrailPhase } from '../../subgraphs/intelligence/entities/enums.js';
import { violationsOf, type GuardContext, type GuardedCandidate } from '../../subgraphs/intelligence/rules/guardrails.js';
import { Loop, type TestPolicy } from './loop.js';
import { until } from '../support/until.js';

let loop: Loop;
beforeAll(async () => {
  loop = await Loop.open({ services: ['intelligence', 'clinical'], env: { LOG_LEVEL: 'fatal' } }); // clinical says loudly that it fails
});

const person = (id: string) => ({ entity: { type: 'user', id } });
const RULES = [
  'red_flag_open',
  'critical_lab_open',
  'already_active',
  'contraindicated',
  'unsafe_content',
  'age_restricted',
  'region_restricted',
];
const guardrails = RULES.map(rule => ({ rule }));
const PANEL = { id: 'panel', codes: ['ldl_c'] };
const ARTICLE = { id: 'article', tags: ['informational'], codes: ['ldl_c'] };
const candidates = [PANEL, ARTICLE];

const clinical = (method: string, path: string, body?: unknown) => loop.p.rest(method, `/clinical/v1${path}`, { token: loop.token, body });

/** A laboratory's result of a patient, as clinical takes it. */
async function result(userId: string, code: string, value: number, unit: string): Promise<void> {
  const row = {
    code,
    value,
    unit,
    collected_at: '2026-11-01T08:00:00.000Z',
    draw_id: randomUUID(),
    source: 'lab',
    performer: 'lab_a',
    source_ref: randomUUID(),
    status: 'final',
  };
  expect((await clinical('POST', '/biomarkers', { user_id: userId, observations: [row] })).status).toBe(201);
}

const unavailable = (body: any): boolean => body.violations.some((one: any) => one.rule === 'guard_unavailable');

/** Ranks until clinical's answer came within its 300 ms, which a machine under load may miss; how often it blocked the last time. */
async function guarded(policy: TestPolicy, id: string, more: object = {}): Promise<{ body: any; blocked: number }> {
  const once = async () => {
    const before = await loop.counter('intelligence_guardrail_blocked_total');
    const body = await loop.rank(policy, [], { ...person(id), candidates, ...more });
    return { body, blocked: (await loop.counter('intelligence_guardrail_blocked_total')) - before };
  };
  return until('guard data in time', once, ({ body }) => !unavailable(body));
}

const mirror = (id: string) => loop.p.sql(`select reference from intelligence.guard_state where entity_id = $1`, [id]);

describe('what clinical knows of the entity', () => {
  test('22: with an open urgent red flag the informational candidate is served, and the block is counted and told', async () => {
    const policy = await loop.policy({ guardrails });
    const [ill, well] = [randomUUID(), randomUUID()];
    await result(ill, 'glucose_fasting', 300, 'mg/dL');
    const { body, blocked } = await guarded(policy, ill);
    expect(body).toMatchObject({ served_candidate_id: 'article', propensity: 1, fallback: false });
    expect(body.violations).toContainEqual({ candidate_id: 'panel', rule: 'red_flag_open', phase: 'before_rank' });
    expect(blocked).toBe(1);
    expect((await guarded(policy, well)).body).toMatchObject({ served_candidate_id: 'panel', violations: [] });
  });

  test('a red flag that was acknowledged holds nothing back, whatever its event said, and leaves the mirror', async () => {
    const policy = await loop.policy({ guardrails: [{ rule: 'red_flag_open' }] });
    const id = randomUUID();
    await result(id, 'hba1c', 7, '%');
    await until(
      'the mirror to hear of the flag',
      () => mirror(id),
      rows => rows.length === 1,
    );
    expect((await guarded(policy, id)).body.served_candidate_id).toBe('article');
    expect(await mirror(id)).toHaveLength(1);
    const [flag] = (await clinical('GET', `/red-flags?user_id=${id}`)).body.data;
    expect((await clinical('POST', `/red-flags/${flag.id}/acknowledge`, {})).status).toBe(200);
    expect((await guarded(policy, id)).body).toMatchObject({ served_candidate_id: 'panel', violations: [] });
    expect(await mirror(id)).toEqual([]);
  });

  test('a red flag of which the event comes while the answer is worked out blocks after the ranking', async () => {
    const policy = await loop.policy({ guardrails: [{ rule: 'red_flag_open' }] });
    const id = randomUUID();
    const { federation } = loop.p.host('intelligence');
    const run = federation.run.bind(federation);
    const detected = () =>
      loop.p.sql(
        `insert into intelligence.guard_state (entity_id, kind, reference, severity, detected_at) values ($1, 'red_flag', $2, 'urgent', now()) on conflict do nothing`,
        [id, randomUUID()],
      );
    federation.run = async <Data>(...call: Parameters<typeof run>): Promise<Data> => {
      const answer = await run<Data>(...call);
      await detected();
      return answer;
    };
    try {
      const { body } = await guarded(policy, id);
      expect(body).toMatchObject({ served_candidate_id: 'article', violations: [{ rule: 'red_flag_open', phase: 'after_rank' }] });
    } finally {
      federation.run = run;
    }
  });

  test('a flag of severity info, told by its event, holds nothing back', async () => {
    const policy = await loop.policy({ guardrails: [{ rule: 'red_flag_open' }] });
    const id = randomUUID();
    const flag = { flag_id: randomUUID(), rule: 'low_sleep', severity: 'info', source: 'wearable', detected_at: await loop.now() } as const;
    await loop.event(redFlagDetected, id, flag, 'intelligence.features');
    expect((await guarded(policy, id)).body.served_candidate_id).toBe('panel');
  });

  test('an open critical alert blocks what is not safe, by its own rule', async () => {
    const policy = await loop.policy({ guardrails: [{ rule: 'critical_lab_open' }] });
    const id = randomUUID();
    await result(id, 'potassium', 6.5, 'mmol/L');
    const { body } = await guarded(policy, id);
    expect(body).toMatchObject({ served_candidate_id: 'article', violations: [{ candidate_id: 'panel', rule: 'critical_lab_open' }] });
  });

  test('an intervention that is active already is not recommended', async () => {
    const policy = await loop.policy({ guardrails: [{ rule: 'already_active' }] });
    const id = randomUUID();
    const offer = { candidates: [{ id: 'lipid_reset' }, { id: 'other' }] };
    expect((await guarded(policy, id, offer)).body.served_candidate_id).toBe('lipid_reset');
    expect((await clinical('POST', '/protocols', { user_id: id, kind: 'protocol', key: 'lipid_reset' })).status).toBe(201);
    expect((await guarded(policy, id, offer)).body).toMatchObject({
      served_candidate_id: 'other',
      violations: [{ candidate_id: 'lipid_reset', rule: 'already_active' }],
    });
  });
});

describe('guard data that cannot be read', () => {
  /** While this runs, clinical cannot read its alerts. */
  async function whileClinicalFails(work: () => Promise<void>): Promise<void> {
    await loop.p.sql('revoke select on clinical.critical_alert from platform_clinical');
    try {
      await work();
    } finally {
      await loop.p.sql('grant select on clinical.critical_alert to platform_clinical');
    }
  }

  test('leaves only what is safe; with nothing safe the answer is empty and the decision discarded', async () => {
    const policy = await loop.policy({ guardrails });
    await whileClinicalFails(async () => {
      const some = await loop.rank(policy, [], { candidates });
      expect(some).toMatchObject({ served_candidate_id: 'article', fallback: false });
      expect(some.violations).toContainEqual({ candidate_id: 'panel', rule: 'guard_unavailable', phase: 'before_rank' });
      expect(await loop.rank(policy, [], { candidates: [PANEL] })).toMatchObject({
        served_candidate_id: null,
        ranked: [],
        fallback: true,
        status: 'discarded',
      });
    });
    expect((await guarded(policy, randomUUID())).body.served_candidate_id).toBe('panel');
  });

  test('does so by a fault of the source, too', async () => {
    const policy = await loop.policy({ guardrails });
    loop.p.host('intelligence').faults.set('guard.source', { match: null, times: 1 });
    expect(await loop.rank(policy, [], { candidates })).toMatchObject({ served_candidate_id: 'article', fallback: false });
  });

  test('does so where a candidate has contraindications and patient-graph cannot be asked, and only there', async () => {
    const policy = await loop.policy({ guardrails: [{ rule: 'contraindicated' }] });
    const limited = [{ ...PANEL, contraindications: ['med:warfarin'] }, ARTICLE];
    const body = await loop.rank(policy, [], { candidates: limited });
    expect(body).toMatchObject({ served_candidate_id: 'article', violations: [{ candidate_id: 'panel', rule: 'guard_unavailable' }] });
    expect((await guarded(policy, randomUUID())).body.served_candidate_id).toBe('panel');
  });

  test("is nobody else's to ask for: only the client of intelligence begins there", async () => {
    const document = 'query Guard($id: ID!) { rankedUser(id: $id) { id clinicalGuard { openCriticalAlerts } } }';
    const asked = async (token: string) => (await loop.graphql(document, { id: randomUUID() }, token)).errors[0]?.extensions.code;
    expect(await asked(loop.token)).toBe('FORBIDDEN');
    expect(await asked(await loop.p.internalToken('workflow'))).toBe('FORBIDDEN');
    expect(await asked(await loop.p.internalToken('intelligence'))).toBeUndefined();
  });
});

describe('limits of a candidate', () => {
  test('a restricted age that is not known to fit is blocked', async () => {
    const policy = await loop.policy({ guardrails: [{ rule: 'age_restricted' }] });
    const limited = [{ id: 'x', age_min: 50 }, { id: 'y' }];
    const served = async (context: object) => (await loop.rank(policy, [], { candidates: limited, context })).served_candidate_id;
    expect([await served({ age_band: '50_59' }), await served({ age_band: '40_49' }), await served({})]).toEqual(['x', 'y', 'y']);
  });

  test('the same candidate is served at most so often in so many days, to one entity', async () => {
    const policy = await loop.policy({ guardrails: [{ rule: 'frequency_cap', params: { max: 2, days: 7 } }] });
    const id = randomUUID();
    const served = async (who = id) => (await loop.rank(policy, ['a', 'b'], person(who))).served_candidate_id;
    expect([await served(), await served(), await served(), await served(randomUUID())]).toEqual(['a', 'a', 'b', 'a']);
    await loop.clock(new Date(Date.parse(await loop.now()) + 7 * 86_400_000 + 1).toISOString());
    expect(await served()).toBe('a');
  });

  const CANDIDATE: GuardedCandidate = {
    id: 'x',
    features: {},
    tags: [],
    codes: [],
    contraindications: ['med:a'],
    ageMin: 18,
    ageMax: 65,
    regions: ['DE'],
  };
  const FACTS = { available: true, redFlagOpen: false, criticalLabOpen: false, contraindications: [], activeInterventions: [] };
  const FITTING: GuardContext = { facts: FACTS, context: { age: 40, region: 'DE' }, safeTag: 'safe', denylist: [], servedOften: new Set() };
  const given = (more: Partial<GuardContext>, facts: object = {}): GuardContext => ({ ...FITTING, ...more, facts: { ...FACTS, ...facts } });

  test.each<[GuardrailKind, GuardContext, boolean]>([
    [GuardrailKind.RED_FLAG_OPEN, given({}), false],
    [GuardrailKind.RED_FLAG_OPEN, given({}, { redFlagOpen: true }), true],
    [GuardrailKind.CRITICAL_LAB_OPEN, given({}, { criticalLabOpen: true }), true],
    [GuardrailKind.CONTRAINDICATED, given({}, { contraindications: ['med:b'] }), false],
    [GuardrailKind.CONTRAINDICATED, given({}, { contraindications: ['med:b', 'med:a'] }), true],
    [GuardrailKind.AGE_RESTRICTED, given({ context: { age: 17 } }), true],
    [GuardrailKind.AGE_RESTRICTED, given({ context: { age: 65 } }), false],
    [GuardrailKind.AGE_RESTRICTED, given({ context: { age_band: '60_69' } }), true],
    [GuardrailKind.AGE_RESTRICTED, given({ context: { age_band: '80_plus' } }), true],
    [GuardrailKind.AGE_RESTRICTED, given({ context: { age_band: 'old' } }), true],
    [GuardrailKind.REGION_RESTRICTED, given({}), false],
    [GuardrailKind.REGION_RESTRICTED, given({ context: { region: 'US' } }), true],
    [GuardrailKind.REGION_RESTRICTED, given({ context: {} }), true],
    [GuardrailKind.ALREADY_ACTIVE, given({}, { activeInterventions: ['x'] }), true],
    [GuardrailKind.ALREADY_ACTIVE, given({}, { activeInterventions: ['y'] }), false],
    [GuardrailKind.UNSAFE_CONTENT, given({ denylist: ['x'] }), true],
    [GuardrailKind.FREQUENCY_CAP, given({ servedOften: new Set(['x']) }), true],
  ])('%s', (rule, context, blocks) => {
    const rules: GuardrailRule[] = [{ rule, params: {} }];
    const found = violationsOf(rules, [CANDIDATE], context, GuardrailPhase.BEFORE_RANK);
    expect(found).toEqual(blocks ? [{ candidateId: 'x', rule, phase: 'before_rank' }] : []);
    const safe = { ...CANDIDATE, tags: ['safe'] };
    const ofTheEntity = [GuardrailKind.RED_FLAG_OPEN, GuardrailKind.CRITICAL_LAB_OPEN].includes(rule);
    expect(violationsOf(rules, [safe], context, GuardrailPhase.BEFORE_RANK)).toHaveLength(blocks && !ofTheEntity ? 1 : 0);
  });
});
