import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Orders } from './support/child.js';
import { emitElsewhere, Restarted } from './support/processes.js';
import { dropTemplate, kinds, newUser, until, World } from './support/world.js';

/** Kills per case: 5 in CI, 20 in `npm run chaos`. */
const KILLS = Number(process.env.CHAOS_KILLS ?? 5);
const EVENTS = Number(process.env.CHAOS_EVENTS ?? 2_000);
const CONSUMERS: NonNullable<Orders['consumers']> = [
  { name: 'clinical.first', partitions: 4 },
  { name: 'platform.second', partitions: 2 },
];
/** Between two kills, ms: long enough to do something, short against a lease. */
const PAUSE_MS = [50, 900] as const;
const LIMIT = Math.max(240_000, EVENTS * 60);

afterAll(dropTemplate);

describe.each(kinds)('%s transport', kind => {
  let world: World;

  beforeEach(async () => {
    world = await World.open(kind);
  });

  afterEach(() => world.close());

  /** 50 transactions at a time over three processes and services, for five users. */
  const emit = (events: number): Promise<unknown> => {
    const users = Array.from({ length: 5 }, newUser);
    const services = ['clinical', 'platform', 'identity'] as const;
    const perTransaction = 4;
    return Promise.all(
      services.map((service, index) =>
        emitElsewhere(world, {
          service,
          users,
          perTransaction,
          concurrency: [17, 17, 16][index]!,
          transactions: Math.ceil(events / 3 / perTransaction),
        }),
      ),
    );
  };

  const killSometimes = async (victims: readonly Restarted[]): Promise<void> => {
    for (let kill = 0; kill < KILLS; kill++) {
      const [least, most] = PAUSE_MS;
      await new Promise(resolve => setTimeout(resolve, least + Math.random() * (most - least)));
      await victims[kill % victims.length]!.kill();
    }
  };

  /** Every consumer did everything once, per user in the order of the log, and the log's times follow its order. */
  const checkEffects = async (): Promise<void> => {
    const [{ count } = { count: 0 }] = await world.rows<{ count: number }>('select count(*)::int as count from events.outbox');
    expect(count).toBeGreaterThanOrEqual(EVENTS);
    await until(
      'all effects',
      async () =>
        (await world.rows<{ n: number }>('select count(distinct (consumer, event_id))::int as n from public.effect'))[0]!.n >= 2 * count,
      LIMIT / 2,
    );
    const [effects] = await world.rows(`
      select count(*)::int as effects, count(distinct (consumer, event_id))::int as different,
        count(*) filter (where seq < before)::int as disordered
      from (select *, lag(seq) over (partition by consumer, order_key order by id) as before from public.effect) e`);
    expect(effects).toEqual({ effects: 2 * count, different: 2 * count, disordered: 0 });
    const [log] = await world.rows(`
      select count(*) filter (where occurred_at < before)::int as backwards, count(*) filter (where published_at is null)::int as unpublished,
        count(distinct ("group", position))::int as places
      from (select *, slot >> 3 as "group", lag(occurred_at) over (partition by order_key order by seq) as before from events.outbox) o`);
    expect(log).toEqual({ backwards: 0, unpublished: 0, places: count });
    expect(await world.rows('select from events.dead_letter')).toEqual([]);
  };

  test(
    '50 concurrent transactions over 3 processes: every consumer sees every event once, per user in commit order',
    { timeout: LIMIT },
    async () => {
      const consuming = [new Restarted(world, { consumers: CONSUMERS }), new Restarted(world, { consumers: CONSUMERS, relay: true })];
      await Promise.all(consuming.map(one => one.ready()));
      await emit(Math.max(EVENTS, 10_000));
      await checkEffects();
    },
  );

  test('the relay is killed again and again: the same result', { timeout: LIMIT }, async () => {
    const consuming = new Restarted(world, { consumers: CONSUMERS });
    const relays = [new Restarted(world, { relay: true }), new Restarted(world, { relay: true })];
    await Promise.all([consuming, ...relays].map(one => one.ready()));
    await Promise.all([emit(EVENTS), killSometimes(relays)]);
    await checkEffects();
  });

  test('a consumer is killed again and again: the effects are exactly what was emitted', { timeout: LIMIT }, async () => {
    const relay = new Restarted(world, { relay: true });
    const consuming = [new Restarted(world, { consumers: CONSUMERS }), new Restarted(world, { consumers: CONSUMERS })];
    await Promise.all([relay, ...consuming].map(one => one.ready()));
    await Promise.all([emit(EVENTS), killSometimes(consuming)]);
    await checkEffects();
  });

  test('the one process that does everything is killed again and again: the same result', { timeout: LIMIT }, async () => {
    const everything = new Restarted(world, { relay: true, consumers: CONSUMERS });
    await everything.ready();
    await Promise.all([emit(EVENTS), killSometimes([everything])]);
    await checkEffects();
  });

  test(
    'an event that takes its process down is parked after 5 deliveries, and all the others are handled',
    { timeout: LIMIT },
    async () => {
      const consuming = new Restarted(world, { relay: true, consumers: [{ name: 'clinical.first', partitions: 1 }], poison: 100 });
      await consuming.ready();
      for (let n = 0; n < 256; n++) await world.emit('clinical', { userId: newUser() }, [n]);
      const letter = await until(
        'a dead letter',
        async () => (await world.rows('select status, reason from events.dead_letter'))[0],
        LIMIT / 2,
      );
      expect(letter).toEqual({ status: 'dead', reason: 'crash_loop' });
      await until('all others', async () => (await world.effects('clinical.first')).length >= 255);
      const handled = (await world.effects('clinical.first')).map(one => one.n).sort((a, b) => a - b);
      expect(handled).toEqual(Array.from({ length: 256 }, (_, n) => n).filter(n => n !== 100));
      expect(consuming.starts).toBeGreaterThanOrEqual(3); // a change to single file counts as a delivery too
      expect(await world.rows('select from events.dead_letter')).toHaveLength(1);
    },
  );
});
