/** For the benchmarks of events, jobs and webhooks: a platform in processes on a PostgreSQL of its own, subscriptions by the thousand, figures. */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'amqplib';
import pg from 'pg';
import { v7 } from 'uuid';
import { coreDeclarations, Names } from '../dist/events/transport/rabbitmq-topology.js';
import { SLUGS } from '../dist/events/slugs.js';
import { createSealer } from '../dist/runtime/data/crypto.js';
import { startEmbeddedPostgres } from '../dist/runtime/embedded-postgres/start.js';
import { changeConfiguration, secretContext } from '../dist/subgraphs/webhooks/commands/configuration.js';
import { newSecret } from '../dist/subgraphs/webhooks/rules/wire.js';
import { freePort } from './port.mjs';
import { START_FLAGS } from './processes.mjs';

const HERE = import.meta.dirname;
const KEY = Buffer.alloc(32, 7).toString('base64');
const KEYS = `bench:${KEY}`;
export const print = line => process.stdout.write(`${line}\n`);
export const range = count => Array.from({ length: count }, (_, at) => at);
export const newUsers = count => range(count).map(() => v7());

/** The value below which so many of a hundred lie. */
export const percentile = (numbers, of) =>
  [...numbers].sort((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor((numbers.length * of) / 100))];

/** A process that answers messages, with Node's options of `npm start`; `ask(name, order)`. */
async function child(file, env) {
  const process_ = fork(join(HERE, 'servers', file), { env: { ...process.env, ...env }, execArgv: START_FLAGS, serialization: 'advanced' });
  const waiting = new Map();
  let last = 0;
  const gone = new Promise(resolve => process_.once('exit', resolve));
  process_.on('message', ({ id, answer }) => waiting.get(id)?.(answer));
  void gone.then(code => waiting.size && code && process.exit(code)); // it has printed why
  const answer = id => new Promise(resolve => waiting.set(id, resolve)).finally(() => waiting.delete(id));
  const first = await answer(0);
  const ask = (name, order) => {
    const id = ++last;
    const answered = answer(id);
    process_.send({ id, name, order });
    return answered;
  };
  const stop = async () => {
    await ask('stop');
    await gone;
  };
  return { first, ask, stop, pid: process_.pid };
}

export const startReceiver = () => child('receiver.mjs', {});

/** Memory of a process, MB. Source: proc(5). */
export const memoryOf = async pid => Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

/** Polls until a result is truthy. @throws Error after `ms`. */
export async function until(what, look, ms = 120_000) {
  const end = performance.now() + ms;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (performance.now() > end) throw new Error(`not within ${ms / 1000} s: ${what}`);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}

async function removeBrokerObjects(url, prefix, pool) {
  const names = new Names(prefix);
  const { rows } = await pool.query('select consumer, generation, partition from events.consumer_partition');
  const connection = await connect(url);
  const channel = await connection.createChannel();
  for (const declare of coreDeclarations(names)) await declare(channel); // deleting what is not there closes the channel
  for (const { consumer, ...part } of rows) await channel.deleteQueue(names.queue(consumer, part));
  for (const consumer of new Set(rows.map(row => row.consumer))) await channel.deleteExchange(names.consumerExchange(consumer));
  await channel.deleteQueue(names.deadLetterQueue);
  for (const name of [names.exchange, names.deadLetterExchange]) await channel.deleteExchange(name);
  await connection.close();
}

/**
 * A PostgreSQL in a temporary folder and a process `api` that serves requests and emits; `worker(env)` adds processes. The transport is the
 * embedded one, or the RabbitMQ of `amqpUrl`, whose objects are removed at the end. `file`: the program of its processes.
 */
export async function startSystem({ amqpUrl = null, file = 'worker.mjs' } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'platform-bench-'));
  const server = await startEmbeddedPostgres({ dataDir: folder, log: () => undefined });
  const pool = new pg.Pool({ connectionString: server.url, max: 4 });
  const [port, prefix] = [await freePort(), `bench_${randomBytes(4).toString('hex')}`];
  const base = `http://localhost:${port}`;
  const env = {
    DATABASE_URL: server.url,
    DATABASE_POOL_MAX: process.env.DATABASE_POOL_MAX ?? '10',
    DATA_DIR: folder,
    LOG_LEVEL: 'error',
    BASE_URL: base,
    GATEWAY_URL: base,
    IDENTITY_ISSUER: `${base}/identity`,
    TOKEN_SIGNING_KEK: KEY,
    ENCRYPTION_KEYS: KEYS,
    SUBGRAPH_SECRET: 'bench-secret-of-the-gateway-0123456789abcdef',
    LEDGER_SIGNING_KEY: Buffer.alloc(32, 7).toString('base64'),
    GIFT_PEPPER: 'bench-pepper-of-gift-codes-0123456789abcdef',
    WEBHOOKS_ALLOW_HTTP: 'true',
    WEBHOOKS_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    APOLLO_TELEMETRY_DISABLED: 'true',
    ...Object.fromEntries(
      SLUGS.map(slug => [`INTERNAL_CLIENT_SECRET_${slug.replaceAll('-', '_').toUpperCase()}`, `bench-secret-of-${slug}-0123456789abcdef`]),
    ),
    ...(amqpUrl && { AMQP_URL: amqpUrl, AMQP_PREFIX: prefix }),
  };
  const api = await child(file, { ...env, PORT: String(port), ROLES: 'subgraphs,gateway,rest' });
  const children = [api];
  const worker = async more => {
    const one = await child(file, { ...env, SUBGRAPH_URL_IDENTITY: base, MIGRATE: 'off', PORT: String(await freePort()), ...more });
    children.push(one);
    return one;
  };
  const end = async one => {
    children.splice(children.indexOf(one), 1);
    await one.stop();
  };
  const stop = async () => {
    for (const one of children.splice(0).reverse()) await one.stop();
    if (amqpUrl) await removeBrokerObjects(amqpUrl, prefix, pool);
    await pool.end();
    await server.stop();
    await rm(await realpath(folder), { recursive: true });
    await rm(folder, { force: true }); // a link, where root had to put the data elsewhere
  };
  return { base, pool, api, worker, end, stop };
}

const SUBSCRIBE = `
insert into webhooks.webhook_subscription (id, client_id, name, url, url_key, event_types, status, status_changed_at, timeout_ms, max_concurrency, spread, header_names,
  standard_headers, configuration_version, created_at, updated_at)
select id, client_id, 'Bench', url, url, $4, 'active', now(), 15000, 16, 1, '{}', false, $5, now(), now() from unnest($1::uuid[], $2::text[], $3::text[]) as s(id, client_id, url)`;
const SECRETS = `
insert into webhooks.webhook_secret (id, subscription_id, value_sealed, hint, status, created_at)
select id, subscription_id, sealed, 'hint', 'current', now() from unnest($1::uuid[], $2::uuid[], $3::bytea[]) as k(id, subscription_id, sealed)`;
const GRANTS = `
insert into webhooks.grant_projection (user_id, client_id, grant_id, version, scopes)
select user_id, client_id, gen_random_uuid(), 1, $3 from unnest($1::uuid[], $2::text[]) as g(user_id, client_id)`;

/** Subscriptions as the API would store them, each with a secret; by hand, because they are thousands. */
export async function plantSubscriptions(pool, type, subscriptions) {
  const sealer = createSealer(KEYS);
  const rows = subscriptions.map(one => ({ ...one, id: v7(), secretId: v7() }));
  const client = await pool.connect();
  const sql = async (text, params) => (await client.query(text, params)).rows;
  await sql('begin');
  const version = await changeConfiguration(sql);
  await sql(SUBSCRIBE, [rows.map(row => row.id), rows.map(row => row.clientId), rows.map(row => row.url), [type], version]);
  const sealed = rows.map(row => sealer.seal(newSecret(), secretContext(row.secretId)));
  await sql(SECRETS, [rows.map(row => row.secretId), rows.map(row => row.id), sealed]);
  await sql('commit');
  client.release();
}

/** Grants of users to clients: pairs. */
export const plantGrants = (pool, scope, pairs) =>
  pool.query(GRANTS, [pairs.map(([user]) => user), pairs.map(([, client]) => client), { [scope]: { at: 0, seq: 0 } }]);

/** Prints a table: the first row names the columns. */
export function table(rows) {
  const line = cells => `| ${cells.join(' | ')} |`;
  print([line(rows[0]), line(rows[0].map(() => '---')), ...rows.slice(1).map(line)].join('\n'));
}
