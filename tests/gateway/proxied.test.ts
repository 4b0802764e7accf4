/** Native paths of a service in another process, whose connections it may close just as they are used. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { proxyServices } from '../../gateway/endpoints/proxy.js';
import { createHttp } from '../../runtime/http/server.js';
import { createLogger } from '../../runtime/observe/log.js';

let service: Server;
let gateway: FastifyInstance;
let url: string;
let came: string[];
let handle: (request: IncomingMessage, response: ServerResponse) => void;

const addressOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

beforeEach(async () => {
  came = [];
  service = createServer((request, response) => {
    came.push(request.method!);
    request.resume().on('end', () => handle(request, response));
  }).listen(0, '127.0.0.1');
  await once(service, 'listening');
  gateway = createHttp({ log: createLogger('silent') });
  await proxyServices(gateway, { comms: addressOf(service) }, { issuer: 'http://localhost:3000', subgraphSecret: 'secret' });
  await gateway.listen({ port: 0, host: '127.0.0.1' });
  url = `${addressOf(gateway.server)}/comms/native`;
});
afterEach(async () => {
  await gateway.close();
  service.closeAllConnections();
  service.close();
});

/** Lets a connection become idle; what comes over it later finds it closed. */
async function closeTheIdleOne(): Promise<void> {
  const idle = new Set<Socket>();
  handle = ({ socket }, response) => (idle.add(socket), response.end('first'));
  await (await fetch(url)).text();
  came = [];
  handle = ({ socket }, response) => (idle.has(socket) ? socket.destroy() : response.end('second'));
}

test('a read whose connection is lost before its answer is asked once more', async () => {
  await closeTheIdleOne();
  expect(await (await fetch(url)).text()).toBe('second');
  expect(came).toEqual(['GET', 'GET']);
  handle = ({ socket }) => socket.destroy();
  came = [];
  expect((await fetch(url)).status).toBe(503);
  expect(came).toEqual(['GET', 'GET']);
});

test('a write is sent once, whatever becomes of its connection', async () => {
  await closeTheIdleOne();
  const answer = await fetch(url, { method: 'POST', body: 'a' });
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  expect(came).toEqual(['POST']);
});

test('an answer that the service cannot do this now is the answer: nothing asks it again', async () => {
  handle = (_request, response) => void response.writeHead(503, { 'retry-after': '1' }).end('busy');
  const answer = await fetch(url);
  expect([answer.status, await answer.text()]).toEqual([503, 'busy']);
  expect(came).toEqual(['GET']);
});
