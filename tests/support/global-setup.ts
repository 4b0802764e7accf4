import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { mkdtemp, readdir, statfs } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../../runtime/embedded-postgres/start.js';
import { choosePostgres, chooseRabbitmq, type FoundServer } from '../../scripts/backends.js';
import { sweepBroker } from './broker.js';
import { countConnections, mostConnections } from './connections.js';
import { dropOrphans, randomName, type CloneStrategy } from './database.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** A PostgreSQL whose role may create databases and roles. */
    databaseUrl: string;
    /** Major version of that PostgreSQL. */
    databaseMajor: number;
    /** How that PostgreSQL clones a database with the least work. */
    cloneStrategy: CloneStrategy;
    /** RabbitMQ of this run; null means the embedded transport. */
    amqpUrl: string | null;
    /** Name of the run's template database, made by the first file that needs a platform. */
    templateName: string;
  }
}

type Undo = () => Promise<void>;

/** Removes the folder of a server that is ending or has ended, without the event loop. */
function removeFolder(dataDir: string): void {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (let tries = 0; tries < 200 && existsSync(join(dataDir, 'data/postmaster.pid')); tries++) Atomics.wait(clock, 0, 0, 50);
  rmSync(realpathSync(dataDir), { recursive: true });
  rmSync(dataDir, { force: true }); // a link, where root had to put the data elsewhere
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const FOLDER = 'platform-test-postgres-';
const FOLDER_OF_RUN = new RegExp(`^${FOLDER}(\\d+)-`);

/** A file system in memory, where there is one (Linux). */
const MEMORY = '/dev/shm';
/** What a run needs at most: 1 GB of log, and for every worker a database or two of 60 MB. */
const MEMORY_NEEDED = 2 * 1024 ** 3;

/**
 * Where the server's files are made. A run makes and removes some 3,000 for each database, and ext4 looks for each at all the inodes that
 * were deleted in the last seconds: a fifth of the server's CPU time.
 */
async function parentFolder(): Promise<string> {
  const free = await statfs(MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return Math.min(free, freemem() / 2) >= MEMORY_NEEDED ? MEMORY : tmpdir();
}

/** Ends the PostgreSQL of a run that was killed: its folder says which run, its `postmaster.pid` which process. */
async function removeOrphanServers(parent: string): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  const runs = names.map(name => FOLDER_OF_RUN.exec(name)).filter(found => found !== null);
  for (const { input: name } of runs.filter(([, pid]) => !isAlive(Number(pid)))) {
    const folder = join(parent, name);
    const lock = join(folder, 'data/postmaster.pid');
    if (existsSync(lock)) {
      const pid = Number(readFileSync(lock, 'utf8').split('\n', 1)[0]);
      if (isAlive(pid)) process.kill(pid, 'SIGQUIT'); // at once: nothing of it is wanted
    }
    removeFolder(folder);
  }
}

const LOOPBACK = /@(127\.0\.0\.1|localhost|\[::1\])[:/]/;

/** PostgreSQL 18 in a temporary folder, in memory if it can be, not durable. */
async function embedded(): Promise<FoundServer & { undo: Undo }> {
  const dataDir = await mkdtemp(join(await parentFolder(), `${FOLDER}${process.pid}-`));
  const { url, version, stop } = await startEmbeddedPostgres({ dataDir, durable: false, log: () => undefined });
  const remove = (): void => removeFolder(dataDir);
  process.once('exit', remove); // on a signal vitest exits before anything asynchronous is done
  const undo = async (): Promise<void> => {
    await stop();
    process.off('exit', remove);
    remove();
  };
  return { url, version, undo };
}

const nothing: Undo = () => Promise.resolve();

/**
 * Decides once per run where the tests' databases and messages live, by `TEST_DATABASE_URL` and `TEST_AMQP_URL` (an address or `embedded`),
 * else by what answers on 127.0.0.1, else embedded. Tests read it by `inject(...)`, processes that they start by `PLATFORM_TEST_*`.
 */
export default async function setup(project: TestProject): Promise<Undo> {
  process.env.PLATFORM_TEST_RUN = String(process.pid);
  await sweepBroker(isAlive);
  for (const parent of [tmpdir(), MEMORY]) await removeOrphanServers(parent);
  const rabbitmq = await chooseRabbitmq();
  const server = await choosePostgres();
  const postgres = server ? { ...server, undo: nothing } : await embedded();
  if (LOOPBACK.test(postgres.url)) await dropOrphans(postgres.url, isAlive);
  project.provide('databaseUrl', postgres.url);
  project.provide('databaseMajor', Number.parseInt(postgres.version, 10));
  project.provide('cloneStrategy', server ? 'wal_log' : 'file_copy');
  project.provide('amqpUrl', rabbitmq?.url ?? null);
  const templateName = randomName('platform_template');
  project.provide('templateName', templateName);
  process.env.PLATFORM_TEST_DATABASE_URL = postgres.url;
  process.env.PLATFORM_TEST_AMQP_URL = rabbitmq?.url ?? '';
  process.env.APOLLO_TELEMETRY_DISABLED = 'true';
  const kind = server ? 'server' : 'embedded';
  console.log(`PostgreSQL ${postgres.version} (${kind}), ${rabbitmq ? `RabbitMQ ${rabbitmq.version}` : 'embedded transport'}`);
  const connections = await countConnections(postgres.url, process.pid);
  return async () => {
    const { peak, holders, max } = await connections.stop();
    const isOther = (pid: number): boolean => pid !== process.pid && isAlive(pid);
    await sweepBroker(isOther); // of platforms whose start failed
    await dropOrphans(postgres.url, isOther); // the template, and what the workers shared
    await postgres.undo();
    const most = mostConnections(max);
    console.log(`at most ${peak} of ${max} connections`);
    if (peak > most) throw new Error(`${peak} connections at once, where ${most} of ${max} are for a run: ${holders}`);
  };
}
