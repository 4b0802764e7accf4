/**
 * Who waits for whom: the latency of bystanders while one user, a replay or the end of a subscription has thousands of events to work off.
 * Prints the p95 of each case beside the same without it. Goal: 500 ms in each.
 *
 *   npm run bench:fairness                      the embedded transport, and RabbitMQ where one answers (TEST_AMQP_URL)
 *   npm run bench:fairness -- --part closing    one part: busy, replay or closing
 *   npm run bench:fairness -- --transport embedded
 */
import { parseArgs } from 'node:util';
import { v7 } from 'uuid';
import { protocolStarted } from '../dist/events/catalogue/clinical.js';
import { headsOfLog } from '../dist/events/log-position.js';
import { chooseRabbitmq } from '../scripts/backends.ts';
import { newUsers, percentile, plantGrants, plantSubscriptions, print, startReceiver, startSystem, table, until } from './system.mjs';

const { values: flags } = parseArgs({ options: { part: { type: 'string' }, transport: { type: 'string' } } });
const GOAL = '≤ 500';
const BUSY_EVENTS = 4_000;
const REPLAYED = 10_000;
const HELD = 100_000;
/** Bystanders emit so many events, at this rate. */
const PACED = { events: 400, perTransaction: 1, concurrency: 16, perSecond: 50 };

const p95 = ages => percentile(ages, 95);
const wanted = part => (flags.part ?? part) === part;
const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));

/** Emits the bystanders' events, waits until both consumers have handled them, answers their ages. */
async function bystanders({ api }, worker, except) {
  const handled = async () => (await worker.ask('seen', { except })).ages.length;
  const before = await handled();
  await api.ask('emit', { ...PACED, users: newUsers(200) });
  await until('the bystanders', async () => (await handled()) >= before + PACED.events * 2, 300_000);
  return (await worker.ask('seen', { except })).ages.slice(before);
}

/** One user's thousands of events in a few transactions. */
async function busyUser(system, worker) {
  const user = v7();
  await worker.ask('reset');
  const alone = p95(await bystanders(system, worker, user));
  await system.api.ask('emit', { events: BUSY_EVENTS, users: [user], perTransaction: 1_000, concurrency: 1 });
  const beside = p95(await bystanders(system, worker, user));
  // Whatever is left over would count as the next part's.
  await until('the busy user', async () => (await worker.ask('seen')).handled >= (BUSY_EVENTS + 2 * PACED.events) * 2, 300_000);
  return ['one user with 4,000 events', alone, beside];
}

const ASK = `
insert into events.replay (id, consumer, mode, filter, status, total, requested_by, reason, created_at, upto)
values ($1, 'clinical.first', 'dedupe', '{"sequence_from":0}', 'pending', $2, 'bench', 'a measurement', clock_timestamp(), $3)`;

async function replay(system, worker) {
  const { pool, api } = system;
  const { rows } = await pool.query('select count(*)::int as n from events.outbox');
  const missing = Math.max(0, REPLAYED - rows[0].n);
  await worker.ask('reset');
  if (missing > 0) await api.ask('emit', { events: missing, users: newUsers(1_000), perTransaction: 4, concurrency: 16 });
  await until('the log', async () => (await worker.ask('seen')).handled >= missing * 2, 300_000);
  await worker.ask('reset');
  const alone = p95(await bystanders(system, worker));
  const id = v7();
  await pool.query(ASK, [id, REPLAYED, await headsOfLog(async (text, params) => (await pool.query(text, params)).rows)]);
  await until('its begin', async () => (await pool.query('select from events.replay where id = $1 and sent > 0', [id])).rowCount, 60_000);
  const beside = p95(await bystanders(system, worker));
  await pool.query(`update events.replay set status = 'cancelled' where id = $1`, [id]);
  return [`a replay of ${REPLAYED.toLocaleString('en')} events`, alone, beside];
}

const HOLD = `
insert into webhooks.webhook_delivery (id, event_id, subscription_id, client_id, user_id, event_type, sequence, replay_no, status, created_at)
select gen_random_uuid(), gen_random_uuid(), $1, $2, ($3::uuid[])[1 + n % cardinality($3::uuid[])], $4, n, 0, 'pending', now() from generate_series(1, $5::int) n`;
const LANES = `
insert into webhooks.webhook_lane (subscription_id, user_id, shard, head_id, head_event_id, head_sequence, head_replay_no, head_attempt_count, next_attempt_at, open_count)
select distinct on (user_id) subscription_id, user_id, 0, id, event_id, sequence, replay_no, 0, null, count(*) over (partition by user_id)
from webhooks.webhook_delivery where subscription_id = $1 order by user_id, sequence`;
const OPEN = `select from webhooks.webhook_delivery where subscription_id = $1 and status = 'pending' limit 1`;

/** A paused subscription with 100,000 held deliveries ends, beside one that delivers. */
async function closing(amqpUrl) {
  const [system, receiver] = [await startSystem({ amqpUrl }), await startReceiver()];
  try {
    const { pool, api } = system;
    const endpoints = ['ending', 'going'].map(clientId => ({ clientId, url: `http://127.0.0.1:${receiver.first}/${clientId}/0` }));
    await plantSubscriptions(pool, protocolStarted.name, endpoints);
    const users = newUsers(200);
    await plantGrants(
      pool,
      protocolStarted.scope,
      users.map(user => [user, 'going']),
    );
    const { rows } = await pool.query(`update webhooks.webhook_subscription set status = 'paused' where client_id = 'ending' returning id`);
    await pool.query(HOLD, [rows[0].id, 'ending', newUsers(20_000), protocolStarted.name, HELD]);
    await pool.query(LANES, [rows[0].id]);
    const worker = await system.worker({ ROLES: 'relay,consumers', SERVICES: 'webhooks' });
    const deliver = async () => {
      await receiver.ask('reset');
      await api.ask('emit', { ...PACED, users });
      return p95(
        (
          await until('deliveries', async () => {
            const seen = await receiver.ask('seen');
            return seen.count >= PACED.events && seen;
          })
        ).ages,
      );
    };
    await deliver(); // warm
    const alone = await deliver();
    const ending = deliver();
    await sleep(500);
    const ended = await worker.ask('disable', { id: rows[0].id });
    const beside = await ending;
    await until('the end', async () => (await pool.query(OPEN, [rows[0].id])).rowCount === 0, 300_000);
    return [`the end of a subscription with ${HELD.toLocaleString('en')} held deliveries (answered in ${ended} ms)`, alone, beside];
  } finally {
    await receiver.stop();
    await system.stop();
  }
}

async function measured(amqpUrl) {
  const rows = [];
  if (wanted('busy') || wanted('replay')) {
    const system = await startSystem({ amqpUrl });
    try {
      const worker = await system.worker({ ROLES: 'relay,consumers', SERVICES: 'clinical' });
      await bystanders(system, worker); // warm
      if (wanted('busy')) rows.push(await busyUser(system, worker));
      if (wanted('replay')) rows.push(await replay(system, worker));
    } finally {
      await system.stop();
    }
  }
  if (wanted('closing')) rows.push(await closing(amqpUrl));
  return rows;
}

const rows = [['transport', 'beside', 'bystanders alone, p95 ms', 'beside it, p95 ms', 'goal']];
const chosen = kind => (flags.transport ?? kind) === kind;
if (chosen('embedded')) for (const row of await measured(null)) rows.push(['embedded', ...row, GOAL]);
const rabbitmq = chosen('rabbitmq') ? await chooseRabbitmq() : null;
if (rabbitmq) for (const row of await measured(rabbitmq.url)) rows.push([`RabbitMQ ${rabbitmq.version}`, ...row, GOAL]);
else if (chosen('rabbitmq')) print('RabbitMQ was left out: none answers');
table(rows);
