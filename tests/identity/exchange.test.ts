import { beforeAll, describe, expect, test } from 'vitest';
import { DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { claimsOf, introspect, M2M, PARTNER, post } from './oauth.js';

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS = 'urn:ietf:params:oauth:token-type:access_token';
let p: TestPlatform;
beforeAll(async () => {
  p = await platform({ services: ['identity'] });
  await p.sql("update identity.oauth_client set token_exchange = true where id in ('demo-m2m', 'demo-partner-app')");
});

const exchange = (subject_token: string, more: Record<string, string> = {}, as: Record<string, string> = M2M) =>
  p.rest('POST', '/identity/v1/tokens/exchange', {
    body: new URLSearchParams({ grant_type: GRANT, ...as, subject_token, subject_token_type: ACCESS, ...more }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });

const userToken = (scopes = ['read:profile', 'read:account']) => p.userToken(DEMO, scopes);

describe('token exchange', () => {
  test("gives a narrower, shorter token of the same user that names who acts, and works as that user's", async () => {
    const subject = await p.userToken(DEMO, ['read:profile', 'read:account'], { permissions: ['admin:identity:read'], roles: ['support'] });
    const { status, headers, body } = await exchange(subject, { scope: 'read:profile' });
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    expect(body).toEqual({
      access_token: expect.stringMatching(/^usr_eyJ/),
      issued_token_type: ACCESS,
      token_type: 'Bearer',
      expires_in: 900,
      scope: 'read:profile',
    });
    const [before, after] = [claimsOf(subject), claimsOf(body.access_token)];
    expect(after).toMatchObject({
      sub: DEMO,
      sid: before.sid,
      gid: before.gid,
      auth_time: before.auth_time,
      amr: before.amr,
      client_id: 'demo-m2m',
      act: { sub: 'demo-m2m' },
    });
    expect([after.roles, after.permissions]).toEqual([undefined, undefined]);
    expect((await p.rest('GET', '/identity/v1/users/me', { token: body.access_token })).status).toBe(200);
    expect(await introspect(p, body.access_token)).toMatchObject({ active: true, client_id: 'demo-m2m', scope: 'read:profile' });
  });

  test('without a scope it keeps the same, and lives no longer than its subject', async () => {
    const subject = await userToken();
    await p.clock('identity', { advance: 'PT55M' });
    const { body } = await exchange(subject);
    expect(body.scope).toBe('read:profile read:account');
    expect(body.expires_in).toBeLessThanOrEqual(300);
    expect(claimsOf(body.access_token).exp).toBe(claimsOf(subject).exp);
  });

  test('the chain of actors is at most three long', async () => {
    let token = await userToken();
    for (const as of [M2M, PARTNER, M2M]) token = (await exchange(token, {}, as)).body.access_token;
    expect(claimsOf(token).act).toEqual({ sub: 'demo-m2m', act: { sub: 'demo-partner-app', act: { sub: 'demo-m2m' } } });
    const { status, body } = await exchange(token);
    expect([status, body.error]).toEqual([400, 'invalid_request']);
  });

  test('dies with the family of its subject, and alone when it is revoked', async () => {
    const subject = await p.userToken(DEMO2, ['read:profile'], { clientId: 'demo-partner-app' });
    const [one, two] = [(await exchange(subject)).body.access_token, (await exchange(subject)).body.access_token];
    await post(p, 'revoke', { ...M2M, token: one });
    expect([(await introspect(p, one)).active, (await introspect(p, two)).active, (await introspect(p, subject)).active]).toEqual([
      false,
      true,
      true,
    ]);
    await post(p, 'revoke', { ...PARTNER, token: subject });
    expect((await introspect(p, two)).active).toBe(false);
    expect((await exchange(subject)).body.error).toBe('invalid_grant');
  });

  test('health data passes only to our own apps or under an agreement', async () => {
    const subject = await userToken(['read:profile', 'read:biomarkers']);
    const { status, body } = await exchange(subject, {}, PARTNER);
    expect([status, body.error, body.error_description]).toEqual([400, 'invalid_scope', expect.stringContaining('read:biomarkers')]);
    expect((await exchange(subject, { scope: 'read:profile' }, PARTNER)).status).toBe(200);
  });

  test('refuses a scope that the subject does not hold', async () => {
    expect((await exchange(await userToken(), { scope: 'read:inbox' })).body.error).toBe('invalid_scope');
  });

  test('takes no service token, no garbage, no token of somebody who is blocked', async () => {
    const subject = await p.userToken(DEMO2, ['read:profile']);
    await p.sql(`update identity."user" set status = 'suspended' where id = $1`, [DEMO2]);
    const answers = [await exchange(await p.serviceToken()), await exchange('usr_x.y.z'), await exchange(subject)];
    await p.sql(`update identity."user" set status = 'active' where id = $1`, [DEMO2]);
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(answers.map(() => [400, 'invalid_grant']));
  });

  test('needs its parameters, a client that may, and that client itself', async () => {
    const subject = await userToken();
    expect((await exchange('')).body.error).toBe('invalid_request');
    expect((await exchange(subject, { subject_token_type: 'urn:ietf:params:oauth:token-type:id_token' })).body.error).toBe(
      'invalid_request',
    );
    expect((await exchange(subject, {}, { client_id: 'demo-m2m', client_secret: 'wrong' })).status).toBe(401);
    expect((await exchange(subject, {}, { client_id: 'demo-app' })).body.error).toBe('invalid_request');
    const rows = await p.sql("select details from identity.audit_log where action = 'token.exchanged'");
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain('eyJ');
  });
});
