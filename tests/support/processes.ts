import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Slug } from '../../events/slugs.js';
import { schemaOf } from '../../events/slugs.js';
import { atEnd } from './at-end.js';
import { COMPILE_CACHE } from './compile-cache.js';
import { dropDatabase } from './database.js';
import { freePort, platformEnv, RemotePlatform, seededDatabase, type PlatformSetting } from './platform.js';
import { oneAtATime } from './one-at-a-time.js';
import { until } from './until.js';

const MAIN = join(import.meta.dirname, '../../dist/gateway/main.js');

/** An end takes 25 s at most, on a machine that has time for it; what would never end keeps its connections, and the files after it wait. */
const END_MS = 120_000;

/** One process of the platform, with the last of what it printed. */
export interface Child {
  process: ChildProcess;
  printed(): string;
  /** Asks it to stop and waits; `SIGKILL` for a crash. */
  end(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts `dist/gateway/main.js`, or a file of a test around it, with exactly these variables. */
export function startProcess(env: Record<string, string>, file = MAIN): Child {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', file], {
    env: { PATH: process.env.PATH!, NODE_COMPILE_CACHE: COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const keep = (chunk: Buffer): void => void (text = (text + chunk.toString('utf8')).slice(-20_000));
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  return {
    process: child,
    printed: () => text,
    async end(signal = 'SIGTERM') {
      if (hasEnded({ process: child })) return;
      const gone = once(child, 'exit');
      child.kill(signal);
      let isStuck = false;
      const stuck = setTimeout(() => (isStuck = child.kill('SIGKILL')), END_MS);
      await gone;
      clearTimeout(stuck);
      if (isStuck) throw new Error(`a process did not end within ${END_MS / 1_000} s of ${signal}: ${text}`);
    },
  };
}

export interface Processes extends RemotePlatform {
  children: ReadonlyMap<string, Child>;
  /** Base URL of a service's own process. */
  urlOf(slug: Slug): string;
  /** Starts one more process of a service on the same database. @returns its base URL. */
  another(slug: Slug): Promise<string>;
  /** Starts a service's own process again at its address, after its end. */
  restart(slug: Slug): void;
}

const variables = (urls: ReadonlyMap<Slug, string>): Record<string, string> =>
  Object.fromEntries([...urls].map(([slug, url]) => [`SUBGRAPH_URL_${schemaOf(slug).toUpperCase()}`, url]));

/** Eleven processes start together, beside the files of other workers; a shorter limit would ask for an idle machine. */
const READY_MS = 180_000;

const hasEnded = ({ process }: Pick<Child, 'process'>): boolean => process.exitCode !== null || process.signalCode !== null;

async function ready(url: string, slug: Slug, children: ReadonlyMap<string, Child>): Promise<void> {
  const ask = () => {
    const ended = [...children].filter(([, child]) => hasEnded(child)).map(([name]) => name);
    if (ended.length > 0) throw new Error(`ended instead of being ready: ${ended.join(', ')}`);
    return fetch(`${url}/${slug}/readyz`).then(
      answer => answer.status,
      () => 0,
    );
  };
  await until(
    `${slug} to be ready`,
    async () => ask(),
    status => status === 200,
    READY_MS,
  ).catch(error => {
    throw new Error(`${(error as Error).message}\n${[...children].map(([name, child]) => `--- ${name}\n${child.printed()}`).join('\n')}`);
  });
}

/**
 * Every service of the file in a process of its own, the relay in another, gateway and REST in a third kind; all end after the file.
 * Each process has two to five connections, so a file names the services that it needs.
 */
export async function separateProcesses(setting: PlatformSetting & { services: readonly Slug[] }): Promise<Processes> {
  await oneAtATime();
  const databaseUrl = await seededDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'platform-processes-'));
  const gateway: Record<string, string> = { ...(await platformEnv(databaseUrl, setting)), DATA_DIR: dataDir };
  const slugs = gateway.SERVICES!.split(',') as Slug[];
  const urls = new Map<Slug, string>();
  for (const slug of slugs) urls.set(slug, `http://localhost:${await freePort()}`);
  const shared = {
    ...gateway,
    DATABASE_POOL_MAX: '2', // PostgreSQL has 100 connections for all of them
    ...variables(urls),
    GATEWAY_URL: gateway.BASE_URL!,
    IDENTITY_ISSUER: `${gateway.BASE_URL}/identity`,
  };
  const children = new Map<string, Child>();
  children.set('gateway', startProcess({ ...shared, ROLES: 'gateway,rest' }));
  children.set('relay', startProcess({ ...shared, ROLES: 'relay', PORT: String(await freePort()) }));
  const startService = (slug: Slug, url: string): Child =>
    startProcess({ ...shared, SERVICES: slug, ROLES: 'subgraphs,consumers,scheduler', PORT: new URL(url).port });
  const restart = (slug: Slug): void => void children.set(slug, startService(slug, urls.get(slug)!));
  slugs.forEach(restart);
  const owner = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  const another = async (slug: Slug): Promise<string> => {
    const url = `http://localhost:${await freePort()}`;
    children.set(`${slug} ${url}`, startService(slug, url));
    await ready(url, slug, children);
    return url;
  };
  const remote = Object.assign(new RemotePlatform(gateway, owner), { children, another, restart, urlOf: (slug: Slug) => urls.get(slug)! });
  atEnd(async () => {
    await Promise.all([...children.values()].map(child => child.end()));
    await remote.stop();
    await dropDatabase(databaseUrl);
    await rm(dataDir, { recursive: true, force: true });
  });
  for (const slug of slugs) await ready(gateway.BASE_URL!, slug, children);
  return remote;
}
