/** A subgraph in another process: a real server, for which each test sets a handler. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HttpDataSource } from '../../gateway/sources/http-data-source.js';
import { Exchange } from '../../gateway/sources/exchange.js';
import { ANONYMOUS } from '../../runtime/request/caller.js';
import { internalRequest, type RequestInfo } from '../../runtime/request/request.js';
import { createMetrics } from '../../runtime/observe/metrics.js';
import { until } from '../support/until.js';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

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
  source = new HttpDataSource('platform', base, createMetrics());
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
    const gone = new HttpDataSource('platform', () => `http://127.0.0.1:${port}`, createMetrics());
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
