import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withDevelopmentSecrets } from '../../runtime/access/development-secrets.js';

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'platform-secrets-'))));
afterEach(() => rm(folder, { recursive: true }));

type Env = Awaited<ReturnType<typeof withDevelopmentSecrets>>;
const file = (): string => join(folder, 'data', 'secrets.env');
const start = (env: Env = {}): Promise<Env> => withDevelopmentSecrets({ DATA_DIR: join(folder, 'data'), ...env });
/** As many processes as a fresh checkout starts at once, and more. */
const startTogether = (): Promise<Env[]> => Promise.all(Array.from({ length: 30 }, () => start()));
const linesOf = async (): Promise<string[]> => (await readFile(file(), 'utf8')).trim().split('\n');
const onlyOne = (envs: readonly Env[]): Env => {
  expect(new Set(envs.map(env => JSON.stringify(env))).size).toBe(1);
  return envs[0]!;
};

test('processes that start together on an empty folder agree on all secrets, and so does the next one', async () => {
  const env = onlyOne([...(await startTogether()), await start()]);
  expect(Buffer.from(env.TOKEN_SIGNING_KEK!, 'base64').length).toBe(32);
  expect(env.ENCRYPTION_KEYS).toMatch(/^dev1:[\w+/]{43}=$/);
  expect(env.INTERNAL_CLIENT_SECRET_PATIENT_GRAPH).toMatch(/^[\w-]{43}$/);
  for (const line of await linesOf()) expect(env[line.slice(0, line.indexOf('='))]).toBe(line.slice(line.indexOf('=') + 1));
});

test('the file is for its owner only, each name stands in it once, and nothing else is left', async () => {
  await startTogether();
  const names = (await linesOf()).map(line => line.split('=')[0]);
  expect([names.length, (await stat(file())).mode & 0o777]).toEqual([new Set(names).size, 0o600]);
  expect(await readdir(join(folder, 'data'))).toEqual(['secrets.env']);
});

test('a name that a later version adds gets one value for all processes, and every other line stays', async () => {
  await start();
  const kept = [...(await linesOf()).filter(line => !line.startsWith('INTERNAL_CLIENT_SECRET_LIVE=')), 'SEED_PASSWORD=of-my-own'];
  await writeFile(file(), kept.join('\n')); // as an editor may leave it, without a last line end
  await chmod(file(), 0o644);
  const env = onlyOne([...(await startTogether()), await start()]);
  expect(env.INTERNAL_CLIENT_SECRET_LIVE).toMatch(/^[\w-]{43}$/);
  expect(await linesOf()).toEqual([...kept, `INTERNAL_CLIENT_SECRET_LIVE=${env.INTERNAL_CLIENT_SECRET_LIVE}`]);
  expect((await stat(file())).mode & 0o777).toBe(0o600);
});

test('secrets that are added differ from each other and from those of another folder', async () => {
  const added = async (): Promise<string[]> => {
    await start();
    await writeFile(file(), (await linesOf()).filter(line => line.startsWith('TOKEN_SIGNING_KEK=')).join('\n'));
    const env = await start();
    await rm(file());
    return [env.ENCRYPTION_KEYS!.split(':')[1]!, env.INTERNAL_CLIENT_SECRET_LIVE!, env.INTERNAL_CLIENT_SECRET_LABS!];
  };
  const all = [...(await added()), ...(await added())];
  expect(new Set(all).size).toBe(6);
});

test('what the environment sets wins over the file', async () => {
  await start();
  expect((await start({ ENCRYPTION_KEYS: 'mine:key' })).ENCRYPTION_KEYS).toBe('mine:key');
});

test('a file that lost the key of the signing keys is no reason to make another one', async () => {
  await start();
  const rest = (await linesOf()).filter(line => !line.startsWith('TOKEN_SIGNING_KEK='));
  await writeFile(file(), rest.join('\n'));
  await expect(start()).rejects.toThrow(/secrets\.env lacks TOKEN_SIGNING_KEK/);
  expect(await linesOf()).toEqual(rest);
  expect((await start({ TOKEN_SIGNING_KEK: 'mine' })).TOKEN_SIGNING_KEK).toBe('mine');
});

test.each<[string, Env]>([
  ['production', { NODE_ENV: 'production' }],
  ['a gateway on another machine', { GATEWAY_URL: 'http://gateway:4000' }],
  ['a service on another machine', { SUBGRAPH_URL_LABS: 'http://10.0.0.7:4001' }],
  ['part of the services on the database of another machine', { SERVICES: 'labs', DATABASE_URL: 'postgres://me@db/platform' }],
  ['part of the roles on the database of another machine', { ROLES: 'relay', DATABASE_URL: 'postgres://me@db/platform' }],
])('%s: secrets are generated nowhere, because no other machine would know them', async (_case, env) => {
  expect((await start(env)).TOKEN_SIGNING_KEK).toBeUndefined();
  expect(await readdir(folder)).toEqual([]);
});

test.each<[string, Env]>([
  ['everything on the database of another machine', { DATABASE_URL: 'postgres://me@db/platform' }],
  [
    'one of several processes here',
    { SERVICES: 'labs', DATABASE_URL: 'postgres://me@127.0.0.1/platform', GATEWAY_URL: 'http://localhost:4000' },
  ],
  ['a database behind a socket', { ROLES: 'relay', DATABASE_URL: 'postgres:///platform?host=/var/run/postgresql' }],
  ['an address of IPv6', { SUBGRAPH_URL_LABS: 'http://[::1]:4001', GATEWAY_URL: 'http://gateway.localhost:4000' }],
])('%s: secrets are generated', async (_case, env) => {
  expect((await start(env)).TOKEN_SIGNING_KEK).toBeTruthy();
});
