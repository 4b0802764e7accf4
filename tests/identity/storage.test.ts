import { randomBytes } from 'node:crypto';
import type { SqlEntityManager } from '@mikro-orm/postgresql';
import type { Adapter } from 'oidc-provider';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';
import { sqlOf } from '../../runtime/database.js';
import { engineAdapter } from '../../subgraphs/identity/ports/oidc-provider/adapter.js';
import { GRANT_TYPES } from '../../subgraphs/identity/ports/oidc-provider/engine.js';
import { Registrations } from '../../subgraphs/identity/ports/oidc-provider/registration.js';
import { endFamilies } from '../../subgraphs/identity/resolver/token-family.js';
import { claimsOf } from './oauth.js';

let p: TestPlatform;
let model: (name: string) => Adapter;
let family: string;
beforeAll(async () => {
  p = await platform({ manualClock: false });
  const host = p.host('identity');
  const sql = sqlOf(host.orm.em.fork() as SqlEntityManager);
  const create = engineAdapter({ host, sql, registrations: new Registrations(sql), offered: GRANT_TYPES }) as (name: string) => Adapter;
  model = name => create(name);
});
beforeEach(
  async () => void (family = claimsOf(await p.userToken(DEMO, ['read:profile', 'openid'], { clientId: 'demo-partner-app' })).gid as string),
);

const DAY = 86_400;
const secret = (): string => randomBytes(32).toString('base64url');
const save = async (name = 'RefreshToken', id = secret()): Promise<string> => {
  await model(name).upsert(id, { jti: id, kind: name, accountId: DEMO, grantId: family, scope: 'read:profile' }, DAY);
  return id;
};
const reasonOf = async (id: string) => (await p.sql('select end_reason from identity.token_family where id = $1', [id]))[0].end_reason;

describe('what the engine stores', () => {
  test('is found by its secret, which no row holds', async () => {
    const id = await save();
    expect(await model('RefreshToken').find(id)).toEqual({
      jti: id,
      kind: 'RefreshToken',
      accountId: DEMO,
      grantId: family,
      scope: 'read:profile',
    });
    expect(await model('AuthorizationCode').find(id)).toBeUndefined();
    const rows = await p.sql('select * from identity.oauth_artifact');
    expect(JSON.stringify(rows)).not.toContain(id);
  });

  test('is gone when it has expired or is destroyed', async () => {
    const [expired, destroyed] = [secret(), await save()];
    await model('RefreshToken').upsert(expired, { jti: expired, grantId: family }, 0);
    await model('RefreshToken').destroy(destroyed);
    expect(await Promise.all([expired, destroyed].map(id => model('RefreshToken').find(id)))).toEqual([undefined, undefined]);
  });

  test('is replaced when it is saved again', async () => {
    const id = secret();
    for (const uid of ['one', 'two']) await model('Interaction').upsert(id, { jti: id, uid }, DAY);
    expect(await model('Interaction').find(id)).toEqual({ jti: id, uid: 'two' });
  });

  test('by its uid without the secret id, so that the engine can only read it', async () => {
    const id = secret();
    await model('Session').upsert(id, { jti: id, uid: `uid-${id}`, accountId: DEMO }, DAY);
    expect(await model('Session').findByUid(`uid-${id}`)).toEqual({ uid: `uid-${id}`, accountId: DEMO });
    expect(await model('Session').findByUid('unknown')).toBeUndefined();
  });
});

describe('a refresh token', () => {
  test('is spent by exactly one of many that use it at once, and the losers end the family', async () => {
    const id = await save();
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => model('RefreshToken').consume(id)));
    expect(results.filter(result => result.status === 'fulfilled')).toHaveLength(1);
    for (const result of results) if (result.status === 'rejected') expect(result.reason.error).toBe('invalid_grant');
    expect(await reasonOf(family)).toBe('replayed');
    expect(await model('RefreshToken').find(id)).toBeUndefined();
  });

  test('that was spent is still recognised, so that a replay is no mere unknown token', async () => {
    const id = await save();
    await model('RefreshToken').consume(id);
    expect(await model('RefreshToken').find(id)).toMatchObject({ jti: id, consumed: expect.any(Number) });
  });

  test('may be used again within the leeway of its client, and no longer', async () => {
    await p.sql("update identity.oauth_client set refresh_reuse_leeway_seconds = 30 where id = 'demo-partner-app'");
    const id = await save();
    await model('RefreshToken').consume(id);
    expect(await model('RefreshToken').find(id)).not.toHaveProperty('consumed');
    await model('RefreshToken').consume(id);
    await p.sql("update identity.oauth_artifact set consumed_at = consumed_at - interval '31 seconds' where family_id = $1", [family]);
    expect(await model('RefreshToken').find(id)).toHaveProperty('consumed');
    await expect(model('RefreshToken').consume(id)).rejects.toMatchObject({ error: 'invalid_grant' });
    expect(await reasonOf(family)).toBe('replayed');
    await p.sql("update identity.oauth_client set refresh_reuse_leeway_seconds = 0 where id = 'demo-partner-app'");
  });

  test('cannot be saved for a family that has ended', async () => {
    await p.host('identity').transaction(ctx => endFamilies(ctx, 'id', family, 'signed_out'));
    await expect(save()).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  test('never outlives its family, whichever of saving and ending comes first', async () => {
    const end = () => p.host('identity').transaction(ctx => endFamilies(ctx, 'id', family, 'signed_out'));
    await Promise.allSettled([save(), save(), end(), save(), save()]);
    expect(await p.sql('select 1 from identity.oauth_artifact where family_id = $1', [family])).toEqual([]);
  });
});

describe('an authorization code', () => {
  test('has no leeway, whatever its client has for refresh tokens', async () => {
    await p.sql("update identity.oauth_client set refresh_reuse_leeway_seconds = 30 where id = 'demo-partner-app'");
    const code = await save('AuthorizationCode');
    await model('AuthorizationCode').consume(code);
    await expect(model('AuthorizationCode').consume(code)).rejects.toMatchObject({ error: 'invalid_grant' });
    await p.sql("update identity.oauth_client set refresh_reuse_leeway_seconds = 0 where id = 'demo-partner-app'");
  });
});

describe('a token family', () => {
  test('is the grant of the engine while it lives', async () => {
    expect(await model('Grant').find(family)).toMatchObject({
      kind: 'Grant', jti: family, accountId: DEMO, clientId: 'demo-partner-app', resources: { 'urn:platform:api': 'read:profile' }, openid: { scope: 'openid' },
    }); // prettier-ignore
    await model('Grant').destroy(family);
    expect(await model('Grant').find(family)).toBeUndefined();
    expect(await model('Grant').find('unknown')).toBeUndefined();
  });
});

test('access tokens are never stored, and what a model cannot do is an error', async () => {
  await expect(model('AccessToken').upsert('x', {}, 1)).rejects.toThrow(/not stored/);
  await expect(model('Grant').consume('x')).rejects.toThrow(/not consumed/);
  await expect(model('DeviceCode').findByUserCode('x')).rejects.toThrow(/not found by user code/);
  expect(await model('AccessToken').find('x')).toBeUndefined();
});
