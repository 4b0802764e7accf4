import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setGateMetrics } from '../../subgraphs/platform/ports/stage-gate.js';
import { ADMIN, BRAND, DEMO, DEMO2, platform, type Answer, type TestPlatform } from '../support/platform.js';
import { resetFlags, STAGE } from './flag-changes.js';
import { CYCLE, PROMPT, user } from './flag-fixtures.js';

let p: TestPlatform;
let service: string;
/** Three of the staff who may change flags. */
let [one, two, three]: string[] = [];

beforeAll(async () => {
  p = await platform({ services: ['platform', 'intelligence'] });
  service = await p.serviceToken();
  [one, two, three] = await Promise.all(
    [ADMIN, DEMO, DEMO2].map(id => p.userToken(id, ['read:profile'], { permissions: ['admin:platform:flags'] })),
  );
});
beforeEach(async () => {
  await p.sql('delete from platform.flag_rule');
  await p.sql(`delete from platform.flag_change`);
  await p.sql(`delete from platform.flag where key like 'feature.test.%'`);
  await resetFlags(p);
  setGateMetrics(null);
});

const ADMIN_FLAGS = '/platform/v1/admin/flags';
const reason = 'because the test says so';
const call = (method: string, path: string, body?: object, token = service): Promise<Answer> => p.rest(method, path, { token, body });
const revisionOf = async (key: string): Promise<number> =>
  (await p.sql('select revision from platform.flag where key = $1', [key]))[0].revision;
const patch = async (key: string, body: object, token = service): Promise<Answer> =>
  call('PATCH', `${ADMIN_FLAGS}/${key}`, { expected_revision: await revisionOf(key), reason, ...body }, token);
const approve = (id: string, token: string) => call('POST', `/platform/v1/admin/flag-changes/${id}/approve`, undefined, token);
const evaluate = async (key: string, userId = DEMO) =>
  (await call('POST', '/platform/v1/flags/evaluate', { keys: [key], brand_id: BRAND, user_id: userId })).body.data[0];

const BUNDLES = {
  key: 'feature.test.bundles',
  description: 'Bundle pages',
  kind: 'release',
  value_type: 'boolean',
  variants: [
    { name: 'on', value: true },
    { name: 'off', value: false },
  ],
  off_variant: 'off',
  default_rule: { variant: 'off' },
  owner: 'commerce',
  salt: 's1',
  reason: 'first rollout',
};
const create = (form: object = {}, token = service) => call('POST', ADMIN_FLAGS, { ...BUNDLES, ...form }, token);
const rollout = (basisPoints: number) => [
  { conditions: [{ attribute: 'brand', operator: 'in', values: [BRAND] }], rollout: [{ variant: 'on', basis_points: basisPoints }] },
];

describe('creating a flag', () => {
  test('answers 201 with its place, and it is off', async () => {
    const { status, headers, body } = await create();
    expect([status, headers.location]).toEqual([201, `${ADMIN_FLAGS}/${BUNDLES.key}`]);
    expect(body).toMatchObject({
      key: BUNDLES.key,
      enabled: false,
      fail_closed: true,
      protected: false,
      revision: 1,
      salt: 's1',
      guard: null,
    });
    expect(await evaluate(BUNDLES.key)).toMatchObject({ value: false, reason: 'disabled' });
    const [record] = await p.sql('select before, status, revision, requested_by from platform.flag_change where flag_key = $1', [
      BUNDLES.key,
    ]);
    expect(record).toEqual({ before: {}, status: 'applied', revision: 1, requested_by: 'service:demo-m2m' });
  });

  test('with a key that was used before is a conflict, also when that flag is archived', async () => {
    await create();
    expect(await create()).toMatchObject({ status: 409, body: { reason: 'key_used' } });
    expect((await call('DELETE', `${ADMIN_FLAGS}/${BUNDLES.key}?reason=not+needed+any+more`)).status).toBe(200);
    expect(await create()).toMatchObject({ status: 409, body: { reason: 'key_used' } });
    expect(await evaluate(BUNDLES.key)).toMatchObject({ value: null, reason: 'error', error_code: 'flag_not_found' });
  });

  test('takes the key as salt where none is given', async () => {
    expect((await create({ salt: null })).body.salt).toBe(BUNDLES.key);
  });

  test('lists everything that is wrong with it', async () => {
    const wrong = {
      variants: [
        { name: 'on', value: 'yes' },
        { name: 'on', value: false },
      ],
      off_variant: 'none',
      default_rule: {
        rollout: [
          { variant: 'on', basis_points: 9000 },
          { variant: 'off', basis_points: 2000 },
        ],
      },
      rules: [
        { conditions: [{ attribute: 'country', operator: 'gte', values: ['1'] }], serve: { variant: 'on' } },
        {
          conditions: [{ attribute: 'user', operator: 'in', values: ['somebody'] }],
          serve: { variant: 'on' },
          rollout: [{ variant: 'on', basis_points: 1 }],
        },
        { conditions: [{ attribute: 'app_version', operator: 'gte', values: ['new'] }] },
      ],
      prerequisites: [
        { key: 'feature.nope', variant: 'on' },
        { key: BUNDLES.key, variant: 'on' },
      ],
      owner: 'nobody',
    };
    const { status, body } = await create(wrong);
    expect(status).toBe(400);
    expect(body.errors.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual([
      '/default_rule/rollout',
      '/default_rule/rollout/1/variant',
      '/off_variant',
      '/owner',
      '/prerequisites/0/key',
      '/prerequisites/1/key',
      '/rules/0/conditions/0/operator',
      '/rules/1',
      '/rules/1/conditions/0/values/0',
      '/rules/2',
      '/rules/2/conditions/0/values/0',
      '/variants',
      '/variants/0/value',
    ]);
  });

  test('refuses a string variant that looks like a secret', async () => {
    const value = 'sk_live_4eC39HqLyjWDarjtT1zdp7dc';
    const form = {
      value_type: 'string',
      variants: [
        { name: 'on', value },
        { name: 'off', value: 'x' },
      ],
    };
    const { status, body } = await create(form);
    expect([status, JSON.stringify(body).includes(value), body.errors]).toEqual([
      400,
      false,
      [{ pointer: '/variants/0/value', message: 'looks like a secret' }],
    ]);
  });

  test('is the same in GraphQL', async () => {
    const { data } = await p.graphql(
      'mutation($input: CreateFeatureFlagInput!) { createFeatureFlag(input: $input) { key kind valueType } }',
      {
        input: {
          key: BUNDLES.key,
          description: 'x',
          kind: 'OPS',
          valueType: 'STRING',
          variants: [{ name: 'a', value: 'a' }],
          offVariant: 'a',
          defaultRule: { variant: 'a' },
          owner: 'commerce',
          reason,
        },
      },
      { token: one! },
    );
    expect(data.createFeatureFlag).toEqual({ key: BUNDLES.key, kind: 'OPS', valueType: 'STRING' });
  });
});

describe('changing a flag that is not protected', () => {
  beforeEach(() => create());

  test('applies at once and adds one to the revision', async () => {
    const answer = await patch(BUNDLES.key, { enabled: true, rules: rollout(2500) });
    expect(answer).toMatchObject({
      status: 200,
      body: { key: BUNDLES.key, enabled: true, revision: 2, rules: [{ position: 0, serve: null }] },
    });
    expect(await evaluate(BUNDLES.key)).toMatchObject({ reason: 'split', revision: 2 });
  });

  test('raising a rollout only adds users, lowering it only removes', async () => {
    const who = [1, 2, 3, 4, 5, 6].map(user);
    const on = async () => (await Promise.all(who.map(id => evaluate(BUNDLES.key, id)))).map(({ value }) => value);
    const seen: boolean[][] = [];
    for (const share of [2500, 6000, 9000, 6000, 2500]) {
      await patch(BUNDLES.key, { enabled: true, rules: rollout(share) });
      seen.push(await on());
    }
    expect([seen[0], seen[1]]).toEqual([seen[4], seen[3]]);
    for (const index of who.keys()) expect(seen[0]![index] && !seen[1]![index]).toBe(false);
  });

  test('with an old revision is a conflict', async () => {
    await patch(BUNDLES.key, { enabled: true });
    expect(await patch(BUNDLES.key, { enabled: false, expected_revision: 1 })).toMatchObject({
      status: 409,
      body: { code: 'conflict', reason: 'revision_conflict', detail: 'The flag is at revision 2' },
    });
  });

  test('by two at once is applied once', async () => {
    const answers = await Promise.all(
      [true, true].map(() => call('PATCH', `${ADMIN_FLAGS}/${BUNDLES.key}`, { enabled: true, expected_revision: 1, reason })),
    );
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409]);
    expect(await revisionOf(BUNDLES.key)).toBe(2);
  });

  test('that changes nothing makes no revision', async () => {
    expect(await patch(BUNDLES.key, { enabled: false, default_rule: { variant: 'off' } })).toMatchObject({
      status: 200,
      body: { revision: 1 },
    });
  });

  test('takes the end away with null, and leaves it where nothing is said', async () => {
    await patch(BUNDLES.key, { expires_on: '2027-06-30' });
    expect((await patch(BUNDLES.key, { description: 'Pages of bundles' })).body.expires_on).toBe('2027-06-30');
    expect((await patch(BUNDLES.key, { expires_on: null })).body.expires_on).toBeNull();
  });

  test('tells the brands of the rules that differ, and all active ones otherwise', async () => {
    const other = '0190b3a0-0000-7000-8000-000000000002';
    const invalidated = async (body: object) => {
      const [{ seq }] = await p.sql('select coalesce(max(seq), 0) as seq from events.outbox');
      await patch(BUNDLES.key, body);
      const rows = await p.sql(
        `select brand_id from events.outbox where type = 'platform.brand.cache_invalidated.v1' and seq > $1 order by brand_id`,
        [seq],
      );
      return rows.map(({ brand_id }: { brand_id: string }) => brand_id);
    };
    expect(await invalidated({ rules: rollout(2500) })).toEqual([BRAND]);
    expect(await invalidated({ rules: [...rollout(2500), { conditions: [], serve: { variant: 'off' } }] })).toEqual([BRAND, other]);
    expect(await invalidated({ enabled: true })).toEqual([BRAND, other]);
  });

  test('is refused where a prerequisite would close a circle', async () => {
    await create({ key: 'feature.test.second', prerequisites: [{ key: BUNDLES.key, variant: 'on' }] });
    expect(await patch(BUNDLES.key, { prerequisites: [{ key: 'feature.test.second', variant: 'on' }] })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/prerequisites/0/key', message: 'would make the flag a prerequisite of itself' }] },
    });
  });

  test('knows no flag that is not there, and no archived one', async () => {
    expect((await call('PATCH', `${ADMIN_FLAGS}/feature.nope`, { enabled: true, expected_revision: 1, reason })).status).toBe(404);
    await call('DELETE', `${ADMIN_FLAGS}/${BUNDLES.key}?reason=not+needed+any+more`);
    expect(await patch(BUNDLES.key, { enabled: true })).toMatchObject({ status: 409, body: { reason: 'archived' } });
  });

  test('names a key of the body that it does not know', async () => {
    expect(await patch(BUNDLES.key, { salt: 'another' })).toMatchObject({ status: 400, body: { errors: [{ pointer: '/salt' }] } });
  });

  test('for later is applied when its time has come', async () => {
    const at = (await p.host('platform').read(async ctx => ctx.now())).getTime() + 3_600_000;
    const answer = await patch(BUNDLES.key, { enabled: true, apply_at: new Date(at).toISOString() });
    expect(answer).toMatchObject({ status: 202, body: { flag_key: BUNDLES.key, status: 'scheduled', after: { enabled: true } } });
    await p.clock('platform', { advance: 'PT59M' });
    expect(await revisionOf(BUNDLES.key)).toBe(1);
    await p.clock('platform', { advance: 'PT1M' });
    expect(await evaluate(BUNDLES.key)).toMatchObject({ reason: 'default', revision: 2 });
  });

  test('for later expires when the flag was changed meanwhile', async () => {
    const now = await p.host('platform').read(async ctx => ctx.now());
    const { body } = await patch(BUNDLES.key, { enabled: true, apply_at: new Date(now.getTime() + 60_000).toISOString() });
    await patch(BUNDLES.key, { description: 'Pages of bundles' });
    await p.clock('platform', { advance: 'PT1M' });
    const [change] = await p.sql('select status from platform.flag_change where id = $1', [body.id]);
    expect([change.status, (await call('GET', `${ADMIN_FLAGS}/${BUNDLES.key}`)).body.enabled]).toEqual(['expired', false]);
  });

  test('cannot be for the past', async () => {
    expect(await patch(BUNDLES.key, { enabled: true, apply_at: '2020-01-01T00:00:00.000Z' })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/apply_at' }] },
    });
  });
});

describe('a protected flag', () => {
  test('waits for another member of the staff', async () => {
    const revision = await revisionOf(CYCLE);
    const { status, body } = await patch(CYCLE, { enabled: true, default_rule: { variant: 'on' } }, one);
    expect([status, body.status, body.flag_key, body.requested_by]).toEqual([202, 'pending', CYCLE, `staff:${ADMIN}`]);
    expect(await evaluate(CYCLE)).toMatchObject({ value: false });
    expect(await approve(body.id, one!)).toMatchObject({ status: 403, body: { reason: 'own_request' } });
    expect(await approve(body.id, two!)).toMatchObject({
      status: 200,
      body: { status: 'applied', revision: revision + 1, approvals: [{ by: `staff:${DEMO}` }] },
    });
    expect(await evaluate(CYCLE)).toMatchObject({ value: true, revision: revision + 1 });
    expect(await approve(body.id, three!)).toMatchObject({ status: 409, body: { detail: 'a flag change that is applied cannot approve' } });
  });

  test('is changed once by two approvals at once', async () => {
    const revision = await revisionOf(CYCLE);
    const { body } = await patch(CYCLE, { enabled: true }, one);
    const answers = await Promise.all([approve(body.id, two!), approve(body.id, three!)]);
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409]);
    expect(await revisionOf(CYCLE)).toBe(revision + 1);
  });

  test('needs two of the staff where a service asked, and a service does not approve', async () => {
    const { body } = await patch(CYCLE, { enabled: true });
    expect(await approve(body.id, service)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(await approve(body.id, one!)).toMatchObject({ status: 200, body: { status: 'pending' } });
    expect(await approve(body.id, one!)).toMatchObject({ status: 403, body: { reason: 'already_approved' } });
    expect(await approve(body.id, two!)).toMatchObject({ status: 200, body: { status: 'applied' } });
  });

  test('forgets a change that was rejected, not approved for 7 days, or overtaken', async () => {
    const ask = async () => (await patch(CYCLE, { enabled: true }, one)).body.id as string;
    const statusOf = async (id: string) => (await p.sql('select status from platform.flag_change where id = $1', [id]))[0].status;
    const [rejected] = [await ask()];
    expect(
      await call('POST', `/platform/v1/admin/flag-changes/${rejected}/reject`, { reason: 'not before the release' }, two),
    ).toMatchObject({
      status: 200,
      body: { status: 'rejected' },
    });
    expect((await approve(rejected, two!)).status).toBe(409);
    const overtaken = await ask();
    await call('POST', `${ADMIN_FLAGS}/${CYCLE}/kill`, { reason: 'error rate' });
    expect([await statusOf(overtaken), (await approve(overtaken, two!)).status]).toEqual(['expired', 409]);
    const late = await ask();
    await p.clock('platform', { advance: 'P7D' });
    expect([await statusOf(late), (await approve(late, two!)).status]).toEqual(['expired', 409]);
  });

  test('is scheduled by its approval where it has a time', async () => {
    const now = await p.host('platform').read(async ctx => ctx.now());
    const { body } = await patch(CYCLE, { enabled: true, apply_at: new Date(now.getTime() + 7_200_000).toISOString() }, one);
    expect(await approve(body.id, two!)).toMatchObject({ status: 200, body: { status: 'scheduled', revision: null } });
    await p.clock('platform', { advance: 'PT2H' });
    expect((await call('GET', `${ADMIN_FLAGS}/${CYCLE}`)).body.enabled).toBe(true);
  });

  test('is unkilled like any other change', async () => {
    await call('POST', `${ADMIN_FLAGS}/${CYCLE}/kill`, { reason: 'error rate' });
    const { status, body } = await call('POST', `${ADMIN_FLAGS}/${CYCLE}/unkill`, { reason: 'it is mended' }, one);
    expect([status, body.status, body.after]).toEqual([202, 'pending', { killed: false }]);
    await approve(body.id, two!);
    expect((await call('GET', `${ADMIN_FLAGS}/${CYCLE}`)).body.killed).toBe(false);
  });

  test('of the platform itself is not archived, and keeps what others rely on', async () => {
    expect(await call('DELETE', `${ADMIN_FLAGS}/${CYCLE}?reason=not+needed+any+more`)).toMatchObject({
      status: 409,
      body: { reason: 'seeded' },
    });
    const { status, body } = await patch(CYCLE, { fail_closed: false, protected: false }, one);
    expect([status, body.errors.map(({ pointer }: { pointer: string }) => pointer)]).toEqual([400, ['/fail_closed', '/protected']]);
  });

  test('shows its changes, newest first, to staff only', async () => {
    await patch(CYCLE, { enabled: true }, one);
    await call('POST', `${ADMIN_FLAGS}/${CYCLE}/kill`, { reason: 'error rate' });
    const { status, body } = await call('GET', `${ADMIN_FLAGS}/${CYCLE}/changes?limit=10`, undefined, one);
    expect([status, body.data.map((change: { status: string }) => change.status)]).toEqual([200, ['applied', 'expired']]);
    expect((await call('GET', `${ADMIN_FLAGS}/${CYCLE}/changes?status=expired`, undefined, one)).body.data).toHaveLength(1);
    expect((await call('GET', `${ADMIN_FLAGS}/${CYCLE}/changes`)).status).toBe(403);
    expect((await call('GET', `${ADMIN_FLAGS}/feature.nope/changes`, undefined, one)).status).toBe(404);
  });

  test('answers in GraphQL with the flag or the change', async () => {
    const ask =
      'mutation($input: ChangeFeatureFlagInput!) { changeFeatureFlag(input: $input) { __typename ... on FlagChange { status } ... on FeatureFlag { key } } }';
    const change = async (key: string, input: object) =>
      (
        await p.graphql(
          ask,
          { input: { key, patch: { enabled: true }, expectedRevision: await revisionOf(key), reason, ...input } },
          { token: one! },
        )
      ).data.changeFeatureFlag;
    await create();
    expect(await change(CYCLE, {})).toEqual({ __typename: 'FlagChange', status: 'PENDING' });
    expect(await change(BUNDLES.key, {})).toEqual({ __typename: 'FeatureFlag', key: BUNDLES.key });
  });
});

describe('the stage of intelligence', () => {
  const to = (variant: string, token = one) => patch(STAGE, { default_rule: { variant } }, token);
  const settle = (variant: string) =>
    p.sql(`update platform.flag set default_rule = jsonb_build_object('variant', $1::text), revision = revision + 1 where key = $2`, [
      variant,
      STAGE,
    ]);

  test('rises one step at a time', async () => {
    setGateMetrics({ joinCompleteness: 1, stalled: false });
    expect(await to('S2')).toMatchObject({ status: 409, body: { reason: 'step_too_large' } });
  });

  test('rises only through a gate that is met, and by two of the staff', async () => {
    setGateMetrics({ joinCompleteness: 0.79, stalled: false });
    expect(await to('S1')).toMatchObject({ status: 409, body: { reason: 'gate_not_met', gate_reasons: ['join_completeness'] } });
    setGateMetrics({ joinCompleteness: 0.8, stalled: true });
    expect(await to('S1')).toMatchObject({ status: 409, body: { reason: 'gate_not_met', gate_reasons: ['stalled'] } });
    setGateMetrics({ joinCompleteness: 0.8, stalled: false });
    const { status, body } = await to('S1');
    expect([status, body.status]).toEqual([202, 'pending']);
    setGateMetrics({ joinCompleteness: 0.5, stalled: false });
    expect(await approve(body.id, two!)).toMatchObject({ status: 409, body: { reason: 'gate_not_met' } });
    setGateMetrics({ joinCompleteness: 0.8, stalled: false });
    expect(await approve(body.id, two!)).toMatchObject({ status: 200, body: { status: 'applied' } });
    expect(await evaluate(STAGE)).toMatchObject({ value: 'S1', reason: 'default' });
  });

  test('does not rise while intelligence itself says that its gate is not met', async () => {
    expect(await to('S1')).toMatchObject({ status: 409, body: { reason: 'gate_not_met', gate_reasons: ['join_completeness_missing'] } });
  });

  test('falls at once, by one person', async () => {
    await settle('S3');
    expect(await to('S0')).toMatchObject({ status: 200, body: { key: STAGE } });
    expect(await evaluate(STAGE)).toMatchObject({ value: 'S0' });
  });

  test('does not rise for some by a rule, a rollout or being switched on, either', async () => {
    setGateMetrics({ joinCompleteness: 1, stalled: false });
    const some = [
      { conditions: [{ attribute: 'country', operator: 'in', values: ['DE'] }], rollout: [{ variant: 'S2', basis_points: 1 }] },
    ];
    expect(await patch(STAGE, { rules: some }, one)).toMatchObject({ status: 409, body: { reason: 'step_too_large' } });
    await settle('S3');
    await p.sql('update platform.flag set enabled = false where key = $1', [STAGE]);
    expect(await patch(STAGE, { enabled: true }, one)).toMatchObject({ status: 409, body: { reason: 'step_too_large' } });
    await p.sql('update platform.flag set enabled = true, killed = true where key = $1', [STAGE]);
    expect(await call('POST', `${ADMIN_FLAGS}/${STAGE}/unkill`, { reason }, one)).toMatchObject({
      status: 409,
      body: { reason: 'step_too_large' },
    });
  });

  test('is asked again when a scheduled rise is due, which else expires', async () => {
    setGateMetrics({ joinCompleteness: 1, stalled: false });
    const now = await p.host('platform').read(async ctx => ctx.now());
    const { body } = await patch(STAGE, { default_rule: { variant: 'S1' }, apply_at: new Date(now.getTime() + 60_000).toISOString() }, one);
    await approve(body.id, two!);
    setGateMetrics({ joinCompleteness: 0.1, stalled: false });
    await p.clock('platform', { advance: 'PT1M' });
    const [change] = await p.sql('select status from platform.flag_change where id = $1', [body.id]);
    expect([change.status, (await evaluate(STAGE)).value]).toEqual(['expired', 'S0']);
  });
});

test('the prompt stays off for all while the cycle is off', async () => {
  const ask = async () => (await patch(PROMPT, { enabled: true, rules: rollout(10_000) }, one)).body.id;
  await approve(await ask(), two!);
  for (const id of [1, 2, 3, 4, 5, 6].map(user)) expect(await evaluate(PROMPT, id)).toMatchObject({ value: false, reason: 'disabled' });
});
