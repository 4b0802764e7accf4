/**
 * The ledger with everything on this machine, hashes and outbox rows written. Prints transfers per second of the engine, spread over many
 * wallets, by Zipf's law, and with half of them on one wallet of floor 0; the waits of single POSTs and of wallet reads; batches by REST; what a
 * verification reads; all that with the relay off; then events per second from the log into the books, and the engine beside relay and consumer;
 * beside their goals. Exits with 1 when one is missed, or when the books do not balance afterwards.
 *
 *   npm run bench:accounting
 *   npm run bench:accounting -- --seconds 5 --accounts 2000    a look; default 60 and 100,000
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { request } from 'undici';
import { v7 } from 'uuid';
import { prepareEvent } from '../dist/events/outbox.js';
import { cashGranted } from '../dist/events/catalogue/cash.js';
import { percentile, range, startSystem, table, until } from './system.mjs';

const { values: flags } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, accounts: { type: 'string', default: '100000' } },
});
const [SECONDS, ACCOUNTS] = [Number(flags.seconds), Number(flags.accounts)];
/** Not measured, before each measurement, s. */
const WARM_UP = Math.min(5, SECONDS);

const progress = line => process.stderr.write(`  ${line}\n`);
/** A row of the table with its verdict. Goals on 2 cores. Source: accounting, Performance. */
const atLeast = (what, measured, goal) => [what, Math.round(measured), `≥ ${goal}`, measured >= goal ? 'holds' : 'MISSED'];
const atMost = (what, measured, goal) => [what, measured.toFixed(1), `≤ ${goal}`, measured <= goal ? 'holds' : 'MISSED'];
const reported = (what, measured) => [what, Math.round(measured), '', 'reported'];

const system = await startSystem({ file: 'accounting.mjs' });
const { api, base, pool } = system;

async function engine(what, load) {
  await api.ask('transfers', { accounts: ACCOUNTS, ...load, seconds: WARM_UP });
  const { created, rejected, ms } = await api.ask('transfers', { accounts: ACCOUNTS, ...load, seconds: SECONDS });
  progress(`${what}: ${created} booked, ${rejected} refused in ${Math.round(ms)} ms`);
  return ((created + rejected) * 1000) / ms;
}

async function tokenOf() {
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'demo-m2m', client_secret: 'demo-m2m-secret' });
  const answer = await fetch(`${base}/identity/v1/oauth/token`, { method: 'POST', body: form });
  return (await answer.json()).access_token;
}

const token = await tokenOf();
const line = (account_code, direction) => ({ account_code, direction, amount: { amount: 1, currency: 'USD' } });
const bodyOf = (from, to) => ({
  source: { service: 'payments', type: 'bench', id: v7() },
  description: 'bench',
  entries: [line(from, 'debit'), line(to, 'credit')],
});

async function call(method, path, body) {
  const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) };
  const answer = await request(`${base}/accounting${path}`, { method, headers, body: body && JSON.stringify(body) });
  await answer.body.dump();
  if (answer.statusCode >= 400) throw new Error(`${method} ${path}: ${answer.statusCode}`);
}

/** Calls at a pace, whatever the answers take. Answers their waits, ms. */
async function paced(perSecond, seconds, one) {
  const waits = [];
  const started = performance.now();
  const calls = [];
  for (let at = 0; at < perSecond * seconds; at++) {
    const due = started + (at * 1000) / perSecond;
    if (due > performance.now()) await sleep(due - performance.now());
    calls.push(one(at).then(() => waits.push(performance.now() - due)));
  }
  await Promise.all(calls);
  return waits;
}

/** As fast as so many at once can. */
async function fastest(atOnce, seconds, one) {
  const end = performance.now() + seconds * 1000;
  let count = 0;
  const loop = async () => {
    for (; performance.now() < end; count++) await one(count);
  };
  await Promise.all(range(atOnce).map(loop));
  return count / seconds;
}

const META = { source: 'cash', requestId: null, causationId: null, actor: 'service:cash', traceparent: null };
const granted = userId =>
  prepareEvent(
    cashGranted,
    { grant_id: v7(), source: 'bonus', amount: 1, currency: 'USD', expires_at: null, reference_type: null, reference_id: null, balance: 1 },
    { userId },
    META,
  );

/** Appends grants of cash to the log, as cash does, many in a transaction. */
async function append(count, users) {
  for (let at = 0; at < count; at += 200) {
    const some = JSON.stringify(range(Math.min(200, count - at)).map(more => granted(users[(at + more) % users.length])));
    await pool.query(`set role platform_events; select events.append('${some}', null); reset role`);
  }
}

const BOOKED = "select count(*)::int as n from accounting.ledger_transaction where source_type = 'cash.granted'";
const booked = async count => (await pool.query(BOOKED)).rows[0].n >= count;

/** Events per second from the log through relay and transport into the books. */
async function eventPath(users, count) {
  await append(200, users);
  await until('the consumer is warm', () => booked(200));
  const started = performance.now();
  await append(count, users);
  await until('all are booked', () => booked(200 + count));
  return (count * 1000) / (performance.now() - started);
}

const BALANCED = `
select coalesce(sum(case direction when 'debit' then amount else - amount end), 0)::text as net,
  (select count(*)::int from accounting.ledger_account where floor is not null and posted_credits - posted_debits - pending_debits < floor) as below,
  (select deadlocks::int from pg_stat_database where datname = current_database()) as deadlocks
from accounting.ledger_entry where posted`;

try {
  await api.ask('fund', { accounts: ACCOUNTS });
  progress(`${ACCOUNTS} wallets funded`);
  const spread = await engine('spread, Zipf 1.0', { exponent: 1 });
  const zipf = await engine('hot, Zipf 2.0', { exponent: 2 });
  const hot = await engine('hot, half on one wallet', { exponent: 1, hot: 0.5 });
  const users = await api.ask('users', { count: Math.min(ACCOUNTS, 1_000) });
  const wallet = at => `liabilities:wallet:cash:${users[at % users.length]}:usd`;
  const single = at => call('POST', '/v1/transactions', bodyOf(wallet(at), wallet(at + 1)));
  const many = at =>
    call('POST', '/v1/transactions/batch', {
      atomic: false,
      transactions: range(100).map(more => bodyOf(wallet(at + more), wallet(at + more + 1))),
    });
  const read = at => call('GET', `/v1/wallets?user_id=${users[at % users.length]}`);
  for (const one of [single, many, read]) await fastest(8, WARM_UP, one);
  const short = Math.min(SECONDS, 20);
  const posts = await paced(300, short, single);
  const reads = await paced(300, short, read);
  const rate = await fastest(64, short, single);
  const batches = await fastest(4, short, many);
  const verified = await api.ask('verify');
  await pool.query('update events.outbox set published_at = now() where published_at is null'); // the backlog of the above is nobody's
  await system.worker({ ROLES: 'relay,consumers', SERVICES: 'accounting' });
  const events = await eventPath(users, 400 * short);
  progress(`${400 * short} events booked`);
  const beside = await engine('beside relay and a consumer', { exponent: 1 });
  const [books] = (await pool.query(BALANCED)).rows;
  const rows = [
    atLeast(`engine, transfers/s, ${ACCOUNTS} wallets by Zipf 1.0`, spread, 3_000),
    atLeast('engine, transfers/s, Zipf 2.0', zipf, 2_700),
    atLeast('engine, transfers/s, half on one wallet of floor 0', hot, 2_700),
    atMost('single POST at 300/s, p99 ms', percentile(posts, 99), 40),
    reported('single POST, most per second, 64 at once', rate),
    reported('transactions/s by batches of 100', batches * 100),
    atMost('wallet read at 300/s, p99 ms', percentile(reads, 99), 10),
    atLeast('events/s from the log into the books', events, 400),
    atLeast('engine beside relay and a consumer, transfers/s', beside, 400),
    atLeast('verification, transactions/s', (verified.transactionsChecked * 1000) / verified.ms, 15_000),
  ];
  table([['what', 'measured', 'goal', 'verdict'], ...rows]);
  const sound = verified.ok && books.net === '0' && books.below === 0 && books.deadlocks === 0;
  progress(
    `${verified.transactionsChecked} transactions: ${sound ? 'balanced, verified, no deadlock' : JSON.stringify([verified, books])}`,
  );
  process.exitCode = rows.some(row => row.at(-1) === 'MISSED') || !sound ? 1 : 0;
} finally {
  await system.stop();
}
