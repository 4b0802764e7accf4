import { createRequire } from 'node:module';
import pino from 'pino';
import { expect, test } from 'vitest';
import { createHttp } from '../../runtime/http/server.js';

const loaded = (): string[] => Object.keys(createRequire(import.meta.url).cache);
const http = () => createHttp({ log: pino({ level: 'silent' }) });

test('a server takes none of the compilers of JSON Schema that Fastify brings', async () => {
  const app = http();
  app.get('/here', async () => ({}));
  expect((await app.inject('/here')).statusCode).toBe(200);
  expect(loaded().some(file => file.includes('/node_modules/fastify/'))).toBe(true);
  expect(
    loaded().filter(file => /\/node_modules\/(@fastify\/ajv-compiler|@fastify\/fast-json-stringify-compiler|ajv)\//.test(file)),
  ).toEqual([]);
});

test.each(['body', 'response'])(
  'a route that states a JSON Schema of its %s does not start, because nothing would compile it',
  async part => {
    const app = http();
    const schema = { type: 'object' };
    app.post('/here', { schema: { [part]: part === 'body' ? schema : { 200: schema } } }, async () => ({}));
    await expect(app.ready().then(() => null)).rejects.toThrow('routes have no JSON Schema here');
  },
);
