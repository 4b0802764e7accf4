import { Secret, TOTP } from 'otpauth';
import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN, DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { fixedClock } from '../../runtime/time/clock.js';
import { newId } from '../../runtime/data/ids.js';
import { acceptTotp, sealSecret, spendBackupCode } from '../../subgraphs/identity/commands/second-factor.js';
import { stepOf } from '../../subgraphs/identity/rules/second-factors.js';

let p: TestPlatform;
let own: string;
beforeAll(async () => {
  p = await platform({ services: ['identity'] });
  await p.clock('identity', { now: '2030-01-01T00:00:00.000Z' });
  own = await p.userToken(DEMO, ['read:account']);
});

const call = (method: string, path: string, body?: unknown, token: string | null = own) =>
  p.rest(method, `/identity/v1/users/me${path}`, { token, body });
const codeAt = (secret: string, iso: string) =>
  new TOTP({ secret: Secret.fromBase32(secret), digits: 6, period: 30 }).generate({ timestamp: Date.parse(iso) });

test('a code is of its time step or one beside it, as RFC 6238 says', () => {
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
  expect([29, 59, 89, 0].map(second => stepOf(secret, '287082', second * 1000))).toEqual([1, 1, 1, 1]);
  expect([120, 150].map(second => stepOf(secret, '287082', second * 1000))).toEqual([null, null]);
  for (const code of ['28708', '2870822', 'abcdef', '']) expect(stepOf(secret, code, 59_000)).toBeNull();
});

test('the RFC 6238 secret at Unix time 59: 287082 is accepted once; again in the same step it is refused', async () => {
  const id = newId();
  const secretSealed = sealSecret(p.host('identity'), id, 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
  await p.sql(
    "insert into identity.mfa_method (id, user_id, kind, status, secret_sealed, created_at) values ($1, $2, 'totp', 'active', $3, now())",
    [id, DEMO2, secretSealed],
  );
  const accept = () =>
    p.host('identity').transaction(ctx => {
      ctx.clock = fixedClock(new Date(59_000));
      return acceptTotp(ctx, { id, secretSealed }, '287082');
    });
  expect((await Promise.all([accept(), accept()])).sort()).toEqual([false, true]);
  expect(await accept()).toBe(false);
  await p.sql('delete from identity.mfa_method where id = $1', [id]);
});

describe('second factors', () => {
  let secret: string;
  let codes: string[];

  test('begin with a secret that is shown once, and with backup codes at the first', async () => {
    const begun = await call('POST', '/mfa/totp/init', { label: 'Phone' });
    expect([begun.status, Object.keys(begun.body).sort()]).toEqual([201, ['expires_at', 'method_id', 'otpauth_uri', 'qr_svg', 'secret']]);
    expect(begun.body.secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(begun.body.qr_svg).toMatch(/^<svg/);
    secret = begun.body.secret;
    const wrong = await call('POST', '/mfa/totp/confirm', {
      method_id: begun.body.method_id,
      code: codeAt(secret, '2020-01-01T00:00:00Z'),
    });
    expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([400, '/code']);
    const done = await call('POST', '/mfa/totp/confirm', { method_id: begun.body.method_id, code: codeAt(secret, '2030-01-01T00:00:00Z') });
    expect([done.status, done.body.method]).toEqual([200, expect.objectContaining({ kind: 'totp', label: 'Phone', status: 'active' })]);
    codes = done.body.backup_codes;
    expect(new Set(codes).size).toBe(10);
    expect((await call('GET', '/backup-codes')).body).toEqual({ generated_at: '2030-01-01T00:00:00.000Z', total: 10, remaining: 10 });
    expect((await call('GET', '/mfa')).body.data).toHaveLength(1);
  });

  test('a backup code is good once', async () => {
    const spend = () => p.host('identity').transaction(ctx => spendBackupCode(ctx, DEMO, codes[0]!.toUpperCase()));
    expect((await Promise.all([spend(), spend()])).sort()).toEqual([false, true]);
    expect((await call('GET', '/backup-codes')).body).toMatchObject({ total: 10, remaining: 9 });
    const fresh = (await call('POST', '/backup-codes/regenerate')).body.backup_codes;
    expect(fresh).toHaveLength(10);
    expect(await p.host('identity').transaction(ctx => spendBackupCode(ctx, DEMO, codes[1]!))).toBe(false);
  });

  test('five wrong codes end a method that was not confirmed, and ten minutes do', async () => {
    const begun = (await call('POST', '/mfa/totp/init')).body;
    const wrong = () =>
      call('POST', '/mfa/totp/confirm', { method_id: begun.method_id, code: codeAt(begun.secret, '2020-01-01T00:00:00Z') });
    expect([
      (await wrong()).status,
      (await wrong()).status,
      (await wrong()).status,
      (await wrong()).status,
      (await wrong()).status,
      (await wrong()).status,
    ]).toEqual([400, 400, 400, 400, 409, 404]);
    const late = (await call('POST', '/mfa/totp/init')).body;
    await p.clock('identity', { advance: 'PT10M' });
    expect(
      (await call('POST', '/mfa/totp/confirm', { method_id: late.method_id, code: codeAt(late.secret, '2030-01-01T00:10:00Z') })).status,
    ).toBe(404);
    expect((await call('GET', '/mfa')).body.data).toHaveLength(1);
  });

  test('go with their backup codes, but for the last one of staff', async () => {
    const [method] = (await call('GET', '/mfa')).body.data;
    expect((await call('DELETE', `/mfa/${method.id}`, undefined, await p.userToken(DEMO2, ['read:account']))).status).toBe(404);
    await p.sql(
      `insert into identity.staff_member (id, user_id, email, email_key, status, invited_by, invited_at)
       values ('0190b3a0-0000-7000-8000-000000000501', $1, 'kit@example.test', 'kit@example.test', 'active', 'system:identity', now())`,
      [DEMO],
    );
    expect((await call('DELETE', `/mfa/${method.id}`)).body.reason).toBe('last_method_of_staff');
    await p.sql("update identity.staff_member set status = 'removed' where user_id = $1", [DEMO]);
    expect((await call('DELETE', `/mfa/${method.id}`)).status).toBe(204);
    expect((await call('GET', '/backup-codes')).body).toEqual({ generated_at: null, total: 0, remaining: 0 });
    expect((await call('POST', '/backup-codes/regenerate')).body.reason).toBe('no_mfa_method');
  });

  test('are closed to third-party apps, old sign-ins, services and everybody else; no secret is stored readable', async () => {
    for (const path of ['/mfa', '/backup-codes']) {
      expect(
        (await call('GET', path, undefined, await p.userToken(DEMO, ['read:account'], { clientId: 'demo-partner-app' }))).status,
      ).not.toBe(200);
      expect((await call('GET', path, undefined, await p.serviceToken('admin:identity'))).status).toBe(403);
      expect((await call('GET', path, undefined, null)).status).toBe(401);
    }
    const old = await p.userToken(ADMIN, ['read:account'], { authTime: new Date(Date.now() - 660_000) });
    expect((await call('POST', '/mfa/totp/init', {}, old)).body.code).toBe('step_up_required');
    const kept = JSON.stringify(
      await p.sql(
        'select details::text from identity.audit_log union all select answer::text from identity.idempotency_key union all select data::text from events.outbox',
      ),
    );
    for (const text of [secret, ...codes]) expect(kept).not.toContain(text);
  });
});
