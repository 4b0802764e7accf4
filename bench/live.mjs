/**
 * Live with everything on this machine: open streams of one session in the process of its service and through a gateway in another, the wait from
 * a change's commit to each client, what a stream costs in memory, a reconnect of all, registrations of one session, and the end by SIGTERM.
 *
 *   npm run bench:live
 *   npm run bench:live -- --streams 500 --seconds 5    a look; default 2000 and 15
 *   npm run bench:live -- --streams 0 --callers 30     registrations alone
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startEmbeddedPostgres } from '../dist/runtime/embedded-postgres/start.js';
import { SERVICES } from '../dist/subgraphs/services.js';
import { freePort } from './port.mjs';
import { cpuOf, START_FLAGS, startNode } from './processes.mjs';
import { percentile } from './system.mjs';

const { values: flags } = parseArgs({
  options: {
    streams: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '15' },
    callers: { type: 'string', default: '60' },
  },
});
const [STREAMS, SECONDS, CALLERS] = [flags.streams, flags.seconds, flags.callers].map(Number);
const CHANGES_PER_SECOND = 20;
const ADMIN = '0190b3a0-0000-7000-8000-0000000000a9';
const SLUGS = ['identity', 'platform', 'live', 'entitlements'];

const folder = await mkdtemp(join(tmpdir(), 'bench-live-'));
const postgres = () => startEmbeddedPostgres({ dataDir: join(folder, 'data'), log: () => undefined });

async function query(text, values = []) {
  const one = new pg.Client({ connectionString: server.url });
  await one.connect();
  const { rows } = await one.query(text, values);
  await one.end();
  return rows;
}

let server = await postgres();
await query('alter system set track_commit_timestamp = on'); // the wait of a client begins with the commit
await server.stop();
server = await postgres();
const [service, gateway] = [await freePort(), await freePort()];
const [direct, through] = [`http://localhost:${service}`, `http://localhost:${gateway}`];
const key = Buffer.alloc(32, 7).toString('base64');
const urls = Object.fromEntries(
  Object.keys(SERVICES).map(slug => [
    `SUBGRAPH_URL_${slug.replaceAll('-', '_').toUpperCase()}`,
    SLUGS.includes(slug) ? direct : 'http://127.0.0.1:9',
  ]),
);
const shared = {
  DATABASE_URL: server.url,
  LOG_LEVEL: 'error',
  DATA_DIR: join(folder, 'platform'),
  BASE_URL: through,
  GATEWAY_URL: through,
  IDENTITY_ISSUER: `${through}/identity`,
  TOKEN_SIGNING_KEK: key,
  ENCRYPTION_KEYS: `bench:${key}`,
  SUBGRAPH_SECRET: 'bench-secret-of-the-gateway-0123456789abcdef',
  LEDGER_SIGNING_KEY: key,
  GIFT_PEPPER: 'bench-pepper-of-gift-codes-0123456789abcdef',
  ...urls,
};
const start = env =>
  startNode([...START_FLAGS, join(import.meta.dirname, '../dist/gateway/main.js')], {
    env: { ...process.env, ...shared, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
const serving = start({ PORT: String(service), SERVICES: SLUGS.join(','), ROLES: 'subgraphs,relay,consumers,scheduler' });
const passing = start({ PORT: String(gateway), SERVICES: SLUGS.join(','), ROLES: 'gateway,rest' });

async function ready() {
  for (let tries = 0; tries < 1_800; tries++) {
    if (
      await fetch(`${through}/live/readyz`).then(
        answer => answer.ok,
        () => false,
      )
    )
      return;
    await sleep(100);
  }
  throw new Error('the platform did not start');
}

let token;
async function call(method, path, content) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await fetch(`${through}${path}`, { method, headers, ...(content && { body: JSON.stringify(content) }) });
  return { status: answer.status, body: await answer.json().catch(() => null) };
}

const rssKb = ({ pid }) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
const agent = new http.Agent({ maxSockets: Infinity, keepAlive: false });

/** One client, with what it has seen: numbers of titles, and when. */
function client(base, id, waits, last) {
  const one = { seen: [], last, request: null };
  const begun = new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, ...(last && { 'last-event-id': last }) };
    one.request = http.get(`${base}/live/v1/sessions/${id}/stream`, { agent, headers }, answer => {
      if (answer.statusCode !== 200) return reject(new Error(`a stream was answered with ${answer.statusCode}`));
      let rest = '';
      answer.on('data', chunk => {
        resolve();
        rest += chunk;
        const end = rest.lastIndexOf('\n\n');
        if (end < 0) return;
        for (const [, seq, number] of rest.slice(0, end + 2).matchAll(/id: (\d+)\nevent: session\ndata: [^\n]*"title":"(\d+)"/g)) {
          one.seen.push(Number(number));
          one.last = seq;
          if (waits) waits.push({ seq: Number(seq), at: Date.now() });
        }
        rest = rest.slice(end + 2);
      });
      answer.on('error', () => undefined);
    });
    one.request.on('error', error => reject(error));
  });
  return begun.then(() => one);
}

async function openAll(base, id, waits, lasts = Array.from({ length: STREAMS }, () => undefined)) {
  const all = [];
  for (let n = 0; n < lasts.length; n += 50) {
    all.push(...(await Promise.all(lasts.slice(n, n + 50).map(last => client(base, id, waits, last)))));
  }
  return all;
}

async function changes(id, from, seconds) {
  const count = seconds * CHANGES_PER_SECOND;
  for (let n = 0; n < count; n++) {
    void call('PATCH', `/live/v1/admin/sessions/${id}`, { title: String(from + n) });
    await sleep(1000 / CHANGES_PER_SECOND);
  }
  await sleep(2_000);
  return from + count;
}

const makeSession = async () =>
  (
    await call('POST', '/live/v1/admin/sessions', {
      kind: 'broadcast',
      title: 'Bench',
      starts_at: '2040-01-01T10:00:00.000Z',
      ends_at: '2040-01-01T11:00:00.000Z',
      host_user_id: ADMIN,
      capacity: 100,
    })
  ).body.id;

const COMMITS = `select seq, extract(epoch from pg_xact_commit_timestamp(xmin))::float8 * 1000 as at from live.live_feed_entry
  where stream_id = $1 and type = 'session'`;

/** From each change's commit to each client, ms. */
async function fromCommits(id, seen) {
  const commits = new Map((await query(COMMITS, [id])).map(({ seq, at }) => [seq, at]));
  return seen.map(({ seq, at }) => at - commits.get(seq));
}

async function measureStreams(name, base) {
  const [id, seen, before] = [await makeSession(), [], rssKb(serving)];
  const begun = performance.now();
  let all = await openAll(base, id, seen);
  const opened = (performance.now() - begun) / 1000;
  const perStream = (rssKb(serving) - before) / STREAMS;
  let next = await changes(id, 0, SECONDS);
  for (const { request } of all) request.destroy();
  const half = all.map(({ seen, last }) => ({ seen, last }));
  next = await changes(id, next, 1);
  const again = performance.now();
  all = await openAll(
    base,
    id,
    null,
    half.map(({ last }) => last),
  );
  await sleep(2_000);
  const whole = all.map(({ seen }, n) => [...half[n].seen, ...seen]);
  const distinct = new Set(whole.map(list => list.join()));
  const doubled = whole.filter(list => new Set(list).size !== list.length).length;
  const waits = await fromCommits(id, seen);
  console.log(
    `${name}: ${STREAMS} open in ${opened.toFixed(1)} s, ${perStream.toFixed(1)} KiB each in the service's process; commit -> client p50 ${percentile(waits, 50).toFixed(0)} ms, ` +
      `p95 ${percentile(waits, 95).toFixed(0)} ms; all cut and back in ${((performance.now() - again - 2_000) / 1000).toFixed(1)} s: ${distinct.size} different histories, ${doubled} with a repeat, ` +
      `${new Set(whole[0]).size} of ${next} changes`,
  );
  return all;
}

/** CPU that both processes have used, ms. */
const cpu = () => [serving, passing].map(cpuOf);

async function measureRegistrations() {
  const [id, waits] = [await makeSession(), []];
  const [before, begun] = [cpu(), performance.now()];
  const end = begun + SECONDS * 1000;
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (performance.now() < end) {
        const asked = performance.now();
        const { status } = await call('POST', `/live/v1/sessions/${id}/registrations`, { user_id: randomUUID() });
        if (status !== 201) throw new Error(`a registration was answered with ${status}`);
        waits.push(performance.now() - asked);
      }
    }),
  );
  const [rate, used] = [waits.length / ((performance.now() - begun) / 1000), cpu().map((ms, n) => (ms - before[n]) / waits.length)];
  console.log(
    `registrations of one session by ${CALLERS} at once through REST: ${rate.toFixed(0)}/s, p95 ${percentile(waits, 95).toFixed(0)} ms; ` +
      `CPU of each ${used[0].toFixed(1)} ms in the service's process, ${used[1].toFixed(1)} ms in the gateway's`,
  );
}

/** Start-up goes on after the first answer: the gateway plans its operations for some seconds. Until both use less than a tenth of a core. */
async function settled() {
  for (let seconds = 0; seconds < 90; seconds++) {
    const before = cpu();
    await sleep(1_000);
    if (cpu().every((ms, n) => ms - before[n] < 100)) return;
  }
  console.log('the processes did not come to rest before the run');
}

await ready();
await settled();
const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'demo-m2m', client_secret: 'demo-m2m-secret' });
token = (await (await fetch(`${through}/identity/v1/oauth/token`, { method: 'POST', body: form })).json()).access_token;
await measureRegistrations();
if (STREAMS > 0) {
  for (const { request } of await measureStreams('in one process', direct)) request.destroy();
  await sleep(1_000);
  await measureStreams('through a gateway', through);
}
const leaving = performance.now();
const gone = once(serving, 'exit');
serving.kill('SIGTERM');
await gone;
console.log(`SIGTERM with ${STREAMS} streams open: ${((performance.now() - leaving) / 1000).toFixed(1)} s`);
const passed = once(passing, 'exit');
passing.kill('SIGTERM');
await passed;
await server.stop();
await rm(folder, { recursive: true, force: true });
