/**
 * How fast the gateway is beside others, as ratios measured in one run: the four workloads on ours (in process, networked, the full
 * server, de-duplicating), Hive Gateway with its Rust planner, Grafbase and plain @apollo/gateway, over the same canned services.
 *
 *   npm run bench:gateway                         five rounds of five seconds each, about 35 minutes
 *   npm run bench:gateway -- --rounds 1 --seconds 2 --only ours-network,hive-rust --workloads point,wide
 *   npm run bench:gateway -- --store              the figures are also written to results.json and bench/README.md
 *
 * The gateway has one core, the load and the services share another one. Rounds are interleaved and medians are shown. Every gateway's
 * answers are compared with the first one's. Peers are installed into .data/ at the first run. `--semi-space 16`: Node's young
 * generation of ours, MB; 64 as in `npm start`. A whole run (nothing chosen) stores its figures by itself.
 */
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { freePort } from '../port.mjs';
import { writeSupergraphs } from './canned/compose.ts';
import { load, loader } from './load.mjs';
import { cpuOf, GATEWAY_CORE, OTHER_CORE, rssOf, run, stop, stopAll, untilReady } from '../processes.mjs';
import { goalTable, store, summary, workloadTable } from './report.mjs';
import { prepare, VARIANTS, WORK } from './variants.mjs';
import { bodiesOf, WORKLOADS } from './workloads.ts';

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '5' },
    'warm-up': { type: 'string', default: '4' },
    connections: { type: 'string', default: '50' },
    only: { type: 'string' },
    workloads: { type: 'string' },
    store: { type: 'boolean', default: false },
    json: { type: 'string' },
    'semi-space': { type: 'string', default: '64' },
  },
});
const [rounds, seconds, warmUp, connections] = [flags.rounds, flags.seconds, flags['warm-up'], flags.connections].map(Number);
const chosen = flags.only?.split(',') ?? Object.keys(VARIANTS);
const works = flags.workloads?.split(',') ?? Object.keys(WORKLOADS);
const isWhole = !flags.only && !flags.workloads;
const print = text => process.stderr.write(`${text}\n`);

const HEADERS = { 'content-type': 'application/json' };

async function ask(port, body, headers) {
  const answer = await fetch(`http://127.0.0.1:${port}/graphql`, { method: 'POST', headers: { ...HEADERS, ...headers }, body });
  return answer.json();
}

const servicesPort = await freePort();
const base = `http://127.0.0.1:${servicesPort}`;
const callsSoFar = async () => (await (await fetch(`${base}/stats`)).json()).calls;

async function startServices() {
  const child = run(OTHER_CORE, [process.execPath, new URL('canned/server.ts', import.meta.url).pathname], { env: { PORT: servicesPort } });
  await untilReady(child, async () => (await callsSoFar()) >= 0);
}

async function startGateway(name) {
  const { command, cwd, env, headers } = VARIANTS[name];
  const port = await freePort();
  const semi = flags['semi-space'] && name.startsWith('ours') && { NODE_OPTIONS: `--max-semi-space-size=${flags['semi-space']}` };
  const all = { NODE_ENV: 'production', PORT: String(port), SUBGRAPHS: base, ...env, ...semi };
  const child = run(
    GATEWAY_CORE,
    command.map(part => (part === 'PORT' ? String(port) : part)),
    { cwd, env: all },
  );
  const [probe] = bodiesOf(WORKLOADS.point);
  await untilReady(child, async () => (await ask(port, probe, headers)).data?.user != null);
  return { child, port, headers };
}

const expected = new Map();

/** @throws Error where a gateway answers otherwise than the first one did. */
async function compareAnswer(name, work, { port, headers }) {
  for (const body of bodiesOf(WORKLOADS[work]).slice(0, 5)) {
    const answer = await ask(port, body, headers);
    const key = work + body;
    if (!expected.has(key)) expected.set(key, answer);
    if (!answer.data || !isDeepStrictEqual(answer, expected.get(key)))
      throw new Error(`${name} answers ${work} otherwise: ${JSON.stringify(answer).slice(0, 300)}`);
  }
}

/** Requests until the compilers have done their work, as far as so many loads bring them: a busy machine does few in any time. */
const [WARM_REQUESTS, MOST_LOADS] = [5_000, 4];

async function measure({ child, port, headers }, work) {
  const order = {
    url: `http://127.0.0.1:${port}/graphql`,
    bodies: bodiesOf(WORKLOADS[work]),
    headers: { ...HEADERS, ...headers },
    connections,
    folder: WORK,
  };
  for (let done = 0, loads = 0; done < WARM_REQUESTS && loads < MOST_LOADS; loads++)
    done += (await load({ ...order, seconds: warmUp })).requests;
  const before = [cpuOf(child), await callsSoFar()];
  const { requests, rps, p50, p99, failed } = await load({ ...order, seconds });
  if (failed > 0 || requests === 0) throw new Error(`${failed} of ${requests} requests failed`);
  return {
    rps,
    p50,
    p99,
    cpu: (cpuOf(child) - before[0]) / requests,
    rss: rssOf(child),
    calls: ((await callsSoFar()) - before[1]) / requests,
  };
}

const runs = {};

async function round(name, at) {
  const gateway = await startGateway(name);
  try {
    for (const work of works) {
      await compareAnswer(name, work, gateway);
      const figures = await measure(gateway, work);
      ((runs[work] ??= {})[name] ??= []).push(figures);
      print(`  round ${at + 1} of ${rounds}: ${name} ${work} ${figures.rps.toFixed(0)} req/s, CPU ${figures.cpu.toFixed(3)} ms`);
    }
  } catch (error) {
    print(`  round ${at + 1} of ${rounds}: ${name}: ${error.message}`);
    process.exitCode = 1; // the others are measured all the same
  } finally {
    await stop(gateway.child);
  }
}

try {
  await writeSupergraphs(WORK, base);
  const names = await prepare(chosen, base);
  await startServices();
  for (let at = 0; at < rounds; at++) for (const name of at % 2 ? names.toReversed() : names) await round(name, at);
  const rows = summary(runs);
  for (const work of works.filter(one => rows[one])) console.log(`\n${work}: ${WORKLOADS[work].title}\n\n${workloadTable(rows[work])}`);
  console.log(`\n${goalTable(runs)}`);
  const machine = `${cpus().length} × ${cpus()[0].model.trim()}`;
  const setting = {
    date: new Date().toISOString().slice(0, 10),
    machine,
    node: process.versions.node,
    load: loader,
    connections,
    rounds,
    seconds,
  };
  if (flags.json) await writeFile(flags.json, JSON.stringify({ ...setting, rows, runs }, null, 2));
  if ((isWhole && !process.exitCode) || flags.store) await store(runs, setting);
} finally {
  await stopAll();
}
