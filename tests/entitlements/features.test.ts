import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN, DEMO } from '../support/platform.js';
import { Counter, T0 } from './counter.js';

let c: Counter;
let staff: string;
let support: string;
beforeAll(async () => {
  c = await Counter.open();
  staff = await c.p.userToken(ADMIN, ['read:profile'], { permissions: ['admin:entitlements:feature:write'] });
  support = await c.p.userToken(ADMIN, ['read:profile'], { permissions: ['admin:entitlements:read'] });
});

const metered = { key: 'test.images', name: 'Images', kind: 'metered', unit: 'image', default_value: 5, usage_reset: 'calendar_month' };

describe('a feature', () => {
  test('is made by staff, changed, and archived, each with an audit row', async () => {
    const created = await c.rest('POST', '/admin/features', metered, staff);
    expect(created).toMatchObject({
      status: 201,
      headers: { location: expect.stringContaining('/v1/admin/features/test.images') },
      body: { ...metered, fail_mode: 'closed', soft_limit: false, product_ids: [], archived: false, created_at: T0, version: 1 },
    });
    const changed = await c.rest('PATCH', '/admin/features/test.images', { default_value: 7, soft_limit: true, version: 1 }, staff);
    expect(changed).toMatchObject({ status: 200, body: { default_value: 7, soft_limit: true, unit: 'image', version: 2 } });
    expect((await c.rest('DELETE', '/admin/features/test.images', undefined, staff)).status).toBe(204);
    expect((await c.rest('DELETE', '/admin/features/test.images', undefined, staff)).status).toBe(204);
    expect((await c.rest('GET', '/admin/features/test.images', undefined, support)).body).toMatchObject({ archived: true, version: 3 });
    const rows = await c.p.sql("select action, details from entitlements.audit_log where target = 'test.images' order by at, id");
    expect(rows).toEqual([
      { action: 'entitlement_feature.created', details: { kind: 'metered' } },
      { action: 'entitlement_feature.updated', details: { fields: ['defaultValue', 'softLimit'] } },
      { action: 'entitlement_feature.archived', details: { was_archived: false } },
      { action: 'entitlement_feature.archived', details: { was_archived: true } },
    ]);
  });

  test('keeps its key when it is archived, and is changed no more', async () => {
    const key = await c.feature();
    expect(await c.rest('POST', '/admin/features', { key, name: 'Again', kind: 'boolean' })).toMatchObject({ status: 409 });
    await c.rest('DELETE', `/admin/features/${key}`);
    expect(await c.rest('POST', '/admin/features', { key, name: 'Again', kind: 'boolean' })).toMatchObject({ status: 409 });
    expect(await c.rest('PATCH', `/admin/features/${key}`, { name: 'Other' })).toMatchObject({ status: 409, body: { code: 'conflict' } });
  });

  test('never changes its kind', async () => {
    const key = await c.feature();
    expect(await c.rest('PATCH', `/admin/features/${key}`, { kind: 'config' })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/kind' }] },
    });
  });

  test('is not changed by somebody who has read an older version', async () => {
    const key = await c.feature();
    await c.rest('PATCH', `/admin/features/${key}`, { name: 'First' });
    expect(await c.rest('PATCH', `/admin/features/${key}`, { name: 'Second', version: 1 })).toMatchObject({
      status: 409,
      body: { reason: 'version_conflict' },
    });
  });

  test.each([
    ['a key of a shape that none has', { key: 'Not A Key' }, ['/key']],
    ['a default that its kind has not', { default_value: 'five' }, ['/default_value']],
    ['a name that is blank', { name: '  ' }, ['/name']],
    [
      'a product that is no id',
      { kind: 'boolean', unit: null, default_value: null, usage_reset: 'never', product_ids: ['x'] },
      ['/product_ids/0'],
    ],
    ['an unknown word', { colour: 'red' }, ['/colour']],
    ['an open one with a money effect', { key: 'payments.later', fail_mode: 'open' }, ['/fail_mode']],
    ['an unknown period', { usage_reset: 'fortnight' }, ['/usage_reset']],
  ])('is refused with %s', async (_what, change, pointers) => {
    const answer = await c.rest('POST', '/admin/features', { ...metered, key: `test.${randomUUID().slice(0, 6)}`, ...change });
    expect([answer.status, answer.body.errors?.map((one: any) => one.pointer)]).toEqual([400, pointers]);
  });

  test('that is not there is a 404', async () => {
    for (const [method, body] of [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as const)
      expect((await c.rest(method, '/admin/features/no.such', body)).status).toBe(404);
  });

  test('is read by support and changed by those who may', async () => {
    const body = { key: 'test.refused', name: 'x', kind: 'boolean' };
    const member = await c.p.userToken(DEMO, ['read:entitlements']);
    for (const token of [support, member, await c.p.serviceToken('admin:identity')])
      expect((await c.rest('POST', '/admin/features', body, token)).status).toBe(403);
    expect((await c.rest('GET', '/admin/features', undefined, support)).status).toBe(200);
    expect((await c.rest('GET', '/admin/features', undefined, member)).status).toBe(403);
  });
});

describe('the list of features', () => {
  test('is by key, in pages, without what is archived', async () => {
    for (const key of ['zz.one', 'zz.two']) await c.feature({ key });
    await c.feature({ key: 'zz.gone' });
    await c.rest('DELETE', '/admin/features/zz.gone');
    const keys: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await c.rest('GET', `/admin/features?limit=2${cursor && `&cursor=${cursor}`}`);
      keys.push(...body.data.map((one: any) => one.key));
      cursor = body.next_cursor;
    }
    expect(keys).toEqual(keys.toSorted());
    expect(keys).toEqual(expect.arrayContaining(['ai.messages', 'labs.discount']));
    expect(keys.filter(key => key.startsWith('zz.'))).toHaveLength(2);
    const archived = await c.rest('GET', '/admin/features?archived=true&limit=100');
    expect(archived.body.data.map((one: any) => one.key)).toContain('zz.gone');
  });

  test('finds what a product unlocks; the same in GraphQL', async () => {
    const product = randomUUID();
    const key = await c.feature({ product_ids: [product] });
    const query = `query ($id: ID) { entitlementFeatures(productId: $id) { nodes { key productIds kind } } }`;
    const { data } = await c.graphql(query, { id: product });
    expect(data.entitlementFeatures.nodes).toEqual([{ key, productIds: [product], kind: 'BOOLEAN' }]);
    const made = await c.graphql(
      `mutation ($input: CreateEntitlementFeatureInput!) { createEntitlementFeature(input: $input) { key kind defaultValue usageReset } }`,
      { input: { key: 'test.graphql', name: 'x', kind: 'CONFIG', defaultValue: 'a text' } },
    );
    expect(made.data.createEntitlementFeature).toEqual({
      key: 'test.graphql',
      kind: 'CONFIG',
      defaultValue: 'a text',
      usageReset: 'NEVER',
    });
    const archive = await c.graphql('mutation { archiveEntitlementFeature(key: "test.graphql") { archived version } }');
    expect(archive.data.archiveEntitlementFeature).toEqual({ archived: true, version: 2 });
  });
});
