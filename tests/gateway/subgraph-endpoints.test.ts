/** The endpoints of subgraphs, which are for this deployment's gateways, and the addresses of clients, which those pass on. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { startPlatform } from '../../gateway/composition/platform.js';
import { completeAnswerProof, proxyCredential } from '../../runtime/access/subgraph-secret.js';
import { loadConfig } from '../../runtime/config.js';
import { SERVICES } from '../../subgraphs/services.js';
import { atEnd } from '../support/at-end.js';
import { AS_GATEWAY, BRAND, DEMO2, freePort, platform, SECRETS, type TestPlatform } from '../support/platform.js';

let p: TestPlatform;
let token: string;
/** A gateway in front of the platform's services, behind one proxy: the test. */
let gateway: string;

beforeAll(async () => {
  p = await platform({ services: [], env: { INTROSPECTION: 'off' } });
  token = await p.serviceToken();
  gateway = await startGateway({ TRUSTED_PROXIES: '1' });
});

async function startGateway(env: Record<string, string>): Promise<string> {
  const port = await freePort();
  const here = { ROLES: 'gateway,rest', PORT: String(port), SUBGRAPH_URL_IDENTITY: p.url, SUBGRAPH_URL_PLATFORM: p.url };
  const started = await startPlatform({
    config: loadConfig({ ...p.env, ...here, IDENTITY_ISSUER: `${p.url}/identity`, ...env }),
    services: SERVICES,
  });
  atEnd(() => started.stop());
  return `http://localhost:${port}`;
}

const SECRET = SECRETS.SUBGRAPH_SECRET!;

/** Sends the text of a request as it is; resolves with the first answer's head and body, whether the request is complete or not. */
async function raw(url: string, text: string): Promise<{ status: number; headers: Record<string, string>; body: any }> {
  const socket = connect(Number(new URL(url).port), 'localhost');
  await once(socket, 'connect');
  socket.write(text);
  let answer = '';
  for await (const chunk of socket) {
    answer += String(chunk);
    const [head, body = ''] = answer.split('\r\n\r\n') as [string, string?];
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? NaN);
    if (Buffer.byteLength(body) < length) continue;
    socket.destroy();
    const lines = head
      .split('\r\n')
      .slice(1)
      .map(line => line.split(': ') as [string, string]);
    return { status: Number(head.split(' ')[1]), headers: Object.fromEntries(lines), body: JSON.parse(body) };
  }
  throw new Error(`no answer: ${answer}`);
}

/** A request whose body never comes. */
const withoutBody = (path: string, headers: Record<string, string> = {}): string =>
  [
    `POST ${path} HTTP/1.1`,
    'host: localhost',
    'content-type: application/json',
    'content-length: 29000000',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    '{',
  ].join('\r\n');

describe('without the secret', () => {
  test.each([
    ['none', {}],
    ['another one', { 'x-subgraph-secret': 'x'.repeat(SECRET.length) }],
    ['a part of it', { 'x-subgraph-secret': SECRET.slice(0, -1) }],
    ['an empty one', { 'x-subgraph-secret': '' }],
    ["the proxy's credential", { 'x-subgraph-secret': proxyCredential(SECRET) }],
  ])('(%s) a subgraph is an unknown path, before its body is read', async (_what, headers) => {
    const seen = async (path: string) => {
      const { status, headers: sent, body } = await raw(p.url, withoutBody(path, headers));
      const { Date: _date, 'x-request-id': id, 'content-length': _length, ...rest } = sent;
      expect(body.request_id).toBe(id);
      return { status, rest, body: { ...body, request_id: null } };
    };
    const subgraph = await seen('/platform/graphql');
    expect(subgraph).toMatchObject({ status: 404, rest: { 'content-type': expect.stringContaining('application/problem+json') } });
    expect(subgraph).toEqual(await seen('/platform/graphqx'));
    expect(subgraph).toEqual(await seen('/nothing'));
  });

  test.each([
    ['with a broken body', '{'],
    ['with another media type', 'a=1'],
  ])('%s and a valid token it is no other', async (_what, body) => {
    const headers = { 'x-subgraph-secret': '', 'content-type': body === '{' ? 'application/json' : 'text/csv' };
    const answer = await p.rest('POST', '/platform/graphql', { token, body, headers });
    expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
  });
});

const call = (body: object | string, options: { token?: string | null; headers?: Record<string, string> } = {}) =>
  p.rest('POST', '/platform/graphql', { token, body, ...options });

describe('with the secret', () => {
  test('a subgraph answers', async () => {
    expect((await call({ query: '{ brand(slug: "main") { slug } }' })).body).toEqual({ data: { brand: { slug: 'main' } } });
  });

  test('an answer says, proven by the secret, that it is complete, and not where it has errors', async () => {
    const complete = await call({ query: '{ brand(slug: "main") { slug } nothing: brand(slug: "none") { slug } }' });
    expect([complete.body.data.nothing, complete.headers['x-complete-answer']]).toEqual([null, completeAnswerProof(SECRET)]);
    const failed = [
      await call({ query: '{ brand(slug: "main") { slug } flags { nodes { key } } }' }, { token: null }),
      await call({ query: '{ nothing }' }),
    ];
    for (const { headers, body } of failed) expect([body.errors.length > 0, headers['x-complete-answer']]).toEqual([true, undefined]);
  });

  test('an answer says that nothing was written or counted for it, and not where something was', async () => {
    const untraced = [await call({ query: '{ brand(slug: "main") { slug } }' }), await call({ query: '{ nothing }' })];
    expect(untraced.map(({ headers }) => headers['x-no-trace'])).toEqual(['true', 'true']);
    const asUser = { token: await p.userToken(DEMO2, ['read:profile']) };
    const query = '{ handleAvailability(handle: "nobody_has_this") { available } }';
    const counted = await p.rest('POST', '/identity/graphql', { ...asUser, body: { query } });
    expect([counted.status, counted.headers['x-no-trace']]).toEqual([200, undefined]);
  });

  test('a wrong token is a 401 before the body is read', async () => {
    const { status, body } = await raw(p.url, withoutBody('/platform/graphql', { ...AS_GATEWAY, authorization: 'Bearer svc_x' }));
    expect([status, body.errors[0].extensions.code]).toEqual([401, 'UNAUTHENTICATED']);
  });

  test('a call has at most 1,000 entities, in at most eight lists, each in a variable of its own', async () => {
    const query = 'query ($r: [_Any!]!) { _entities(representations: $r) { ... on Brand { slug } } }';
    const r = (count: number) => Array.from({ length: count }, () => ({ __typename: 'Brand', id: BRAND }));
    expect((await call({ query, variables: { r: r(1_000) } })).body.data._entities).toHaveLength(1_000);
    const listsOf = (lists: object[][]) => ({
      query: `query (${lists.map((_, at) => `$r${at}: [_Any!]!`).join()}) { ${lists.map((_, at) => `e${at}: _entities(representations: $r${at}) { __typename }`).join(' ')} }`,
      variables: Object.fromEntries(lists.map((list, at) => [`r${at}`, list])),
    });
    expect(Object.values((await call(listsOf(Array.from({ length: 8 }, () => r(125))))).body.data)).toHaveLength(8);
    const refused = [
      await call({ query, variables: { r: r(1_001) } }),
      await call({
        query: 'query ($r: [_Any!]!) { a: _entities(representations: $r) { __typename } b: _entities(representations: $r) { __typename } }',
        variables: { r: r(1) },
      }),
      await call(listsOf([r(500), r(501)])),
      await call(listsOf(Array.from({ length: 9 }, () => r(1)))),
    ];
    for (const { status, body } of refused)
      expect([status, body.errors[0].extensions]).toEqual([400, { code: 'INVALID_REQUEST', reason: 'DOCUMENT_TOO_COMPLEX' }]);
  });

  test('variables and bodies have bounds', async () => {
    const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
    const query = '{ __typename }';
    expect((await call({ query, variables: { a: nested(70) } })).status).toBe(200);
    expect((await call({ query, variables: { a: nested(90) } })).body.errors[0].extensions.reason).toBe('DOCUMENT_TOO_COMPLEX');
    expect((await call({ query, variables: { a: 'x'.repeat(6 * 1024 * 1024) } })).status).toBe(200);
    expect((await call({ query, variables: { a: 'x'.repeat(8 * 1024 * 1024) } })).status).toBe(413);
  });

  test.each([
    '{ _service { sdl } }',
    '{ __schema { queryType { name } } }',
    '{ __type(name: "Brand") { name } }',
    '{ ...F } fragment F on Query { __schema { description } }',
  ])('%s is refused where introspection is off', async query => {
    const { status, body } = await call({ query });
    expect([status, body.errors[0].message]).toEqual([400, 'Introspection is off']);
  });
});

describe('a gateway in another process', () => {
  const brands = '{ brands { nodes { slug } } }';
  const ask = (url: string, query: string, headers: Record<string, string> = {}) =>
    fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query }),
    });

  test('proves itself to the subgraphs', async () => {
    const answer = await ask(gateway, brands, { authorization: `Bearer ${token}` });
    expect(await answer.json()).toEqual({ data: { brands: { nodes: [{ slug: 'second' }, { slug: 'main' }] } } });
  });

  test.each([
    '/platform/graphql',
    '/platform/%67raphql',
    '/platform/x/../graphql',
    '/platform/x/%2e%2e/graphql',
    '/platform/graphql#x',
    '//platform/graphql',
  ])('does not pass a request for %s on to a subgraph', async path => {
    const body = JSON.stringify({ query: '{ __typename }' });
    const request = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nauthorization: Bearer ${token}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    expect([400, 404]).toContain((await raw(gateway, request)).status);
  });

  test('passes a request in absolute form on to its own services only', async () => {
    const foreign = await p.receiver();
    const { status } = await raw(gateway, `GET ${new URL(foreign.url).origin}/platform/healthz HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    expect([status, foreign.received.length]).toEqual([200, 0]);
  });
});

describe('the address of a client', () => {
  /** What a row answers, from the service's subgraph, and what a native handler does: both count 60 a minute for each address. */
  const WAYS = ['/platform/v1/brands/resolve', '/identity/v1/oauth/authorize'];
  let asked = 0;
  const ask = async (url: string, path: string, forwardedFor: string): Promise<'limited' | 'answered'> => {
    const answer = await fetch(`${url}${path}?host=${asked++}.example`, {
      headers: { 'x-forwarded-for': forwardedFor },
      redirect: 'manual',
    });
    await answer.arrayBuffer();
    return answer.status === 429 ? 'limited' : 'answered';
  };
  const sixty = (one: (at: number) => Promise<string>): Promise<string[]> => Promise.all(Array.from({ length: 60 }, (_, at) => one(at)));

  test.each(WAYS)('is that of the connection where no proxy is trusted, whatever the request says: %s', async path => {
    expect(new Set(await sixty(at => ask(p.url, path, `203.0.113.${at}`)))).toEqual(new Set(['answered']));
    expect(await ask(p.url, path, '203.0.113.200')).toBe('limited');
  });

  test.each(WAYS)('comes through a trusted proxy and a gateway to the service: %s', async path => {
    expect(new Set(await sixty(() => ask(gateway, path, '192.0.2.7')))).toEqual(new Set(['answered']));
    expect(await ask(gateway, path, '192.0.2.7')).toBe('limited');
    expect(await ask(gateway, path, '192.0.2.8, 192.0.2.7')).toBe('limited');
    expect(await ask(gateway, path, '192.0.2.7, 192.0.2.8')).toBe('answered');
  });
});
