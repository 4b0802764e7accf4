/** What Node and Fastify refuse before there is a route: bytes on a connection, one problem as the answer. */
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHttp } from '../../runtime/http/server.js';

const app = createHttp({ log: pino({ level: 'silent' }) });
let port: number;
beforeAll(async () => {
  app.post('/here', async request => ({ body: request.body }));
  app.get('/here', async () => ({ here: true }));
  await app.listen({ port: 0, host: '127.0.0.1' });
  port = (app.server.address() as AddressInfo).port;
});
afterAll(() => app.close());

interface Parsed {
  status: number;
  head: string;
  body: any;
}

/** Sends bytes and reads until the server ends the connection. */
async function send(bytes: string): Promise<Parsed> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  const answer = await text(socket);
  const [head, body] = answer.split('\r\n\r\n') as [string, string];
  return { status: Number(head.split(' ')[1]), head: head.toLowerCase(), body: JSON.parse(body) };
}

const lines = (...all: string[]): string => [...all, '', ''].join('\r\n');
const CLOSE = 'connection: close';

test.each([
  ['no HTTP at all', lines('hello'), 400],
  ['a method that does not exist', lines('BREW / HTTP/1.1', 'host: a'), 400],
  ['a header without a colon', lines('GET /here HTTP/1.1', 'host: a', 'nonsense'), 400],
  ['a line end in a header', lines('GET /here HTTP/1.1', 'host: a', 'x: a\rb'), 400],
  ['two lengths', lines('POST /here HTTP/1.1', 'host: a', 'content-length: 1', 'content-length: 2'), 400],
  ['a length and chunks', lines('POST /here HTTP/1.1', 'host: a', 'content-length: 1', 'transfer-encoding: chunked'), 400],
  ['no Host', lines('GET /here HTTP/1.1', CLOSE), 400],
  ['no Host at an unknown path', lines('GET /nowhere HTTP/1.1', CLOSE), 400],
  ['a second Host', lines('GET /here HTTP/1.1', 'host: a', 'Host: b', CLOSE), 400],
  ['the same Host twice, without a version that needs one', lines('GET /here HTTP/1.0', 'host: a', 'host: a'), 400],
  ['headers of 20 KiB', lines('GET /here HTTP/1.1', 'host: a', `x: ${'y'.repeat(20_000)}`), 431],
  ['an expectation', lines('POST /here HTTP/1.1', 'host: a', 'expect: the-moon', 'content-length: 0', CLOSE), 417],
  ['a path that is not encoded', lines('GET /%zz HTTP/1.1', 'host: a', CLOSE), 400],
  ['another version', lines('GET /here HTTP/9.9', 'host: a'), 400],
])('%s is refused as a problem without internals', async (_what, bytes, status) => {
  const { status: seen, head, body } = await send(bytes);
  expect(seen).toBe(status);
  expect(head).toContain('content-type: application/problem+json');
  expect(head).toContain(`x-request-id: ${body.request_id}`);
  expect(body).toEqual({
    type: '/problems/invalid_request',
    title: 'Invalid request',
    status,
    detail: expect.any(String),
    code: 'invalid_request',
    request_id: expect.any(String),
    errors: [],
  });
  expect(JSON.stringify(body)).not.toMatch(/HPE_|FST_|ERR_|node|fastify| at /i);
});

test('HTTP/1.0 needs no Host, and 100-continue is met', async () => {
  expect(await send(lines('GET /here HTTP/1.0'))).toMatchObject({ status: 200, body: { here: true } });
  const continued = connect(port, '127.0.0.1');
  continued.write(
    `${lines('POST /here HTTP/1.1', 'host: a', 'expect: 100-continue', 'content-type: application/json', 'content-length: 2', CLOSE)}[]`,
  );
  expect(await text(continued)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
});

test('the absolute form of a target is its path', async () => {
  expect(await send(lines('GET http://elsewhere.example:8080/here HTTP/1.1', 'host: a', CLOSE))).toMatchObject({
    status: 200,
    body: { here: true },
  });
});
