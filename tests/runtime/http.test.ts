import { spawnSync } from 'node:child_process';
import pino from 'pino';
import { expect, test } from 'vitest';
import { createHttp } from '../../runtime/http/server.js';
import { ROOT } from '../house/sources.js';

const http = () => createHttp({ log: pino({ level: 'silent' }) });

/** Prints the files that a process has loaded once a server has answered. */
const LOADED = `
import { createRequire } from 'node:module';
import pino from 'pino';
import { createHttp } from './dist/runtime/http/server.js';
const app = createHttp({ log: pino({ level: 'silent' }) });
app.get('/here', async () => ({}));
if ((await app.inject('/here')).statusCode !== 200) throw new Error('no answer');
console.log(Object.keys(createRequire(process.cwd() + '/x.js').cache).join('\\n'));`;

/** In a process of its own: others here load them for servers of theirs. */
function loadedByServer(): string[] {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', LOADED], { cwd: ROOT, encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n');
}

test('a server takes none of the compilers of JSON Schema that Fastify brings', () => {
  const loaded = loadedByServer();
  expect(loaded.some(file => file.includes('/node_modules/fastify/'))).toBe(true);
  const compilers = /\/node_modules\/(@fastify\/ajv-compiler|@fastify\/fast-json-stringify-compiler|ajv)\//;
  expect(loaded.filter(file => compilers.test(file))).toEqual([]);
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
