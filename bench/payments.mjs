/**
 * Payments with everything on this machine: the waits of calls of the processor, of purchases in the sandbox, of a billing summary, and of lists
 * of payments while there are more and more of them, beside their goals. Exits with 1 when one is missed.
 *
 *   npm run bench:payments                                    requests in one process, relay, consumers and timers in another, as on two cores
 *   npm run bench:payments -- --processes 1                   all in one, as npm start has it
 *   npm run bench:payments -- --seconds 5 --payments 20000    a look; default 60 and 1,000,000
 */
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { request } from 'undici';
import { startEmbeddedPostgres } from '../dist/runtime/embedded-postgres/start.js';
import { freePort } from './port.mjs';
import { START_FLAGS, startNode } from './processes.mjs';
import { percentile, range, table } from './system.mjs';

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    payments: { type: 'string', default: '1000000' },
    processes: { type: 'string', default: '2' },
  },
});
const [SECONDS, PAYMENTS] = [Number(flags.seconds), Number(flags.payments)];
const DEMO = '0190b3a0-0000-7000-8000-0000000000a1';
const BRAND = '0190b3a0-0000-7000-8000-000000000001';
const SECRET = 'secret-of-the-processor-in-a-benchmark';
const BUYERS = 60;
/** Code that V8 has not optimized yet takes three times as long: a purchase runs through so much of it that 600 of them count. */
const WARM_SECONDS = 30;
/** Lists are read alone: their waits are the database's. */
const READS_PER_SECOND = 20;

const folder = await mkdtemp(join(tmpdir(), 'bench-payments-'));
const server = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), log: () => undefined });
const pool = new pg.Pool({ connectionString: server.url, max: 2 });
const port = await freePort();
const base = `http://localhost:${port}`;
const env = {
  PORT: String(port),
  BASE_URL: base,
  DATABASE_URL: server.url,
  LOG_LEVEL: 'error',
  DATA_DIR: join(folder, 'platform'),
  PAYMENTS_WEBHOOK_SECRETS: SECRET,
};
const start = own =>
  startNode([...START_FLAGS, join(import.meta.dirname, '../dist/gateway/main.js')], {
    env: { ...process.env, ...env, ...own },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
const ANSWERING = { ROLES: 'subgraphs,gateway,rest' };
const WORKING = { ROLES: 'relay,consumers,scheduler', PORT: String(await freePort()), GATEWAY_URL: base };
const processes = [start(flags.processes === '1' ? {} : ANSWERING)];

async function ready() {
  for (let tries = 0; tries < 1_800 && processes[0].exitCode === null; tries++) {
    if (
      await fetch(`${base}/payments/readyz`).then(
        answer => answer.ok,
        () => false,
      )
    )
      return;
    await sleep(100);
  }
  throw new Error('the platform did not start');
}

async function tokenOf() {
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'demo-m2m', client_secret: 'demo-m2m-secret' });
  return (await (await fetch(`${base}/identity/v1/oauth/token`, { method: 'POST', body: form })).json()).access_token;
}

let token;
async function call(method, path, body, headers = { authorization: `Bearer ${token}` }) {
  const content = body === undefined ? {} : { 'content-type': 'application/json' };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await request(`${base}/payments${path}`, { method, headers: { ...headers, ...content }, body: text });
  const found = await answer.body.json();
  if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${JSON.stringify(found)}`);
  return found;
}

/** Calls at a pace, whatever the answers take. @returns their waits, ms. */
async function paced(perSecond, seconds, one) {
  const waits = [];
  /** @type {Promise<unknown>[]} */
  const calls = [];
  const started = performance.now();
  for (let at = 0; at < perSecond * seconds; at++) {
    const due = started + (at * 1000) / perSecond;
    if (due > performance.now()) await sleep(due - performance.now());
    calls.push(one(at).then(() => waits.push(performance.now() - due)));
  }
  await Promise.all(calls);
  return waits;
}

async function stop(one) {
  const gone = once(one, 'exit');
  if (one.exitCode === null && one.signalCode === null && one.kill('SIGTERM')) await gone;
}

const PERSON = `insert into identity."user" select (jsonb_populate_record(null::identity."user", to_jsonb(u) || jsonb_build_object('id', $1::text))).* from identity."user" u where u.id = $2`;

/** A person with a card. */
async function buyer() {
  const user = randomUUID();
  await pool.query(PERSON, [user, DEMO]);
  const { id: method } = await call('POST', '/v1/billing/payment-methods', { token: 'pm_card_visa', default: true, user_id: user });
  return { user, method };
}

/** A call of the processor about a charge, as it signs it. */
function notify(charge) {
  const at = Math.floor(Date.now() / 1000);
  const body = JSON.stringify({
    id: `evt_${randomUUID()}`,
    type: 'charge.succeeded',
    created: at,
    data: { object: { kind: 'charge', id: charge } },
  });
  const v1 = createHmac('sha256', SECRET).update(`${at}.${body}`).digest('hex');
  return call('POST', '/v1/webhooks/processor', body, { 'processor-signature': `t=${at},v1=${v1}` });
}

/** Copies of payments, of the buyers in turn, each a second older than the last; the row that is copied stays the newest. */
const COPIES = `insert into payments.payment select (jsonb_populate_record(null::payments.payment, to_jsonb(p) || jsonb_build_object('id', gen_random_uuid(),
    'processor_payment_id', null, 'checkout_session_id', null, 'token_hash', null, 'token_sealed', null, 'created_at', p.created_at - n * interval '1 second',
    'user_id', ($2::uuid[])[1 + n % cardinality($2::uuid[])]))).*
  from generate_series($3::int, $4::int) n, payments.payment p where p.id = $1`;

/** Nothing of what was asked for before is left to be done. */
const LEFT = `select (exists (select from events.outbox where published_at is null) or exists (select from events.queue)
  or exists (select from payments.processor_event where status = 'received')) as is`;

async function drained() {
  for (let calm = 0; calm < 3; await sleep(100)) {
    if (processes.some(one => one.exitCode !== null)) throw new Error('a process of the platform has ended');
    calm = (await pool.query(LEFT)).rows[0].is ? 0 : calm + 1;
  }
}

/** The waits of calls at a pace, after which all that follows from them is done. */
async function alone(perSecond, one) {
  const waits = await paced(perSecond, SECONDS, one);
  await drained();
  return waits;
}

const atMost = (what, measured, goal) => [what, measured.toFixed(1), `≤ ${goal}`, measured <= goal ? 'holds' : 'MISSED'];
const reported = (what, measured) => [what, measured.toFixed(1), '', 'reported'];

try {
  await ready();
  if (flags.processes !== '1') processes.push(start(WORKING)); // which needs the secrets that the first has made
  token = await tokenOf();
  const price = { key: 'bench', subject_kind: 'service', subject_id: DEMO, brand_id: BRAND, unit_amount: { amount: 900, currency: 'USD' } };
  const { id: price_id } = await call('POST', '/v1/admin/prices', price);
  const buyers = [];
  for (const _ of range(BUYERS)) buyers.push(await buyer());
  const of = at => buyers[at % BUYERS];
  const buy = at => {
    const { user: user_id, method: payment_method_id } = of(at);
    return call('POST', '/v1/checkout', { mode: 'payment', items: [{ price_id }], user_id, payment_method_id });
  };
  const summary = at => call('GET', `/v1/billing/summary?user_id=${of(at).user}`);
  const { payment } = await buy(0);
  const { rows } = await pool.query('select processor_payment_id as charge from payments.payment where id = $1', [payment.id]);
  for (const one of [buy, summary, () => notify(rows[0].charge)]) await paced(20, WARM_SECONDS, one);
  await drained();
  const bought = await alone(30, buy);
  const called = await alone(200, () => notify(rows[0].charge));
  const figures = [
    atMost('call of the processor at 200/s, p99 ms', percentile(called, 99), 50),
    atMost('purchase at 30/s, p95 ms', percentile(bought, 95), 250),
    atMost('billing summary at 20/s, p95 ms', percentile(await alone(READS_PER_SECOND, summary), 95), 80),
  ];
  const users = buyers.map(({ user }) => user);
  let made = 0;
  for (const many of [PAYMENTS / 100, PAYMENTS / 10, PAYMENTS]) {
    for (; made < many; made += Math.min(50_000, many - made))
      await pool.query(COPIES, [payment.id, users, made + 1, made + Math.min(50_000, many - made)]);
    await pool.query('analyze payments.payment');
    for (const [what, path] of [
      ['all', ''],
      ['of a user', `&user_id=${users[7]}`],
      ['of a status', '&status=succeeded'],
    ]) {
      const waits = await paced(READS_PER_SECOND, Math.max(3, SECONDS / 4), () => call('GET', `/v1/payments?limit=20${path}`));
      const row = many === PAYMENTS ? (name, value) => atMost(name, value, 30) : reported;
      figures.push(row(`list of payments, ${what}, ${many} rows, p95 ms`, percentile(waits, 95)));
    }
  }
  table([['what', 'measured', 'goal', 'verdict'], ...figures]);
  process.exitCode = figures.some(one => one.at(-1) === 'MISSED') ? 1 : 0;
} finally {
  await Promise.all(processes.map(stop));
  await pool.end();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
