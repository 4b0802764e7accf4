/**
 * `npm run bench:suite [-- times.jsonl]`: what a warm start of the platform takes with the services that exist and with all 28, and, from the
 * times of a run of the suite (`TEST_TIMES=times.jsonl npm test`), the time that the suite will take with 28:
 * the tests without starts by the number of services, and each start at the price of 28.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICES } from '../dist/subgraphs/services.js';
import { copyOfCheckout } from './copies.mjs';

const ALL = 28;
/** What a generated service has. */
const SIZE = { tables: 10, operations: 20, rows: 30, consumers: 3 };

function startWith(generated) {
  const folder = copyOfCheckout();
  try {
    const args = ['--max-semi-space-size=64', join(folder, 'bench/servers/starts.mjs'), String(generated), JSON.stringify(SIZE)];
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(`the starts failed: ${stderr}`);
    return JSON.parse(stdout.trim().split('\n').at(-1));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const existing = Object.keys(SERVICES).length;
const now = startWith(0);
const later = startWith(ALL - existing);
const shown = (count, { all, named }) =>
  `${count} services ${all.cpuMs} ms of CPU (${all.wallMs} ms), one with its neighbours ${named.cpuMs} ms (${named.wallMs} ms)`;
console.log(`a warm start, median of 5: ${shown(existing, now)}; ${shown(ALL, later)}`);

const times = process.argv[2];
if (times && existsSync(times)) {
  const files = readFileSync(times, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  const sum = pick => files.reduce((total, file) => total + pick(file), 0);
  const [starts, named] = [sum(file => file.starts), sum(file => file.named ?? 0)];
  const [begun, withoutStarts] = [sum(file => file.startWallMs) / 1_000, sum(file => file.wallMs - file.startWallMs) / 1_000];
  const share = ALL / existing;
  // what the starts took, split by what both kinds cost alone, and each part at its later price
  const costOf = ({ all, named: one }) => (starts - named) * all.cpuMs + named * one.cpuMs;
  const projected = share * (withoutStarts + begun * (costOf(later) / costOf(now)));
  console.log(
    `${files.length} files, ${starts} starts, ${named} of them of named services: ${withoutStarts.toFixed(0)} s of tests and ${begun.toFixed(0)} s of starts in workers`,
  );
  console.log(`with ${ALL} services: ${projected.toFixed(0)} s in workers, ${(projected / (withoutStarts + begun)).toFixed(2)} x`);
}
