import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Load, type Seen } from './support/load.js';
import { verdictOf } from './support/run.js';
import { Backends, World } from './support/world.js';

const OUTAGE_MS = Number(process.env.CHAOS_OUTAGE_MS ?? 60_000);
/** Load before, for comparison, and after, ms. */
const AROUND_MS = 15_000;
const LOAD = { seed: 4, clients: 8, pauseMs: 500 };

let backends: Backends;

beforeAll(async () => {
  backends = await Backends.start();
});

afterAll(() => backends.stop());

const p99 = (latencies: number[]): number => Math.round(latencies.sort((a, b) => a - b)[Math.floor(latencies.length * 0.99)] ?? NaN);
const told = ({ statuses, latencies }: Pick<Seen, 'statuses' | 'latencies'>): string =>
  `${[...statuses].map(([status, count]) => `${status} × ${count}`).join(', ')}, p99 ${p99(latencies)} ms`;

test.each([
  ['away', (broker: NonNullable<Backends['broker']>) => broker.kill(), (broker: NonNullable<Backends['broker']>) => broker.restart()],
  [
    'full',
    (broker: NonNullable<Backends['broker']>) => broker.ctl('set_disk_free_limit', '1000000GB'),
    (broker: NonNullable<Backends['broker']>) => broker.ctl('set_disk_free_limit', '50MB'),
  ],
])(
  `RabbitMQ is ${'%s'} for ${OUTAGE_MS / 1_000} s: the API goes on, then everything arrives in order, without a restart`,
  async (name, begin, end) => {
    const { broker } = backends;
    if (!broker) return console.log('NOT RUN: RabbitMQ is not installed here');
    const world = await World.open(backends, LOAD);
    try {
      const load = await Load.start(world, LOAD);
      await sleep(AROUND_MS);
      const before = load.phase();
      await begin(broker);
      await sleep(OUTAGE_MS);
      const during = load.phase();
      const [row] = await world.sql<{ waiting: number }>('select count(*)::int as waiting from events.outbox where published_at is null');
      await end(broker);
      await sleep(AROUND_MS);
      const seen = await load.stop();
      const started = performance.now();
      const figures = await verdictOf(world, seen);
      console.log(`RabbitMQ ${name}: before ${told(before)}; during ${told(during)}; ${row!.waiting} events waited; after ${told(seen)}`);
      console.log(`  quiet ${Math.round((performance.now() - started) / 1_000)} s after the load; ${JSON.stringify(figures)}`);
      expect([...during.statuses.keys()]).toEqual([201]);
      expect(row!.waiting).toBeGreaterThan(0);
      expect(figures).toMatchObject({ lost: 0, outOfOrder: 0, badSignatures: 0, phantoms: 0, deadLetters: 0 });
      expect(world.all.map(member => member.fell)).toEqual(world.all.map(() => 0));
    } finally {
      await world.close();
    }
  },
);
