/**
 * How fast the two doors are, as ratios measured in one run: a REST read and a GraphQL point read of the platform against a bare
 * Fastify handler that answers the same bytes, and against plain @apollo/gateway calling the same subgraphs over HTTP.
 *
 *   npm run bench:doors                 three rounds of five seconds each
 *   npm run bench:doors -- --rounds 1 --seconds 2 --connections 20
 *
 * The servers are processes of their own; the load comes from this one. Rounds are interleaved and medians are shown, because a
 * shared machine drifts. Absolute figures say little; the ratios hold.
 */
import autocannon from 'autocannon';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values: flags } = parseArgs({ options: {
  rounds: { type: 'string', default: '3' }, seconds: { type: 'string', default: '5' }, connections: { type: 'string', default: '50' }, json: { type: 'string' },
} });
const [rounds, seconds, connections] = [flags.rounds, flags.seconds, flags.connections].map(Number);
const here = import.meta.dirname;

async function freePort() {
  const server = createServer();
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise(resolve => server.close(resolve));
  return port;
}

const children = [];

/** Starts a process and waits until it answers at `ready`. */
async function start(file, env, ready) {
  const child = spawn(process.execPath, [file], { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit'] });
  children.push(child);
  for (let tries = 0; tries < 600; tries++) {
    if (child.exitCode !== null) throw new Error(`${file} ended with ${child.exitCode}`);
    const ok = await fetch(ready).then(answer => answer.ok, () => false);
    if (ok) return;
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  throw new Error(`${file} did not answer at ${ready}`);
}

async function tokenOf(base) {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'demo-m2m', client_secret: 'demo-m2m-secret' });
  const answer = await fetch(`${base}/identity/v1/oauth/token`, { method: 'POST', body });
  return (await answer.json()).access_token;
}

const median = numbers => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

async function measure({ url, method = 'GET', body, headers }) {
  const result = await autocannon({ url, method, body, headers, connections, duration: seconds, warmup: { connections, duration: 1 } });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${url}: ${result.non2xx} refusals, ${result.errors} errors`);
  return { rps: result.requests.average, p50: result.latency.p50, p99: result.latency.p99 };
}

/** All variants of one work in turn, round by round. */
async function compare(name, variants) {
  const seen = new Map(variants.map(variant => [variant.name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const variant of variants) seen.get(variant.name).push(await measure(variant));
    process.stderr.write(`  ${name}: round ${round + 1} of ${rounds}\n`);
  }
  const rows = [...seen].map(([variant, runs]) => ({ work: name, variant, rps: median(runs.map(run => run.rps)), p50: median(runs.map(run => run.p50)), p99: median(runs.map(run => run.p99)) }));
  const base = rows[0];
  return rows.map(row => ({ ...row, ratio: base.rps / row.rps }));
}

const line = cells => `| ${cells.join(' | ')} |`;
const table = rows => [
  line(['work', 'server', 'req/s', 'p50 ms', 'p99 ms', 'platform is … ×']), line(['---', '---', '---', '---', '---', '---']),
  ...rows.map(row => line([row.work, row.variant, Math.round(row.rps), row.p50, row.p99, row.ratio.toFixed(2)])),
].join('\n');

const GRAPHQL = JSON.stringify({ query: 'query Point($slug: String!) { brand(slug: $slug) { id slug name status defaultLocale } }', variables: { slug: process.env.BENCH_BRAND ?? 'main' } });

async function main() {
  const dataDir = await mkdtemp(join(tmpdir(), 'platform-bench-'));
  const [platformPort, barePort, apolloPort] = [await freePort(), await freePort(), await freePort()];
  const [base, bare, apollo] = [platformPort, barePort, apolloPort].map(port => `http://localhost:${port}`);
  try {
    await start(join(here, '../dist/gateway/main.js'), { PORT: String(platformPort), DATA_DIR: dataDir, LOG_LEVEL: 'error' }, `${base}/platform/readyz`);
    const headers = { authorization: `Bearer ${await tokenOf(base)}` };
    const path = `/platform/v1/brands/${process.env.BENCH_BRAND ?? 'main'}`;
    const post = { method: 'POST', body: GRAPHQL, headers: { ...headers, 'content-type': 'application/json' } };
    const rest = await (await fetch(base + path, { headers })).text();
    const graphql = await (await fetch(`${base}/graphql`, { ...post })).text();
    const answers = join(dataDir, 'answers.json');
    await writeFile(answers, JSON.stringify({ [path]: rest, '/graphql': graphql }));
    await start(join(here, 'servers/bare.mjs'), { PORT: String(barePort), ANSWERS: answers }, `${bare}${path}`);
    await start(join(here, 'servers/plain-apollo.mjs'), { PORT: String(apolloPort), SUBGRAPHS: base }, `${apollo}/ready`);
    const rows = [
      ...(await compare('REST read', [{ name: 'platform', url: base + path, headers }, { name: 'bare Fastify', url: bare + path, headers }])),
      ...(await compare('GraphQL point read', [
        { name: 'platform', url: `${base}/graphql`, ...post }, { name: 'bare Fastify', url: `${bare}/graphql`, ...post }, { name: 'plain @apollo/gateway', url: `${apollo}/graphql`, ...post },
      ])),
    ];
    process.stdout.write(`${table(rows)}\n`);
    if (flags.json) await writeFile(flags.json, JSON.stringify(rows, null, 2));
  } finally {
    for (const child of children.reverse()) {
      const gone = new Promise(resolve => child.once('exit', resolve));
      child.kill('SIGTERM');
      await gone;
    }
    await rm(dataDir, { recursive: true, force: true });
  }
}

await main();
