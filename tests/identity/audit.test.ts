import { beforeAll, describe, expect, test } from 'vitest';
import { BRAND, DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';

let p: TestPlatform;
let service: string;

const AUDIT = `query($filter: IdentityAuditFilter, $first: Int, $after: String) {
  identityAudit(filter: $filter, first: $first, after: $after) {
    nodes { id at action target requestId details actor { kind clientId userId roles act } } pageInfo { endCursor hasNextPage }
  }
}`;

beforeAll(async () => {
  p = await platform({ services: ['identity'] });
  service = await p.serviceToken();
  for (const slug of ['acme-one', 'acme-two', 'acme-three'])
    await p.rest('POST', '/identity/v1/admin/oauth-clients', {
      token: service,
      body: { client_id: slug, name: slug, kind: 'machine', scopes: ['admin:jobs'], brand_id: slug === 'acme-three' ? null : BRAND },
    });
});

describe('identityAudit', () => {
  const read = async (variables: object) => (await p.graphql(AUDIT, variables, { token: service })).data.identityAudit;

  test('shows who did what, newest first, in pages that neither repeat nor miss a row', async () => {
    const filter = { action: 'oauth_client.', actorClientId: 'demo-m2m' };
    const whole = await read({ filter, first: 100 });
    expect(whole.nodes.length).toBeGreaterThanOrEqual(3);
    expect(whole.nodes[0]).toMatchObject({
      target: 'acme-three',
      actor: { kind: 'SERVICE', clientId: 'demo-m2m', userId: null, roles: [], act: [] },
    });
    const seen: string[] = [];
    for (let after: string | null = null, more = true; more;) {
      const { nodes, pageInfo } = await read({ filter, first: 1, after });
      seen.push(...nodes.map((one: { id: string }) => one.id));
      [after, more] = [pageInfo.endCursor, pageInfo.hasNextPage];
    }
    expect(seen).toEqual(whole.nodes.map((one: { id: string }) => one.id));
  });

  test('is narrowed by target, person and time', async () => {
    expect((await read({ filter: { target: 'acme-one' } })).nodes.map((one: { target: string }) => one.target)).toEqual(['acme-one']);
    expect((await read({ filter: { actorUserId: DEMO2 } })).nodes).toEqual([]);
    expect((await read({ filter: { before: '2000-01-01T00:00:00.000Z' } })).nodes).toEqual([]);
    expect((await read({ filter: { after: '2000-01-01T00:00:00.000Z', target: 'acme-two' } })).nodes).toHaveLength(1);
  });

  test('refuses a cursor that is not its own', async () => {
    for (const after of ['x', Buffer.from('["2026-01-01","nope"]').toString('base64url')]) {
      const { errors } = await p.graphql(AUDIT, { after }, { token: service });
      expect(errors?.[0]?.extensions).toMatchObject({ code: 'INVALID_REQUEST' });
    }
  });

  test('is not open to a user', async () => {
    const { errors } = await p.graphql(AUDIT, {}, { token: await p.userToken(DEMO, ['read:account']) });
    expect(errors?.[0]?.extensions.code).toBe('FORBIDDEN');
  });
});

describe('usersByHandles', () => {
  const QUERY = 'query($handles: [String!]!) { usersByHandles(handles: $handles) { id } }';

  test('answers internal clients in the order of the handles, null for a handle that nobody active has', async () => {
    await p.sql(`update identity.user_profile set handle = 'mara_k' where user_id = $1`, [DEMO]);
    await p.sql(`update identity.user_profile set handle = 'nils' where user_id = $1`, [DEMO2]);
    await p.sql(`update identity."user" set status = 'banned' where id = $1`, [DEMO2]);
    const { data } = await p.graphql(QUERY, { handles: ['nobody', 'Mara_K', 'nils'] }, { token: await p.internalToken('follows') });
    expect(data.usersByHandles).toEqual([null, { id: DEMO }, null]);
  });

  test('is for internal clients only, and for 50 handles at most', async () => {
    expect((await p.graphql(QUERY, { handles: ['a'] }, { token: service })).errors?.[0]?.extensions.code).toBe('FORBIDDEN');
    const many = Array.from({ length: 51 }, (_, n) => `h${n}`);
    const { errors } = await p.graphql(QUERY, { handles: many }, { token: await p.internalToken('follows') });
    expect(errors?.[0]?.extensions.code).toBe('INVALID_REQUEST');
  });
});

test('Brand.oauthClients joins a brand of platform with its apps, for services only', async () => {
  const query = `{ brands { nodes { slug oauthClients { id } } } }`;
  const { data } = await p.graphql(query, {}, { token: service });
  expect(data.brands.nodes).toEqual([
    { slug: 'second', oauthClients: [] },
    { slug: 'main', oauthClients: ['acme-one', 'acme-two', 'demo-admin', 'demo-app', 'demo-messages'].map(id => ({ id })) },
  ]);
  const { errors } = await p.graphql(query, {}, { token: await p.userToken(DEMO, ['read:account']) });
  expect(errors?.[0]?.extensions.code).toBe('FORBIDDEN');
});
