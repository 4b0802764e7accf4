import { describe, expect, test } from 'vitest';
import {
  DecisionStatus,
  GuardrailKind,
  GuardrailPhase,
  IntelligenceStage as Stage,
  LoopProposalStatus,
  Ranker,
  RegistryStatus,
} from '../../subgraphs/intelligence/entities/enums.js';
import { ALARMS } from '../../subgraphs/intelligence/commands/alarms.js';
import { gateReasons, nextStage, stageOfFlag, type GateMetric } from '../../subgraphs/intelligence/rules/gate.js';
import { agesOf, violationsOf, type GuardedCandidate } from '../../subgraphs/intelligence/rules/guardrails.js';
import { agreementValue, liftDecay, liftOf } from '../../subgraphs/intelligence/rules/lift.js';
import { liveness, stallReasons, type LoopFacts } from '../../subgraphs/intelligence/rules/liveness.js';
import { DECISION_STATES, PROPOSAL_STATES, REGISTRY_STATES } from '../../subgraphs/intelligence/rules/states.js';
import { move } from '../../runtime/request/states.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const settings = { tickIntervalMs: HOUR, noProposalWeeks: 4, windowDays: 28 };
const now = 1_000 * DAY;
const facts: LoopFacts = {
  now,
  firstDecisionAt: now - 100 * DAY,
  lastDecisionAt: now - HOUR,
  lastTickAt: now - HOUR,
  lastProposalAt: now - DAY,
  joined7: 0,
  closed7: 0,
  joined28: 0,
  closed28: 0,
};

test('the alarms have the names of the specification', () => {
  expect(Object.values(ALARMS).map(({ alarm }) => alarm)).toEqual([
    'loop liveness alarm',
    'join-completeness below floor',
    'intelligence_guardrail_blocked',
  ]);
});

describe('liveness', () => {
  test.each<[string, Partial<LoopFacts>, string[]]>([
    ['a tick an hour ago', {}, []],
    ['a tick exactly three intervals ago', { lastTickAt: now - 3 * HOUR }, []],
    ['a tick a millisecond longer ago', { lastTickAt: now - 3 * HOUR - 1 }, ['orchestrator_dead']],
    ['no tick, an empty ledger', { firstDecisionAt: null, lastDecisionAt: null, lastTickAt: null, lastProposalAt: null }, []],
    ['no tick ever, and decisions for long', { lastTickAt: null }, ['orchestrator_dead']],
    ['joins at half the rate', { joined7: 10, closed7: 25, joined28: 80, closed28: 100 }, []],
    ['joins at less than half the rate', { joined7: 9, closed7: 25, joined28: 80, closed28: 100 }, ['join_rate_collapse']],
    ['too few closed to tell', { joined7: 0, closed7: 19, joined28: 80, closed28: 100 }, []],
    ['just enough closed to tell', { joined7: 0, closed7: 20, joined28: 16, closed28: 20 }, ['join_rate_collapse']],
    ['too few closed before to tell', { joined7: 0, closed7: 25, joined28: 19, closed28: 19 }, []],
    ['joins at exactly half the rate', { joined7: 10, closed7: 20, joined28: 20, closed28: 20 }, []],
    ['no proposal for 4 weeks', { lastProposalAt: now - 28 * DAY }, []],
    ['no proposal for longer', { lastProposalAt: now - 28 * DAY - 1 }, ['no_proposals']],
    ['no proposal ever, a young ledger', { lastProposalAt: null, firstDecisionAt: now - 27 * DAY }, []],
    ['no proposal and no decision in that time', { lastProposalAt: null, lastDecisionAt: now - 29 * DAY }, []],
  ])('%s', (_what, more, reasons) => {
    expect(stallReasons({ ...facts, ...more }, settings)).toEqual(reasons);
    expect(liveness({ ...facts, ...more }, settings)).toMatchObject({
      value: reasons.length ? 0 : 1,
      details: { stalled: reasons.length > 0, reasons },
    });
  });
});

describe('the gate', () => {
  const at = new Date(now);
  const metric = (name: string, more: Partial<GateMetric> = {}): GateMetric => ({
    metric: name,
    state: 'healthy',
    ranker: null,
    policy: 'p',
    computedAt: at,
    ...more,
  });
  const honest = (ranker: Ranker, more: Partial<GateMetric> = {}) => [
    metric('realized_vs_predicted', { ranker, ...more }),
    metric('calibration', { ranker, ...more }),
  ];
  const joins = metric('join_completeness');

  test.each<[string, Stage, GateMetric[], boolean, string[]]>([
    ['S0 is always open', Stage.S0, [], true, []],
    ['S1 with joins and a live loop', Stage.S1, [joins], false, []],
    ['S1 of a stalled loop', Stage.S1, [joins], true, ['loop_stalled']],
    [
      'S1 with joins below the floor',
      Stage.S1,
      [metric('join_completeness', { state: 'unhealthy' })],
      false,
      ['join_completeness_unhealthy'],
    ],
    ['S2 with shadow records of its ranker', Stage.S2, [joins, ...honest(Ranker.POPULARITY)], false, []],
    [
      'S2 with records of another ranker',
      Stage.S2,
      [joins, ...honest(Ranker.LINUCB)],
      false,
      ['realized_vs_predicted_missing', 'calibration_missing'],
    ],
    [
      'S2 of two policies at work, one of which has no record of its ranker',
      Stage.S2,
      [
        joins,
        metric('join_completeness', { policy: 'q' }),
        ...honest(Ranker.POPULARITY),
        metric('calibration', { policy: 'q', ranker: Ranker.LINUCB }),
      ],
      false,
      ['realized_vs_predicted_missing', 'calibration_missing'],
    ],
    [
      'S2 of two policies at work that both are honest',
      Stage.S2,
      [joins, metric('join_completeness', { policy: 'q' }), ...honest(Ranker.POPULARITY), ...honest(Ranker.POPULARITY, { policy: 'q' })],
      false,
      [],
    ],
    [
      'S3 that is too little known',
      Stage.S3,
      [joins, ...honest(Ranker.LOGISTIC, { state: 'inconclusive' })],
      false,
      ['realized_vs_predicted_inconclusive', 'calibration_inconclusive'],
    ],
    [
      'S4 with records older than a week',
      Stage.S4,
      [joins, ...honest(Ranker.THOMPSON, { computedAt: new Date(now - 7 * DAY - 1) })],
      false,
      ['realized_vs_predicted_stale', 'calibration_stale'],
    ],
    ['S4 with records of a week ago', Stage.S4, [joins, ...honest(Ranker.THOMPSON, { computedAt: new Date(now - 7 * DAY) })], false, []],
    [
      'S5 with a lift that is gone',
      Stage.S5,
      [joins, ...honest(Ranker.LINUCB), metric('lift_decay', { state: 'unhealthy' })],
      false,
      ['lift_decay_unhealthy'],
    ],
    [
      'S5 with a lift too little known',
      Stage.S5,
      [joins, ...honest(Ranker.LINUCB), metric('lift_decay', { state: 'inconclusive' })],
      false,
      [],
    ],
    [
      'S1 with one policy of two below the floor',
      Stage.S1,
      [joins, metric('join_completeness', { policy: 'q', state: 'unhealthy' })],
      false,
      ['join_completeness_unhealthy'],
    ],
  ])('%s', (_what, to, metrics, stalled, reasons) => expect(gateReasons(to, metrics, stalled, at)).toEqual(reasons));

  test.each([
    ['S3', Stage.S3],
    ['s3', Stage.S0],
    ['S6', Stage.S0],
    [null, Stage.S0],
    [true, Stage.S0],
  ])('the flag value %s is %s', (value, stage) => expect(stageOfFlag(value)).toBe(stage));
  test('there is no stage after S5', () => expect([nextStage(Stage.S0), nextStage(Stage.S5)]).toEqual([Stage.S1, null]));
});

describe('lift', () => {
  const of = (value: number, se: number, n = 100) => ({ value, variance: se * se, n });

  test('a lift that is gone trips, one that is kept does not', () => {
    expect(liftDecay(of(0.2, 0.01), of(0.02, 0.01))).toMatchObject({ value: expect.closeTo(0.9, 9), state: 'unhealthy', trips: true });
    expect(liftDecay(of(0.2, 0.01), of(0.19, 0.01))).toMatchObject({ state: 'healthy', trips: false });
    expect(liftDecay(of(0.2, 0.2), of(0.02, 0.2))).toMatchObject({ state: 'inconclusive', trips: false });
    expect(liftDecay(of(0.2, 0.001), of(0.12, 0.001))).toMatchObject({ state: 'healthy', trips: false }); // surely less, and more than half is left
  });

  test('a lift near nothing is not divided by', () => expect(liftDecay(of(0, 0.01), of(-0.005, 0.01)).value).toBeCloseTo(0.5, 9));

  test('with fewer than 30 control outcomes it is measured against SNIPS of what S1 would have served', () => {
    const treatment = of(0.5, 0.01);
    expect(liftOf(treatment, of(0.3, 0.01, 30), of(0.1, 0.01))!.value).toBeCloseTo(0.2, 9);
    expect(liftOf(treatment, of(0.3, 0.02, 30), null)!.variance).toBeCloseTo(0.01 ** 2 + 0.02 ** 2, 12);
    expect(liftOf(treatment, of(0.3, 0.01, 29), of(0.1, 0.01))!.value).toBeCloseTo(0.4, 9);
    expect(liftOf(treatment, null, null)).toBeNull();
  });

  test('SNIPS of agreeing rows, by hand: weights 2 and 4, rewards 1 and 0', () => {
    expect(agreementValue({ n: 2, w: 6, wr: 2, ww: 20, wwr: 4, wwrr: 4 })).toMatchObject({
      value: 1 / 3,
      variance: expect.closeTo((4 * (2 / 3) ** 2 + 16 * (1 / 3) ** 2) / 36, 12),
    });
  });
});

describe('states', () => {
  const tables = [
    ['proposal', PROPOSAL_STATES, Object.values(LoopProposalStatus), ['approve', 'reject', 'apply']],
    ['decision', DECISION_STATES, Object.values(DecisionStatus), ['activate', 'lapse', 'join', 'expire']],
    ['registry version', REGISTRY_STATES, Object.values(RegistryStatus), ['promote', 'retire', 'roll back to']],
  ] as const;
  const allowed = new Set([
    'raised approve approved',
    'raised reject rejected',
    'approved apply applied',
    'deferred activate pending',
    'deferred lapse discarded',
    'pending join joined',
    'pending expire expired_unjoined',
    'candidate promote champion',
    'champion retire retired',
    'retired promote champion',
    'retired roll back to champion',
  ]);
  const pairs = tables.flatMap(([thing, table, states, triggers]) =>
    states.flatMap(state => triggers.map(trigger => [thing, table, state, trigger] as const)),
  );

  test.each(pairs)('a %s, %o: %s, %s', (thing, table, state, trigger) => {
    const next = [...allowed].find(one => one.startsWith(`${state} ${trigger} `))?.slice(`${state} ${trigger} `.length);
    const go = () => move(table as never, thing, state as never, trigger as never);
    if (next) expect(go()).toBe(next);
    else expect(go).toThrow(new RegExp(`that is ${state.replaceAll('_', ' ')} cannot`));
  });
});

describe('guardrails', () => {
  const candidate: GuardedCandidate = {
    id: 'x',
    features: {},
    tags: [],
    codes: [],
    contraindications: ['pregnancy'],
    ageMin: 18,
    ageMax: 80,
    regions: ['DE'],
  };
  const open = { available: true, redFlagOpen: false, criticalLabOpen: false, contraindications: [], activeInterventions: [] };
  const given = {
    facts: open,
    context: { age_band: '40_49', region: 'DE' },
    safeTag: 'informational',
    denylist: [],
    servedOften: new Set<string>(),
  };
  const kinds = Object.values(GuardrailKind).filter(one => one !== GuardrailKind.GUARD_UNAVAILABLE);
  const rules = kinds.map(rule => ({ rule, params: {} }));
  const found = (change: object, more: object = {}) =>
    violationsOf(rules, [{ ...candidate, ...more }], { ...given, ...change }, GuardrailPhase.BEFORE_RANK).map(({ rule }) => rule);

  test.each<[string, object, object, GuardrailKind[]]>([
    ['nothing', {}, {}, []],
    ['an open red flag', { facts: { ...open, redFlagOpen: true } }, {}, [GuardrailKind.RED_FLAG_OPEN]],
    ['an open red flag and a safe candidate', { facts: { ...open, redFlagOpen: true } }, { tags: ['informational'] }, []],
    ['an open critical result', { facts: { ...open, criticalLabOpen: true } }, {}, [GuardrailKind.CRITICAL_LAB_OPEN]],
    ['a contraindication', { facts: { ...open, contraindications: ['pregnancy'] } }, {}, [GuardrailKind.CONTRAINDICATED]],
    ['an intervention that runs', { facts: { ...open, activeInterventions: ['x'] } }, {}, [GuardrailKind.ALREADY_ACTIVE]],
    ['a child', { context: { age: 17, region: 'DE' } }, {}, [GuardrailKind.AGE_RESTRICTED]],
    ['an age that is not known', { context: { region: 'DE' } }, {}, [GuardrailKind.AGE_RESTRICTED]],
    ['a band that reaches over', { context: { age_band: '80_plus', region: 'DE' } }, {}, [GuardrailKind.AGE_RESTRICTED]],
    ['another region', { context: { age: 40, region: 'FR' } }, {}, [GuardrailKind.REGION_RESTRICTED]],
    ['the denylist', { denylist: ['x'] }, {}, [GuardrailKind.UNSAFE_CONTENT]],
    ['the tag unsafe', {}, { tags: ['unsafe'] }, [GuardrailKind.UNSAFE_CONTENT]],
    ['the cap', { servedOften: new Set(['x']) }, {}, [GuardrailKind.FREQUENCY_CAP]],
    ['data that cannot be read', { facts: { ...open, available: false } }, {}, [GuardrailKind.GUARD_UNAVAILABLE]],
  ])('%s', (_what, change, more, expected) => expect(found(change, more)).toEqual(expected));

  test.each([
    [{ age: 40 }, { low: 40, high: 40 }],
    [{ age_band: '40_49' }, { low: 40, high: 49 }],
    [{ age_band: 'old' }, null],
    [{}, null],
  ])('the ages of %o', (context, ages) => expect(agesOf(context)).toEqual(ages));
});
