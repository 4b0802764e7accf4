import { parse } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { metricsRoute } from '../../gateway/endpoints/metrics.js';
import { OperationMetrics, operationLabel } from '../../gateway/metrics/operation-metrics.js';
import { createHttp } from '../../runtime/http/server.js';
import { createLogger } from '../../runtime/observe/log.js';
import { createMetrics, operationLabels } from '../../runtime/observe/metrics.js';
import { ANONYMOUS } from '../../runtime/request/caller.js';
import { internalRequest, type RequestInfo } from '../../runtime/request/request.js';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';

describe('the name under which an operation is counted', () => {
  test.each([
    ['{ brands { nodes { id } } }', 'query brands'],
    ['query SecretName { hidden: brands { nodes { id } } again: brands { nodes { id } } }', 'query brands'],
    ['{ brands { nodes { id } } user(id: "1") { id } }', 'query several'],
    ['{ ...all } fragment all on Query { brands { nodes { id } } }', 'query several'],
    ['mutation Rename { result: renameBrand(id: "1") { id } }', 'mutation renameBrand'],
    ['{ __schema { types { name } } }', 'query __schema'],
  ])('of %s', (source, label) => expect(operationLabel(parse(source))).toBe(label));
});

test('as many operations as a scrape bears have a label of their own, the others share one', () => {
  const labelOf = operationLabels(2);
  expect(['a', 'b', 'c', 'a', 'd', 'b'].map(labelOf)).toEqual(['a', 'b', 'other', 'a', 'other', 'b']);
});

test('a counted source takes several lists of entities and leaves answers unread if the source itself does, and each such call is one', async () => {
  const { registry } = createMetrics();
  const metrics = new OperationMetrics(registry);
  const send = async () => ({ data: {} });
  const source = { process: send, prepare: () => send };
  const { prepareLists: noLists, prepareUnread: noText } = metrics.source('local', source as never);
  expect([noLists, noText]).toEqual([undefined, undefined]);
  const unread = async (_variables: object, request: RequestInfo) => ({ text: request.id });
  const counted = metrics.source('platform', { ...source, prepareLists: () => send, prepareUnread: () => unread } as never);
  const [lists, text] = [counted.prepareLists!('{ a }', ['r0', 'r1']), counted.prepareUnread!('{ a }')];
  const executor = {
    execute: async (_operation: unknown, request: RequestInfo) => {
      expect(await text({}, request)).toEqual({ text: request.id });
      return { ...(await lists({}, ['', ''], request)), errors: [] };
    },
  };
  const operation = { document: parse('{ brands { id } }'), source: '', key: '', operationName: null, variables: {} };
  await metrics.watch(executor as never, 'client').execute(operation, internalRequest(ANONYMOUS));
  expect(await registry.metrics()).toContain('gateway_operation_fetches_total{operation="query brands",service="platform"} 2');
});

describe('who reads /metrics', () => {
  const TOKEN = 'token-of-the-scraper-0123456789abcdef';
  const read = async (config: { metricsToken: string | null; production: boolean }, authorization?: string) => {
    const app = createHttp({ log: createLogger('silent') });
    metricsRoute(app, createMetrics(), config);
    const answer = await app.inject({ url: '/metrics', headers: authorization === undefined ? {} : { authorization } });
    await app.close();
    return [answer.statusCode, answer.headers['www-authenticate'] ?? null];
  };

  test.each([
    ['whoever has the token', `Bearer ${TOKEN}`, [200, null]],
    ['nobody without one', undefined, [401, 'Bearer']],
    ['nobody with another one', `Bearer ${TOKEN.slice(1)}`, [401, 'Bearer error="invalid_token"']],
    ['nobody with a part of it', `Bearer ${TOKEN.slice(0, -1)}`, [401, 'Bearer error="invalid_token"']],
    ['nobody in another scheme', `Basic ${TOKEN}`, [401, 'Bearer error="invalid_token"']],
  ])('%s, in production and in development', async (_who, authorization, expected) => {
    for (const production of [true, false]) expect(await read({ metricsToken: TOKEN, production }, authorization)).toEqual(expected);
  });

  test('without a token it is open in development and an unknown path in production', async () => {
    expect(await read({ metricsToken: null, production: false })).toEqual([200, null]);
    expect(await read({ metricsToken: null, production: true })).toEqual([404, null]);
  });
});

describe('at /metrics', () => {
  let p: TestPlatform;
  let token: string;
  beforeAll(async () => {
    p = await platform({ services: ['platform'] }); // the labels of a process are counted here
    token = await p.serviceToken();
  });

  const metrics = async (): Promise<string> => (await p.rest<string>('GET', '/metrics')).body;
  const valueOf = (text: string, series: string): number => {
    const line = text.split('\n').find(one => one.startsWith(`${series} `));
    return Number(line?.slice(series.length) ?? 0);
  };

  test('every operation has its time, its outcome, its calls and time by service, and whether its plan was kept', async () => {
    const query = 'query CanaryName($id: ID!) { canaryAlias: user(id: $id) { id brand { id slug } } }';
    for (const _time of [1, 2, 3]) expect((await p.graphql(query, { id: DEMO }, { token })).status).toBe(200);
    await p.rest('GET', '/platform/v1/brands', { token });
    await p.graphql('{ brand(slug: "none") { id } me { id } }', {}, { token });
    const text = await metrics();
    expect(valueOf(text, 'gateway_operation_seconds_count{caller="client",operation="query user",outcome="ok"}')).toBe(3);
    expect(valueOf(text, 'gateway_operation_seconds_count{caller="client",operation="query brands",outcome="ok"}')).toBe(1);
    for (const service of ['identity', 'platform']) {
      expect(valueOf(text, `gateway_operation_fetches_total{operation="query user",service="${service}"}`)).toBe(3);
      expect(valueOf(text, `gateway_operation_fetch_seconds_total{operation="query user",service="${service}"}`)).toBeGreaterThan(0);
    }
    const plans = ['prepared', 'kept', 'made'].map(origin => valueOf(text, `gateway_plans_total{origin="${origin}"}`));
    if (process.env.GATEWAY_EXECUTOR !== 'stock') expect(plans.reduce((sum, one) => sum + one)).toBeGreaterThanOrEqual(4);
    expect(text).not.toMatch(/CanaryName|canaryAlias/);
  });

  test('every answer has its time, by endpoint, route and status', async () => {
    await p.rest('GET', '/platform/v1/brands/main', { token });
    await p.rest('GET', '/platform/v1/brands/canary-brand', { token });
    await p.rest('GET', '/canary-path', { token });
    await p.rest('GET', '/platform/v1/canary-path', { token });
    await p.graphql('{ brands { nodes { id } } }', {}, {});
    await p.rest('GET', '/platform/readyz');
    await p.rest('POST', '/platform/graphql', { token, body: { query: '{ __typename }' } });
    const text = await metrics();
    const count = (endpoint: string, operation: string, status: number): number =>
      valueOf(text, `http_request_seconds_count{endpoint="${endpoint}",operation="${operation}",status="${status}"}`);
    expect(count('rest', 'GET /platform/v1/brands/:slug', 200)).toBe(1);
    expect(count('rest', 'GET /platform/v1/brands/:slug', 404)).toBe(1);
    expect(count('none', 'none', 404)).toBe(2);
    expect(count('graphql', 'POST /graphql', 401)).toBe(1);
    expect(count('native', 'GET /platform/readyz', 200)).toBe(1);
    expect(count('subgraph', 'POST /platform/graphql', 200)).toBeGreaterThanOrEqual(1);
    expect(text).not.toMatch(/canary-/);
  });

  test('labels do not grow with what clients write', async () => {
    const seriesOf = (text: string): number => text.split('\n').filter(line => line.startsWith('gateway_operation')).length;
    const ask = (at: number) => p.graphql(`query Name${at} { alias${at}: brands { nodes { field${at}: id } } }`, {}, { token });
    await ask(0);
    const before = seriesOf(await metrics());
    for (let at = 1; at <= 20; at++) expect((await ask(at)).status).toBe(200);
    expect(seriesOf(await metrics())).toBeLessThanOrEqual(before + 2);
  });
});
