import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { closeGracefully } from '../../gateway/composition/shutdown.js';
import { createHttp } from '../../runtime/http/server.js';
import { createLogger } from '../../runtime/observe/log.js';

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

async function connection(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

/** A server whose one answer waits for `finish`. */
async function server() {
  const app = createHttp({ log: createLogger('error') });
  const [begun, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  app.get('/', () => (begun.resolve(), answer.promise));
  await app.listen({ port: 0, host: '127.0.0.1' });
  return { app, port: (app.server.address() as AddressInfo).port, begun: begun.promise, finish: () => answer.resolve('done') };
}

const GET = 'GET / HTTP/1.1\r\nHost: here\r\n\r\n';

test.each([0, 10])(
  'connections that never carried a request, as browsers open them in advance, do not hold up the end (grace %i ms)',
  async grace => {
    const { app, port } = await server();
    const unused = await connection(port);
    const closed = once(unused, 'close');
    unused.resume();
    await closeGracefully(app, grace);
    await closed;
  },
);

test('who is being answered gets the answer, and then the connection ends', async () => {
  const { app, port, begun, finish } = await server();
  const [unused, asking] = [await connection(port), await connection(port)];
  let text = '';
  asking.on('data', chunk => (text += String(chunk)));
  asking.write(GET);
  await begun;
  const [end, closed] = [closeGracefully(app, 0), once(unused, 'close')];
  unused.resume();
  await closed; // the others are gone, and this one waits
  expect(text).toBe('');
  const answered = once(asking, 'close');
  finish();
  await Promise.all([end, answered]);
  expect(text).toMatch(/^HTTP\/1\.1 200 [^]*connection: close[^]*done$/i);
});
