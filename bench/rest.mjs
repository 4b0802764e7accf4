/**
 * What the platform costs above hand-written handlers: a REST read (a brand and its domains, two statements) and a REST write (a vial with
 * its idempotency key, its audit row and its event in one commit) against Fastify with pg and jose on the same tables of the same PostgreSQL.
 *
 *   npm run bench:rest                          five rounds of five seconds each, about four minutes
 *   npm run bench:rest -- --rounds 1 --seconds 2 --connections 20
 *   npm run bench:rest -- --profile read        instead: one CPU profile of the platform under that load, by package and function
 *
 * The server has one core; PostgreSQL and the load share another one. The answers and the rows of both are compared first. Goals, of
 * requests per second: the read at least half, the write at least seven tenths. Exit code 1 below them. The relay is not run: it works
 * after the commit, and the handler by hand has none. bench/README.md has the results.
 */
import autocannon from 'autocannon';
import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import pg from 'pg';
import { startEmbeddedPostgres } from '../dist/runtime/embedded-postgres/start.js';
import { removeData } from './folders.mjs';
import { freePort } from './port.mjs';
import { cpuOf, GATEWAY_CORE, moveTo, OTHER_CORE, run, START_FLAGS, stopAll, untilReady } from './processes.mjs';
import { profileOf } from './profile.mjs';

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '50' },
    profile: { type: 'string' },
  },
});
const [rounds, seconds, connections] = [flags.rounds, flags.seconds, flags.connections].map(Number);
const HERE = import.meta.dirname;
const POOL = '10';
const PATIENTS = Array.from({ length: 2_000 }, () => randomUUID());
/** Requests until the compiler has done its work; by number, because a busy machine does few in any time. */
const WARM_UP = 4_000;
const median = list => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

const BRANDS = 500;
/** Brands with a domain each: equal reads that are under way together would be answered by one execution. */
const PLANT = `with planted as (
    insert into platform.brand select (r).* from (
      select jsonb_populate_record(b, jsonb_build_object('id', gen_random_uuid(), 'slug', 'bench-' || n, 'is_default', false)) r
      from platform.brand b, generate_series(0, $1 - 1) n where slug = 'main') rows returning id, slug)
  insert into platform.brand_domain (id, brand_id, host, purpose, status, verification_record, verified_at)
  select gen_random_uuid(), id, slug || '.example', 'shop', 'verified', 'bench', now() from planted`;

let sent = 0;
const vial = () => ({
  user_id: PATIENTS[sent++ % PATIENTS.length],
  product_code: 'fibre_pack',
  expires_on: '2099-12-31',
  doses_planned: 12,
});
const json = { 'content-type': 'application/json' };

/** Requests by what they do. `goal`: of the hand-written one's requests per second. */
const WORKS = {
  read: { goal: 0.5, make: () => ({ method: 'GET', path: `/platform/v1/brands/bench-${sent++ % BRANDS}` }) },
  write: {
    goal: 0.7,
    make: () => ({
      method: 'POST',
      path: '/clinical/v1/vials',
      body: JSON.stringify(vial()),
      headers: { ...json, 'idempotency-key': randomUUID() },
    }),
  },
};

async function startServers(url, folder) {
  const [ours, bare] = [await freePort(), await freePort()];
  const bases = { platform: `http://localhost:${ours}`, bare: `http://localhost:${bare}` };
  const shared = { DATABASE_URL: url, NODE_ENV: 'test' };
  const own = { PORT: String(ours), DATA_DIR: folder, LOG_LEVEL: 'error', ROLES: 'subgraphs,gateway,rest', DATABASE_POOL_MAX: POOL };
  const inspect = flags.profile ? ['--cpu-prof', `--cpu-prof-dir=${folder}`] : [];
  const platform = run(GATEWAY_CORE, [process.execPath, ...START_FLAGS, ...inspect, join(HERE, '../dist/gateway/main.js')], {
    env: { ...shared, ...own },
  });
  await untilReady(platform, async () => (await fetch(`${bases.platform}/clinical/readyz`)).ok);
  const ISSUER = `${bases.platform}/identity`;
  const env = { ...shared, PORT: String(bare), ISSUER, JWKS_URL: `${ISSUER}/.well-known/jwks.json`, POOL };
  const other = run(GATEWAY_CORE, [process.execPath, join(HERE, 'servers/bare-rest.mjs')], { env });
  await untilReady(other, async () => (await fetch(`${bases.bare}/ready`)).ok);
  return { platform: { child: platform, base: bases.platform }, bare: { child: other, base: bases.bare } };
}

async function tokenOf(base) {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'demo-m2m', client_secret: 'demo-m2m-secret' });
  return (await (await fetch(`${base}/identity/v1/oauth/token`, { method: 'POST', body })).json()).access_token;
}

const COUNTS = ['clinical.vial', 'clinical.audit_log', 'clinical.idempotency_key', 'events.outbox'];
const rowsOf = async pool =>
  (await pool.query(`select ${COUNTS.map(table => `(select count(*)::int from ${table}) "${table}"`).join(', ')}`)).rows[0];

const VOLATILE = ['id', 'patient_id', 'created_at'];
const plain = answer =>
  Object.fromEntries(Object.entries(answer).map(([key, value]) => [key, VOLATILE.includes(key) ? typeof value : value]));

/** @throws Error where the two answer otherwise, or leave other rows. */
async function compareWork({ make }, servers, headers, pool) {
  const [{ path, headers: more, ...init }, seen] = [make(), []];
  for (const { base } of Object.values(servers)) {
    const before = await rowsOf(pool);
    const own = more && { ...more, 'idempotency-key': randomUUID() };
    const answer = await fetch(base + path, { ...init, headers: { ...headers, ...own } });
    const [body, after] = [await answer.json(), await rowsOf(pool)];
    seen.push([answer.status, Object.keys(body), plain(body), COUNTS.map(table => after[table] - before[table])]);
  }
  if (!isDeepStrictEqual(seen[0], seen[1])) throw new Error(`${path}: ${JSON.stringify(seen[0])} is not ${JSON.stringify(seen[1])}`);
}

/** Requests per second, CPU of the server in ms for each, latencies in ms. */
async function load({ child, base }, { make }, headers, length) {
  const setupRequest = request => {
    const { headers: more, ...rest } = make();
    return { ...request, ...rest, headers: { ...headers, ...more } };
  };
  const before = cpuOf(child);
  const result = await autocannon({ url: base, connections, ...length, requests: [{ setupRequest }] });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${base}: ${result.non2xx} refusals, ${result.errors} errors`);
  const { total } = result.requests;
  return { rps: total / result.duration, cpu: (cpuOf(child) - before) / total, p50: result.latency.p50, p99: result.latency.p99 };
}

async function compare(name, work, servers, headers) {
  const runs = { platform: [], bare: [] };
  for (const server of Object.values(servers)) await load(server, work, headers, { amount: WARM_UP });
  for (let round = 0; round < rounds; round++) {
    for (const which of round % 2 ? ['bare', 'platform'] : ['platform', 'bare'])
      runs[which].push(await load(servers[which], work, headers, { duration: seconds }));
    process.stderr.write(`  ${name}: round ${round + 1} of ${rounds}\n`);
  }
  const [own, bare] = ['platform', 'bare'].map(which =>
    Object.fromEntries(['rps', 'cpu', 'p50', 'p99'].map(key => [key, median(runs[which].map(one => one[key]))])),
  );
  return { name, goal: work.goal, own, bare, ratio: own.rps / bare.rps, cpuRatio: bare.cpu / own.cpu };
}

const line = cells => `| ${cells.join(' | ')} |`;

function report(rows) {
  const heads = ['work', 'server', 'req/s', 'CPU ms/req', 'p50 ms', 'p99 ms', 'ratio of req/s', 'of CPU', 'goal'];
  const figures = ({ rps, cpu, p50, p99 }) => [rps.toFixed(0), cpu.toFixed(3), p50, p99];
  console.log([heads, heads.map(() => '---')].map(line).join('\n'));
  for (const { name, goal, own, bare, ratio, cpuRatio } of rows) {
    console.log(line([name, 'platform', ...figures(own), ratio.toFixed(2), cpuRatio.toFixed(2), goal]));
    console.log(line([name, 'by hand', ...figures(bare), '', '', '']));
  }
  for (const { name, goal, ratio } of rows) {
    console.log(`${ratio >= goal ? 'holds' : 'FAILS'}: the ${name} reaches ${ratio.toFixed(2)} of the hand-written one, at least ${goal}`);
    if (ratio < goal) process.exitCode = 1;
  }
}

const folder = await mkdtemp(join(tmpdir(), 'platform-rest-'));
moveTo(OTHER_CORE);
const server = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), log: () => undefined });
const pool = new pg.Pool({ connectionString: server.url, max: 1 });
try {
  const servers = await startServers(server.url, folder);
  const headers = { authorization: `Bearer ${await tokenOf(servers.platform.base)}` };
  await pool.query(PLANT, [BRANDS]);
  for (const work of Object.values(WORKS)) await compareWork(work, servers, headers, pool);
  if (flags.profile) {
    await load(servers.platform, WORKS[flags.profile], headers, { amount: WARM_UP });
    const { cpu } = await load(servers.platform, WORKS[flags.profile], headers, { amount: WARM_UP * 2 });
    await stopAll();
    console.log(`${cpu.toFixed(3)} ms of CPU for a request, the profiler's included\n${await profileOf(folder, cpu)}`);
  } else {
    const rows = [];
    for (const [name, work] of Object.entries(WORKS)) rows.push(await compare(name, work, servers, headers));
    report(rows);
  }
} finally {
  await stopAll();
  await pool.end();
  await server.stop();
  await removeData(folder);
}
