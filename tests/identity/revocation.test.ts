import { beforeAll, describe, expect, test, vi } from 'vitest';
import { DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { endFamilies, publishRevocations, userRevocation } from '../../subgraphs/identity/commands/token-family.js';
import { claimsOf, credentials, introspect, M2M, PARTNER, post } from './oauth.js';

let p: TestPlatform;
beforeAll(async () => void (p = await platform({ services: ['identity'] })));

const me = async (token: string): Promise<number> => (await p.rest('GET', '/identity/v1/users/me', { token })).status;
const admin = async (token: string): Promise<number> => (await p.rest('GET', '/identity/v1/admin/users', { token })).status;
const newServiceToken = async (): Promise<string> => (await credentials(p, { scope: 'admin:identity' })).body.access_token;
const revoke = (token: string, as: Record<string, string>) => post(p, 'revoke', { ...as, token });

const FEED =
  'query($after: Int!, $first: Int) { tokenRevocations(afterSeq: $after, first: $first) { seq kind value notBefore effectiveAt expiresAt } }';
const feed = async (after: number, first = 1000) =>
  (await p.graphql(FEED, { after, first }, { token: await p.internalToken('webhooks') })).data.tokenRevocations as any[];

describe('POST /v1/oauth/revoke', () => {
  test('ends a service token alone: 401 everywhere within two seconds, another token of the client lives', async () => {
    const [dead, alive] = [await newServiceToken(), await newServiceToken()];
    expect(await admin(dead)).toBe(200);
    const answer = await revoke(dead, M2M);
    expect([answer.status, answer.body]).toEqual([200, '']);
    await until(
      'the token to be refused',
      () => admin(dead),
      status => status === 401,
      2_000,
    );
    expect(await introspect(p, dead)).toEqual({ active: false });
    expect([await admin(alive), (await introspect(p, alive)).active]).toEqual([200, true]);
  });

  test('ends the whole family of a user token, and no other family of the user', async () => {
    const mint = () => p.userToken(DEMO, ['read:profile'], { clientId: 'demo-partner-app' });
    const [phone, laptop] = [await mint(), await mint()];
    expect((await revoke(phone, PARTNER)).status).toBe(200);
    await until(
      'the token to be refused',
      () => me(phone),
      status => status === 401,
      2_000,
    );
    expect(await me(laptop)).toBe(200);
    const [family] = await p.sql('select * from identity.token_family where id = $1', [claimsOf(phone).gid]);
    expect(family).toMatchObject({ end_reason: 'token_revoked', ended_at: expect.any(Date) });
    expect((await feed(0)).filter(row => row.value === claimsOf(phone).gid)).toHaveLength(1);
  });

  test('by a public client needs its client_id only', async () => {
    const token = await p.userToken(DEMO, ['read:profile']);
    expect((await revoke(token, { client_id: 'demo-app' })).status).toBe(200);
    await until(
      'the token to be refused',
      () => me(token),
      status => status === 401,
      2_000,
    );
  });

  test('by another client answers 200 and changes nothing', async () => {
    const [service, user] = [await newServiceToken(), await p.userToken(DEMO2, ['read:profile'])];
    const before = await p.sql('select count(*)::int as n from identity.token_revocation');
    for (const token of [service, user]) expect((await revoke(token, PARTNER)).status).toBe(200);
    expect(await p.sql('select count(*)::int as n from identity.token_revocation')).toEqual(before);
    expect([await admin(service), await me(user)]).toEqual([200, 200]);
  });

  test('of nonsense, of a bare JWT and of a revoked token answers 200', async () => {
    const token = await newServiceToken();
    for (const one of ['nonsense', token.slice(4), token, token]) expect((await revoke(one, M2M)).status).toBe(200);
    expect((await feed(0)).filter(row => row.value === claimsOf(token).jti)).toHaveLength(1);
  });

  test('leaves an audit row that names the client and holds no token', async () => {
    const token = await newServiceToken();
    await revoke(token, M2M);
    const [row] = await p.sql('select * from identity.audit_log where target = $1', [claimsOf(token).jti]);
    expect(row).toMatchObject({ action: 'token.revoked', actor: { kind: 'service', client_id: 'demo-m2m' } });
    expect(JSON.stringify(row)).not.toContain(token.slice(10, 40));
  });
});

describe('the revocation feed', () => {
  test('has the fields of the contract, in order and without gaps', async () => {
    const token = await newServiceToken();
    await revoke(token, M2M);
    const rows = await feed(0);
    expect(rows.map(row => row.seq)).toEqual(rows.map((_row, index) => index + 1));
    expect(rows.at(-1)).toEqual({
      seq: rows.length,
      kind: 'TOKEN',
      value: claimsOf(token).jti,
      notBefore: null,
      effectiveAt: expect.stringMatching(/^\d{4}-.*Z$/),
      expiresAt: new Date(claimsOf(token).exp * 1000).toISOString(),
    });
    expect((await feed(rows.length - 2, 1)).map(row => row.seq)).toEqual([rows.length - 1]);
    expect(await feed(rows.length)).toEqual([]);
  });

  test('stays without gaps when revocations are rolled back and when many commit at once', async () => {
    const host = p.host('identity');
    const [{ seq: start }] = await p.sql('select seq::int from identity.token_revocation_counter');
    const one = (n: number, breaks: boolean) =>
      host.transaction(async ctx => {
        await publishRevocations(ctx, [{ kind: 'token', value: `t${n}`, expiresAt: new Date(Date.now() + 60_000) }]);
        if (breaks) throw new Error('rolled back');
      });
    await Promise.allSettled(Array.from({ length: 30 }, (_none, n) => one(n, n % 3 === 0)));
    expect((await feed(start)).map(row => row.seq)).toEqual(Array.from({ length: 20 }, (_none, n) => start + n + 1));
  });

  test('is heard of many families that end at once within two seconds, by one hint', async () => {
    const token = await p.userToken(DEMO2, ['read:profile'], { clientId: 'demo-partner-app' });
    const hint = vi.spyOn(p.host('identity').transport, 'hint');
    const entry = (value: string) => ({ kind: 'family', value, expiresAt: new Date(Date.now() + 60_000) }) as const;
    const others = Array.from({ length: 1_500 }, (_none, n) => entry(`f${n}`));
    await p.host('identity').transaction(ctx => publishRevocations(ctx, [entry(claimsOf(token).gid as string), ...others]));
    await until(
      'the token to be refused',
      () => me(token),
      status => status === 401,
      2_000,
    );
    expect(hint.mock.calls.filter(([channel]) => channel === 'auth.revocations')).toHaveLength(1);
  });

  test.each([
    ['no token', async () => null, 'UNAUTHENTICATED'],
    ['a service token with all admin scopes', () => p.serviceToken(), 'FORBIDDEN'],
    ['a user token', () => p.userToken(DEMO, ['read:account']), 'FORBIDDEN'],
  ] as [string, () => Promise<string | null>, string][])('is closed to %s', async (_case, token, code) => {
    const { errors, data } = await p.graphql(FEED, { after: 0 }, { token: await token() });
    expect([errors[0]!.extensions.code, data?.tokenRevocations ?? null]).toEqual([code, null]);
  });

  test('is read in pages of at most 1000', async () => {
    const { errors } = await p.graphql(FEED, { after: 0, first: 1001 }, { token: await p.internalToken('webhooks') });
    expect(errors[0]!.extensions.code).toBe('INVALID_REQUEST');
  });

  test.each(['session', 'secret', 'client'] as const)('an entry of kind %s ends the tokens that carry it', async kind => {
    const user = await p.userToken(DEMO2, ['read:profile'], { clientId: 'demo-partner-app' });
    const service = (
      await post(p, 'token', {
        grant_type: 'client_credentials',
        client_id: 'svc-jobs',
        client_secret: 'test-secret-of-jobs-0123456789abcdef',
      })
    ).body.access_token;
    const [token, value] = { session: [user, claimsOf(user).sid], secret: [service, claimsOf(service).csi], client: [service, 'svc-jobs'] }[
      kind
    ];
    const expiresAt = new Date(Date.now() + 3_600_000);
    await p.host('identity').transaction(ctx => publishRevocations(ctx, [{ kind, value: value as string, expiresAt }]));
    const status = () => (kind === 'session' ? me(token as string) : admin(token as string));
    await until('the token to be refused', status, code => code === 401, 2_000);
    expect(await introspect(p, token as string)).toEqual({ active: false });
  });

  test('an entry of kind user ends the tokens issued up to then and no later one', async () => {
    const before = await p.userToken(DEMO, ['read:profile']);
    await p.host('identity').transaction(async ctx => publishRevocations(ctx, [userRevocation(ctx, DEMO)]));
    await until(
      'the token to be refused',
      () => me(before),
      status => status === 401,
      2_000,
    );
    await p.clock('identity', { advance: 'PT2S' });
    expect(await me(await p.userToken(DEMO, ['read:profile']))).toBe(200);
  });

  test('an entry with a later beginning counts from then on', async () => {
    const token = (
      await post(p, 'token', {
        grant_type: 'client_credentials',
        client_id: 'svc-labs',
        client_secret: 'test-secret-of-labs-0123456789abcdef',
      })
    ).body.access_token as string;
    const soon = new Date(Date.now() + 1_500);
    const entry = {
      kind: 'secret',
      value: claimsOf(token).csi as string,
      effectiveAt: soon,
      expiresAt: new Date(Date.now() + 3_600_000),
    } as const;
    await p.host('identity').transaction(ctx => publishRevocations(ctx, [entry]));
    expect(await admin(token)).toBe(200);
    await until(
      'the overlap to end',
      () => admin(token),
      status => status === 401,
      5_000,
    );
    expect(Date.now()).toBeGreaterThanOrEqual(soon.getTime());
  });

  test('keeps a row until the last token it affects has expired, then drops it and never gives its number again', async () => {
    const [{ seq }] = await p.sql('select seq::int from identity.token_revocation_counter');
    const expired = new Date(Date.now() - 7_200_000);
    await p.host('identity').transaction(ctx => publishRevocations(ctx, [{ kind: 'token', value: 'long-dead', expiresAt: expired }]));
    await p.clock('identity', { advance: 'PT1S' });
    const rows = await feed(seq);
    expect(rows.some(row => row.value === 'long-dead')).toBe(false);
    await p
      .host('identity')
      .transaction(ctx => publishRevocations(ctx, [{ kind: 'token', value: 'next', expiresAt: new Date(Date.now() + 60_000) }]));
    expect((await feed(seq)).at(-1)!.seq).toBe(seq + 2);
  });
});

test('ending a family that has ended already changes nothing', async () => {
  const token = await p.userToken(DEMO2, ['read:profile']);
  const end = () => p.host('identity').transaction(ctx => endFamilies(ctx, 'id', claimsOf(token).gid as string, 'signed_out'));
  expect([await end(), await end()]).toEqual([[claimsOf(token).gid], []]);
});
