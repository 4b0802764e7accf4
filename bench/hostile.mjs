/**
 * What hostile GraphQL requests cost: how soon each kind is refused, and what the neighbours feel while they keep coming. Refusals are
 * timed alone; then a steady stream of point reads runs without and with a stream of hostile requests beside it, in interleaved rounds.
 *
 *   npm run bench:hostile                       five rounds of eight seconds each
 *   npm run bench:hostile -- --rounds 1 --seconds 3 --rate 100 --hostile 20
 *
 * Goals: each refusal ≤ 50 ms, the neighbours' p99 ≤ 1.5 ×.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { freePort, median, start, stopAll } from './measure.mjs';

const { values: flags } = parseArgs({
  strict: false,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '8' },
    rate: { type: 'string', default: '150' },
    hostile: { type: 'string', default: '20' },
    json: { type: 'string' },
  },
});
const [ROUNDS, SECONDS, RATE, HOSTILE] = [flags.rounds, flags.seconds, flags.rate, flags.hostile].map(Number);
const TIMES = 25;

const repeated = (times, part) => Array.from({ length: times }, (_, at) => part(at)).join(' ');
const query = text => JSON.stringify({ query: text });

/** Request bodies by kind. */
const KINDS = {
  'depth by fragments': query(
    `{ ...f0 } ${repeated(40, at => `fragment f${at} on Query { a { ...f${at + 1} } }`)} fragment f40 on Query { __typename }`,
  ),
  '1,000 aliases': query(`{ brands { nodes { ${repeated(1000, at => `a${at}: id`)} } } }`),
  '1,000 aliases of __typename': query(`{ ${repeated(1000, at => `a${at}: __typename`)} }`),
  '60 directives': query(`{ brands ${repeated(60, () => '@include(if: true)')} { nodes { id } } }`),
  '1 MB variables': JSON.stringify({
    query: 'query ($slug: String!) { brand(slug: $slug) { id } }',
    variables: { slug: 'x'.repeat(1_000_000) },
  }),
  '200 KB of wrong variables': JSON.stringify({
    query: 'mutation ($input: CreateBrandInput!) { createBrand(input: $input) { id } }',
    variables: { input: Array.from({ length: 100_000 }, () => 1) },
  }),
  'a batch of 5,000': JSON.stringify(Array.from({ length: 5_000 }, () => ({ query: '{ __typename }' }))),
  'cyclic fragments': query('{ ...a } fragment a on Query { ...b } fragment b on Query { ...c } fragment c on Query { ...a }'),
  'doubling fragments': query(
    `{ ...f0 } ${repeated(40, at => `fragment f${at} on Query { ...f${at + 1} ...f${at + 1} }`)} fragment f40 on Query { __typename }`,
  ),
  '200 fragments to compare': query(
    `{ brands { nodes { ${repeated(200, at => `...f${at}`)} } } } ${repeated(200, at => `fragment f${at} on Brand { id slug }`)}`,
  ),
  '300 selections to compare': query(`{ brands { ${repeated(300, () => 'nodes { id slug }')} } }`),
  'circular introspection': query('{ __schema { types { fields { type { fields { type { fields { type { name } } } } } } } } }'),
  'repeated introspection': query(`{ __schema { ${repeated(90, at => `a${at}: types { fields { name } }`)} } }`),
};

const GOOD = JSON.stringify({
  query: 'query Point($slug: String!) { brand(slug: $slug) { id slug name status defaultLocale } }',
  variables: { slug: 'main' },
});

async function tokenOf(base) {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'demo-m2m', client_secret: 'demo-m2m-secret' });
  return (await (await fetch(`${base}/identity/v1/oauth/token`, { method: 'POST', body })).json()).access_token;
}

/** Sends a body; ms until the whole answer was there, and its status. */
async function timed(pool, body, token) {
  const started = performance.now();
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  try {
    const answer = await pool.request({ path: '/graphql', method: 'POST', headers, body });
    await answer.body.dump();
    return { ms: performance.now() - started, status: answer.statusCode };
  } catch {
    return { ms: performance.now() - started, status: 413 }; // the server hangs up on a body that it will not read
  }
}

async function refusals(base, token) {
  const pool = new Pool(base, { connections: 1 });
  const rows = [];
  for (const [kind, body] of Object.entries(KINDS)) {
    const seen = [];
    for (let time = 0; time < TIMES; time++) {
      const { ms, status } = await timed(pool, body, token);
      if (status < 400 || status >= 500) throw new Error(`${kind} was answered with ${status}`);
      seen.push(ms);
    }
    rows.push({ kind, first: seen[0], median: median(seen), worst: Math.max(...seen) });
  }
  await pool.close();
  return rows;
}

const percentile = (numbers, of) => [...numbers].sort((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * of))];

/**
 * Sends at a steady rate for a while, without waiting for answers; every answer's time, ms.
 * @returns {Promise<number[]>}
 */
async function stream(pool, bodyAt, token, rate) {
  const begun = performance.now();
  /** @type {Promise<{ ms: number }>[]} */
  const all = [];
  for (let at = 0; at < rate * SECONDS; at++) {
    const wait = begun + (at * 1000) / rate - performance.now();
    if (wait > 1) await new Promise(resolve => setTimeout(resolve, wait));
    all.push(timed(pool, bodyAt(at), token));
  }
  return (await Promise.all(all)).map(({ ms }) => ms);
}

async function neighbours(base, token) {
  const [good, bad] = [new Pool(base, { connections: 20 }), new Pool(base, { connections: 4 })];
  const bodies = Object.values(KINDS);
  const seen = { alone: [], beside: [] };
  await stream(good, () => GOOD, token, RATE); // warm
  for (let round = 0; round < ROUNDS; round++) {
    seen.alone.push(percentile(await stream(good, () => GOOD, token, RATE), 0.99));
    const [ms] = await Promise.all([stream(good, () => GOOD, token, RATE), stream(bad, at => bodies[at % bodies.length], token, HOSTILE)]);
    seen.beside.push(percentile(ms, 0.99));
    process.stderr.write(`  neighbours: round ${round + 1} of ${ROUNDS}\n`);
  }
  await Promise.all([good.close(), bad.close()]);
  return { alone: median(seen.alone), beside: median(seen.beside) };
}

async function main() {
  const dataDir = await mkdtemp(join(tmpdir(), 'platform-bench-'));
  const port = await freePort();
  const base = `http://localhost:${port}`;
  try {
    const env = { PORT: String(port), DATA_DIR: dataDir, LOG_LEVEL: 'error', INTROSPECTION: 'on' };
    await start(join(import.meta.dirname, '../dist/gateway/main.js'), env, `${base}/platform/readyz`);
    const token = await tokenOf(base);
    const rows = await refusals(base, token);
    process.stdout.write('| hostile request | first ms | median ms | worst ms |\n| --- | --- | --- | --- |\n');
    for (const { kind, first, median: usual, worst } of rows)
      process.stdout.write(`| ${kind} | ${first.toFixed(1)} | ${usual.toFixed(1)} | ${worst.toFixed(1)} |\n`);
    const { alone, beside } = await neighbours(base, token);
    process.stdout.write(`\nneighbours' p99 at ${RATE} requests/s: ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside `);
    process.stdout.write(`${HOSTILE} hostile requests/s: ${(beside / alone).toFixed(2)} ×\n`);
    if (flags.json) await writeFile(flags.json, JSON.stringify({ rows, neighbours: { alone, beside } }, null, 2));
  } finally {
    await stopAll();
    await rm(dataDir, { recursive: true, force: true });
  }
}

await main();
