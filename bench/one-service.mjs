/** What benches of one service share: a platform on embedded PostgreSQL as a process of its own, calls one after the other, and goals. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../dist/runtime/embedded-postgres/start.js';
import { removeData } from './folders.mjs';
import { freePort } from './port.mjs';
import { GATEWAY_CORE, run, START_FLAGS, stopAll, untilReady } from './processes.mjs';

/** Calls of each kind that only warm up. */
export const WARM_UP = 30;

export const percentile = (list, part) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * part))];

/** Milliseconds of each of so many calls, after `WARM_UP` that are not counted. */
export async function timesOf(count, call) {
  const times = [];
  for (let at = 0; at < WARM_UP + count; at++) {
    const began = performance.now();
    await call(at);
    if (at >= WARM_UP) times.push(performance.now() - began);
  }
  return times;
}

/** Prints a figure beside its goal; the process exits with 1 when one is missed. */
export function judge(what, measured, goal, holds) {
  console.log(`${holds ? 'holds' : 'FAILS'}: ${what}: ${measured} (${goal})`);
  if (!holds) process.exitCode = 1;
}

/** The same of times, ms. @param most of the p95; null: there is no goal. */
export function judgeTimes(what, times, most) {
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map(part => percentile(times, part));
  const measured = `p50 / p95 / p99 ${[p50, p95, p99].map(ms => ms.toFixed(1)).join(' / ')} ms`;
  if (most === null) console.log(`${what}: ${measured}`);
  else judge(what, measured, `p95 ≤ ${most} ms`, p95 <= most);
}

/** Starts a platform of all services, or of those in `env.SERVICES`. @returns its address. */
export async function startPlatform(url, folder, slug, env = {}) {
  const port = await freePort();
  const base = `http://localhost:${port}`;
  const own = { DATABASE_URL: url, PORT: String(port), DATA_DIR: folder, LOG_LEVEL: 'error', ROLES: 'subgraphs,gateway,rest', ...env };
  const child = run(GATEWAY_CORE, [process.execPath, ...START_FLAGS, join(import.meta.dirname, '../dist/gateway/main.js')], { env: own });
  await untilReady(child, async () => (await fetch(`${base}/${slug}/readyz`)).ok);
  return base;
}

/** What partners call with: the demo client's token. @param prefix of each path. @throws Error for an answer that is no success. */
export async function clientOf(base, prefix) {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'demo-m2m', client_secret: 'demo-m2m-secret' });
  const { access_token: token } = await (await fetch(`${base}/identity/v1/oauth/token`, { method: 'POST', body })).json();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return async (path, input) => {
    const answer = await fetch(`${base}${prefix}${path}`, { headers, ...(input && { method: 'POST', body: JSON.stringify(input) }) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
}

/** Runs work with an embedded PostgreSQL and a folder, and leaves nothing behind. */
export async function withServer(name, work) {
  const folder = await mkdtemp(join(tmpdir(), `platform-${name}-`));
  const server = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), log: () => undefined });
  try {
    await work(server.url, join(folder, 'platform'));
  } finally {
    await stopAll();
    await server.stop();
    await removeData(folder);
  }
}
