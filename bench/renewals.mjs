/**
 * Overdue subscriptions, 5 % soft and 2 % hard declines, a worker in each of three processes of which two are killed on the way: minutes
 * until all invoices are final and until the ledger has them all, the memory of the three together, and whether anybody was charged twice.
 * Exits with 1 when a statement does not hold. On the wall clock: the manual one is read from the database in every transaction.
 *
 *   npm run bench:renewals
 *   npm run bench:renewals -- --subscriptions 300
 */
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startEmbeddedPostgres } from '../dist/runtime/embedded-postgres/start.js';
import { cpuOf, START_FLAGS, startNode } from './processes.mjs';

const { values: flags } = parseArgs({ options: { subscriptions: { type: 'string', default: '10000' } } });
const MANY = Number(flags.subscriptions);
const [MOST_MINUTES, MOST_MINUTES_LEDGER, MOST_MB, WORKERS] = [5, 10, 400, 3];
const MAIN = join(import.meta.dirname, '..', 'dist', 'gateway', 'main.js');
const DEMO = '0190b3a0-0000-7000-8000-0000000000a1';
const BRAND = '0190b3a0-0000-7000-8000-000000000001';
/** Methods and the share of subscriptions that each has. */
const METHODS = [
  ['pm_card_visa', 0.93],
  ['pm_card_chargeCustomerFail', 0.05],
  ['pm_card_visa_chargeDeclinedLostCard', 0.02],
];

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  return port;
}

const folder = await mkdtemp(join(tmpdir(), 'renewals-'));
const server = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), log: () => undefined });
const pool = new pg.Pool({ connectionString: server.url, max: 2 });
const port = await freePort();
const base = `http://localhost:${port}`;
const env = {
  ...process.env,
  BASE_URL: base,
  DATABASE_URL: server.url,
  LOG_LEVEL: 'error',
  DATA_DIR: join(folder, 'platform'),
};

const start = (extra, flags = START_FLAGS) =>
  startNode([...flags, MAIN], { env: { ...env, ...extra }, stdio: ['ignore', 'ignore', 'inherit'] });
async function end(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}
/** It answers nobody, so it needs no large young generation (README, processes). */
const worker = async () =>
  start({ PORT: String(await freePort()), GATEWAY_URL: base, ROLES: 'subgraphs,gateway,scheduler' }, ['--max-semi-space-size=16']);
const pause = ms => new Promise(resolve => setTimeout(resolve, ms));

async function ready() {
  for (let tries = 0; tries < 1200; tries++) {
    if (
      await fetch(`${base}/payments/readyz`).then(
        answer => answer.ok,
        () => false,
      )
    )
      return;
    await pause(100);
  }
  throw new Error('the platform did not start');
}

async function token() {
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'demo-m2m', client_secret: 'demo-m2m-secret' });
  return (await (await fetch(`${base}/identity/v1/oauth/token`, { method: 'POST', body: form })).json()).access_token;
}

async function call(path, body) {
  const headers = { authorization: `Bearer ${await token()}`, 'content-type': 'application/json' };
  const answer = await fetch(`${base}/payments${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

const one = async (text, values = []) => (await pool.query(text, values)).rows[0];
const failures = [];
function hold(what, is) {
  console.log(`${is ? 'holds' : 'FAILS'}: ${what}`);
  if (!is) failures.push(what);
}

/** Resident memory, MB; 0 of a process that has just ended. Source: proc(5). */
async function memoryOf({ pid }) {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+)/.exec(text)?.[1] ?? 0) / 1024;
}
const memories = async children => (await Promise.all(children.map(memoryOf))).reduce((total, one) => total + one, 0);

/** Started and at rest: of all together less than half a core over five seconds. @throws Error after five minutes. */
async function atRest(children) {
  const used = () => children.reduce((sum, child) => sum + cpuOf(child), 0);
  for (let looks = 0, before = used(); looks < 60; looks++, before = used()) {
    await pause(5_000);
    if (used() - before < 2_500) return;
  }
  throw new Error('the workers did not come to rest in five minutes');
}

/** The most that the workers had together at any second, and the way there: minutes, MB. */
function watchMemory() {
  const [begun, seen] = [performance.now(), []];
  const look = async () => seen.push([(performance.now() - begun) / 60_000, await memories(workers)]);
  const timer = setInterval(() => void look(), 1_000);
  return () => {
    clearInterval(timer);
    for (let at = 0; at < seen.length; at += 20) process.stderr.write(`  ${seen[at][0].toFixed(1)} min: ${seen[at][1].toFixed(0)} MB\n`);
    return Math.max(...seen.map(([, mb]) => mb));
  };
}

/** Subscriptions of a person. */
const EACH = 10;
/** People who are made at once. */
const AT_ONCE = 8;
const PERSON = `insert into identity."user" select (jsonb_populate_record(null::identity."user", to_jsonb(u) || jsonb_build_object('id', $1::text))).* from identity."user" u where u.id = $2`;

/** A subscription with a method of its kind, from which others are copied. */
async function model(method, priceId) {
  const user = randomUUID();
  await pool.query(PERSON, [user, DEMO]);
  const { id: methodId } = await call('/v1/billing/payment-methods', { token: 'pm_card_visa', default: true, user_id: user });
  const { id } = await call('/v1/subscriptions', { price_id: priceId, user_id: user, payment_method_id: methodId });
  const other = await call('/v1/billing/payment-methods', { token: method, default: false, user_id: user });
  await pool.query('update payments.billing_subscription set payment_method_id = $2 where id = $1', [id, other.id]);
  return id;
}

const LATER = '2100-01-01T00:00:00.000Z';
const COPIES = `insert into payments.billing_subscription select (jsonb_populate_record(null::payments.billing_subscription, to_jsonb(b) ||
  jsonb_build_object('id', gen_random_uuid(), 'next_run_at', $2::timestamptz, 'next_notice_at', null, 'latest_invoice_id', null))).*
  from payments.billing_subscription b, generate_series(1, $3) where b.id = $1`;
/** They fell due one after the other, in no order of their customers. */
const DUE = `update payments.billing_subscription set current_period_end = $1, next_run_at = $1::timestamptz - random() * interval '1 minute' where next_run_at = $2`;
const FINAL = `select count(*) filter (where i.status in ('paid', 'past_due'))::int as final, count(*)::int as made, count(distinct i.subscription_id)::int as subscriptions
  from payments.invoice i where i.period_start = $1`;
const UNPOSTED = `select count(*)::int as n from payments.payment p join payments.invoice i on i.id = p.invoice_id where i.period_start = $1 and p.status = 'succeeded'
  and not exists (select from accounting.ledger_transaction t where t.source_service = 'payments' and t.source_type = 'payment.charged' and t.source_id = p.id::text)`;
const TWICE = `select count(*)::int as n from (select p.invoice_id from payments.payment p where p.status = 'succeeded' group by p.invoice_id having count(*) > 1) twice`;
const LEFT = `select count(*)::int as n from payments.payment where status = 'processing'`;

const main = start({ PORT: String(port), ROLES: 'subgraphs,gateway,rest,relay,consumers' });
const workers = [];
try {
  await ready();
  const price = {
    key: 'bench',
    subject_kind: 'service',
    subject_id: DEMO,
    brand_id: BRAND,
    unit_amount: { amount: 900, currency: 'USD' },
    recurring: { interval: 'month', interval_count: 1 },
  };
  const { id: priceId } = await call('/v1/admin/prices', price);
  for (const [method, share] of METHODS) {
    const people = Math.max(1, Math.round((MANY * share) / EACH));
    const copy = async () => pool.query(COPIES, [await model(method, priceId), LATER, EACH]);
    for (let n = 0; n < people; n += AT_ONCE) await Promise.all(Array.from({ length: Math.min(AT_ONCE, people - n) }, copy));
  }
  for (let n = 0; n < WORKERS; n++) workers.push(await worker());
  await pause(10_000);
  await atRest(workers);
  const rest = await memories(workers);
  const watched = watchMemory();
  const started = performance.now();
  const now = new Date().toISOString();
  const { rowCount: due } = await pool.query(DUE, [now, LATER]);
  const done = async share => (await one(FINAL, [now])).final >= due * share;
  for (const share of [0.3, 0.6]) {
    while (!(await done(share))) await pause(200);
    await end(workers.shift(), 'SIGKILL');
    workers.push(await worker());
  }
  const minutes = () => (performance.now() - started) / 60_000;
  while (!(await done(1))) await pause(500);
  const untilFinal = minutes();
  while ((await one(UNPOSTED, [now])).n > 0) await pause(500);
  const untilPosted = minutes();
  const more = watched() - rest;
  const state = await one(FINAL, [now]);
  const times = `all invoices final in ${untilFinal.toFixed(1)} min, in the ledger in ${untilPosted.toFixed(1)}`;
  console.log(`${due} subscriptions, two workers killed: ${times}; ${more.toFixed(0)} MB more than at rest`);
  hold('each is billed once', state.made === due && state.subscriptions === due);
  hold(`all are final in at most ${MOST_MINUTES} min`, untilFinal <= MOST_MINUTES);
  hold(`the ledger has them in at most ${MOST_MINUTES_LEDGER} min`, untilPosted <= MOST_MINUTES_LEDGER);
  hold(`at most ${MOST_MB} MB more than at rest`, more <= MOST_MB);
  hold('nobody is charged twice', (await one(TWICE)).n === 0);
  hold('nothing is left in progress', (await one(LEFT)).n === 0);
} finally {
  for (const child of [...workers, main]) await end(child, 'SIGTERM');
  await pool.end();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(failures.length === 0 ? 0 : 1);
