/**
 * Whether the gateway's memory stays flat: distinct documents through `/graphql`, of which every fourth comes again and every tenth is
 * invalid, and reloads of the supergraph by SIGHUP. Heap and resident memory of the platform's one process after collections of garbage,
 * and what was resident before them, while it served.
 *
 *   npm run bench:memory                                     200,000 documents in steps of 20,000, then 10 reloads: ten minutes
 *   npm run bench:memory -- --documents 8000 --step 2000 --reloads 4
 *
 * Caches fill with `--fill` documents before the first step; from there on at most a tenth may come, by a line through all steps,
 * because how full V8's pages are differs by as much from one step to the next. Exit code 1 when more comes.
 */
import autocannon from 'autocannon';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { removeData } from './folders.mjs';
import { freePort } from './port.mjs';

const { values: flags } = parseArgs({
  options: {
    documents: { type: 'string', default: '200000' },
    step: { type: 'string', default: '20000' },
    fill: { type: 'string', default: '20000' },
    reloads: { type: 'string', default: '10' },
    connections: { type: 'string', default: '20' },
  },
});
const [documents, step, fill, reloads, connections] = [flags.documents, flags.step, flags.fill, flags.reloads, flags.connections].map(
  Number,
);
const MOST_GROWTH = 1.1;
const print = text => process.stderr.write(`  ${text}\n`);

const folder = await mkdtemp(join(tmpdir(), 'platform-memory-'));
const port = await freePort();
const base = `http://localhost:${port}`;
const env = { ...process.env, PORT: String(port), DATA_DIR: folder, LOG_LEVEL: 'error', ROLES: 'subgraphs,gateway,rest' };
const server = fork(join(import.meta.dirname, 'servers/memory.mjs'), {
  env,
  execArgv: ['--expose-gc'],
  stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
});
let printed = '';
server.stdout.on('data', text => (printed += text));

let ended = false;
server.once('exit', () => (ended = true));

/** Waits for a line of the platform. @throws Error when it ends before. */
async function untilPrinted(text) {
  while (!printed.includes(text)) {
    if (ended) throw new Error(`the platform ended: ${printed}`);
    await sleep(20);
  }
  printed = '';
}

async function memory() {
  server.send('memory');
  return (await once(server, 'message'))[0];
}

async function tokenOf() {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'demo-m2m', client_secret: 'demo-m2m-secret' });
  return (await (await fetch(`${base}/identity/v1/oauth/token`, { method: 'POST', body })).json()).access_token;
}

const FIELDS = ['name', 'status', 'defaultLocale', 'timeZone', 'legalName', 'defaultCurrency'];
const isInvalid = at => at % 10 === 9;

/** A document of its own for each number: its name, an alias and the choice of fields. */
function documentOf(at) {
  const fields = isInvalid(at) ? `unknown${at}` : FIELDS.filter((_, bit) => (at >> bit) & 1).join(' ');
  return `query D${at}($slug: String!) { brand(slug: $slug) { id a${at}: slug ${fields} domains { host } } }`;
}

const bodyOf = at => JSON.stringify({ query: documentOf(at), variables: { slug: 'main' } });

/** Numbers of the documents of a step, in the order of sending. */
const orderOf = (from, count) =>
  Array.from({ length: count }, (_, index) => from + index).flatMap(at => (at % 4 === 0 && !isInvalid(at) ? [at, at] : [at]));

/** @throws Error when anything but the invalid documents is refused. */
async function send(from, count, headers) {
  const order = orderOf(from, count);
  let sent = 0;
  const setupRequest = request => ({ ...request, body: bodyOf(order[sent++ % order.length]) });
  const requests = [{ method: 'POST', path: '/graphql', headers, setupRequest }];
  const result = await autocannon({ url: base, connections, amount: order.length, timeout: 60, requests });
  const refused = order.filter(isInvalid).length;
  if (result['5xx'] || result.errors || Math.abs(result.non2xx - refused) > connections)
    throw new Error(`${result.non2xx} refusals instead of ${refused}, ${result['5xx']} of them 5xx, ${result.errors} errors`);
}

const rows = [];

async function note(what) {
  const { heapMb, rssMb, servingMb } = await memory();
  rows.push({ what, heapMb, rssMb, servingMb });
  print(`${what}: heap ${heapMb.toFixed(0)} MB, resident ${rssMb.toFixed(0)} MB, before the collection ${servingMb.toFixed(0)} MB`);
}

const line = cells => `| ${cells.join(' | ')} |`;
const table = list =>
  [
    ['after', 'heap MB', 'resident MB', 'resident while serving MB'],
    ['---', '---', '---', '---'],
    ...list.map(({ what, heapMb, rssMb, servingMb }) => [what, heapMb.toFixed(1), rssMb.toFixed(0), servingMb.toFixed(0)]),
  ]
    .map(line)
    .join('\n');

const meanOf = numbers => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

/** From the beginning to the end of the straight line nearest to some values. */
function growthOf(values) {
  const [middle, mean] = [(values.length - 1) / 2, meanOf(values)];
  const slope = meanOf(values.map((value, at) => (at - middle) * (value - mean))) / meanOf(values.map((_, at) => (at - middle) ** 2));
  return (mean + slope * middle) / (mean - slope * middle);
}

function judge(what, list) {
  if (list.length < 2) return;
  for (const [name, key] of [
    ['heap', 'heapMb'],
    ['resident memory', 'rssMb'],
    ['resident memory while serving', 'servingMb'],
  ]) {
    const growth = growthOf(list.map(row => row[key]));
    const is = growth <= MOST_GROWTH;
    console.log(`${is ? 'holds' : 'FAILS'}: ${name} over ${what} grows to ${growth.toFixed(3)} ×, at most ${MOST_GROWTH}`);
    if (!is) process.exitCode = 1;
  }
}

try {
  await untilPrinted('Stop with Ctrl-C.');
  const headers = { authorization: `Bearer ${await tokenOf()}`, 'content-type': 'application/json' };
  await send(0, fill, headers);
  await note('the start');
  for (let sent = 0; sent < documents; sent += step) {
    await send(fill + sent, Math.min(step, documents - sent), headers);
    await note(`${Math.min(sent + step, documents)} documents`);
  }
  const byDocuments = [...rows];
  for (let at = 1; at <= reloads; at++) {
    server.kill('SIGHUP');
    await untilPrinted('Reloaded the supergraph.');
    await send(fill + documents + at * 100, 100, headers);
    await note(`${at} reloads`);
  }
  console.log(table(rows));
  judge('documents', byDocuments);
  judge('reloads', rows.slice(byDocuments.length));
} finally {
  if (!ended) {
    server.kill('SIGTERM');
    await once(server, 'exit');
  }
  await removeData(folder);
}
