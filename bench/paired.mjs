/**
 * What a request costs now and before a change, of two checkouts side by side: their platforms run on databases of one PostgreSQL and get the
 * same load in turns of a second or two, so that both meet the same machine, however busy it is. Only CPU for each request is compared.
 *
 *   npm run bench:paired -- --with ../before            the other checkout, set up (`node scripts/setup.mjs`)
 *   npm run bench:paired -- --with ../before --rounds 20 --requests 2000 --only "REST read"
 *
 * Prints for each kind of request the median CPU of both, the median of the ratios of neighbouring turns, and the quarters between which half
 * of the ratios lie: a ratio whose quarters enclose 1 is noise. The last column is the ratio of the quickest fifths of both.
 */
import autocannon from 'autocannon';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startEmbeddedPostgres } from '../dist/runtime/embedded-postgres/start.js';
import { removeData } from './folders.mjs';
import { freePort } from './port.mjs';
import { cpuOf, GATEWAY_CORE, moveTo, OTHER_CORE, run, stopAll, untilReady } from './processes.mjs';

const { values: flags } = parseArgs({
  options: {
    with: { type: 'string' },
    rounds: { type: 'string', default: '12' },
    requests: { type: 'string', default: '1500' },
    connections: { type: 'string', default: '20' },
    only: { type: 'string', default: '' },
    'warm-up': { type: 'string', default: '4000' }, // requests until the compiler has done its work
  },
});
if (!flags.with) throw new Error('--with names the folder of the other checkout');
const [rounds, requests, connections] = [flags.rounds, flags.requests, flags.connections].map(Number);
const CHECKOUTS = { now: join(import.meta.dirname, '..'), before: resolve(flags.with) };
/** What else the machine does can only add to a turn, so where it does much the turns that took least say more than the median. */
const QUIET = 0.2;
const BRANDS = 500;
/** Once after its start, when it is first at rest, a platform collects all its garbage for a second: before any turn, it would be counted as one's requests. */
const AT_REST_MS = 15_000;
const PLANT = `insert into platform.brand select (r).* from (
  select jsonb_populate_record(b, jsonb_build_object('id', gen_random_uuid(), 'slug', 'bench-' || n, 'is_default', false)) r
  from platform.brand b, generate_series(0, $1 - 1) n where slug = 'main') rows`;

/** Node's options of a checkout's `npm start`. */
const flagsOf = async folder => {
  const { scripts } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  return scripts.start.split(' ').filter(argument => argument.startsWith('--'));
};

/** Slugs of the services that a checkout has. */
const servicesOf = async folder => Object.keys((await import(pathToFileURL(join(folder, 'dist/subgraphs/services.js')))).SERVICES);
const [ours, theirs] = await Promise.all(Object.values(CHECKOUTS).map(servicesOf));
/** Both run the services that both have. */
const SHARED = ours.filter(service => theirs.includes(service));
const elsewhere = [...ours, ...theirs].filter(service => !SHARED.includes(service));
const PARTS = {
  SERVICES: SHARED.join(','),
  ...Object.fromEntries(elsewhere.map(service => [`SUBGRAPH_URL_${service.replaceAll('-', '_').toUpperCase()}`, 'http://127.0.0.1:9'])),
  ROLES: 'subgraphs,gateway,rest',
  DATABASE_POOL_MAX: '10',
  REST_PLANS: 'use', // else planning all rows is measured, too
};

let sent = 0;
const slug = () => `bench-${sent++ % BRANDS}`;
const json = { 'content-type': 'application/json' };
const post = (path, body, headers) => ({ method: 'POST', path, body: JSON.stringify(body), headers: { ...json, ...headers } });
const vial = () => ({ user_id: randomUUID(), product_code: 'fibre_pack', expires_on: '2099-12-31', doses_planned: 12 });
const POINT = 'query Point($slug: String!) { brand(slug: $slug) { id slug name status defaultLocale domains { host status } } }';
const WIDE =
  'query Wide($first: Int!) { brands(first: $first) { nodes { id slug name status domains { host } } } biomarker(code: "ldl_c") { name unit } }';

/** Requests by what they do; equal reads that are under way together are one execution, so each differs from those beside it. */
const WORKS = {
  'REST read': () => ({ method: 'GET', path: `/platform/v1/brands/${slug()}` }),
  'REST list': () => ({ method: 'GET', path: `/platform/v1/brands?limit=${50 + (sent++ % 50)}` }),
  'REST write': () => post('/clinical/v1/vials', vial(), { 'idempotency-key': randomUUID() }),
  'GraphQL point': () => post('/graphql', { query: POINT, variables: { slug: slug() } }),
  'GraphQL page of two services': () => post('/graphql', { query: WIDE, variables: { first: 50 + (sent++ % 50) } }),
};

async function tokenOf(base) {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'demo-m2m', client_secret: 'demo-m2m-secret' });
  return (await (await fetch(`${base}/identity/v1/oauth/token`, { method: 'POST', body })).json()).access_token;
}

async function startOne(name, url, folder) {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  const [database, port] = [new URL(url), await freePort()];
  database.pathname = `/${name}`;
  const [base, main] = [`http://localhost:${port}`, join(CHECKOUTS[name], 'dist/gateway/main.js')];
  const env = { DATABASE_URL: database.href, NODE_ENV: 'test', PORT: String(port), DATA_DIR: join(folder, name), LOG_LEVEL: 'error' };
  const child = run(GATEWAY_CORE, [process.execPath, ...(await flagsOf(CHECKOUTS[name])), main], {
    cwd: CHECKOUTS[name],
    env: { ...env, ...PARTS },
  });
  await untilReady(child, async () => (await fetch(`${base}/clinical/readyz`)).ok);
  const owner = new pg.Client({ connectionString: database.href });
  await owner.connect();
  await owner.query(PLANT, [BRANDS]);
  await owner.end();
  return { child, base, headers: { authorization: `Bearer ${await tokenOf(base)}` } };
}

/** CPU of the platform for each request, ms. */
async function load({ child, base, headers }, make, amount) {
  const setupRequest = request => {
    const { headers: more, ...rest } = make();
    return { ...request, ...rest, headers: { ...headers, ...more } };
  };
  const before = cpuOf(child);
  const result = await autocannon({ url: base, connections, amount, requests: [{ setupRequest }] });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${base}: ${result.non2xx} refusals, ${result.errors} errors`);
  return (cpuOf(child) - before) / result.requests.total;
}

const quantile = (list, share) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * share))];

async function compare(name, make, { now, before }) {
  for (const one of [now, before]) await load(one, make, Number(flags['warm-up']));
  const turns = { now: [], before: [] };
  for (let round = 0; round < rounds; round++)
    for (const which of round % 2 ? ['before', 'now'] : ['now', 'before'])
      turns[which].push(await load({ now, before }[which], make, requests));
  const ratios = turns.now.map((cost, round) => cost / turns.before[round]);
  const [own, other] = [quantile(turns.now, 0.5), quantile(turns.before, 0.5)].map(ms => ms.toFixed(3));
  const [low, middle, high] = [0.25, 0.5, 0.75].map(share => quantile(ratios, share).toFixed(2));
  const quiet = quantile(turns.now, QUIET) / quantile(turns.before, QUIET);
  console.log(`| ${name} | ${own} | ${other} | ${middle} | ${low}-${high} | ${quiet.toFixed(2)} |`);
}

const folder = await mkdtemp(join(tmpdir(), 'platform-paired-'));
moveTo(OTHER_CORE);
const server = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), log: () => undefined });
try {
  const platforms = { now: await startOne('now', server.url, folder), before: await startOne('before', server.url, folder) };
  await sleep(AT_REST_MS);
  console.log(`| request | now, ms | before, ms | ratio | half of the ratios | quiet turns |\n| --- | --- | --- | --- | --- | --- |`);
  for (const [name, make] of Object.entries(WORKS)) if (name.startsWith(flags.only)) await compare(name, make, platforms);
} finally {
  await stopAll();
  await server.stop();
  await removeData(folder);
}
