import { beforeAll, describe, expect, test } from 'vitest';
import { DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { mintUserToken } from './mint.js';
import { giveConsent } from '../../subgraphs/identity/commands/consent.js';
import { USER_SCOPES } from '../../subgraphs/identity/rules/scopes.js';
import { claimsOf, emitted } from './oauth.js';

let p: TestPlatform;
beforeAll(async () => void (p = await platform({ services: ['identity'] })));

const changes = async (clientId: string, userId = DEMO): Promise<any[]> =>
  (await p.sql("select data from events.outbox where type = 'identity.grant.changed.v1' and user_id = $1 order by seq", [userId]))
    .map(row => row.data)
    .filter(data => data.client_id === clientId);

const consent = (userId: string, clientId: string, granted: string[], declined: string[] = []) =>
  p.host('identity').transaction(ctx => giveConsent(ctx, userId, clientId, { granted, declined }));

const ACTIVE = `query($userIds: [ID!]!, $clientId: String) {
  activeGrants(userIds: $userIds, clientId: $clientId) { id userId clientId status scopes effectiveScopes grantedAt version client { id firstParty } user { id } }
}`;
const activeGrants = async (userIds: string[], clientId?: string): Promise<any[]> =>
  (await p.graphql(ACTIVE, { userIds, clientId }, { token: await p.internalToken('webhooks') })).data.activeGrants;

const grantsOf = (token: string, query = '') => p.rest('GET', `/identity/v1/me/grants${query}`, { token });
const profile = async (token: string): Promise<number> => (await p.rest('GET', '/identity/v1/users/me', { token })).status;

describe('the seeded consent', () => {
  test('of the demo user to demo-app covers all user scopes and was told to the platform', async () => {
    expect(await changes('demo-app')).toEqual([
      {
        grant_id: expect.any(String),
        client_id: 'demo-app',
        status: 'active',
        scopes: Object.keys(USER_SCOPES).sort(),
        reason: 'consented',
        version: 1,
      },
    ]);
  });
});

describe('consent', () => {
  test('is one row per user and app: more scopes join it, unticked ones leave it, and each change is told once', async () => {
    await consent(DEMO2, 'demo-partner-app', ['read:profile'], ['read:inbox']);
    await consent(DEMO2, 'demo-partner-app', ['read:profile']);
    await consent(DEMO2, 'demo-partner-app', ['read:live', 'read:inbox']);
    await consent(DEMO2, 'demo-partner-app', [], ['read:live']);
    const told = await changes('demo-partner-app', DEMO2);
    expect(told.map(({ version, reason, scopes }) => [version, reason, scopes])).toEqual([
      [1, 'consented', ['read:profile']],
      [2, 'scopes_changed', ['read:inbox', 'read:live', 'read:profile']],
      [3, 'scopes_changed', ['read:inbox', 'read:profile']],
    ]);
    const rows = await p.sql("select * from identity.oauth_grant where user_id = $1 and client_id = 'demo-partner-app'", [DEMO2]);
    expect(rows).toEqual([expect.objectContaining({ scopes: ['read:inbox', 'read:profile'], declined_scopes: ['read:live'], version: 3 })]);
  });

  test('given twice at once loses nothing', async () => {
    await Promise.all(['read:profile', 'read:live', 'read:content', 'read:follows'].map(scope => consent(DEMO2, 'demo-app', [scope])));
    const [grant] = await activeGrants([DEMO2], 'demo-app');
    expect(grant.scopes).toEqual(['read:content', 'read:follows', 'read:live', 'read:profile']);
    expect((await changes('demo-app', DEMO2)).map(data => data.version)).toEqual([1, 2, 3, 4]);
  });

  test('to a machine client is refused', async () => {
    await expect(consent(DEMO, 'demo-m2m', ['read:profile'])).rejects.toThrow(/no app demo-m2m/);
  });
});

describe('health data agreements', () => {
  const PHI = ['read:biomarkers', 'read:profile'];

  test('decide what a consent is worth to an app of somebody else: the consent stays, the effect comes and goes', async () => {
    await consent(DEMO, 'demo-partner-app', PHI);
    const effective = async () => (await activeGrants([DEMO], 'demo-partner-app'))[0];
    expect(await effective()).toMatchObject({ scopes: PHI, effectiveScopes: ['read:profile'] });
    await expect(mintUserToken(p.host('identity'), { userId: DEMO, clientId: 'demo-partner-app', scopes: PHI })).rejects.toThrow(
      /may not hold read:biomarkers/,
    );
    await p.sql(`insert into identity.oauth_client_agreement (id, client_id, document_version, scopes, signed_by, signed_at, expires_at)
      values (gen_random_uuid(), 'demo-partner-app', '2026-01', '{read:biomarkers}', 'Legal', now(), now() + interval '1 day')`);
    expect(await effective()).toMatchObject({ effectiveScopes: PHI });
    expect(claimsOf(await p.userToken(DEMO, PHI, { clientId: 'demo-partner-app' })).scope).toBe(PHI.join(' '));
    await p.clock('identity', { advance: 'P2D' });
    expect(await effective()).toMatchObject({ scopes: PHI, effectiveScopes: ['read:profile'] });
  });

  test('are seen on the client by the webhooks service and by administrators', async () => {
    const query =
      'query { oauthClient(id: "demo-partner-app") { id name kind status scopes firstParty allowedScopes agreements { kind status scopes } } }';
    for (const token of [await p.internalToken('webhooks'), await p.serviceToken('admin:identity')]) {
      const { data } = await p.graphql(query, {}, { token });
      expect(data.oauthClient).toMatchObject({
        kind: 'CONFIDENTIAL',
        status: 'ACTIVE',
        firstParty: false,
        agreements: [{ kind: 'PHI', status: 'ENDED', scopes: ['read:biomarkers'] }],
      });
      expect(data.oauthClient.allowedScopes).toEqual(Object.keys(USER_SCOPES).filter(scope => USER_SCOPES[scope] !== 'PHI'));
    }
  });
});

describe('activeGrants', () => {
  test('answers for one client or for all, in one request for many users', async () => {
    const all = await activeGrants([DEMO, DEMO2, 'not-a-uuid']);
    expect(all.map(grant => `${grant.userId} ${grant.clientId}`).sort()).toEqual([
      `${DEMO} demo-app`,
      `${DEMO} demo-partner-app`,
      `${DEMO2} demo-app`,
      `${DEMO2} demo-partner-app`,
    ]);
    expect(await activeGrants([DEMO], 'demo-app')).toEqual([
      expect.objectContaining({
        status: 'ACTIVE',
        version: 1,
        grantedAt: expect.any(String),
        client: { id: 'demo-app', firstParty: true },
        user: { id: DEMO },
      }),
    ]);
    expect(await activeGrants([])).toEqual([]);
  });

  test.each([
    ['no token', async () => null, 'UNAUTHENTICATED'],
    ['a service token with all admin scopes', () => p.serviceToken(), 'FORBIDDEN'],
    ['the user', () => p.userToken(DEMO, ['manage:connected_apps']), 'FORBIDDEN'],
  ] as [string, () => Promise<string | null>, string][])('is closed to %s', async (_case, token, code) => {
    const { errors } = await p.graphql(ACTIVE, { userIds: [DEMO] }, { token: await token() });
    expect(errors[0]!.extensions.code).toBe(code);
  });
});

describe('GET /v1/me/grants', () => {
  test("shows one's own consents with the app's name, and the revoked ones of 90 days when asked", async () => {
    const token = await p.userToken(DEMO, ['manage:connected_apps']);
    const { status, body } = await grantsOf(token);
    expect([status, body.data.map((grant: any) => grant.client.name).sort()]).toEqual([200, ['Demo app', 'Demo partner app']]);
    expect(body.data.find((grant: any) => grant.client.id === 'demo-app')).toMatchObject({
      status: 'active',
      authorizations: expect.any(Number),
      revoked_at: null,
      version: 1,
    });
    const [grant] = await activeGrants([DEMO], 'demo-partner-app');
    expect((await p.rest('DELETE', `/identity/v1/me/grants/${grant.id}`, { token })).status).toBe(204);
    expect((await grantsOf(token)).body.data).toHaveLength(1);
    const withRevoked = (await grantsOf(token, '?include=revoked')).body.data;
    expect(withRevoked.find((one: any) => one.id === grant.id)).toMatchObject({
      status: 'revoked',
      revoked_by: 'user',
      effective_scopes: [],
      authorizations: 0,
    });
    await p.clock('identity', { advance: 'P91D' });
    expect((await grantsOf(token, '?include=revoked')).body.data).toHaveLength(1);
    expect((await grantsOf(token, '?include=gone')).status).toBe(400);
  });

  test('needs manage:connected_apps of a user', async () => {
    expect((await grantsOf(await p.userToken(DEMO, ['read:account']))).body.code).toBe('insufficient_scope');
    expect((await grantsOf(await p.serviceToken('admin:identity'))).body.code).toBe('forbidden');
  });
});

describe('DELETE /v1/me/grants/{id}', () => {
  const remove = (id: string, token: string) => p.rest('DELETE', `/identity/v1/me/grants/${id}`, { token });

  test('ends the consent and signs the app out on all devices within two seconds, in one commit with its event', async () => {
    const app = { clientId: 'demo-partner-app' };
    const [phone, laptop] = [await p.userToken(DEMO, ['read:profile'], app), await p.userToken(DEMO, ['read:profile'], app)];
    const other = await p.userToken(DEMO, ['read:profile', 'manage:connected_apps']);
    const [grant] = await activeGrants([DEMO], 'demo-partner-app');
    expect((await remove(grant.id, other)).status).toBe(204);
    for (const token of [phone, laptop])
      await until(
        'the app to be signed out',
        () => profile(token),
        status => status === 401,
        2_000,
      );
    expect(await profile(other)).toBe(200);
    expect((await changes('demo-partner-app')).at(-1)).toEqual({
      grant_id: grant.id,
      client_id: 'demo-partner-app',
      status: 'revoked',
      scopes: [],
      reason: 'user_revoked',
      version: grant.version + 1,
    });
    expect(await activeGrants([DEMO], 'demo-partner-app')).toEqual([]);
    const families = await p.sql('select distinct end_reason from identity.token_family where grant_id = $1', [grant.id]);
    expect(families).toEqual([{ end_reason: 'grant_revoked' }]);
    expect((await remove(grant.id, other)).status).toBe(404);
  });

  test('a new consent after it is a new grant that begins anew', async () => {
    const before = await changes('demo-partner-app');
    await p.userToken(DEMO, ['read:profile'], { clientId: 'demo-partner-app' });
    const after = (await changes('demo-partner-app')).at(-1);
    expect(after).toMatchObject({ status: 'active', reason: 'consented', version: 1, scopes: ['read:profile'] });
    expect(before.map(data => data.grant_id)).not.toContain(after.grant_id);
  });

  test('of another user or of nobody is the same 404', async () => {
    const [foreign] = await activeGrants([DEMO2], 'demo-app');
    const token = await p.userToken(DEMO, ['manage:connected_apps']);
    const answers = await Promise.all([foreign.id, '0190b3a0-0000-7000-8000-00000000dead', 'not-a-uuid'].map(id => remove(id, token)));
    expect(answers.map(({ status, body: { request_id: _id, ...body } }) => [status, body])).toEqual(
      answers.map(() => [404, expect.objectContaining({ code: 'not_found', detail: answers[0]!.body.detail })]),
    );
    expect(await activeGrants([DEMO2], 'demo-app')).toHaveLength(1);
  });

  test('lets an app of somebody else disconnect itself, and no other app', async () => {
    const token = await p.userToken(DEMO, ['manage:connected_apps', 'read:profile'], { clientId: 'demo-partner-app' });
    const [[own], [other]] = [await activeGrants([DEMO], 'demo-partner-app'), await activeGrants([DEMO], 'demo-app')];
    expect((await remove(other.id, token)).body.code).toBe('forbidden');
    expect(await activeGrants([DEMO], 'demo-app')).toHaveLength(1);
    expect((await remove(own.id, token)).status).toBe(204);
  });

  test('needs manage:connected_apps', async () => {
    const [grant] = await activeGrants([DEMO], 'demo-app');
    expect((await remove(grant.id, await p.userToken(DEMO, ['read:account']))).body.code).toBe('insufficient_scope');
  });
});

describe('references', () => {
  const entity = async (type: string, id: string, fields: string, token: string) => {
    const query = `query($r: [_Any!]!) { _entities(representations: $r) { ... on ${type} { ${fields} } } }`;
    return (await p.rest('POST', '/identity/graphql', { token, body: { query, variables: { r: [{ __typename: type, id }] } } })).body;
  };

  test("a user finds one's own grants only", async () => {
    const [grant] = await activeGrants([DEMO2], 'demo-app');
    const ask = async (token: string) => (await entity('OAuthGrant', grant.id, 'id scopes', token)).data._entities[0];
    expect(await ask(await p.userToken(DEMO, ['manage:connected_apps']))).toBeNull();
    expect(await ask(await p.userToken(DEMO2, ['manage:connected_apps']))).toMatchObject({ id: grant.id });
    expect(await ask(await p.serviceToken('admin:identity'))).toMatchObject({ id: grant.id });
    const { data, errors } = await entity('OAuthGrant', grant.id, 'id scopes', await p.serviceToken('admin:content'));
    expect([data?._entities?.[0] ?? null, errors]).toEqual([null, undefined]);
  });

  test('a user sees the public fields of the apps with access, never the others', async () => {
    const token = await p.userToken(DEMO, ['manage:connected_apps']);
    expect((await entity('OAuthClient', 'demo-app', 'id name firstParty', token)).data._entities[0]).toEqual({
      id: 'demo-app',
      name: 'Demo app',
      firstParty: true,
    });
    expect((await entity('OAuthClient', 'demo-m2m', 'id name', token)).data._entities[0]).toBeNull();
    const { errors } = await entity('OAuthClient', 'demo-app', 'id redirectUris', token);
    expect(errors[0].extensions.code).toBe('FORBIDDEN');
  });
});

test('an oauth client is read by its administrators only', async () => {
  const get = async (token: string | null) => (await p.rest('GET', '/identity/v1/admin/oauth-clients/demo-app', { token })).status;
  expect(await get(await p.serviceToken('admin:identity'))).toBe(200);
  expect(await get(await p.userToken(DEMO, ['read:profile'], { clientId: 'demo-admin', permissions: ['admin:identity:clients'] }))).toBe(
    200,
  );
  expect(await get(await p.userToken(DEMO, ['read:profile'], { clientId: 'demo-admin', permissions: ['admin:identity:read'] }))).toBe(403);
  expect(await get(await p.serviceToken('admin:content'))).toBe(403);
  expect(await get(await p.userToken(DEMO, ['read:account']))).toBe(403);
  expect(await get(null)).toBe(401);
  expect((await emitted(p, 'identity.grant.changed.v1')).every(data => !JSON.stringify(data).includes('@'))).toBe(true);
});
