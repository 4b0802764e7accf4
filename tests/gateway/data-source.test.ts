/** A subgraph in another process: a real server, for which each test sets a handler. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { Pool } from 'undici';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HttpDataSource } from '../../gateway/sources/http-data-source.js';
import { Exchange } from '../../gateway/sources/exchange.js';
import { ANONYMOUS } from '../../runtime/request/caller.js';
import { internalRequest, type RequestInfo } from '../../runtime/request/request.js';
import { completeAnswerProof } from '../../runtime/access/subgraph-secret.js';
import { createMetrics } from '../../runtime/observe/metrics.js';
import { until } from '../support/until.js';

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

const SECRET = 'secret-of-the-gateway-0123456789abcdef';
const ENTITIES = 'query ($representations: [_Any!]!) { _entities(representations: $representations) { __typename } }';

let server: Server;
let handle: Handler;
let source: HttpDataSource;
/** Number of requests that came, and of connections that the data source closed before the answer was complete. */
let [came, ended] = [0, 0];

beforeEach(async () => {
  [came, ended] = [0, 0];
  server = createServer((request, response) => {
    came++;
    response.on('close', () => void (ended += response.writableFinished ? 0 : 1));
    handle(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  source = new HttpDataSource('platform', base, SECRET, createMetrics());
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await source.close();
});

const base = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const requestWith = (signal: AbortSignal | null = null): RequestInfo => ({ ...internalRequest(ANONYMOUS), signal });
const ask = (request = requestWith()) => source.prepare('{ brands { id } }')({ a: 1 }, '{"id":"1"}', request);
const answering =
  (body: string, headers = {}): Handler =>
  (_request, response) =>
    void response.writeHead(200, headers).end(body);

/** The ways of a query, and the pace below which it is pipelined, ms. */
const WAYS = [
  ['over the pool', 0],
  ['over a shared connection', 1_000],
] as const;

const came1 = (): Promise<number> =>
  until(
    'the request',
    async () => came,
    count => count > 0,
  );
const ended1 = (): Promise<number> =>
  until(
    'the end of the connection',
    async () => ended,
    count => count > 0,
  );

describe('a call', () => {
  test('sends the document with variables and representations, and copies the status that the service chose', async () => {
    const bodies: string[] = [];
    handle = (request, response) => {
      let text = '';
      request.on('data', chunk => (text += String(chunk))).on('end', () => bodies.push(text));
      request.on('end', () => answering('{"data":{"ü":"ö"}}', { 'x-result-status': '202' })(request, response));
    };
    const request = requestWith();
    expect(await ask(request)).toEqual({ data: { ü: 'ö' } });
    expect(request.status).toBe(202);
    expect(JSON.parse(bodies[0]!)).toEqual({ query: '{ brands { id } }', variables: { a: 1, representations: [{ id: '1' }] } });
  });

  test.each([
    ['compiled', (request: RequestInfo, r: object[]) => source.prepare(ENTITIES)({ a: 1 }, JSON.stringify(r).slice(1, -1), request)],
    [
      'stock',
      (request: RequestInfo, r: object[]) =>
        source.process({ request: { query: ENTITIES, variables: { a: 1, representations: r } }, context: { request } } as never),
    ],
  ])('of more entities than a subgraph takes at once is several, one after the other, with one answer: %s', async (_which, send) => {
    const seen: { sizes: number[]; underWay: number; most: number } = { sizes: [], underWay: 0, most: 0 };
    handle = async (request, response) => {
      seen.most = Math.max(seen.most, ++seen.underWay);
      const { variables } = (await json(request)) as any;
      seen.sizes.push(variables.representations.length);
      expect(variables.a).toBe(1);
      const data = { _entities: variables.representations.map(({ id }: { id: number }) => (id % 1_000 === 7 ? null : { id })) };
      const errors = [{ message: 'none', path: ['_entities', 7, 'id'] }];
      seen.underWay--;
      answering(JSON.stringify({ data, errors }))(request, response);
    };
    const all = Array.from({ length: 2_500 }, (_, id) => ({ __typename: 'Brand', id }));
    const { data, errors } = (await send(requestWith(), all)) as any;
    expect(seen).toMatchObject({ sizes: [1_000, 1_000, 500], most: 1 });
    expect(data._entities).toEqual(all.map(({ id }) => (id % 1_000 === 7 ? null : { id })));
    expect(errors.map(({ path }: any) => path)).toEqual([7, 1_007, 2_007].map(at => ['_entities', at, 'id']));
  });

  test('of entities with long texts is several, too', async () => {
    const sizes: number[] = [];
    handle = async (request, response) => {
      const { representations } = ((await json(request)) as any).variables;
      sizes.push(representations.length);
      answering(JSON.stringify({ data: { _entities: representations } }))(request, response);
    };
    const all = Array.from({ length: 5 }, () => ({ __typename: 'Brand', about: 'x'.repeat(500_000) }));
    const { data } = await source.prepare(ENTITIES)({}, JSON.stringify(all).slice(1, -1), requestWith());
    expect([sizes, data._entities]).toEqual([[2, 2, 1], all]);
  });

  test('leaves the data of an answer unread where the service proves that it is complete, else it reads it', async () => {
    const askUnread = () => source.prepareUnread('{ brands { id } }')({ a: 1 }, requestWith());
    const [data, proof] = ['{ "brands" : [] }', completeAnswerProof(SECRET)];
    handle = answering(`{"data":${data}}`, { 'x-complete-answer': proof });
    expect(await askUnread()).toEqual({ text: data });
    expect(await ask()).toEqual({ data: { brands: [] } });
    for (const other of [{}, { 'x-complete-answer': completeAnswerProof(`${SECRET}x`) }, { 'x-complete-answer': SECRET }]) {
      handle = answering(`{"data":${data}}`, other as Record<string, string>);
      expect(await askUnread()).toEqual({ data: { brands: [] } });
    }
    handle = answering('{"errors":[{"message":"none"}],"data":null}', { 'x-complete-answer': proof });
    expect(await askUnread()).toEqual({ errors: [{ message: 'none' }], data: null });
    handle = answering('{"code":"not_found"}', { 'x-complete-answer': proof });
    await expect(askUnread()).rejects.toMatchObject({ code: 'unavailable' });
  });

  test.each(WAYS)('notes %s that a trace may have been left unless the service says that there is none', async (_way, quickMs) => {
    const pipelining = new HttpDataSource('platform', base, SECRET, createMetrics(), quickMs);
    const traced: boolean[] = [];
    for (const headers of [{}, { 'X-No-Trace': 'true' }]) {
      handle = answering('{"data":{"a":1}}', headers);
      const request = requestWith();
      await pipelining.prepare('{ a }')({}, null, request);
      traced.push(request.leavesTrace);
    }
    await pipelining.close();
    expect(traced).toEqual([true, false]);
  });

  test('of a change leaves its answer unread, too, and says that it is a replay', async () => {
    const request = requestWith();
    handle = answering('{"data":{"a":1}}', {
      'x-complete-answer': completeAnswerProof(SECRET),
      'idempotent-replayed': 'true',
      'x-result-status': '201',
    });
    expect(await source.prepareUnread('mutation { a }')({}, request)).toEqual({ text: '{"a":1}' });
    expect([request.isReplayed, request.status]).toEqual([true, 201]);
  });

  test.each(WAYS)('passes on %s what a header may hold, and never a line of its own', async (_way, quickMs) => {
    const source = new HttpDataSource('platform', base, SECRET, createMetrics(), quickMs);
    const languages: unknown[] = [];
    handle = (request, response) => {
      languages.push(request.headers['accept-language'], request.headers['x-forged']);
      answering('{"data":{"a":1}}')(request, response);
    };
    const send = source.prepare('{ a }');
    for (const language of ['de', 'dé']) await send({}, null, { ...requestWith(), language });
    await expect(send({}, null, { ...requestWith(), language: 'de\r\nx-forged: 1' })).rejects.toMatchObject({ code: 'unavailable' });
    await source.close();
    expect(languages).toEqual(['de', undefined, 'dé', undefined]);
  });

  test('proves itself by the secret, and an answer that is none of GraphQL is an error', async () => {
    handle = (request, response) =>
      request.headers['x-subgraph-secret'] === SECRET
        ? answering('{"code":"not_found","status":404}')(request, response)
        : response.destroy();
    await expect(ask()).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The platform service does not know this gateway right now',
    });
  });

  test('puts together an answer that comes in pieces, cut within a character', async () => {
    const bytes = Buffer.from(JSON.stringify({ data: 'ü'.repeat(50_000) }));
    handle = (_request, response) => {
      response.write(bytes.subarray(0, 4_001));
      setImmediate(() => response.end(bytes.subarray(4_001)));
    };
    expect((await ask()).data).toBe('ü'.repeat(50_000));
  });

  test.each([
    ['the connection ends before an answer', (_request, response) => void response.destroy()],
    [
      'the connection ends within the answer',
      (_request, response) => (response.writeHead(200, { 'content-length': 99 }).write('{'), response.destroy()),
    ],
    ['the answer is no JSON', answering('<html>')],
  ] as [string, Handler][])('is unavailable when %s', async (_title, handler) => {
    handle = handler;
    await expect(ask()).rejects.toMatchObject({ code: 'unavailable', options: { retryAfter: 1 } });
  });

  test('is unavailable when nobody listens, and works again afterwards', async () => {
    const { port } = server.address() as AddressInfo;
    server.close();
    const gone = new HttpDataSource('platform', () => `http://127.0.0.1:${port}`, SECRET, createMetrics());
    await once(server, 'close');
    const send = gone.prepare('{ a }');
    await expect(send({}, null, requestWith())).rejects.toMatchObject({ code: 'unavailable' });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    handle = answering('{"data":{}}');
    expect(await send({}, null, requestWith())).toEqual({ data: {} });
    await gone.close();
  });
});

describe('a signal', () => {
  test('that is aborted ends a call that waits for its answer, and its connection', async () => {
    handle = () => undefined;
    const client = new AbortController();
    const asked = ask(requestWith(client.signal));
    await came1();
    client.abort(new Error('left'));
    await expect(asked).rejects.toMatchObject({ code: 'unavailable', options: { cause: { message: 'left' } } });
    await ended1();
  });

  test('that is aborted ends a call within its answer', async () => {
    handle = (_request, response) => void response.writeHead(200).write('{"data":');
    const client = new AbortController();
    const asked = ask(requestWith(client.signal));
    await came1();
    client.abort(new Error('left'));
    await expect(asked).rejects.toMatchObject({ options: { cause: { message: 'left' } } });
    await ended1();
  });

  test('that was aborted before sends nothing', async () => {
    handle = answering('{"data":{}}');
    await expect(ask(requestWith(AbortSignal.abort(new Error('left'))))).rejects.toMatchObject({ options: { cause: { message: 'left' } } });
    expect(await ask()).toEqual({ data: {} });
    expect(came).toBe(1);
  });

  test('that is aborted ends a call which waits for a connection, without ever sending it', async () => {
    const answers: ServerResponse[] = [];
    handle = (_request, response) => void answers.push(response);
    const pool = new Pool(base(), { connections: 1 });
    const exchange = (signal: AbortSignal): Exchange => {
      const one = new Exchange(signal, 1_000);
      pool.dispatch({ path: '/', method: 'POST', body: '{}' }, one);
      return one;
    };
    const client = new AbortController();
    const [first, second] = [exchange(new AbortController().signal), exchange(client.signal)];
    await came1();
    client.abort(new Error('left'));
    await expect(second.answer).rejects.toThrow('left');
    answers[0]!.end('{}');
    expect((await first.answer).text).toBe('{}');
    const third = exchange(new AbortController().signal);
    await until(
      'the next request',
      async () => answers.length,
      count => count === 2,
    );
    answers[1]!.end('[]');
    expect((await third.answer).text).toBe('[]');
    expect(came).toBe(2);
    await pool.close();
  });
});

test('an answer that is larger than allowed is refused, and its connection ended', async () => {
  handle = (_request, response) => void response.writeHead(200).write('x'.repeat(1_001));
  const pool = new Pool(base());
  const exchange = new Exchange(new AbortController().signal, 1_000);
  pool.dispatch({ path: '/', method: 'POST', body: '{}' }, exchange);
  await expect(exchange.answer).rejects.toThrow('too large');
  await ended1();
  await pool.close();
});
