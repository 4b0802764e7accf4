import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { oneAtATime } from '../support/one-at-a-time.js';
import { until } from '../support/until.js';
import { freshCheckout, ROOT } from './checkout.js';

const README = await readFile(join(ROOT, 'README.md'), 'utf8');
/** The shell blocks of the README by the heading above them; those of one heading follow each other. */
const BLOCKS = new Map(
  README.split(/^## /m)
    .slice(1)
    .map(
      section => [section.split('\n', 1)[0]!, [...section.matchAll(/```sh\n([^]*?)```/g)].map(([, block]) => block!).join('\n')] as const,
    )
    .filter(([, block]) => block !== ''),
);
const commandOf = (line: string): string => line.replace(/\s+#.*/, '').trim();
const commandsUnder = (heading: string): string[] => BLOCKS.get(heading)!.split('\n').map(commandOf).filter(Boolean);

let checkout: string;
let port: number;
beforeAll(async () => {
  checkout = await freshCheckout();
  port = await freePorts();
  // the commands say port 4000, which may be taken here
  await mkdir(join(checkout, 'home'));
  await writeFile(join(checkout, 'home/.curlrc'), `connect-to = "localhost:4000:localhost:${port}"\n`);
});
afterAll(() => rm(checkout, { recursive: true, force: true }));

const isFree = (candidate: number): Promise<boolean> =>
  new Promise(resolve => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(candidate, 'localhost', () => server.close(() => resolve(true)));
  });

/** A port that is free together with those that the services and the relay take. */
async function freePorts(): Promise<number> {
  for (let base = 20_000 + Math.floor(Math.random() * 10_000); ; base += 200) {
    const wanted = [...Array.from({ length: 40 }, (_, n) => base + n), base + 100];
    if ((await Promise.all(wanted.map(isFree))).every(Boolean)) return base;
  }
}

/** The environment of somebody who has cloned the repository and set nothing. */
const environment = (): Record<string, string> => ({
  PATH: process.env
    .PATH!.split(':')
    .filter(dir => !dir.includes('node_modules'))
    .join(':'),
  HOME: join(checkout, 'home'),
  PORT: String(port),
});

interface Running {
  child: ChildProcess;
  printed(): string;
  /** Ctrl-C: the terminal tells every process of the group. Resolves when all have closed their output. @returns exit code. */
  interrupt(): Promise<number | null>;
}

function run(command: string): Running {
  const child = spawn('bash', ['-c', command], { cwd: checkout, env: environment(), detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream!.on('data', chunk => (text += chunk));
  const closed = once(child, 'close');
  return {
    child,
    printed: () => text,
    async interrupt() {
      if (child.exitCode === null) process.kill(-child.pid!, 'SIGINT');
      return ((await closed) as [number | null])[0];
    },
  };
}

async function printed(running: Running, what: RegExp): Promise<void> {
  const ended = () => running.child.exitCode !== null;
  await until(`${what} to be printed`, async () => what.test(running.printed()) || ended(), Boolean, 400_000).catch(() => undefined);
  expect(running.printed()).toMatch(what);
}

/** Runs a block as it stands; the answers are its output. */
function paste(heading: string): string[] {
  const script = `set -euo pipefail\n${BLOCKS.get(heading)!.replaceAll(/^(curl[^]*?[^\\])$/gm, '$1\necho')}`;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { cwd: checkout, env: environment(), encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  return stdout.split('\n').filter(Boolean);
}

/** The demo person can use the promo code once. */
function expectFirstAnswers(purchase: object): void {
  const [rest, graphql, bought] = paste('First requests').map(line => JSON.parse(line));
  expect(rest).toMatchObject({ code: 'ldl_c' });
  expect(graphql).toMatchObject({ data: { brands: { nodes: [{ slug: 'second' }, { slug: 'main' }] }, biomarker: { unit: 'mg/dL' } } });
  expect(bought).toMatchObject(purchase);
  expect(readFileSync(join(checkout, 'invoice.pdf'), 'latin1')).toMatch(/^%PDF-/);
}

const postgresRuns = (): boolean => existsSync(join(checkout, '.data/postgres/data/postmaster.pid'));

describe('the commands of the README, as they stand, in a fresh checkout', { timeout: 900_000 }, () => {
  test('no shell block is left out here', () => {
    expect([...BLOCKS.keys()]).toEqual(['Two commands', 'First requests', 'Running it apart']);
    expect(commandsUnder('Two commands')).toEqual(['npm start', 'npm test']); // the second is what runs this
    expect(commandsUnder('Running it apart')).toEqual(['npm run start:apart']);
  });

  test('every service starts in a process of its own, on an empty folder, and Ctrl-C stops them all', async () => {
    await oneAtATime();
    const [command] = commandsUnder('Running it apart');
    const running = run(command!);
    try {
      await printed(running, /All (\d+) processes are ready/);
      expectFirstAnswers({ status: 'complete', amounts: { total: { amount: 7_920 } } });
      expect(running.printed()).toMatch(/^clinical +\| Ready in /m);
      const pages = ['/', '/dev/mail', '/identity', '/docs'].map(path =>
        fetch(`http://localhost:${port}${path}`, { headers: { accept: 'text/html' } }),
      );
      expect((await Promise.all(pages)).map(page => page.status)).toEqual([200, 200, 200, 200]);
      const kept = readdirSync(join(checkout, '.data')).sort(); // the ledger's first head comes when its time has come
      expect(kept.filter(name => name !== 'ledger-heads.jsonl')).toEqual(['blobs', 'postgres', 'secrets.env']);
    } finally {
      await running.interrupt();
    }
    expect(running.printed()).toMatch(/\| Stopped\.\n$/);
    expect([postgresRuns(), await isFree(port), await isFree(port + 1)]).toEqual([false, true, true]);
  });

  test('an older Node is told what the platform needs', () => {
    const older = 'data:text/javascript,Object.defineProperty(process.versions, "node", { value: "20.20.2" })';
    const { status, stderr } = spawnSync(process.execPath, ['--import', older, 'dist/gateway/main.js'], {
      cwd: checkout,
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([1, expect.stringContaining('needs Node 24 or newer, and this is 20.20.2')]);
  });

  test('everything starts in one process on the same data, and the first requests are answered', async () => {
    const running = run(commandsUnder('Two commands')[0]!);
    try {
      await printed(running, /Ready in /);
      expectFirstAnswers({ status: 400 }); // once for each person
    } finally {
      await running.interrupt();
    }
    // the terminal tells PostgreSQL, too: on a busy machine its last checkpoint ends after us
    await until(
      'all to be gone',
      async () => [postgresRuns(), await isFree(port)],
      ([runs, free]) => !runs && free!,
    );
  });
});
