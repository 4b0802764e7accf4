/**
 * A process of the platform for the benchmarks of events and webhooks, driven by messages of its parent: emits as services do, counts what two
 * consumers of the event handle and how long after the emit. Roles and addresses are its environment's, as everywhere.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { protocolStarted } from '../../dist/events/catalogue/clinical.js';
import { handle } from '../../dist/events/consumer.js';
import { timeOfId } from '../../dist/events/envelope.js';
import { lowerPriority } from '../../dist/gateway/composition/background.js';
import { startPlatform } from '../../dist/gateway/composition/platform.js';
import { loadConfig } from '../../dist/runtime/config.js';
import { SERVICES } from '../../dist/subgraphs/services.js';
import { changeConfiguration } from '../../dist/subgraphs/webhooks/commands/configuration.js';
import { disableFailing } from '../../dist/subgraphs/webhooks/commands/subscription-states.js';
import { answer } from './answering.mjs';

const DATA = {
  protocol_id: '0190b3a0-1111-7000-8000-000000000001',
  protocol: 'lipid_reset',
  started_on: '2026-08-01',
  prescriber_id: null,
};
const NAMES = ['clinical.first', 'clinical.second'];

let seen;
const reset = () => (seen = { handled: 0, disordered: 0, ages: [], users: [], last: new Map(), at: 0 });

/** Notes that an event reached a handler, and whether in order. */
function note(consumer, event) {
  const key = `${consumer} ${event.order_key}`;
  if ((seen.last.get(key) ?? 0) >= event.seq) seen.disordered++;
  seen.last.set(key, event.seq);
  seen.handled++;
  seen.at = Date.now();
  seen.ages.push(seen.at - timeOfId(event.id));
  seen.users.push(event.user_id);
}

const consumers = NAMES.map(name => ({ name, on: [handle(protocolStarted, async (_ctx, event) => note(name, event))] }));
const services = { ...SERVICES, clinical: async () => ({ ...(await SERVICES.clinical()), consumers }) };

/**
 * Events of random users in transactions of `perTransaction`; `perSecond` paces them, else as fast as they commit. A user's transactions
 * follow each other, so that a receiver sees their order by `version`.
 */
async function emit(host, { events, users, perTransaction, perSecond, first = 0, ...order }) {
  const concurrency = Math.min(order.concurrency, users.length);
  const started = performance.now();
  let begun = 0;
  const one = async number => {
    const mine = users.filter((_, at) => at % concurrency === number);
    for (let at = begun; at < events; at = begun) {
      begun += perTransaction;
      if (perSecond) await sleep(Math.max(0, started + (at / perSecond) * 1000 - performance.now()));
      await host.transaction(async ctx => {
        for (let n = 0; n < perTransaction; n++)
          ctx.emit(protocolStarted, { ...DATA, version: first + at + n + 1 }, { userId: mine[randomInt(mine.length)] });
      });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, (_, number) => one(number)));
  return { ms: performance.now() - started };
}

reset();
const config = loadConfig(process.env);
const platform = await startPlatform({ config, services });
lowerPriority(config.roles);
answer(platform, {
  emit: order => emit(platform.hosts.get('clinical'), order),
  reset,
  /** Ends a subscription as one that fails; answers how long that took, ms. */
  disable: async ({ id }) => {
    const started = performance.now();
    await platform.hosts.get('webhooks').transaction(async ctx => disableFailing(ctx, id, 'failing', await changeConfiguration(ctx.sql)));
    return Math.round(performance.now() - started);
  },
  /** `except`: a user whose ages are not wanted. */
  seen: ({ except } = {}) => ({ ...seen, last: undefined, users: undefined, ages: seen.ages.filter((_, at) => seen.users[at] !== except) }),
});
