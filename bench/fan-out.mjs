/**
 * Ten thousand endpoints of one event: how long until all are served, what it takes of memory and of the API meanwhile, and what one endpoint
 * that hangs costs the others. Every endpoint has an address of its own, so no connection is shared. Prints the figures beside their goals.
 *
 *   npm run bench:fan-out
 *   npm run bench:fan-out -- --subscriptions 2000
 */
import { parseArgs } from 'node:util';
import { protocolStarted } from '../dist/events/catalogue/clinical.js';
import {
  memoryOf,
  newUsers,
  percentile,
  plantGrants,
  plantSubscriptions,
  range,
  startReceiver,
  startSystem,
  table,
  until,
} from './system.mjs';

const { values: flags } = parseArgs({ options: { subscriptions: { type: 'string', default: '10000' } } });
const SUBSCRIPTIONS = Number(flags.subscriptions);
/** As many as a client may have. */
const PER_CLIENT = 20;
/** For the endpoint that hangs: so many others, so many events. */
const [OTHERS, EVENTS] = [200, 10];
/** Pause between two requests to the API, ms. */
const PROBE_MS = 10;
/** The event to all comes so often: of one alone, a few unlucky requests would be the p99. */
const ROUNDS = 3;
const CALM_MS = 20_000;

/** An address in 127.0.0.0/8 for each: Linux answers on all of them. */
const address = n => `127.1.${Math.floor(n / 250)}.${(n % 250) + 1}`;

async function tokenOf(base) {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'demo-m2m', client_secret: 'demo-m2m-secret' });
  return (await (await fetch(`${base}/identity/v1/oauth/token`, { method: 'POST', body })).json()).access_token;
}

/** Asks the API again and again until `stop`, which answers the latencies, ms. */
function probe(base, token) {
  const latencies = [];
  let stopped = false;
  const asking = (async () => {
    while (!stopped) {
      const started = performance.now();
      const answer = await fetch(`${base}/clinical/v1/biomarkers/catalog/ldl_c`, { headers: { authorization: `Bearer ${token}` } });
      await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`the API answered ${answer.status}`);
      latencies.push(performance.now() - started);
      await new Promise(resolve => setTimeout(resolve, PROBE_MS));
    }
  })();
  return async () => {
    stopped = true;
    await asking;
    return latencies;
  };
}

/** Watches the memory of a process until `stop`, which answers the most, MB. */
function watchMemory(pid) {
  let most = 0;
  const timer = setInterval(() => void memoryOf(pid).then(now => (most = Math.max(most, now))), 200);
  return () => {
    clearInterval(timer);
    return most;
  };
}

const [system, receiver] = [await startSystem(), await startReceiver()];
const placeOf = n => `${address(n)}:${receiver.first}`;

/** Subscriptions of clients of their own, which one user has granted. */
async function plant(name, count) {
  const [user] = newUsers(1);
  const clients = range(Math.ceil(count / PER_CLIENT)).map(n => `${name}-${n}`);
  const endpoints = range(count).map(n => ({ clientId: clients[Math.floor(n / PER_CLIENT)], url: `http://${placeOf(n)}/${name}` }));
  await plantSubscriptions(system.pool, protocolStarted.name, endpoints);
  await plantGrants(
    system.pool,
    protocolStarted.scope,
    clients.map(client => [user, client]),
  );
  return user;
}

/** Emits events of a user and waits until so many requests came. */
async function deliver(user, events, wanted, pauseMs = 0) {
  await receiver.ask('reset');
  const started = Date.now();
  for (let n = 0; n < events; n++) {
    await system.api.ask('emit', { events: 1, users: [user], perTransaction: 1, concurrency: 1, first: n });
    if (pauseMs) await new Promise(resolve => setTimeout(resolve, pauseMs));
  }
  const seen = await until(
    `${wanted} deliveries`,
    async () => {
      const now = await receiver.ask('seen');
      return now.count >= wanted && now;
    },
    300_000,
  );
  return { seconds: (seen.lastAt - started) / 1000, p99: percentile(seen.ages, 99) };
}

try {
  const worker = await system.worker({ ROLES: 'relay,consumers', SERVICES: 'webhooks' });
  const token = await tokenOf(system.base);

  const few = await plant('few', OTHERS + 1);
  await deliver(few, 1, OTHERS + 1); // warm
  const well = await deliver(few, EVENTS, EVENTS * (OTHERS + 1), 500);
  await receiver.ask('hang', [`${placeOf(0)}/few`]);
  const hanging = await deliver(few, EVENTS, EVENTS * OTHERS, 500);
  await receiver.ask('hang', []);

  const many = await plant('many', SUBSCRIPTIONS);
  await new Promise(resolve => setTimeout(resolve, 2_000));
  const idle = await memoryOf(worker.pid);
  const calm = probe(system.base, token);
  await new Promise(resolve => setTimeout(resolve, CALM_MS));
  const before = percentile(await calm(), 99);
  const [stopMemory, stopProbe] = [watchMemory(worker.pid), probe(system.base, token)];
  const rounds = [await deliver(many, 1, SUBSCRIPTIONS)];
  const most = stopMemory(); // of one event, as in the goal; V8 clears later what the next ones leave
  while (rounds.length < ROUNDS) rounds.push(await deliver(many, 1, SUBSCRIPTIONS));
  const [seconds, later, meanwhile] = [
    Math.max(...rounds.map(round => round.seconds)),
    await memoryOf(worker.pid),
    percentile(await stopProbe(), 99),
  ];

  table([
    ['what', 'measured', 'goal'],
    [`one event to ${SUBSCRIPTIONS} endpoints, slowest of ${ROUNDS}, s`, seconds.toFixed(1), '≤ 60'],
    ['memory of the delivering process above idle, one event, MB', (most - idle).toFixed(0), '≤ 300'],
    [`the same after ${ROUNDS} events, MB`, (later - idle).toFixed(0), ''],
    [
      'API p99 before / meanwhile, ms; ratio',
      `${before.toFixed(0)} / ${meanwhile.toFixed(0)}; ${(meanwhile / before).toFixed(2)}`,
      '≤ 1.5',
    ],
    [
      `p99 of ${OTHERS} endpoints without / with one more that hangs, ms; ratio`,
      `${well.p99} / ${hanging.p99}; ${(hanging.p99 / well.p99).toFixed(2)}`,
      '≤ 1.2',
    ],
  ]);
} finally {
  await receiver.stop();
  await system.stop();
}
