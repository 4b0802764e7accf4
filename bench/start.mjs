/**
 * What starting and holding the platform costs: wall and CPU time until it is ready, and memory half a minute later, with nine services,
 * with all that exist, and with 28 by generated ones; then gateway and REST alone, and one service alone.
 *
 *   npm run bench:start                                 three warm starts each
 *   npm run bench:start -- --starts 1 --only 9,18       nine and eighteen, once each
 *
 * Every variant is a copy of the checkout whose supergraph has its services only; its first start makes the database and the
 * development data. Memory is Node's resident set and PostgreSQL's proportional one, because its processes share their buffers.
 * Exit code 1 when a goal is missed. Linux only: proc(5). Source: house issue 20, start and memory.
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { SERVICES } from '../dist/subgraphs/services.js';
import { copyOfCheckout } from './copies.mjs';
import { removeData } from './folders.mjs';
import { freePort } from './port.mjs';
import { cpuOf, rssOf, START_FLAGS, startNode } from './processes.mjs';

const { values: flags } = parseArgs({
  options: { starts: { type: 'string', default: '3' }, only: { type: 'string' }, settle: { type: 'string', default: '30' } },
});
const [starts, settleMs] = [Number(flags.starts), Number(flags.settle) * 1_000];

/** A set that needs no other: the rows of each of them fit its supergraph. */
const NINE = ['identity', 'platform', 'clinical', 'webhooks', 'events', 'jobs', 'entitlements', 'membership', 'payments'];
const EXISTING = Object.keys(SERVICES);
const ALL = 28;
/** Today's mean of a service. */
const SIZE = { tables: 12, operations: 35, rows: 40, consumers: 3 };
/** Goals: s until ready, MB; and of the line through all variants ms and MB a service. */
const MOST = { 9: { seconds: 3.5, mb: 450 }, [ALL]: { seconds: 5, mb: 640 } };
const MOST_A_SERVICE = { ms: 55, mb: 9 };
const MOST_ALONE_MB = 200;

const print = text => process.stderr.write(`  ${text}\n`);
const median = values => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

function copyWith(services, generated) {
  const folder = copyOfCheckout();
  const script = join(folder, 'bench/servers/choose-services.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script, JSON.stringify(services), String(generated), JSON.stringify(SIZE)], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the services could not be chosen: ${stderr}`);
  return folder;
}

/** Lines of PostgreSQL's own record: process, folder, start, port. */
const postmasterOf = data => readFileSync(join(data, 'postgres/data/postmaster.pid'), 'utf8').split('\n');

/** Every process of the server whose data is in the folder. */
function postgresOf(data) {
  const [first] = postmasterOf(data);
  const children = readFileSync(`/proc/${first}/task/${first}/children`, 'utf8').trim().split(' ');
  return [first, ...children].filter(Boolean).map(Number);
}

/** MB; 0 for a process that has just ended. */
function pssOf(pid) {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))[1]) / 1024;
  } catch {
    return 0;
  }
}

const databaseOf = data => `postgres://postgres@127.0.0.1:${postmasterOf(data)[3]}/platform`;

/** Processes that run, the last one first. */
const running = [];

/** Starts a process of the platform and waits until it is ready. @throws Error with what it printed when it ends before. */
async function start(folder, data, env = {}) {
  const port = await freePort();
  const begun = performance.now();
  const child = startNode([...START_FLAGS, join(folder, 'dist/gateway/main.js')], {
    cwd: folder,
    env: { ...process.env, PORT: String(port), DATA_DIR: data, LOG_LEVEL: 'error', BASE_URL: `http://localhost:${port}`, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.unshift(child);
  let printed = '';
  const ready = Promise.withResolvers();
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', text => {
      printed += text;
      if (printed.includes('\nReady in ')) ready.resolve();
    });
  child.once('exit', () => ready.reject(new Error(`it ended: ${printed}`)));
  await ready.promise;
  return { child, port, wallMs: performance.now() - begun, cpuMs: cpuOf(child), printed };
}

async function stopAll() {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
}

/** Runs work on a copy of the checkout with these services and an empty data folder. */
async function inCopy(services, generated, work) {
  const [folder, data] = [copyWith(services, generated), mkdtempSync(join(tmpdir(), 'platform-start-'))];
  try {
    return await work(folder, data);
  } finally {
    await stopAll();
    await removeData(data);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function memoryAfterSettling({ child }, data) {
  await sleep(settleMs);
  const postgresMb = postgresOf(data).reduce((sum, pid) => sum + pssOf(pid), 0);
  const nodeMb = rssOf(child);
  return { nodeMb, postgresMb, mb: nodeMb + postgresMb };
}

const measure = (count, services, generated) =>
  inCopy(services, generated, async (folder, data) => {
    const first = await start(folder, data);
    const runs = [];
    for (let at = 1; at <= starts; at++) {
      await stopAll();
      runs.push(await start(folder, data));
    }
    const memory = await memoryAfterSettling(runs.at(-1), data);
    const row = { count, emptyMs: first.wallMs, wallMs: median(runs.map(run => run.wallMs)), cpuMs: median(runs.map(run => run.cpuMs)) };
    print(`${count} services: ${JSON.stringify({ ...row, ...memory })} ${runs.at(-1).printed.split('\nReady')[0]}`);
    return { ...row, ...memory };
  });

const urlsOf = base => Object.fromEntries(EXISTING.map(slug => [`SUBGRAPH_URL_${slug.toUpperCase().replaceAll('-', '_')}`, base]));

/** Gateway and REST without services, and one service by itself, each beside a process with everything. Resident MB. */
const measureAlone = () =>
  inCopy(EXISTING, 0, async (folder, data) => {
    const base = `http://localhost:${(await start(folder, data)).port}`;
    const shared = { DATABASE_URL: databaseOf(data), GATEWAY_URL: base, BASE_URL: base, MIGRATE: 'off', ...urlsOf(base) };
    const gateway = await start(folder, data, { ...shared, ROLES: 'gateway,rest' });
    const service = await start(folder, data, { ...shared, SERVICES: 'clinical', ROLES: 'subgraphs,consumers,scheduler' });
    await sleep(settleMs);
    return { gatewayMb: rssOf(gateway.child), serviceMb: rssOf(service.child) };
  });

/** Slope of the straight line nearest to some values. */
function slopeOf(rows, key) {
  const mean = pick => rows.reduce((sum, row) => sum + pick(row), 0) / rows.length;
  const [x, y] = [mean(row => row.count), mean(row => row[key])];
  return mean(row => (row.count - x) * (row[key] - y)) / mean(row => (row.count - x) ** 2);
}

function hold(what, is, most) {
  const holds = is <= most;
  console.log(`${holds ? 'holds' : 'FAILS'}: ${what} ${is.toFixed(is < 20 ? 2 : 0)}, at most ${most}`);
  if (!holds) process.exitCode = 1;
}

const VARIANTS = { 9: [NINE, 0], [EXISTING.length]: [EXISTING, 0], [ALL]: [EXISTING, ALL - EXISTING.length] };
const isWanted = name => !flags.only || flags.only.split(',').includes(name);

const rows = [];
for (const [count, [services, generated]] of Object.entries(VARIANTS))
  if (isWanted(count)) rows.push(await measure(Number(count), services, generated));
const line = cells => `| ${cells.join(' | ')} |`;
const numbers = ({ count, emptyMs, wallMs, cpuMs, nodeMb, postgresMb, mb }) => [
  count,
  ...[emptyMs, wallMs, cpuMs].map(ms => (ms / 1000).toFixed(1)),
  ...[nodeMb, postgresMb, mb].map(one => one.toFixed(0)),
];
const HEADS = ['services', 'from empty s', 'warm s', 'its CPU s', 'Node MB', 'PostgreSQL MB', 'MB'];
console.log([line(HEADS), line(HEADS.map(() => '---')), ...rows.map(row => line(numbers(row)))].join('\n'));
for (const row of rows.filter(({ count }) => MOST[count])) {
  hold(`s until ready with ${row.count} services:`, row.wallMs / 1000, MOST[row.count].seconds);
  hold(`MB with ${row.count} services:`, row.mb, MOST[row.count].mb);
}
if (rows.length > 2) {
  hold('ms a service more:', slopeOf(rows, 'wallMs'), MOST_A_SERVICE.ms);
  hold('MB a service more:', slopeOf(rows, 'mb'), MOST_A_SERVICE.mb);
}
if (isWanted('alone')) {
  const { gatewayMb, serviceMb } = await measureAlone();
  hold('MB of gateway and REST alone:', gatewayMb, MOST_ALONE_MB);
  hold('MB of one service alone:', serviceMb, MOST_ALONE_MB);
}
