import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { proxyServices } from '../../gateway/endpoints/proxy.js';
import { createHttp } from '../../runtime/http/server.js';
import { createLogger } from '../../runtime/observe/log.js';

const apps: FastifyInstance[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

async function listening(app: FastifyInstance): Promise<string> {
  apps.push(app);
  await app.listen({ port: 0, host: '127.0.0.1' });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}

test('the stream of the inbox is led to the process that has it, although a row of this one matches its path', async () => {
  const [service, gateway] = [createHttp({ log: createLogger('error') }), createHttp({ log: createLogger('error') })];
  service.get('/comms/v1/inbox/stream', (_request, reply) => reply.type('text/event-stream').send('event: snapshot\ndata: {}\n\n'));
  gateway.get<{ Params: { id: string } }>('/comms/v1/inbox/:id', async ({ params }) => `item ${params.id}`);
  await proxyServices(gateway, { comms: await listening(service) }, { issuer: 'http://localhost:3000', subgraphSecret: 'secret' });
  const url = await listening(gateway);
  const read = async (id: string): Promise<string> => (await fetch(`${url}/comms/v1/inbox/${id}`)).text();
  expect([await read('stream'), await read('one')]).toEqual(['event: snapshot\ndata: {}\n\n', 'item one']);
});
