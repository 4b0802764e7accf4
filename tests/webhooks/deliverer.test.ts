import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { HttpDeliverer, type DelivererSetting, type OutboundRequest } from '../../subgraphs/webhooks/ports/deliverer.js';
import { parseNetworks } from '../../runtime/http/public-address.js';
import { BLOCKED_ADDRESSES, BLOCKED_URLS } from './hostile.js';

const LOOPBACK = parseNetworks('127.0.0.0/8,::1/128');
const NAME = 'hooks.example.com';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

function deliverer(setting: Partial<DelivererSetting> = {}): HttpDeliverer {
  const made = new HttpDeliverer({ egress: { http: true, networks: LOOPBACK }, resolve: async () => ['127.0.0.1'], ...setting });
  ends.push(() => made.close());
  return made;
}

const portOf = (server: Server | TcpServer): number => (server.address() as AddressInfo).port;

async function listen<S extends Server | TcpServer>(server: S, host = '127.0.0.1'): Promise<S> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>(resolve => server.listen(0, host, resolve));
  ends.push(() => {
    sockets.forEach(socket => socket.destroy());
    return new Promise(resolve => server.close(resolve));
  });
  return server;
}

const http = (answer: RequestListener): Promise<Server> => listen(createHttpServer(answer));
const request = (port: number, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  url: `http://${NAME}:${port}/hook?a=b`,
  headers: { 'Content-Type': 'application/json' },
  body: Buffer.from('{}'),
  timeoutMs: 5_000,
  ...more,
});

describe('addresses that must not be reached', () => {
  let connections = 0;
  const listeners: TcpServer[] = [];

  beforeAll(async () => {
    for (const host of ['127.0.0.1', '::1']) {
      const server = createTcpServer(socket => {
        connections++;
        socket
          .on('error', () => undefined)
          .resume()
          .end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      });
      await new Promise<void>((resolve, reject) =>
        server.once('error', reject).listen(listeners[0] ? portOf(listeners[0]) : 0, host, resolve),
      );
      listeners.push(server);
    }
  });

  afterAll(async () => {
    for (const server of listeners) await new Promise(resolve => server.close(resolve));
  });

  const strict = { egress: { http: true, networks: [] } };

  test('the listeners are there: a request that may reach them does', async () => {
    const before = connections;
    expect(await deliverer().send(request(portOf(listeners[0]!)))).toMatchObject({ error: null, statusCode: 200, resolvedIp: '127.0.0.1' });
    expect(await deliverer({ resolve: async () => ['::1'] }).send(request(portOf(listeners[0]!)))).toMatchObject({
      error: null,
      statusCode: 200,
      resolvedIp: '::1',
    });
    expect(connections).toBe(before + 2);
  });

  test.each(BLOCKED_URLS)('a URL with a host that is %s reaches no listener: %s', async (_what, url) => {
    const before = connections;
    const outcome = await deliverer({ ...strict, resolve: undefined }).send(
      request(0, { url: url.replace('{port}', String(portOf(listeners[0]!))) }),
    );
    expect(outcome).toMatchObject({ error: 'blocked_address', statusCode: null, resolvedIp: null });
    expect(connections).toBe(before);
  });

  test.each(BLOCKED_ADDRESSES)('a public name that resolves to %s (%s) is not connected to', async (_what, address) => {
    const before = connections;
    const outcome = await deliverer({ ...strict, resolve: async () => [address] }).send(request(portOf(listeners[0]!)));
    expect(outcome).toMatchObject({ error: 'blocked_address', resolvedIp: null });
    expect(connections).toBe(before);
  });

  test('a name that resolves to a public and a private address is blocked and not connected to', async () => {
    const before = connections;
    for (const answer of [
      ['93.184.215.14', '127.0.0.1'],
      ['127.0.0.1', '93.184.215.14'],
      ['2606:4700:4700::1111', '::ffff:127.0.0.1'],
    ]) {
      const outcome = await deliverer({ ...strict, resolve: async () => answer }).send(request(portOf(listeners[0]!)));
      expect(outcome.error).toBe('blocked_address');
    }
    expect(connections).toBe(before);
  });

  test('a name that turns from public to private between two connections is judged anew', async () => {
    const before = connections;
    const answers = [['127.0.0.1'], ['10.0.0.5']];
    const outcomes = [];
    const sender = deliverer({ egress: { http: true, networks: parseNetworks('127.0.0.1/32') }, resolve: async () => answers.shift()! });
    outcomes.push(await sender.send(request(portOf(listeners[0]!)))); // this listener closes its connection after each answer
    outcomes.push(await sender.send(request(portOf(listeners[0]!))));
    expect(outcomes.map(outcome => outcome.error)).toEqual([null, 'blocked_address']);
    expect(connections).toBe(before + 1);
  });

  test('a name without any address is a DNS failure, as is one that cannot be resolved', async () => {
    expect((await deliverer({ resolve: async () => [] }).send(request(8080))).error).toBe('dns_failure');
    expect((await deliverer({ resolve: () => Promise.reject(new Error('SERVFAIL')) }).send(request(8080))).error).toBe('dns_failure');
  });
});

test('of thousands of endpoints at most 512 connections are kept for a next request, the latest', async () => {
  let open = 0;
  const server = await http((_request, response) => response.end());
  server.keepAliveTimeout = 60_000;
  server.on('connection', socket => {
    open++;
    socket.once('close', () => open--);
  });
  const sender = deliverer();
  const to = (n: number) => sender.send(request(0, { url: `http://h${n}.example.com:${portOf(server)}/` }));
  for (let n = 0; n < 700; n++) expect((await to(n)).error).toBeNull();
  await expect.poll(() => open).toBe(512);
  expect((await to(699)).timings.connectMs).toBeNull(); // it was kept
  expect((await to(0)).timings.connectMs).not.toBeNull(); // it was not
});

describe('an exchange', () => {
  test.each([200, 201, 202, 204, 226, 299])('status %i is a success', async status => {
    const server = await http((_request, response) => response.writeHead(status).end());
    expect(await deliverer().send(request(portOf(server)))).toMatchObject({ error: null, statusCode: status });
  });

  test.each([400, 401, 404, 410, 429, 500, 503])('status %i is a failure', async status => {
    const server = await http((_request, response) => response.writeHead(status, { 'retry-after': '1' }).end('no'));
    expect(await deliverer().send(request(portOf(server)))).toMatchObject({ error: 'http_status', statusCode: status, responseBody: 'no' });
  });

  test.each([301, 302, 303, 307, 308])('status %i is a failure and is not followed', async status => {
    let followed = 0;
    const target = await http((_request, response) => {
      followed++;
      response.end();
    });
    const server = await http((_request, response) =>
      response.writeHead(status, { location: `http://127.0.0.1:${portOf(target)}/` }).end(),
    );
    expect(await deliverer().send(request(portOf(server)))).toMatchObject({ error: 'redirect', statusCode: status });
    expect(followed).toBe(0);
  });

  test('the body and headers arrive as given, with length and host and nothing of its own', async () => {
    let seen: { headers: Record<string, unknown>; url?: string; method?: string; body: string } | null = null;
    const server = await http((incoming, response) => {
      const chunks: Buffer[] = [];
      incoming
        .on('data', chunk => chunks.push(chunk as Buffer))
        .on('end', () => {
          seen = { headers: incoming.headers, url: incoming.url, method: incoming.method, body: Buffer.concat(chunks).toString() };
          response.end();
        });
    });
    await deliverer().send(request(portOf(server), { body: Buffer.from('{"ü":1}') }));
    expect(seen).toEqual({
      headers: { host: `${NAME}:${portOf(server)}`, connection: 'keep-alive', 'content-type': 'application/json', 'content-length': '8' },
      url: '/hook?a=b',
      method: 'POST',
      body: '{"ü":1}',
    });
  });

  test('a receiver that does not answer in time is a time-out, whatever part was slow', async () => {
    const silent = await listen(createTcpServer(() => undefined));
    expect(await deliverer().send(request(portOf(silent), { timeoutMs: 200 }))).toMatchObject({ error: 'timeout', statusCode: null });
    const dripping = await listen(
      createTcpServer(socket => {
        const answer = [...'HTTP/1.1 200 OK'];
        const timer = setInterval(() => socket.write(answer.shift() ?? '!'), 20);
        socket.on('close', () => clearInterval(timer)).on('error', () => undefined);
      }),
    );
    expect(await deliverer().send(request(portOf(dripping), { timeoutMs: 200 }))).toMatchObject({ error: 'timeout', statusCode: null });
    const never = deliverer({ resolve: () => new Promise(() => undefined) });
    expect(await never.send(request(8080, { timeoutMs: 200 }))).toMatchObject({ error: 'timeout', statusCode: null });
  });

  test('a status in time is a success even when the body never ends; it is read until the deadline', async () => {
    const server = await http((_request, response) => void response.writeHead(200).write('begun'));
    expect(await deliverer().send(request(portOf(server), { timeoutMs: 300 }))).toMatchObject({
      error: null,
      statusCode: 200,
      responseBody: 'begun',
      responseTruncated: true,
    });
  });

  test('of a long body 64 KiB are read, then the connection is closed; 4 KiB are kept', async () => {
    let sent = 0;
    let closed = 0;
    const server = await http((_request, response) => {
      response.on('close', () => closed++);
      const more = (): void => {
        while (!response.destroyed && sent < 64 * 1024 * 1024 && response.write('x'.repeat(65_536))) sent += 65_536;
      };
      response.on('drain', more);
      more();
    });
    const outcome = await deliverer().send(request(portOf(server)));
    expect(outcome).toMatchObject({ error: null, responseTruncated: true });
    expect(outcome.responseBody).toHaveLength(4096);
    await expect.poll(() => closed).toBe(1);
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });

  test('headers over 16 KiB are a protocol error', async () => {
    const server = await http((_request, response) =>
      response.writeHead(200, { big: 'x'.repeat(15_000), bigger: 'y'.repeat(15_000) }).end(),
    );
    expect(await deliverer().send(request(portOf(server)))).toMatchObject({ error: 'protocol_error' });
  });

  test('something that is not HTTP is a protocol error, a closed connection a reset, a closed port a refusal', async () => {
    const talker = await listen(
      createTcpServer(socket => socket.on('error', () => undefined).once('data', () => socket.end('220 smtp.example ESMTP\r\n'))),
    );
    expect((await deliverer().send(request(portOf(talker)))).error).toBe('protocol_error');
    const closer = await listen(createTcpServer(socket => socket.once('data', () => socket.destroy())));
    expect((await deliverer().send(request(portOf(closer)))).error).toBe('connection_reset');
    const gone = createTcpServer();
    await new Promise<void>(resolve => gone.listen(0, '127.0.0.1', resolve));
    const port = portOf(gone);
    await new Promise(resolve => gone.close(resolve));
    expect((await deliverer().send(request(port))).error).toBe('connect_refused');
  });

  test('connections are kept: the second request has no DNS and no connect time, and the same address', async () => {
    let connections = 0;
    const server = await http((_request, response) => response.end());
    server.on('connection', () => connections++);
    const sender = deliverer();
    const [first, second] = [await sender.send(request(portOf(server))), await sender.send(request(portOf(server)))];
    expect(connections).toBe(1);
    expect(first.timings.connectMs).not.toBeNull();
    expect(second).toMatchObject({ resolvedIp: '127.0.0.1', timings: { dnsMs: null, connectMs: null, tlsMs: null } });
  });

  test('requests at the same time have a connection each', async () => {
    const waiting: (() => void)[] = [];
    const server = await http((_request, response) => {
      waiting.push(() => response.end());
      if (waiting.length === 3) waiting.forEach(answer => answer());
    });
    const sender = deliverer();
    const outcomes = await Promise.all([1, 2, 3].map(() => sender.send(request(portOf(server)))));
    expect(outcomes.map(outcome => outcome.error)).toEqual([null, null, null]);
  });

  test('an attempt can be ended from outside', async () => {
    const silent = await listen(createTcpServer(() => undefined));
    const abort = new AbortController();
    const sent = deliverer().send(request(portOf(silent), { signal: abort.signal }));
    setTimeout(() => abort.abort(), 50);
    await expect(sent).rejects.toThrow('another worker');
  });
});

describe('TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'webhooks-tls-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** A certificate for a name, signed by itself. */
  function certificate(name: string): { key: string; cert: string } {
    const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.pem`)];
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-keyout',
        key,
        '-out',
        cert,
        '-days',
        '2',
        '-subj',
        `/CN=${name}`,
        '-addext',
        `subjectAltName=DNS:${name}`,
      ],
      { stdio: 'ignore' },
    );
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  }

  const https = (pair: { key: string; cert: string }, more: object = {}) =>
    listen(createHttpsServer({ ...pair, ...more }, (_request, response) => response.end('ok')));
  const to = (server: Server | TcpServer) => request(0, { url: `https://${NAME}:${portOf(server)}/` });

  test('a certificate for the host name under a trusted root is accepted, by name though the address is pinned', async () => {
    const pair = certificate(NAME);
    let serverName: unknown;
    const server = await https(pair);
    server.on('secureConnection', socket => (serverName = (socket as unknown as { servername: string }).servername));
    const outcome = await deliverer({ ca: pair.cert, egress: { http: false, networks: LOOPBACK } }).send(to(server));
    expect(outcome).toMatchObject({ error: null, statusCode: 200, responseBody: 'ok', resolvedIp: '127.0.0.1' });
    expect(outcome.timings.tlsMs).not.toBeNull();
    expect(serverName).toBe(NAME);
  });

  test('a certificate that nobody trusts is a TLS error', async () => {
    expect((await deliverer().send(to(await https(certificate(NAME))))).error).toBe('tls_error');
  });

  test('a certificate for another name is a TLS error', async () => {
    const pair = certificate('other.example.com');
    expect((await deliverer({ ca: pair.cert }).send(to(await https(pair)))).error).toBe('tls_error');
  });

  test('TLS below 1.2 is a TLS error', async () => {
    const pair = certificate(NAME);
    const old = await https(pair, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' });
    expect((await deliverer({ ca: pair.cert }).send(to(old))).error).toBe('tls_error');
  });
});
