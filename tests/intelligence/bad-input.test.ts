import { randomUUID } from 'node:crypto';
import { buildASTSchema, parse } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { readSupergraph } from '../../gateway/plans/supergraph-file.js';
import { planTables } from '../../rest-adapter/plan.js';
import table from '../../rest-adapter/routes/intelligence.js';
import { toCamel } from '../../runtime/schema/wire-names.js';
import type { Answer } from '../support/platform.js';
import { BODIES, NOT_A_UUID, QUERIES, type World } from './bad-requests.js';
import { Loop } from './loop.js';

let world: World;
let loop: Loop;
beforeAll(async () => {
  loop = await Loop.open();
  const { policy, proposal } = await loop.proposed();
  const [version, decision] = [await loop.register(policy), await loop.rank(policy)];
  world = {
    loop,
    policy,
    ids: { POLICY: policy.id, VERSION: version.id, DECISION: decision.id, PROPOSAL: proposal.id, USER: randomUUID() },
  };
});

const filled = (path: string): string => path.replace(/\{([A-Z]+)\}/g, (_, name: keyof World['ids']) => world.ids[name]);
const spoiltRows = BODIES.flatMap(({ spoilt, ...rows }) =>
  spoilt.map(([change, pointers]) => ({ ...rows, change, pointers: [...pointers].sort() })),
);
type Row = (typeof spoiltRows)[number];
const cases = spoiltRows.map(row => [`${row.method} ${row.path} ${JSON.stringify(row.change).slice(0, 90)}`, row] as const);

/** A body with a change; undefined leaves the key out. */
const spoil = ({ base, change }: Row): Record<string, unknown> =>
  Object.fromEntries(Object.entries({ ...base(world), ...change }).filter(([, value]) => value !== undefined));

const pointersOf = (errors: readonly { pointer: string }[] = []): string[] => errors.map(({ pointer }) => pointer).sort();

const COUNTED = [
  'decision',
  'decision_outcome',
  'registry_version',
  'ranking_policy',
  'training_run',
  'feature_vector',
  'entity_tombstone',
  'loop_tick',
  'audit_log',
];
const counts = () => loop.p.sql(`select ${COUNTED.map(name => `(select count(*) from intelligence.${name}) as ${name}`).join(', ')}`);

describe('a body that is wrong is refused with every violation, and changes nothing', () => {
  test.each(cases)('REST: %s', async (_, row) => {
    const before = await counts();
    const answer = await loop.rest(row.method, filled(row.path), spoil(row));
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(pointersOf(answer.body.errors)).toEqual(row.pointers);
    expect(await counts()).toEqual(before);
  });

  test.each(cases.filter(([, { path }]) => path !== '/loop/tick'))('GraphQL: %s', async (_, row) => {
    const before = await counts();
    const { errors } = await loop.graphql(documentOf(row), { input: inputOf(row) });
    expect(new Set(errors.map(({ extensions }) => extensions.code))).toEqual(new Set(['INVALID_REQUEST']));
    const violations = errors.flatMap(({ extensions }) => extensions.errors ?? []);
    if (violations.length) expect(pointersOf(violations)).toEqual(row.pointers.map(inGraphql).sort());
    expect(await counts()).toEqual(before);
  });

  test.each([[], 'text', 7, null])('REST: %j is no body', async body => {
    for (const { method, path } of BODIES.filter(one => Object.keys(one.base(world)).length))
      expect([400, 415], `${method} ${path}`).toContain((await loop.rest(method, filled(path), body ?? 'null')).status);
  });
});

/** JSON scalars, whose insides are not renamed. */
const PLAIN = new Set([
  'features',
  'context',
  'values',
  'parameters',
  'params',
  'reward_map',
  'context_schema',
  'candidate_schema',
  'rows',
]);
/** Enums, which GraphQL writes in capitals. */
const ENUMS = new Set(['kind', 'attribution', 'rule', 'status', 'rankers']);

function toGraphql(value: unknown, key = ''): unknown {
  if (PLAIN.has(key)) return value;
  if (ENUMS.has(key) && typeof value === 'string') return value.toUpperCase();
  if (Array.isArray(value)) return value.map(one => toGraphql(one, key));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [toCamel(name), toGraphql(inner, name)]));
}

function inGraphql(pointer: string): string {
  const parts = pointer.slice(1).split('/');
  const plain = parts.findIndex(part => PLAIN.has(part));
  return `/input/${parts.map((part, place) => (plain >= 0 && place > plain ? part : toCamel(part))).join('/')}`;
}

const IN_PATH: Readonly<Record<string, () => object>> = {
  '/features/user/{USER}/activity': () => ({ entityType: 'user', entityId: world.ids.USER, featureSet: 'activity' }),
};

function inputOf(row: Row): object {
  const id = /\{([A-Z]+)\}/.exec(row.path)?.[1] as keyof World['ids'] | undefined;
  const fromPath = IN_PATH[row.path]?.() ?? (id ? { id: world.ids[id] } : {});
  return { ...(toGraphql(spoil(row)) as object), ...fromPath };
}

const plans = planTables(buildASTSchema(parse(await readSupergraph()), { assumeValid: true }), [table]);

/** The document of the same operation's route. */
function documentOf({ method, path }: Row): string {
  const asRoute = `/v1${path.replace(/\{[A-Z]+\}/, '{id}')}`.replace(
    '/features/user/{id}/activity',
    '/features/{entity_type}/{entity_id}/{feature_set}',
  );
  return plans.find(plan => plan.key === `${method} /intelligence${asRoute}`)!.source;
}

describe('a query that is wrong is refused with every violation', () => {
  test.each(QUERIES)('REST: %s', async (path, pointers) => {
    const answer = await loop.rest('GET', path);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(pointersOf(answer.body.errors)).toEqual(pointers);
  });

  const READS = [
    '/loop/ticks/ID',
    '/governance/proposals/ID',
    '/decisions/ID',
    '/decisions/ID/explain',
    '/registry/ID',
    '/evaluations/ID',
    '/training-runs/ID',
    '/features/user/ID/activity',
  ];
  const refusals = async (path: string): Promise<number[]> => {
    const answers: Answer[] = await Promise.all([NOT_A_UUID, "x'--", randomUUID()].map(id => loop.rest('GET', path.replace('ID', id))));
    return answers.map(({ status }) => status);
  };
  test.each(READS)('REST: %s of an id that is none, or that nobody has, is not found', async path =>
    expect(await refusals(path)).toEqual([404, 404, 404]),
  );

  const ACTS = [
    '/governance/proposals/ID/approve',
    '/governance/proposals/ID/apply',
    '/registry/ID/promote',
    '/registry/ID/evaluate',
    '/decisions/ID/activate',
    '/decisions/ID/outcome',
  ];
  const ENOUGH = {
    approve: { reviewer_id: 'staff-1' },
    apply: { version: 1 },
    promote: {},
    evaluate: {},
    activate: {},
    outcome: { label: 'improved', source_event_id: 'x' },
  };
  test.each(ACTS)('REST: POST %s of an id that is none, or that nobody has, is not found', async path => {
    const body = ENOUGH[path.split('/').at(-1) as keyof typeof ENOUGH];
    for (const id of [NOT_A_UUID, randomUUID()]) expect((await loop.rest('POST', path.replace('ID', id), body)).status).toBe(404);
  });
});

describe("a name of somebody else's choice", () => {
  test.each(['S2', 'S4', 'S5'])('may be what objects have by nature: candidates, segments and labels at %s', async stage => {
    await loop.stage(stage);
    const policy = await loop.policy({ segment_keys: ['age_band'] });
    const counts = { prior_strength: 20, global: { a: { s: 1, c: 2 } }, segments: { a: { a: { s: 1, c: 2 } } } };
    const thompson = { segments: { a: { a: { alpha: 1, beta: 2 } } }, default: { alpha: 1, beta: 1 } };
    await loop.champion(policy, { popularity: counts, thompson, linucb: { alpha: 1, features: ['1'], arms: {} } });
    for (const age_band of ['valueOf', 'a']) {
      const made = await loop.rank(policy, ['constructor', '__proto__', 'toString', 'a'], { slots: 4, context: { age_band } });
      const propensities: number[] = made.ranked.map((one: any) => one.propensity);
      expect(propensities.reduce((sum, one) => sum + one, 0)).toBeCloseTo(1, 6);
      expect(await loop.ok('GET', `/decisions/${made.id}/explain`)).toMatchObject({ reproduced: true });
      expect((await loop.outcome(made.id, 'constructor')).status).toBe(400);
      expect((await loop.outcome(made.id)).status).toBe(201);
    }
    await loop.stage(null);
  });
});
