import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { userErasureRequested } from '../../events/catalogue/identity.js';
import { DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { change, resetFlags, STAGE } from './flag-changes.js';
import { CYCLE, PROMPT } from './flag-fixtures.js';

let p: TestPlatform;

beforeAll(async () => {
  p = await platform({ services: ['platform'] });
});
beforeEach(async () => {
  await resetFlags(p);
  await change(p, PROMPT, { rules: [{ conditions: [{ attribute: 'USER', operator: 'IN', values: [DEMO, DEMO2] }], variant: 'on' }] });
});

/** Identity asks for the erasure of a user; resolves when this service has proved its part. */
async function erase(userId: string, scope: 'full' | 'health'): Promise<{ outcome: string; records: Record<string, number> }> {
  const requestId = randomUUID();
  const at = new Date().toISOString();
  await p
    .host('identity')
    .transaction(async ctx => ctx.emit(userErasureRequested, { request_id: requestId, scope, requested_at: at, due_at: at }, { userId }));
  const proof = () =>
    p.sql(`select details from platform.audit_log where action = 'user.erased' and details ->> 'request_id' = $1`, [requestId]);
  return (await until('the erasure', proof, rows => rows.length === 1))[0].details;
}

const revisions = async () =>
  Object.fromEntries((await p.sql('select key, revision from platform.flag')).map(({ key, revision }) => [key, revision])) as Record<
    string,
    number
  >;

test('an erased user leaves all flag rules and change records, which is a change of those flags', async () => {
  const staff = await p.userToken(DEMO, ['read:profile'], { permissions: ['admin:platform:flags'] });
  await p.rest('POST', `/platform/v1/admin/flags/${CYCLE}/kill`, { token: staff, body: { reason: 'error rate' } });
  await p.sql(
    `insert into platform.flag_change (id, flag_key, before, after, reason, requested_by, status, approvals, created_at)
     values (gen_random_uuid(), $1, '{}', jsonb_build_object('rules', jsonb_build_array($2::text)), 'a change of rules', 'service:demo-m2m', 'applied', '[]', now())`,
    [PROMPT, DEMO],
  );
  const before = await revisions();
  const cacheVersions = async () =>
    (await p.sql('select cache_version from platform.brand order by id')).map(({ cache_version }) => cache_version as number);
  const versions = await cacheVersions();

  expect(await erase(DEMO, 'full')).toMatchObject({ outcome: 'erased', records: { flag_rule: 1, flag_change: 2 } });

  const [rule] = await p.sql('select conditions from platform.flag_rule where flag_key = $1', [PROMPT]);
  expect(rule.conditions).toEqual([{ attribute: 'USER', operator: 'IN', values: [DEMO2] }]);
  const changes = await p.sql('select requested_by, after from platform.flag_change order by created_at desc limit 2');
  expect(JSON.stringify(changes)).not.toContain(DEMO);
  expect(changes.map((one: { requested_by: string }) => one.requested_by).sort()).toEqual(['service:demo-m2m', 'staff:erased']);
  expect(await revisions()).toEqual({ [CYCLE]: before[CYCLE], [STAGE]: before[STAGE], [PROMPT]: before[PROMPT]! + 1 });
  expect(await cacheVersions()).toEqual(versions.map(one => one + 1));
});

test('an erased user who is named nowhere changes nothing', async () => {
  const before = await revisions();
  expect(await erase('0190b3a0-0000-7000-8000-0000000000a9', 'full')).toMatchObject({
    outcome: 'erased',
    records: { flag_rule: 0, flag_change: 0 },
  });
  expect(await revisions()).toEqual(before);
});

test('the last user of a condition leaves it empty, and the rule then serves nobody', async () => {
  await change(p, PROMPT, { rules: [{ conditions: [{ attribute: 'USER', operator: 'IN', values: [DEMO2] }], variant: 'on' }] });
  await erase(DEMO2, 'full');
  const [rule] = await p.sql('select conditions from platform.flag_rule where flag_key = $1', [PROMPT]);
  expect(rule.conditions).toEqual([{ attribute: 'USER', operator: 'IN', values: [] }]);
});

test('an erasure of health data leaves what is switched on for the account', async () => {
  expect(await erase(DEMO, 'health')).toMatchObject({ outcome: 'nothing_held', records: {} });
  const [rule] = await p.sql('select conditions from platform.flag_rule where flag_key = $1', [PROMPT]);
  expect(rule.conditions[0].values).toContain(DEMO);
});
