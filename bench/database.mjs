/**
 * What two changes to libraries gain, each with and without it in turn within one run: reads whose SQL text is kept
 * (runtime/data/plain-find.ts) and transactions that begin with their first statement (runtime/data/round-trips.ts).
 *
 *   npm run bench:database                          eight rounds on an embedded PostgreSQL
 *   DATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres npm run bench:database -- --rounds 20 --times 2000
 *
 * Shown are ratios with / without, below 1 where the change gains, and µs per call of both: of the time, of this process's CPU time and of the
 * CPU time of the connection's server process.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { defineEntity, MikroORM, PostgreSqlDriver, p } from '@mikro-orm/postgresql';
import { prepared } from '../dist/events/prepared.js';
import { withDatabase } from '../dist/runtime/data/pool.js';
import { PlainFindDriver } from '../dist/runtime/data/plain-find.js';
import { saveRoundTrips } from '../dist/runtime/data/round-trips.js';
import { startEmbeddedPostgres } from '../dist/runtime/embedded-postgres/start.js';
import { removeData } from './folders.mjs';
import { range, table } from './system.mjs';

const { values: flags } = parseArgs({ options: { rounds: { type: 'string', default: '8' }, times: { type: 'string', default: '1000' } } });
const [rounds, times] = [Number(flags.rounds), Number(flags.times)];
const ROWS = 1_000;

/** MikroORM's own `pg`, of which the services' connections are. */
const { Client } = createRequire(createRequire(import.meta.url).resolve('@mikro-orm/postgresql'))('pg');

/** A table of the platform's usual size. */
const Item = defineEntity({
  name: 'Item',
  properties: {
    id: p.integer().primary(),
    owner: p.integer(),
    status: p.string(),
    title: p.string(),
    note: p.text().nullable(),
    kind: p.string(),
    amount: p.integer(),
    version: p.integer(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
});
const FILL = `
create table item (id int primary key, owner int not null, status text not null, title text not null, note text, kind text not null, amount int not null,
  version int not null, created_at timestamptz not null, updated_at timestamptz not null);
insert into item select n, n % 50, 'open', 'title ' || n, null, 'plain', n, 1, now(), now() from generate_series(1, ${ROWS}) n;
create index on item (owner, id);
analyze item`;

const median = numbers => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** CPU time of a server's process until now, µs; 0 on other systems than Linux. Source: proc(5), ticks of 10 ms. */
async function cpuOf(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14).map(Number);
  return ((user ?? 0) + (system ?? 0)) * 10_000;
}

/** Time, CPU time of this process and CPU time of the connection's server process, µs a call. */
async function measure({ work, pid }) {
  const [server, cpu, begun] = [await cpuOf(pid), process.cpuUsage(), performance.now()];
  for (let n = 1; n <= times; n++) await work((n % ROWS) + 1);
  const { user, system } = process.cpuUsage(cpu);
  const time = (performance.now() - begun) * 1000;
  return [time, user + system, (await cpuOf(pid)) - server].map(micros => micros / times);
}

/** Rounds of both variants, which take turns to begin. Returns a row of the table: a ratio and µs of both for each figure. */
async function compare(name, without, changed) {
  for (const variant of [without, changed]) await measure(variant); // warm
  const pairs = [];
  for (const round of range(rounds)) {
    const figures = new Map();
    for (const variant of round % 2 ? [changed, without] : [without, changed]) figures.set(variant, await measure(variant));
    pairs.push([figures.get(changed), figures.get(without)]);
  }
  const mean = (side, at) => pairs.reduce((total, pair) => total + pair[side][at], 0) / rounds;
  const middle = (side, at) => median(pairs.map(pair => pair[side][at]));
  const cell = (ratio, one, other) => `${ratio.toFixed(2)} (${one.toFixed(0)} / ${other.toFixed(0)})`;
  const own = [0, 1].map(at => cell(median(pairs.map(([one, other]) => one[at] / other[at])), middle(0, at), middle(1, at)));
  return [name, ...own, cell(mean(0, 2) / mean(1, 2), mean(0, 2), mean(1, 2))]; // of means, because a round of the server has few ticks
}

const openOrm = (clientUrl, driver) =>
  MikroORM.init({ driver, clientUrl, entities: [Item], pool: { min: 1, max: 1 }, ensureDatabase: false, debug: false });

const pidOf = async orm => (await orm.em.getConnection().execute('select pg_backend_pid() as pid'))[0].pid;

/** Reads as services make them: one entity by its key, one by two columns, a page of an owner's. */
async function reads(url) {
  const orms = [await openOrm(url, PostgreSqlDriver), await openOrm(url, PlainFindDriver)];
  const pids = [await pidOf(orms[0]), await pidOf(orms[1])];
  const both = work => orms.map((orm, at) => ({ work: n => work(orm.em.fork(), n), pid: pids[at] }));
  const page = { orderBy: { id: 'asc' }, limit: 20 };
  const rows = [
    await compare('find by key', ...both((em, id) => em.findOne(Item, { id }))),
    await compare('find by two columns', ...both((em, n) => em.findOne(Item, { owner: n % 50, amount: n }))),
    await compare('page of 20', ...both((em, n) => em.find(Item, { owner: n % 50, id: { $gt: 0 } }, page))),
  ];
  for (const orm of orms) await orm.close();
  return rows;
}

async function connect(url) {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

const INSERT = prepared('insert into seen (id) values ($1) on conflict do nothing');
const UPDATE = 'update item set version = version + 1 where id = $1';

const transaction = (client, ...statements) => ({
  pid: client.processID,
  async work(n) {
    await client.query('begin');
    for (const text of statements) await client.query(text, [n]);
    await client.query('commit');
  },
});
const statement = (client, text) => ({ pid: client.processID, work: n => client.query(text, [n]) });

/** Transactions of no, one and two statements, and a prepared statement alone; commits do not wait for the disk. */
async function transactions(url) {
  const clients = [await connect(url), await connect(url)];
  saveRoundTrips(clients[1]);
  for (const client of clients) await client.query('set synchronous_commit = off');
  const both = (...statements) => clients.map(client => transaction(client, ...statements));
  const rows = [
    await compare('transaction, one read', ...both('select version from item where id = $1')),
    await compare('transaction, two writes', ...both(INSERT, UPDATE)),
    await compare('transaction, no statement', ...both()),
    await compare('prepared statement alone', ...clients.map(client => statement(client, INSERT))),
  ];
  for (const client of clients) await client.end();
  return rows;
}

async function onServer(url) {
  const name = `bench_${randomBytes(4).toString('hex')}`;
  const [admin, own] = [await connect(url), withDatabase(url, name)];
  await admin.query(`create database ${name}`);
  try {
    const client = await connect(own);
    await client.query(`${FILL}; create table seen (id int primary key)`);
    await client.end();
    const heads = ['work', 'time', 'CPU of the process', 'CPU of PostgreSQL'];
    table([heads, ...(await reads(own)), ...(await transactions(own))]);
  } finally {
    await admin.query(`drop database ${name} with (force)`);
    await admin.end();
  }
}

async function onEmbedded() {
  const dataDir = await mkdtemp(join(tmpdir(), 'platform-bench-'));
  const server = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  try {
    await onServer(server.url);
  } finally {
    await server.stop();
    await removeData(dataDir);
  }
}

await (process.env.DATABASE_URL ? onServer(process.env.DATABASE_URL) : onEmbedded());
