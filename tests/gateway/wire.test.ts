/** Pipelined HTTP/1.1: the reader of answers, and the subgraph calls that use it. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { HttpDataSource } from '../../gateway/sources/http-data-source.js';
import { AnswerReader, type WireAnswer } from '../../gateway/sources/wire/answer.js';
import { ANONYMOUS } from '../../runtime/request/caller.js';
import { internalRequest, type RequestInfo } from '../../runtime/request/request.js';
import { createMetrics } from '../../runtime/observe/metrics.js';
import { until } from '../support/until.js';

const lines = (...all: string[]): string => all.join('\r\n');
const sized = (body: string, ...headers: string[]): string =>
  lines('HTTP/1.1 200 OK', ...headers, `Content-Length: ${Buffer.byteLength(body)}`, '', body);
const chunked = (...chunks: string[]): string =>
  lines(
    'HTTP/1.1 200 OK',
    'transfer-encoding: chunked',
    '',
    ...chunks.flatMap(one => [`${Buffer.byteLength(one).toString(16)};x=1`, one]),
    '0',
    'trailer: 1',
    '',
    '',
  );

function read(text: string, size: number, maxBytes = 1_000): WireAnswer[] {
  const answers: WireAnswer[] = [];
  const reader = new AnswerReader(maxBytes, answer => answers.push(answer));
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
  expect(reader.begun, 'nothing is left').toBe(false);
  return answers;
}

describe('the reader', () => {
  test('reads answers of a length and in chunks one after the other, however they are cut', () => {
    const all = [
      sized('{"a":"ü"}', 'x-result-status: 202', 'X-Complete-Answer: a-b_9', 'X-No-Trace: true'),
      lines('HTTP/1.1 100 Continue', '', ''),
      chunked('{"b":', '"öö"}'),
      sized(''),
      chunked(),
      sized('{}', 'Connection: close'),
    ].join('');
    for (let size = 1; size <= Buffer.byteLength(all); size++)
      expect(read(all, size)).toEqual([
        { text: '{"a":"ü"}', resultStatus: 202, proof: 'a-b_9', leavesTrace: false, last: false },
        { text: '{"b":"öö"}', resultStatus: 0, proof: null, leavesTrace: true, last: false },
        { text: '', resultStatus: 0, proof: null, leavesTrace: true, last: false },
        { text: '', resultStatus: 0, proof: null, leavesTrace: true, last: false },
        { text: '{}', resultStatus: 0, proof: null, leavesTrace: true, last: true },
      ]);
  });

  test.each([
    ['another protocol', 'HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n', 'not HTTP/1.1'],
    ['no length', 'HTTP/1.1 200 OK\r\n\r\n', 'length of the answer is unknown'],
    [
      'two ways to its end',
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n',
      'length of the answer is unknown',
    ],
    ['a length that is none', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n', 'length of the answer is unknown'],
    ['a chunk without its length', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n', 'has no length'],
    ['a chunk that goes on', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n', 'another length'],
    ['a head without end', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(20_000)}`, 'head of the answer is too long'],
    ['more bytes than allowed', sized('a'.repeat(1_001)), 'too large'],
    ['more chunks than allowed', chunked('a'.repeat(600), 'b'.repeat(600)), 'too large'],
  ])('refuses %s', (_title, text, message) => {
    expect(() => read(text, 16_384)).toThrow(message);
  });
});

type Handler = (body: string, request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let source: HttpDataSource;
let sockets: Set<Socket>;
let bodies: string[];
let handle: Handler;
const SECRET = 'secret-of-the-gateway-0123456789abcdef';
/** Longer than a query takes on the busiest machine, so every query counts as quick. */
const PATIENT_MS = 60_000;
const sourceOf = (quickMs: number): HttpDataSource =>
  new HttpDataSource('platform', () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`, SECRET, createMetrics(), quickMs);
const ok = (response: ServerResponse, data: unknown): void =>
  void response.writeHead(200, { 'content-length': JSON.stringify({ data }).length }).end(JSON.stringify({ data }));

beforeEach(async () => {
  [sockets, bodies] = [new Set(), []];
  server = createServer((request, response) => {
    let body = '';
    request
      .on('data', chunk => (body += String(chunk)))
      .on('end', () => {
        bodies.push(body);
        handle(body, request, response);
      });
  }).on('connection', socket => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  source = sourceOf(PATIENT_MS);
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await source.close();
});

const requestWith = (signal: AbortSignal | null = null): RequestInfo => ({ ...internalRequest(ANONYMOUS), signal });
const numbered: Handler = (body, _request, response) => ok(response, JSON.parse(body).variables);
const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe('queries', () => {
  test('share a connection, get each its own answer, and open another one where many are under way', async () => {
    handle = numbered;
    const send = source.prepare('query ($n: Int) { a(n: $n) }');
    const answers = await Promise.all(numbers(16).map(n => send({ n }, null, requestWith())));
    expect(answers.map(answer => answer.data.n)).toEqual(numbers(16));
    expect(sockets.size).toBe(1);
    await Promise.all(numbers(40).map(n => send({ n }, null, requestWith())));
    expect(sockets.size).toBe(3);
  });

  test('are answered although their process stood still while the connection was made', async () => {
    handle = numbered;
    const asked = source.prepare('query ($n: Int) { a(n: $n) }')({ n: 1 }, null, requestWith());
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_100); // longer than a connection may take
    expect((await asked).data.n).toBe(1);
  });

  test('that lose their connection before an answer are asked again', async () => {
    const send = source.prepare('query ($n: Int) { a(n: $n) }');
    handle = numbered;
    await send({ n: 0 }, null, requestWith());
    let cut = false;
    handle = (body, request, response) => {
      if (cut) return numbered(body, request, response);
      cut = true;
      request.socket.destroy();
    };
    const answers = await Promise.all(numbers(5).map(n => send({ n }, null, requestWith())));
    expect(answers.map(answer => answer.data.n)).toEqual(numbers(5));
  });

  test('whose connection the service closes after an answer go over another one', async () => {
    handle = (body, request, response) => (response.setHeader('connection', 'close'), numbered(body, request, response));
    const send = source.prepare('query ($n: Int) { a(n: $n) }');
    for (const n of numbers(3)) expect((await send({ n }, null, requestWith())).data).toEqual({ n });
    const answers = await Promise.all(numbers(5).map(n => send({ n }, null, requestWith())));
    expect(answers.map(answer => answer.data.n)).toEqual(numbers(5));
  });

  test('are unavailable when the connection ends within the answer, and none is asked a third time', async () => {
    handle = (_body, _request, response) => response.writeHead(200, { 'content-length': 99 }).write('{', () => response.destroy());
    await expect(source.prepare('{ a }')({}, null, requestWith())).rejects.toMatchObject({ code: 'unavailable' });
    expect(bodies).toHaveLength(1);
    handle = (_body, request) => request.socket.destroy();
    await expect(source.prepare('{ b }')({}, null, requestWith())).rejects.toMatchObject({ code: 'unavailable' });
    expect(bodies).toHaveLength(3);
  });

  test('are answered although another one on their connection is left, which ends that one at the service', async () => {
    const send = source.prepare('query ($n: Int) { a(n: $n) }');
    handle = numbered;
    await send({ n: 0 }, null, requestWith());
    let ended = 0;
    handle = (body, request, response) => {
      if (JSON.parse(body).variables.n === 1) response.on('close', () => (ended += response.writableFinished ? 0 : 1));
      else numbered(body, request, response);
    };
    const client = new AbortController();
    const left = send({ n: 1 }, null, requestWith(client.signal));
    const others = Promise.all([2, 3].map(n => send({ n }, null, requestWith())));
    await until(
      'the requests',
      async () => bodies.length,
      count => count >= 4,
    );
    client.abort(new Error('left'));
    await expect(left).rejects.toMatchObject({ code: 'unavailable', options: { cause: { message: 'left' } } });
    expect((await others).map(answer => answer.data.n)).toEqual([2, 3]);
    await until(
      'its end',
      async () => ended,
      count => count === 1,
    );
  });

  test('are answered although another one is left while their connection is made', async () => {
    handle = numbered;
    const send = source.prepare('query ($n: Int) { a(n: $n) }');
    const client = new AbortController();
    const left = send({ n: 1 }, null, requestWith(client.signal));
    const stays = send({ n: 2 }, null, requestWith());
    client.abort(new Error('left'));
    await expect(left).rejects.toMatchObject({ options: { cause: { message: 'left' } } });
    expect((await stays).data.n).toBe(2);
  });

  test('that took long are not pipelined, so that nothing waits for them', async () => {
    await source.close();
    source = sourceOf(25);
    const [slow, quick] = [source.prepare('{ slow }'), source.prepare('{ quick }')];
    const answerLate: (() => void)[] = [];
    handle = (_body, _request, response) => setTimeout(ok, 200, response, {});
    await slow({}, null, requestWith());
    handle = (body, _request, response) => (body.includes('slow') ? answerLate.push(() => ok(response, {})) : ok(response, {}));
    const waiting = slow({}, null, requestWith());
    await until(
      'the slow one',
      async () => answerLate.length,
      count => count === 1,
    );
    expect(await quick({}, null, requestWith())).toEqual({ data: {} });
    answerLate[0]!();
    expect(await waiting).toEqual({ data: {} });
  });
});

/** A pool has a connection back one turn of the event loop after its answer. */
async function givenBack(): Promise<void> {
  for (const _twice of [1, 2]) await setImmediate();
}

/** Keeps connections busy and frees them all, so that there are as many idle ones. */
async function warmUp(send: ReturnType<HttpDataSource['prepare']>, connections: number): Promise<void> {
  const waiting: (() => void)[] = [];
  handle = (body, request, response) => void waiting.push(() => numbered(body, request, response));
  const asked = numbers(connections).map(n => send({ n }, null, requestWith()));
  await until(
    'all of them',
    async () => waiting.length,
    count => count === connections,
  );
  for (const answer of waiting) answer();
  await Promise.all(asked);
  await givenBack();
}

/** A service that closes idle connections at the very moment at which they are used: what comes over one of them is not read. */
function closeIdleOnes(): void {
  const idle = new Set(sockets);
  handle = (body, request, response) => (idle.has(request.socket) ? request.socket.destroy() : numbered(body, request, response));
}

describe('a service that closes its idle connections just as they are used', () => {
  test.each([
    ['pipelined queries', PATIENT_MS, 1],
    ['queries of the pool', 0, 3],
  ] as const)('costs no answer of %s, which are sent once more over a new connection', async (_title, quickMs, connections) => {
    await source.close();
    source = sourceOf(quickMs);
    const send = source.prepare('query ($n: Int) { a(n: $n) }');
    await warmUp(send, connections);
    expect(sockets.size).toBe(connections);
    bodies = [];
    closeIdleOnes();
    const answers = await Promise.all(numbers(3).map(n => send({ n }, null, requestWith())));
    expect(answers.map(answer => answer.data.n)).toEqual(numbers(3));
    expect(bodies.length, 'each is sent twice at most').toBeLessThanOrEqual(6);
  });

  test("costs no answer of the stock executor's queries", async () => {
    const ask = (n: number) =>
      source.process({
        request: { query: 'query ($n: Int) { a(n: $n) }', variables: { n } },
        context: { request: requestWith() },
      } as never);
    handle = numbered;
    await ask(0);
    await givenBack();
    closeIdleOnes();
    expect(await ask(1)).toEqual({ data: { n: 1 } });
    expect(bodies).toHaveLength(3);
  });

  test('is told to who sent a mutation, which may have been done', async () => {
    const send = source.prepare('mutation ($n: Int) { a(n: $n) }');
    await warmUp(send, 2);
    bodies = [];
    closeIdleOnes();
    await expect(send({ n: 1 }, null, requestWith())).rejects.toMatchObject({ code: 'unavailable', options: { retryAfter: 1 } });
    expect(bodies).toHaveLength(1);
    expect(await send({ n: 2 }, null, requestWith())).toEqual({ data: { n: 2 } });
  });
});

test('connections are closed by the gateway long before the service would, so that no mutation meets a closed one', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    server.keepAliveTimeout = 72_000; // as every service's
    handle = numbered;
    await source.prepare('mutation ($n: Int) { a(n: $n) }')({ n: 1 }, null, requestWith());
    const [socket] = sockets;
    const closed = once(socket!, 'close');
    await vi.advanceTimersByTimeAsync(32_000);
    await closed;
  } finally {
    vi.useRealTimers();
  }
});

test('a mutation has a connection of its own and is sent once', async () => {
  const send = source.prepare('mutation ($n: Int) { a(n: $n) }');
  handle = numbered;
  await Promise.all(numbers(3).map(n => send({ n }, null, requestWith())));
  expect(sockets.size).toBe(3);
  bodies = [];
  handle = (_body, request) => request.socket.destroy();
  await expect(send({ n: 4 }, null, requestWith())).rejects.toMatchObject({ code: 'unavailable' });
  expect(bodies).toHaveLength(1);
});

test('a header that is not plain text is left to the pool, which refuses what must not be sent', async () => {
  handle = numbered;
  const token = 'a\r\nx-evil: 1';
  const evil = source.prepare('{ a }')({}, null, { ...requestWith(), token });
  await expect(evil).rejects.toMatchObject({ code: 'unavailable' });
  expect(bodies).toEqual([]);
});
