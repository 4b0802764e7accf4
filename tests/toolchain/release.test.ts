import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createDatabase, dropDatabase } from '../support/database.js';
import { oneAtATime } from '../support/one-at-a-time.js';
import { freePort } from '../support/platform.js';
import { until } from '../support/until.js';
import { ROOT } from './checkout.js';

/** Of a production installation. Source: the issue of speed, memory and start. */
const MOST_MB = 450;
const HEIC = readFileSync(join(ROOT, 'tests/clinical/fixtures/report.heic')).toString('base64');
const PERSON = '0190b3a0-0000-7000-8000-0000000000a1';

let folder: string;
let release: string;
let printed: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-release-'));
  await chmod(folder, 0o755);
  release = join(folder, 'suite');
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts/release.mjs'), release], { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  printed = stdout;
}, 300_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Waits until a line of a process matches; its end ends the wait. */
function linesOf(running: ChildProcess): (line: RegExp) => Promise<void> {
  let text = '';
  for (const stream of [running.stdout!, running.stderr!]) stream.on('data', chunk => (text += chunk));
  const state = async (): Promise<string> => (running.exitCode === null ? text : `ended: ${text}`);
  return async line => {
    await until(`${line} to be printed`, state, said => line.test(said) || said.startsWith('ended'), 300_000);
    expect(await state()).toMatch(line);
  };
}

/** Calls of the demo client. */
async function caller(base: string) {
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'demo-m2m', client_secret: 'demo-m2m-secret' });
  const answer = await fetch(`${base}/identity/v1/oauth/token`, { method: 'POST', body: form });
  const { access_token: token } = (await answer.json()) as { access_token: string };
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return async (method: string, path: string, content?: object): Promise<Response> => {
    const response = await fetch(`${base}${path}`, { method, headers, ...(content && { body: JSON.stringify(content) }) });
    expect([path, response.ok]).toEqual([path, true]);
    return response;
  };
}

const json = async (answer: Promise<Response>): Promise<any> => (await answer).json();

const program = (): string[] => [join(release, 'node_modules/.bin/node'), join(release, 'dist/gateway/main.js')];

describe('a release', { timeout: 400_000 }, () => {
  test(`takes at most ${MOST_MB} MB of disk with Node and its packages, and none of them is for development`, () => {
    const { stdout } = spawnSync('du', ['-sm', release], { encoding: 'utf8' });
    expect(Number.parseInt(stdout, 10)).toBeLessThanOrEqual(MOST_MB);
    const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { devDependencies: Record<string, string> };
    const used = ['@types/pg', 'typescript']; // peers of what stays, whose files go
    const left = Object.keys(devDependencies).filter(name => globSync(`node_modules/${name}/**/*.js`, { cwd: release }).length > 0);
    expect(left.filter(name => !used.includes(name))).toEqual([]);
    expect(printed).toMatch(/made in [\d.]+ s; its packages have \d+ MB.*DATABASE_URL names its PostgreSQL/);
  });

  test('loads every package that this checkout loads', () => {
    const names = Object.keys((JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { dependencies: object }).dependencies);
    const probe = `for (const name of ${JSON.stringify(names)}) await import(name).catch(() => console.log(name)); process.exit()`;
    const unloadedIn = (cwd: string): string[] =>
      spawnSync(program()[0]!, ['--input-type=module', '--eval', probe], { cwd, encoding: 'utf8' }).stdout.split('\n').filter(Boolean);
    const unloaded = unloadedIn(ROOT);
    expect(unloaded.length).toBeLessThan(names.length / 10); // those without a main file
    expect(unloadedIn(release).filter(name => !unloaded.includes(name))).toEqual(['graphiql']); // of which browsers get one file
  });

  test('does not overwrite a folder in which something is', () => {
    const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts/release.mjs'), release], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([1, expect.stringContaining('is not empty')]);
  });

  test('says what it needs where no database is named', () => {
    const [node, main] = program();
    const { status, stdout, stderr } = spawnSync(node!, [main!], { cwd: folder, env: {}, encoding: 'utf8' });
    expect([status, stdout + stderr]).toEqual([1, expect.stringContaining('set DATABASE_URL')]);
  });

  test('starts, reloads its supergraph, seeds its pictures, draws an invoice, reads a photographed report and sends a mail', async () => {
    await oneAtATime();
    const [databaseUrl, port] = [await createDatabase(inject('databaseUrl')), await freePort()];
    const base = `http://localhost:${port}`;
    const env = {
      DATABASE_URL: databaseUrl,
      PORT: String(port),
      BASE_URL: base,
      DATA_DIR: join(folder, 'data'),
      SEED_CONTENT: 'few',
      COMMERCE_SEED_PRODUCTS: '5',
    };
    const [node, main] = program();
    const running = spawn(node!, [main!], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    try {
      const prints = linesOf(running);
      await prints(/Ready in /);
      running.kill('SIGHUP');
      await prints(/Reloaded the supergraph\./);
      const call = await caller(base);
      const bought = await call('POST', '/payments/v1/checkout', {
        mode: 'subscription',
        user_id: PERSON,
        items: [{ price_id: '0190b3a0-0000-7000-8000-0000000e0003', quantity: 1 }],
        payment_method_id: '0190b3a0-0000-7000-8000-0000000e0031',
      });
      expect(await bought.json()).toMatchObject({ status: 'complete' });
      const invoices = await json(call('GET', `/payments/v1/billing/invoices?user_id=${PERSON}`));
      const invoice = await call('GET', `/payments/v1/billing/invoices/${invoices.data[0].id}/pdf`);
      expect(await invoice.text()).toMatch(/^%PDF-/);
      const { id } = await json(call('POST', '/clinical/v1/bloodwork', { user_id: PERSON, file: HEIC }));
      const report = () => json(call('GET', `/clinical/v1/bloodwork/${id}`));
      const recognised = await until(
        'the report to be read',
        report,
        ({ status }) => !/^(uploaded|scanning|parsing)$/.test(status),
        120_000,
      );
      expect(recognised).toMatchObject({ failure_code: null, parser: { name: 'ocr' }, rows: { length: 4 } });
      expect((await fetch(`${base}/assets/graphiql/graphiql.min.js`)).status).toBe(200);
      const mails = (): Promise<string> => fetch(`${base}/dev/mail`).then(answer => answer.text());
      await until('the mail of the purchase', mails, page => /INV-\d{4}-\d+|receipt/i.test(page));
    } finally {
      running.kill('SIGTERM');
      if (running.exitCode === null) await once(running, 'exit');
      await dropDatabase(databaseUrl);
    }
  });
});
