import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { SqlEntityManager } from '@mikro-orm/postgresql';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, afterEach, expect, test, vi } from 'vitest';
import { createRoles, openOrm, sqlOf } from '../../runtime/data/database.js';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../runtime/embedded-postgres/start.js';

const ROOT = resolve(import.meta.dirname, '../..');
/** The wrapper compiled, so that a process of its own can be killed. Under node_modules, so that it finds its packages. */
let compiled: string;
let folder: string;
let dataDir: string;
const lines: string[] = [];
const processes: ChildProcess[] = [];
const servers: EmbeddedPostgres[] = [];

const log = (line: string): void => void lines.push(line);

/** Starts in this process; the test's end stops it. */
async function start(durable = false): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, log, durable });
  servers.push(server);
  return server;
}

/** Starts in a process of its own, which does nothing about signals. */
async function startElsewhere(): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [join(compiled, 'main.js'), dataDir], { stdio: ['ignore', 'pipe', 'pipe'] });
  processes.push(child);
  const errors: string[] = [];
  child.stderr!.on('data', chunk => errors.push(String(chunk)));
  for await (const line of createInterface(child.stdout!)) return { child, url: line };
  throw new Error(errors.join(''));
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

const postmasterPid = async (): Promise<number> => Number((await readFile(join(dataDir, 'data/postmaster.pid'), 'utf8')).split('\n')[0]);

/** State letter of a process; empty when it is gone. Small Linux images have no `ps`. */
function stateOf(pid: number): string {
  if (process.platform !== 'linux') return spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
  return existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]! : '';
}

/** Whether the process runs; a zombie that its new parent does not collect no longer does. */
const runs = (pid: number): boolean => !['', 'Z'].includes(stateOf(pid).charAt(0));

async function kill(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  child.kill(signal);
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

beforeAll(async () => {
  await mkdir(join(ROOT, 'node_modules/.cache'), { recursive: true });
  compiled = await mkdtemp(join(ROOT, 'node_modules/.cache/embedded-postgres-'));
  const options = '--ignoreConfig --module nodenext --target es2023 --types node --skipLibCheck --outDir'.split(' ');
  const source = join(ROOT, 'runtime/embedded-postgres/start.ts');
  const { status, stdout } = spawnSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), ...options, compiled, source], {
    encoding: 'utf8',
  });
  expect(status, stdout).toBe(0);
  await writeFile(join(compiled, 'package.json'), '{"type":"module"}');
  await writeFile(
    join(compiled, 'main.js'),
    `import { startEmbeddedPostgres } from './start.js';
     const { url } = await startEmbeddedPostgres({ dataDir: process.argv[2], log: console.error });
     console.log(url);
     setInterval(() => undefined, 60_000);`,
  );
  await writeFile(
    join(compiled, 'stop.js'),
    `import { startEmbeddedPostgres } from './start.js';
     const { stop } = await startEmbeddedPostgres({ dataDir: process.argv[2], log: console.error });
     await stop();
     console.log('stopped');`,
  );
});

afterAll(() => rm(compiled, { recursive: true }));

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'embedded-postgres-'));
  await chmod(folder, 0o755);
  dataDir = join(folder, 'postgres');
  lines.length = 0;
});

afterEach(async () => {
  const pid = existsSync(join(dataDir, 'data/postmaster.pid')) ? await postmasterPid() : null;
  for (const child of processes.splice(0)) await kill(child, 'SIGTERM');
  for (const server of servers.splice(0)) await server.stop();
  if (pid !== null) await vi.waitFor(() => expect(runs(pid)).toBe(false), 20_000); // a child's ends a moment after it
  if (existsSync(dataDir)) await rm(await realpath(dataDir), { recursive: true });
  await rm(folder, { recursive: true });
});

test('the first start makes a PostgreSQL 18 with UTF-8 and locale C that listens on 127.0.0.1 only', async () => {
  const server = await start(true);
  expect(server.version).toMatch(/^18\.\d+$/);
  const settings = ['server_encoding', 'listen_addresses', 'max_connections', 'max_locks_per_transaction', 'fsync', 'TimeZone'];
  const shown = await query(server.url, `select name, setting from pg_settings where name in ('${settings.join("','")}')`);
  expect(Object.fromEntries(shown.map(row => [String(row.name).toLowerCase(), row.setting]))).toEqual({
    server_encoding: 'UTF8',
    listen_addresses: '127.0.0.1',
    max_connections: '300',
    max_locks_per_transaction: '256',
    fsync: 'on',
    timezone: 'UTC',
  });
  expect(await query(server.url, "select datcollate from pg_database where datname = 'template1'")).toEqual([{ datcollate: 'C' }]);
});

const ADDRESS = 'select host(inet_server_addr()) as address';

test('its own connections go through a socket in its folder, and an ORM takes the same way', async () => {
  const server = await start();
  expect(await query(server.url, ADDRESS)).toEqual([{ address: null }]);
  await createRoles(server.url);
  const orm = openOrm('platform', server.url, [], 1);
  expect(await sqlOf(orm.em as SqlEntityManager)(ADDRESS)).toEqual([{ address: null }]);
  await orm.close();
});

test('a server in a folder whose name is too long for a socket, or wants quotes, is reached through TCP', async () => {
  for (const name of ['l'.repeat(90), "it's, a folder"]) {
    dataDir = join(folder, name);
    const server = await start();
    expect(await query(server.url, ADDRESS)).toEqual([{ address: '127.0.0.1' }]);
    await server.stop();
  }
});

test('a stopped server leaves no process, and the next start finds the data', async () => {
  const first = await start();
  await query(first.url, 'create table kept as select 42 as answer');
  const pid = await postmasterPid();
  await first.stop();
  expect(runs(pid)).toBe(false);
  const second = await start();
  expect(await query(second.url, 'select * from kept')).toEqual([{ answer: 42 }]);
  expect(lines.filter(line => line.startsWith('making'))).toHaveLength(1);
});

test('stopping is finished even where the process has nothing else to do', async () => {
  const { stdout, status } = spawnSync(process.execPath, [join(compiled, 'stop.js'), dataDir], { encoding: 'utf8' });
  expect([stdout, status]).toEqual(['stopped\n', 0]);
  expect(existsSync(join(dataDir, 'data/postmaster.pid'))).toBe(false);
});

test('a server that was orphaned by a SIGKILL of the platform is taken over with its port', async () => {
  const { child, url } = await startElsewhere();
  const pid = await postmasterPid();
  await kill(child, 'SIGKILL');
  const server = await start();
  expect([server.url, await postmasterPid()]).toEqual([url, pid]);
  await server.stop();
  await vi.waitFor(() => expect(runs(pid)).toBe(false), 10_000); // whoever adopted the orphan reaps it a moment later
});

test('what was committed survives a SIGKILL of the platform and of its PostgreSQL', async () => {
  const { child, url } = await startElsewhere();
  await query(url, 'create table kept as select generate_series(1, 1000) as n');
  process.kill(await postmasterPid(), 'SIGKILL');
  await kill(child, 'SIGKILL');
  const server = await start();
  expect(await query(server.url, 'select count(*)::int as n from kept')).toEqual([{ n: 1000 }]);
});

test('a PostgreSQL that is killed is started again on the same port', async () => {
  const server = await start();
  await query(server.url, 'create table kept as select 1 as n');
  process.kill(await postmasterPid(), 'SIGKILL');
  await vi.waitFor(async () => expect(await query(server.url, 'select n from kept')).toEqual([{ n: 1 }]), {
    timeout: 20_000,
    interval: 50,
  });
  await vi.waitFor(() => expect(lines.some(line => line.includes('starting it again'))).toBe(true));
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s on a process that does not listen to it ends the PostgreSQL too', async signal => {
  const { child } = await startElsewhere();
  const pid = await postmasterPid();
  await kill(child, signal);
  await vi.waitFor(() => expect(runs(pid)).toBe(false), { timeout: 20_000 });
});

test('a second process on the same folder is refused, and the first keeps its server', async () => {
  const { url } = await startElsewhere();
  await expect(start()).rejects.toThrow(/Another process already runs the PostgreSQL in/);
  expect(await query(url, 'select 1 as alive')).toEqual([{ alive: 1 }]);
});

test('a postmaster.pid whose number now belongs to another process does not stop the start', async () => {
  const first = await start();
  const file = join(dataDir, 'data/postmaster.pid');
  const rest = (await readFile(file, 'utf8')).split('\n').slice(1);
  await first.stop();
  await writeFile(file, [process.pid, ...rest].join('\n'));
  const second = await start();
  expect(await query(second.url, 'select 1 as alive')).toEqual([{ alive: 1 }]);
});

test('an initdb that was killed halfway leaves nothing that a later start trips over', async () => {
  await mkdir(join(dataDir, 'data.new-1/base'), { recursive: true });
  const server = await start();
  expect(await query(server.url, 'select 1 as alive')).toEqual([{ alive: 1 }]);
  expect(existsSync(join(dataDir, 'data.new-1'))).toBe(false);
});

test('a data folder inside a 0700 folder works', async () => {
  await chmod(folder, 0o700);
  const first = await start();
  await query(first.url, 'create table kept as select 1 as n');
  await first.stop();
  const second = await start();
  expect(await query(second.url, 'select n from kept')).toEqual([{ n: 1 }]);
});

test('data of another major version are refused with the version named', async () => {
  await (await start()).stop();
  await writeFile(join(dataDir, 'data/PG_VERSION'), '17\n');
  await expect(start()).rejects.toThrow(/belong to PostgreSQL 17, this is 18/);
});

test('values and statements of failed queries do not reach server.log', async () => {
  const server = await start();
  await query(server.url, 'create table readings (value text primary key)');
  await expect(query(server.url, "insert into readings values ('LDL 160'), ('LDL 160')")).rejects.toThrow(/duplicate key/);
  expect(await readFile(join(dataDir, 'server.log'), 'utf8')).not.toMatch(/LDL|insert/);
});
