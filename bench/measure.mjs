/** What the benchmarks share: servers as processes of their own, work compared in interleaved rounds, medians as a table. */
import autocannon from 'autocannon';
import { parseArgs } from 'node:util';
import { freePort } from './port.mjs';
import { startNode } from './processes.mjs';

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '50' },
    json: { type: 'string' },
  },
});
export const [rounds, seconds, connections] = [flags.rounds, flags.seconds, flags.connections].map(Number);
/** File for the rows as JSON; undefined: none. */
export const jsonFile = flags.json;

export { freePort };

const children = [];

/** Starts a process and waits until it answers at `ready`. Returns its id. */
export async function start(file, env, ready) {
  const child = startNode([file], { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit'] });
  children.push(child);
  for (let tries = 0; tries < 600; tries++) {
    if (child.exitCode !== null) throw new Error(`${file} ended with ${child.exitCode}`);
    const ok = await fetch(ready).then(
      answer => answer.ok,
      () => false,
    );
    if (ok) return child.pid;
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  throw new Error(`${file} did not answer at ${ready}`);
}

/** Ends what was started, the last one first. */
export async function stopAll() {
  for (const child of children.splice(0).reverse()) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const gone = new Promise(resolve => child.once('exit', resolve));
    child.kill('SIGTERM');
    await gone;
  }
}

export const median = numbers => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** Requests per second and latencies, ms, of one HTTP request under load. */
export async function underLoad({ url, method = 'GET', body, headers }) {
  const result = await autocannon({ url, method, body, headers, connections, duration: seconds, warmup: { connections, duration: 1 } });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${url}: ${result.non2xx} refusals, ${result.errors} errors`);
  return { rps: result.requests.average, p50: result.latency.p50, p99: result.latency.p99 };
}

/** All variants of one work in turn, round by round; `ratio`: the first one's rate to the row's. */
export async function compare(name, variants, measure = underLoad) {
  const seen = new Map(variants.map(variant => [variant.name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const variant of variants) seen.get(variant.name).push(await measure(variant));
    process.stderr.write(`  ${name}: round ${round + 1} of ${rounds}\n`);
  }
  const rows = [...seen].map(([variant, runs]) => ({
    work: name,
    variant,
    rps: median(runs.map(run => run.rps)),
    p50: median(runs.map(run => run.p50)),
    p99: median(runs.map(run => run.p99)),
  }));
  const base = rows[0];
  return rows.map(row => ({ ...row, ratio: base.rps / row.rps }));
}

const line = cells => `| ${cells.join(' | ')} |`;
export const table = (rows, unit = 'req/s') =>
  [
    line(['work', 'server', unit, 'p50 ms', 'p99 ms', 'platform is … ×']),
    line(['---', '---', '---', '---', '---', '---']),
    ...rows.map(row => line([row.work, row.variant, Math.round(row.rps), row.p50 ?? '', row.p99 ?? '', row.ratio.toFixed(2)])),
  ].join('\n');
