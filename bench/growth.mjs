/**
 * What more services and more fetches cost the gateway: CPU of one request at 4 to 28 services and 1, 4 and 8 fetches one after the
 * other, start and heap of the gateway's part, for ours and for stock @apollo/gateway. Answers come from a table; no sockets.
 *
 *   npm run bench:growth                        three rounds, each gateway a process of its own
 *   npm run bench:growth -- --rounds 1 --services 4,28
 *
 * Exit code 1 when ours on 28 services needs more than three seconds to start, or CPU follows the number of services.
 */
import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { nameOf, range, sdlOf } from './growth-services.mjs';

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    services: { type: 'string', default: '4,8,16,28' },
    fetches: { type: 'string', default: '1,4,8' },
  },
});
const numbers = text => text.split(',').map(Number);
const [rounds, counts, fetches] = [Number(flags.rounds), numbers(flags.services), numbers(flags.fetches)];
const CHILD = join(import.meta.dirname, 'servers/growth.mjs');
const VARIANTS = ['compiled', 'stock'];
/** Goals: time to start; a request's CPU with many services against few, because it follows its fetches. Source: design/stack.md, 28 services in one process. */
const [MOST_START_MS, MOST_GROWTH] = [3_000, 1.25];

const exec = promisify(execFile);
const median = list => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const line = cells => `| ${cells.join(' | ')} |`;
const table = ([heads, ...rows]) => `${[line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n')}\n`;

async function compose(folder, count) {
  const services = range(count).map(at => ({ name: nameOf(at), url: `http://${nameOf(at)}.invalid`, typeDefs: parse(sdlOf(at)) }));
  const started = performance.now();
  const { supergraphSdl, errors } = composeServices(services);
  if (!supergraphSdl) throw new Error(errors.map(error => error.message).join('\n'));
  const file = join(folder, `${count}.graphql`);
  await writeFile(file, supergraphSdl);
  return { count, file, composeMs: performance.now() - started, runs: Object.fromEntries(VARIANTS.map(name => [name, []])) };
}

async function measure({ count, file }, variant) {
  const { stdout } = await exec(process.execPath, ['--expose-gc', CHILD, file, String(count), variant, fetches.join(',')]);
  return JSON.parse(stdout);
}

/** Medians of one gateway on one number of services. */
const figure = ({ runs }, variant, read) => median(runs[variant].map(read));

const cpuRows = all => [
  ['services', 'fetches', 'ours µs CPU', 'stock µs CPU', 'stock / ours'],
  ...all.flatMap(one =>
    fetches.map(number => {
      const [own, stock] = VARIANTS.map(variant => figure(one, variant, run => run.cpu[number]));
      return [one.count, number, own.toFixed(0), stock.toFixed(0), (stock / own).toFixed(1)];
    }),
  ),
];

const startRows = all => [
  ['services', 'compose s', 'ours: start s', 'heap MB', 'stock: start s', 'heap MB', 'modules s'],
  ...all.map(one => {
    const seconds = (variant, read) => (figure(one, variant, read) / 1000).toFixed(2);
    const both = VARIANTS.flatMap(variant => [seconds(variant, run => run.startMs), figure(one, variant, run => run.heapMb).toFixed(0)]);
    return [one.count, (one.composeMs / 1000).toFixed(2), ...both, seconds('compiled', run => run.importMs)];
  }),
];

function hold(what, is) {
  console.log(`${is ? 'holds' : 'FAILS'}: ${what}`);
  if (!is) process.exitCode = 1;
}

const folder = await mkdtemp(join(tmpdir(), 'platform-growth-'));
try {
  const all = [];
  for (const count of counts) all.push(await compose(folder, count));
  for (let round = 0; round < rounds; round++)
    for (const one of all)
      for (const variant of VARIANTS) {
        one.runs[variant].push(await measure(one, variant));
        process.stderr.write(`  round ${round + 1} of ${rounds}: ${variant} on ${one.count} services\n`);
      }
  console.log(`${table(cpuRows(all))}\n${table(startRows(all))}`);
  const [few, many] = [all[0], all.at(-1)];
  const startMs = figure(many, 'compiled', run => run.importMs + run.startMs);
  hold(
    `modules and start on ${many.count} services: ${(startMs / 1000).toFixed(2)} s, at most ${MOST_START_MS / 1000} s`,
    startMs <= MOST_START_MS,
  );
  for (const number of fetches) {
    const growth = figure(many, 'compiled', run => run.cpu[number]) / figure(few, 'compiled', run => run.cpu[number]);
    hold(
      `CPU of ${number} fetches at ${many.count} services is ${growth.toFixed(2)} × that at ${few.count}, at most ${MOST_GROWTH}`,
      growth <= MOST_GROWTH,
    );
  }
} finally {
  await rm(folder, { recursive: true });
}
