import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { userErasureRequested } from '../../events/catalogue/identity.js';
import { ADMIN, DEMO, DEMO2 } from '../support/platform.js';
import { until } from '../support/until.js';
import { Counter } from './counter.js';

let c: Counter;
beforeAll(async () => {
  c = await Counter.open();
  for (const user of [DEMO, DEMO2]) {
    await c.override(user, 'live.host', { reason: 'a private matter' });
    await c.consume(user, 'ai.messages');
    await c.all(user);
  }
});

/** Identity asks for the erasure of a user; resolves when this service has proved its part. */
async function erase(
  userId: string,
  scope: 'full' | 'health' | 'marketing',
): Promise<{ outcome: string; records: Record<string, number> }> {
  const requestId = randomUUID();
  const at = new Date().toISOString();
  await c.p
    .host('identity')
    .transaction(async ctx => ctx.emit(userErasureRequested, { request_id: requestId, scope, requested_at: at, due_at: at }, { userId }));
  const proof = () =>
    c.p.sql(`select details from entitlements.audit_log where action = 'user.erased' and details ->> 'request_id' = $1`, [requestId]);
  return (await until('the erasure', proof, rows => rows.length === 1))[0].details;
}

const TABLES = ['entitlement_override', 'entitlement_snapshot', 'usage_counter', 'usage_event'];
const heldOf = async (userId: string): Promise<number[]> =>
  Promise.all(TABLES.map(async table => (await c.p.sql(`select 1 from entitlements.${table} where user_id = $1`, [userId])).length));

describe('an erasure', () => {
  test('deletes overrides, snapshot, counters and their keys, of that user alone', async () => {
    expect(await heldOf(DEMO)).toEqual([1, 1, 1, 1]);
    const records = Object.fromEntries(TABLES.map(table => [table, 1]));
    expect(await erase(DEMO, 'full')).toMatchObject({ outcome: 'erased', records });
    expect([await heldOf(DEMO), await heldOf(DEMO2)]).toEqual([
      [0, 0, 0, 0],
      [1, 1, 1, 1],
    ]);
    expect(await erase(DEMO, 'full')).toMatchObject({ outcome: 'nothing_held' });
  });

  test.each(['health', 'marketing'] as const)('of %s data leaves what a living account may use', async scope => {
    expect(await erase(DEMO2, scope)).toMatchObject({ outcome: 'nothing_held', records: {} });
    expect(await heldOf(DEMO2)).toEqual([1, 1, 1, 1]);
  });
});

describe('the read-only role', () => {
  const columns = async (name: string): Promise<string[]> =>
    (
      await c.p.sql(`select attname from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped`, [
        `entitlements.${name}`,
      ])
    ).map(one => one.attname);

  test('sees no user, reason, author, reference or value of an override', async () => {
    const shown = await columns('entitlement_safe');
    const hidden = (await columns('entitlement_override')).filter(one => !shown.includes(one));
    expect(hidden.toSorted()).toEqual(['created_by', 'reason', 'reference', 'user_id', 'value']);
  });

  test('sees of features all but free text and values', async () => {
    const shown = await columns('feature_safe');
    expect((await columns('feature')).filter(one => !shown.includes(one)).toSorted()).toEqual(['default_value', 'name']);
  });
});

test("the service's role deletes no feature and changes no audit row", async () => {
  for (const statement of ['delete from entitlements.feature', `update entitlements.audit_log set action = 'x'`])
    await expect(c.p.host('entitlements').read(ctx => ctx.sql(statement))).rejects.toMatchObject({ code: '42501' });
});

test('no reason stands in the audit log, and nothing of a user in an event', async () => {
  await c.override(ADMIN, 'live.host', { reason: 'a private matter' });
  const audits = await c.p.sql('select details::text as text from entitlements.audit_log');
  expect(audits.some(one => one.text.includes('private'))).toBe(false);
  expect(await c.p.sql("select 1 from events.outbox where source = 'entitlements'")).toEqual([]);
});
