import { randomBytes } from 'node:crypto';
import type { SqlEntityManager } from '@mikro-orm/postgresql';
import type { Adapter } from 'oidc-provider';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';
import { sqlOf } from '../../runtime/data/database.js';
import { engineAdapter } from '../../subgraphs/identity/native/oidc-provider/adapter.js';
import { GRANT_TYPES } from '../../subgraphs/identity/native/oidc-provider/registration.js';
import { Registrations } from '../../subgraphs/identity/native/oidc-provider/registration.js';
import { claimsOf } from './oauth.js';

let p: TestPlatform;
let model: (name: string) => Adapter;
let family: string;
beforeAll(async () => {
  p = await platform({ services: ['identity'], manualClock: false });
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
});

test('access tokens are never stored, and what a model cannot do is an error', async () => {
  await expect(model('AccessToken').upsert('x', {}, 1)).rejects.toThrow(/not stored/);
  await expect(model('Grant').consume('x')).rejects.toThrow(/not consumed/);
  await expect(model('DeviceCode').findByUserCode('x')).rejects.toThrow(/not found by user code/);
  expect(await model('AccessToken').find('x')).toBeUndefined();
});
