/**
 * The event machinery with everything on this machine: one process emits, another relays and handles with two consumers; then one delivers
 * webhooks to a receiver. Prints rates and latencies beside their goals, and how the rate changes over users, subscriptions and backlog.
 *
 *   npm run bench:events                        the embedded transport, and RabbitMQ where one answers (TEST_AMQP_URL)
 *   npm run bench:events -- --events 20000      more of everything; default 5,000
 *   npm run bench:events -- --part deliveries   one part: embedded, rabbitmq or deliveries
 */
import { parseArgs } from 'node:util';
import { protocolStarted } from '../dist/events/catalogue/clinical.js';
import { chooseRabbitmq } from '../scripts/backends.ts';
import {
  newUsers,
  percentile,
  plantGrants,
  plantSubscriptions,
  range,
  print,
  startReceiver,
  startSystem,
  table,
  until,
} from './system.mjs';

const { values: flags } = parseArgs({ options: { events: { type: 'string', default: '5000' }, part: { type: 'string' } } });
const EVENTS = Number(flags.events);
const CONSUMERS = 2;
const BULK = { perTransaction: 4, concurrency: 16 };
/** Subscriptions of one client; a user grants one client, so each event makes so many deliveries. */
const FAN_OUT = 10;

const progress = line => process.stderr.write(`  ${line}\n`);
const rate = (count, ms) => Math.round((count * 1000) / ms);

/** Emits and waits until both consumers have handled everything. Answers events per second from the first emit to the last effect. */
async function through({ api }, worker, order) {
  await worker.ask('reset');
  const started = Date.now();
  await api.ask('emit', { ...BULK, ...order });
  const seen = await until('all effects', async () => {
    const now = await worker.ask('seen');
    return now.handled >= order.events * CONSUMERS && now;
  });
  if (seen.disordered) throw new Error(`${seen.disordered} events were handled out of order`);
  const perSecond = rate(order.events, seen.at - started);
  progress(`${order.events} events of ${order.users.length} users: ${perSecond}/s`);
  return { perSecond, ages: seen.ages };
}

/** What waits while nobody works, and how fast it is done then. */
async function backlog(system, events) {
  await system.api.ask('emit', { ...BULK, events, users: newUsers(1_000) });
  const worker = await system.worker({ ROLES: 'relay,consumers', SERVICES: 'clinical' });
  const started = Date.now();
  const seen = await until('the backlog to be done', async () => {
    const now = await worker.ask('seen');
    return now.handled >= events * CONSUMERS && now;
  });
  await system.end(worker);
  progress(`a backlog of ${events}: ${rate(events, seen.at - started)}/s`);
  return rate(events, seen.at - started);
}

async function machinery(name, amqpUrl) {
  const system = await startSystem({ amqpUrl });
  try {
    const worker = await system.worker({ ROLES: 'relay,consumers', SERVICES: 'clinical' });
    await through(system, worker, { events: EVENTS / 5, users: newUsers(100) }); // warm
    const paced = await through(system, worker, { events: EVENTS / 5, users: newUsers(1_000), perTransaction: 1, perSecond: 200 });
    const sustained = await through(system, worker, { events: EVENTS, users: newUsers(1_000) });
    const growth = [];
    for (const users of [10, 100, 10_000])
      growth.push((await through(system, worker, { events: EVENTS, users: newUsers(users) })).perSecond);
    await system.end(worker);
    const backlogs = [];
    for (const size of [0.2, 1, 4]) backlogs.push(await backlog(system, EVENTS * size));
    return [
      [name, 'emit → handler at 200/s, p50 / p95 ms', `${percentile(paced.ages, 50)} / ${percentile(paced.ages, 95)}`, 'p95 ≤ 150'],
      [name, `events/s to ${CONSUMERS} consumers`, sustained.perSecond, amqpUrl ? '≥ 800' : '≥ 1,000'],
      [name, 'events/s of 10 / 100 / 10,000 users', growth.join(' / '), 'flat'],
      [name, `events/s out of a backlog of ${[0.2, 1, 4].map(size => EVENTS * size).join(' / ')}`, backlogs.join(' / '), 'flat'],
    ];
  } finally {
    await system.stop();
  }
}

/** Deliveries per second to so many subscriptions of `FAN_OUT` each for a client, over 1,000 users. */
async function deliveries(subscriptions, count) {
  const [system, receiver] = [await startSystem(), await startReceiver()];
  try {
    const clients = range(subscriptions / FAN_OUT).map(n => `bench-${n}`);
    const endpoints = clients.flatMap(clientId =>
      range(FAN_OUT).map(n => ({ clientId, url: `http://127.0.0.1:${receiver.first}/${clientId}/${n}` })),
    );
    await plantSubscriptions(system.pool, protocolStarted.name, endpoints);
    const users = newUsers(1_000);
    await plantGrants(
      system.pool,
      protocolStarted.scope,
      users.map((user, n) => [user, clients[n % clients.length]]),
    );
    const worker = await system.worker({ ROLES: 'relay,consumers', SERVICES: 'webhooks' });
    const wait = wanted =>
      until(`${wanted} deliveries`, async () => {
        const seen = await receiver.ask('seen');
        return seen.count >= wanted && seen;
      });
    const warm = BULK.perTransaction * Math.ceil(EVENTS / 200);
    await system.api.ask('emit', { ...BULK, events: warm, users });
    await wait(warm * FAN_OUT);
    await receiver.ask('reset');
    const started = Date.now();
    await system.api.ask('emit', { ...BULK, events: count / FAN_OUT, users, first: warm });
    const seen = await wait(count);
    if (seen.disordered) throw new Error(`${seen.disordered} deliveries were out of order`);
    await system.end(worker);
    progress(`${count} deliveries to ${subscriptions} subscriptions: ${rate(count, seen.lastAt - started)}/s`);
    return rate(count, seen.lastAt - started);
  } finally {
    await receiver.stop();
    await system.stop();
  }
}

const wanted = part => (flags.part ?? part) === part;
const rows = [['transport', 'what', 'measured', 'goal']];
if (wanted('embedded')) rows.push(...(await machinery('embedded', null)));
const rabbitmq = wanted('rabbitmq') ? await chooseRabbitmq() : null;
if (rabbitmq) rows.push(...(await machinery(`RabbitMQ ${rabbitmq.version}`, rabbitmq.url)));
else if (wanted('rabbitmq')) print('RabbitMQ was left out: none answers');
if (wanted('deliveries')) {
  const rates = [];
  for (const subscriptions of [10, 100, 1_000]) rates.push(await deliveries(subscriptions, EVENTS * 2));
  rows.push(['embedded', 'ordered deliveries/s, 100 subscriptions, 1,000 users', rates[1], '≥ 800']);
  rows.push(['embedded', 'the same with 10 / 100 / 1,000 subscriptions', rates.join(' / '), 'flat']);
}
table(rows);
