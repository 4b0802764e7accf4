import { randomUUID } from 'node:crypto';
import type { Loop, TestPolicy } from './loop.js';

/** What a request may be about. */
export interface World {
  loop: Loop;
  policy: TestPolicy;
  ids: Readonly<Record<'POLICY' | 'VERSION' | 'DECISION' | 'PROPOSAL' | 'USER', string>>;
}

/** A request that is right, and ways to spoil it: the change and the pointers of everything that is wrong then. */
export interface Rows {
  method: string;
  /** With names of `World.ids` in braces. */
  path: string;
  base: (world: World) => Record<string, unknown>;
  spoilt: readonly (readonly [change: Record<string, unknown>, pointers: readonly string[]])[];
}

const LONG = (length: number): string => 'x'.repeat(length);
export const NOT_A_UUID = '0190b3a0';

const candidate = (more: object) => ({ id: 'a', ...more });

export const BODIES: readonly Rows[] = [
  {
    method: 'POST',
    path: '/rank',
    base: ({ loop, policy }) => loop.question(policy),
    spoilt: [
      [{ decision_key: '' }, ['/decision_key']],
      [{ decision_key: '   ' }, ['/decision_key']],
      [{ decision_key: LONG(129) }, ['/decision_key']],
      [{ decision_key: 7, slots: 0, brand_id: 'x' }, ['/brand_id', '/decision_key', '/slots']],
      [{ decision_key: null, candidates: null }, ['/candidates', '/decision_key']],
      [{ policy_kind: 'Recommendation', policy_key: 'a' }, ['/policy_key', '/policy_kind']],
      [{ entity: { type: 'order', id: NOT_A_UUID } }, ['/entity/id', '/entity/type']],
      [{ entity: { type: 'user' } }, ['/entity/id']],
      [{ entity: 'u1' }, ['/entity']],
      [{ candidates: [] }, ['/candidates']],
      [{ candidates: Array.from({ length: 101 }, (_, index) => ({ id: `c${index}` })) }, ['/candidates']],
      [{ candidates: [{ id: 'a' }, { id: 'a' }, { id: 'b' }, { id: 'b' }] }, ['/candidates/1/id', '/candidates/3/id']],
      [{ candidates: [{ id: '' }, { id: LONG(129) }, {}] }, ['/candidates/0/id', '/candidates/1/id', '/candidates/2/id']],
      [{ candidates: [candidate({ score: 1 })] }, ['/candidates/0/score']],
      [{ candidates: [candidate({ features: { cost: 1 } })] }, ['/candidates/0/features/cost']],
      [{ candidates: [candidate({ features: [] })] }, ['/candidates/0/features']],
      [
        { candidates: [candidate({ tags: ['a', 3], codes: 'ldl_c', age_min: -1, age_max: 151 })] },
        ['/candidates/0/age_max', '/candidates/0/age_min', '/candidates/0/codes', '/candidates/0/tags/1'],
      ],
      [
        { candidates: [candidate({ codes: Array.from({ length: 21 }, (_, index) => `c${index}`), regions: [LONG(17)] })] },
        ['/candidates/0/codes', '/candidates/0/regions/0'],
      ],
      [{ slots: 21 }, ['/slots']],
      [{ slots: 1.5 }, ['/slots']],
      [{ slots: '2' }, ['/slots']],
      [{ context: { goal: 'money', age_band: 'far too long a band' } }, ['/context/age_band', '/context/goal']],
      [{ context: { constructor: 1 } }, ['/context/constructor']],
      [{ context: [] }, ['/context']],
      [{ outcome: { metric: 'another_metric' } }, ['/outcome/metric']],
      [{ outcome: { codes: Array.from({ length: 21 }, (_, index) => `c${index}`), label: 'x' } }, ['/outcome/codes', '/outcome/label']],
      [{ defer_activation: 'yes', nonsense: 1 }, ['/defer_activation', '/nonsense']],
      [{ decision_key: 'a\u0000b' }, ['/decision_key']],
    ],
  },
  {
    method: 'POST',
    path: '/decisions/{DECISION}/outcome',
    base: () => ({ label: 'improved', source_event_id: randomUUID() }),
    spoilt: [
      [{ label: 'splendid' }, ['/label']],
      [{ label: 'constructor' }, ['/label']],
      [{ label: 'No label', source_event_id: ' ', occurred_at: 'soon' }, ['/label', '/occurred_at', '/source_event_id']],
      [{ source_event_id: LONG(129), source_type: '' }, ['/source_event_id', '/source_type']],
      [{ occurred_at: '2020-01-01T00:00:00.000Z' }, ['/occurred_at']],
      [{ occurred_at: '2199-01-01T00:00:00.000Z' }, ['/occurred_at']],
      [{ reward: 1 }, ['/reward']],
    ],
  },
  { method: 'POST', path: '/decisions/{DECISION}/activate', base: () => ({}), spoilt: [[{ at: 'now' }, ['/at']]] },
  {
    method: 'POST',
    path: '/policies',
    base: () => ({ policy_kind: 'recommendation', policy_key: 'never_made', outcome_metric: 'retest' }),
    spoilt: [
      [{ policy_kind: 'a', policy_key: '9lives', outcome_metric: 'Re-test' }, ['/outcome_metric', '/policy_key', '/policy_kind']],
      [{ brand_id: NOT_A_UUID, attribution: 'first' }, ['/attribution', '/brand_id']],
      [{ reward_map: {} }, ['/reward_map']],
      [
        { reward_map: { improved: 1.1, 'No label': 0, unchanged: '1' } },
        ['/reward_map/No label', '/reward_map/improved', '/reward_map/unchanged'],
      ],
      [{ reward_map: [1] }, ['/reward_map/0']],
      [{ maturation_days: 0, epsilon: 0.6, control_share: -0.1 }, ['/control_share', '/epsilon', '/maturation_days']],
      [{ maturation_days: 401, epsilon: 0.009, control_share: 0.51 }, ['/control_share', '/epsilon', '/maturation_days']],
      [{ segment_keys: ['a_a', 'b_b', 'c_c', 'd_d', 'e_e'] }, ['/segment_keys']],
      [{ segment_keys: ['goal'] }, ['/segment_keys/0']],
      [{ context_schema: { type: 'array' } }, ['/context_schema']],
      [
        {
          context_schema: {
            type: 'object',
            properties: { a_a: { type: 'object' }, email: { type: 'boolean' }, Big: { type: 'number' }, free: { type: 'string' } },
          },
        },
        [
          '/context_schema/properties/Big',
          '/context_schema/properties/a_a',
          '/context_schema/properties/email',
          '/context_schema/properties/free',
        ],
      ],
      [
        {
          candidate_schema: {
            type: 'object',
            properties: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`k${index}`, { type: 'number' }])),
          },
        },
        ['/candidate_schema/properties'],
      ],
      [{ context_schema: { type: 'object', properties: { goal: { type: 'string', pattern: '[' } } } }, ['/context_schema']],
      [{ guardrails: [{ rule: 'luck' }] }, ['/guardrails/0/rule']],
      [
        { guardrails: [{ rule: 'guard_unavailable' }, { rule: 'age_restricted' }, { rule: 'age_restricted' }] },
        ['/guardrails/0/rule', '/guardrails/2/rule'],
      ],
      [
        {
          guardrails: [
            { rule: 'frequency_cap', params: { max: 'x', days: 0, hours: 1 } },
            { rule: 'red_flag_open', params: { severity: 'info' } },
          ],
        },
        ['/guardrails/0/params/days', '/guardrails/0/params/hours', '/guardrails/0/params/max', '/guardrails/1/params/severity'],
      ],
      [{ safe_tag: 'Safe Tag', version: 1 }, ['/safe_tag', '/version']],
    ],
  },
  {
    method: 'PATCH',
    path: '/policies/{POLICY}',
    base: ({ policy }) => ({ version: policy.version, epsilon: 0.1 }),
    spoilt: [
      [{ version: 'one', epsilon: 7, status: 'paused' }, ['/epsilon', '/status', '/version']],
      [{ outcome_metric: 'other', policy_key: 'other' }, ['/outcome_metric', '/policy_key']],
      [{ segment_keys: ['luck'], reward_map: { improved: 2 } }, ['/reward_map/improved', '/segment_keys/0']],
      [
        { guardrails: [{ rule: 'frequency_cap', params: { max: 1.5, days: 401 } }] },
        ['/guardrails/0/params/days', '/guardrails/0/params/max'],
      ],
    ],
  },
  {
    method: 'POST',
    path: '/registry',
    base: ({ policy }) => ({ policy_id: policy.id, parameters: {} }),
    spoilt: [
      [{ policy_id: NOT_A_UUID, parent_version: 0, notes: LONG(2001) }, ['/notes', '/parent_version', '/policy_id']],
      [{ parameters: [] }, ['/parameters']],
      [{ parameters: { magic: {} } }, ['/parameters/magic']],
      [
        { parameters: { popularity: { prior_strength: 0, global: { a: { s: -1, c: 2 } }, segments: [] } } },
        ['/parameters/popularity/global/a/s', '/parameters/popularity/prior_strength', '/parameters/popularity/segments'],
      ],
      [
        { parameters: { thompson: { segments: { x: { a: { alpha: 0, beta: 1 } } }, default: { alpha: 1 } } } },
        ['/parameters/thompson/default/beta', '/parameters/thompson/segments/x/a/alpha'],
      ],
      [{ parameters: { logistic: { features: ['ctx.goal=heart'], weights: [1, 2], intercept: 0 } } }, ['/parameters/logistic/weights']],
      [
        { parameters: { linucb: { alpha: 1, features: ['1', 'ctx.age'], arms: { a: { a_inv: [[1, 0]], theta: [0, 0] } } } } },
        ['/parameters/linucb/arms/a'],
      ],
      [
        { parameters: { rules: { rules: [{ when: { method: ['x', 'constructor'] }, add: 1 }], denylist: [] } } },
        ['/parameters/rules/rules/0/when'],
      ],
      [
        { parameters: { rules: { rules: [{ when: true, add: 'much' }], denylist: [1] } } },
        ['/parameters/rules/denylist/0', '/parameters/rules/rules/0/add'],
      ],
      [{ parameters: { calibration: { a: 1 } } }, ['/parameters/calibration/b']],
    ],
  },
  {
    method: 'POST',
    path: '/registry/{VERSION}/promote',
    base: () => ({}),
    spoilt: [[{ actor_id: '', reason: LONG(501), version: 2 }, ['/actor_id', '/reason', '/version']]],
  },
  {
    method: 'POST',
    path: '/registry/rollback',
    base: ({ policy }) => ({ policy_kind: policy.policy_kind, policy_key: policy.policy_key, brand_id: null, to_version: 1 }),
    spoilt: [
      [{ brand_id: undefined }, ['/brand_id']],
      [{ brand_id: 'x', to_version: 0, policy_kind: '', actor_id: LONG(129) }, ['/actor_id', '/brand_id', '/policy_kind', '/to_version']],
      [{ to_version: null, policy_key: null }, ['/policy_key', '/to_version']],
    ],
  },
  {
    method: 'POST',
    path: '/registry/{VERSION}/evaluate',
    base: () => ({}),
    spoilt: [
      [{ target_version: 0, from: 'x', to: 1 }, ['/from', '/target_version', '/to']],
      [{ from: '2026-12-02T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z' }, ['/to']],
    ],
  },
  {
    method: 'POST',
    path: '/evaluations/compute',
    base: () => ({ kind: 'calibration', rows: [{ predicted: 0.5, reward: 1 }] }),
    spoilt: [
      [{ kind: 'luck' }, ['/kind']],
      [{ rows: [] }, ['/rows']],
      [{ rows: [{ predicted: 2, reward: 0 }, { reward: -1 }, 7] }, ['/rows/0/predicted', '/rows/1/predicted', '/rows/1/reward', '/rows/2']],
      [
        {
          rows: [
            { predicted: 2, reward: 0 },
            { reward: -1, x: 1 },
          ],
        },
        ['/rows/0/predicted', '/rows/1/predicted', '/rows/1/reward', '/rows/1/x'],
      ],
      [{ kind: 'ope', rows: [{ action: 'A', reward: 1, propensity: 0, pi: { A: 1.5 }, q: {} }] }, ['/rows/0/pi/A', '/rows/0/propensity']],
      [
        { kind: 'ope', rows: [{ action: LONG(129) }] },
        ['/rows/0/action', '/rows/0/pi', '/rows/0/propensity', '/rows/0/q', '/rows/0/reward'],
      ],
    ],
  },
  {
    method: 'POST',
    path: '/training-runs',
    base: ({ policy }) => ({ policy_id: policy.id, rankers: ['popularity'] }),
    spoilt: [
      [{ policy_id: NOT_A_UUID, rankers: [], seed: -1 }, ['/policy_id', '/rankers', '/seed']],
      [{ rankers: ['rules', 'popularity', 'popularity'] }, ['/rankers/0', '/rankers/2']],
      [{ rankers: ['luck'], seed: 2147483648 }, ['/rankers/0', '/seed']],
      [{ data_from: '2026-12-02T00:00:00.000Z', data_to: '2026-12-01T00:00:00.000Z' }, ['/data_to']],
      [{ data_from: 'yesterday', promote: true }, ['/data_from', '/promote']],
    ],
  },
  {
    method: 'PUT',
    path: '/features/user/{USER}/activity',
    base: () => ({ values: { chats: 1 }, as_of: '2026-12-10T11:00:00.000Z' }),
    spoilt: [
      [{ values: { chats: 'many', ldl_value: 160 } }, ['/values/chats', '/values/ldl_value']],
      [{ values: [1] }, ['/values']],
      [{ as_of: 'now', source_event_id: '' }, ['/as_of', '/source_event_id']],
      [{ as_of: '2199-01-01T00:00:00.000Z' }, ['/as_of']],
      [{ version: 3 }, ['/version']],
    ],
  },
  {
    method: 'POST',
    path: '/admin/erasure',
    base: () => ({ entity_type: 'user', entity_id: randomUUID() }),
    spoilt: [
      [{ entity_type: 'brand', entity_id: NOT_A_UUID, all: true }, ['/all', '/entity_id', '/entity_type']],
      [{ entity_id: undefined }, ['/entity_id']],
    ],
  },
  ...(['approve', 'reject'] as const).map((verb): Rows => ({
    method: 'POST',
    path: `/governance/proposals/{PROPOSAL}/${verb}`,
    base: () => ({ reviewer_id: 'staff-1' }),
    spoilt: [
      [{ reviewer_id: undefined }, ['/reviewer_id']],
      [{ reviewer_id: ' \t' }, ['/reviewer_id']],
      [{ reviewer_id: LONG(129), notes: LONG(2001), version: 1 }, ['/notes', '/reviewer_id', '/version']],
      [{ reviewer_id: 5, notes: {} }, ['/notes', '/reviewer_id']],
    ],
  })),
  {
    method: 'POST',
    path: '/governance/proposals/{PROPOSAL}/apply',
    base: () => ({ version: 1 }),
    spoilt: [
      [{ version: undefined }, ['/version']],
      [{ version: 0, actor_id: '', reason: LONG(501) }, ['/actor_id', '/reason', '/version']],
      [{ version: 1.5, reviewer_id: 'x' }, ['/reviewer_id', '/version']],
      [{ version: 2147483648 }, ['/version']],
    ],
  },
  { method: 'POST', path: '/loop/tick', base: () => ({}), spoilt: [[{ phases: ['monitor'] }, ['/phases']]] },
  {
    method: 'POST',
    path: '/admin/test-clock',
    base: () => ({ now: '2026-12-10T13:00:00.000Z' }),
    spoilt: [
      [{ now: 'noon' }, ['/now']],
      [{ later: 1 }, ['/later']],
    ],
  },
];

export const QUERIES: readonly [path: string, pointers: string[]][] = [
  [
    '/loop/meta-metrics?metric=UPPER&policy_version=0&brand_id=x&from=y&history=maybe&limit=101&page=2',
    ['/brand_id', '/from', '/history', '/limit', '/metric', '/page', '/policy_version'],
  ],
  ['/loop/meta-metrics?from=2026-12-02T00:00:00.000Z&to=2026-12-01T00:00:00.000Z', ['/to']],
  ['/loop/meta-metrics?cursor=nonsense', ['/cursor']],
  ['/loop/ticks?limit=0&cursor=x', ['/limit']],
  ['/loop/ticks?cursor=x', ['/cursor']],
  ['/loop/stage/gate', ['/to']],
  ['/loop/stage/gate?to=s9', ['/to']],
  ['/governance/proposals?status=open&policy_kind=A&metric=%20', ['/metric', '/policy_kind', '/status']],
  ['/governance/proposals?cursor=x', ['/cursor']],
  [
    '/decisions?entity_id=1&policy_key=Q&status=done&stage=s6&from=x&to=y&limit=0',
    ['/entity_id', '/from', '/limit', '/policy_key', '/stage', '/status', '/to'],
  ],
  ['/decisions?from=2026-12-02T00:00:00.000Z&to=2026-12-01T00:00:00.000Z', ['/to']],
  ['/decisions?cursor=x', ['/cursor']],
  ['/registry?policy_kind=A&brand_id=1&status=best', ['/brand_id', '/policy_kind', '/status']],
  ['/policies?policy_kind=A&policy_key=B&limit=1.5', ['/limit', '/policy_key', '/policy_kind']],
];
