/**
 * `npm run bench:suite [-- times.jsonl]`: what a warm start of the platform takes with the services that exist and with all 28, and, from the
 * times of a run of the suite (`TEST_TIMES=times.jsonl npm test`), the time that the suite will take with 28:
 * 28/9 of the tests without starts, and each start at the price of 28.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SERVICES } from '../dist/subgraphs/services.js';

const ROOT = join(import.meta.dirname, '..');
const ALL = 28;
/** A generated service. Source: issue "make the house ready". */
const SIZE = { tables: 10, operations: 20, rows: 30, consumers: 3 };

/** A copy of what runs, in which the supergraph and the route tables may be others. */
function copyOfCheckout() {
  const folder = mkdtempSync(join(tmpdir(), 'platform-copy-'));
  for (const part of ['dist', 'bench', 'gateway/supergraph.graphql', 'rest-adapter/openapi', 'events/asyncapi', 'package.json'])
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, '.data'), { recursive: true });
  return folder;
}

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
console.log(
  `a warm start, median of 5: ${existing} services ${now.cpuMs} ms of CPU (${now.wallMs} ms), ${ALL} services ${later.cpuMs} ms (${later.wallMs} ms)`,
);

const times = process.argv[2];
if (times && existsSync(times)) {
  const files = readFileSync(times, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  const sum = pick => files.reduce((total, file) => total + pick(file), 0) / 1_000;
  const starts = files.reduce((total, file) => total + file.starts, 0);
  const withoutStarts = sum(file => file.wallMs - file.startWallMs);
  const share = ALL / existing;
  const begun = sum(file => file.startWallMs) / Math.max(1, starts);
  const projected = share * withoutStarts + share * starts * begun * (later.cpuMs / now.cpuMs);
  console.log(
    `${files.length} files, ${starts} starts: ${withoutStarts.toFixed(0)} s of tests and ${sum(file => file.startWallMs).toFixed(0)} s of starts in workers`,
  );
  console.log(`with ${ALL} services: ${projected.toFixed(0)} s in workers, ${(projected / (withoutStarts + begun * starts)).toFixed(2)} x`);
}
