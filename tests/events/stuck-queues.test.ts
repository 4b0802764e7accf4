import type { Channel } from 'amqplib';
import { afterAll, afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { handle } from '../../events/consumer.js';
import { coreDeclarations, Names, queueDeclarations } from '../../events/transport/rabbitmq-topology.js';
import { BrokerProxy } from './support/broker-proxy.js';
import { note, type TestContext } from './support/host.js';
import { dropTemplate, events, kinds, newUser, until, World } from './support/world.js';

/** A queue that does not answer holds back its own partition alone. Source: event-machinery 4, confirm timeout. */
afterAll(dropTemplate);

const noting = (name: `clinical.${string}`, partitions: 2 | 4) => ({
  name,
  partitions,
  on: [handle(events.stepTaken, async (ctx: TestContext, event) => note(ctx, name, event))],
});

describe.each(kinds.filter(kind => kind === 'rabbitmq'))('%s', () => {
  let world: World;
  let proxy: BrokerProxy;
  let names: Names;
  /** By the remainder of their slots by four. */
  let users: string[];

  beforeEach(async () => {
    world = await World.open('rabbitmq');
    proxy = await BrokerProxy.before(inject('amqpUrl')!);
    world.onClose(() => proxy.close());
    names = new Names(world.prefix);
    const slots = await world.rows<{ id: string; rest: number }>(
      `select id, ((hashtextextended('u:' || id, 0) & 63) % 4)::int as rest from unnest($1::text[]) id`,
      [Array.from({ length: 100 }, newUser)],
    );
    users = [0, 1, 2, 3].map(rest => slots.find(slot => slot.rest === rest)!.id);
  });

  afterEach(() => world.close());

  const emit = (n: number): Promise<unknown> => Promise.all(users.map(userId => world.emit('clinical', { userId }, [n])));
  const waiting = async (): Promise<{ user: string; n: number; error: string | null }[]> =>
    world.rows(
      `select user_id as user, (data->>'n')::int as n, last_error as error from events.outbox where published_at is null order by seq`,
    );
  /** The events of the last user wait, and no other does. */
  const untilOnlyTheLastWaits = (n: number): Promise<unknown> =>
    until(`only those of one partition wait, up to ${n}`, async () => {
      const rows = await waiting();
      return rows.length === n && rows.every(({ user }) => user === users[3]) && rows[0]!.error?.includes(' does not ');
    });
  async function expectAll(consumer: string, ns: readonly number[]): Promise<void> {
    const effects = await until(`all of ${consumer}`, async () => {
      const found = await world.effects(consumer);
      return found.length >= ns.length * users.length && found;
    });
    for (const user of users) expect(effects.filter(one => one.order_key === `u:${user}`).map(({ n }) => n)).toEqual(ns);
  }
  const published = (): Promise<unknown> => until('all is published', async () => (await waiting()).length === 0);
  const isOfLast = (routingKey: string): boolean =>
    /^s(\d\d)\./.exec(routingKey)?.[1] !== undefined && Number(routingKey.slice(1, 3)) % 4 === 3;

  test('while one queue does not confirm, all other partitions go on over the same connection, and it follows in order', async () => {
    const direct = world.transport();
    await world.consumer(direct, noting('clinical.first', 2));
    await world.consumer(direct, noting('clinical.second', 4));
    const transport = world.transport({ url: proxy.url, confirmTimeoutMs: 500 });
    await world.relay(transport);
    await emit(1);
    await published();
    const { connections } = proxy;
    proxy.silentKeys = isOfLast;
    for (const n of [2, 3, 4]) {
      await emit(n);
      await untilOnlyTheLastWaits(n - 1);
    }
    expect((await waiting())[0]!.error).toBe(`${names.queue('clinical.second', { generation: 1, partition: 3 })} does not confirm`);
    expect(proxy.connections).toBe(connections);
    proxy.answer();
    await published();
    for (const consumer of ['clinical.first', 'clinical.second']) await expectAll(consumer, [1, 2, 3, 4]);
    expect(proxy.connections).toBe(connections);
  });

  test('what was sent to it is sent again by itself, also where its confirm never comes', async () => {
    await world.consumer(world.transport(), noting('clinical.first', 4));
    await world.relay(world.transport({ url: proxy.url, confirmTimeoutMs: 500 }));
    await emit(1);
    await published();
    proxy.silentKeys = isOfLast;
    await emit(2);
    await untilOnlyTheLastWaits(1);
    proxy.answer({ lost: true });
    await published();
    await emit(3);
    await expectAll('clinical.first', [1, 2, 3]);
  });

  test('a queue that does not answer its declaration holds back its slots until it does', { timeout: 60_000 }, async () => {
    await world.consumer(world.transport(), noting('clinical.first', 4));
    const stuck = names.queue('clinical.first', { generation: 1, partition: 3 });
    proxy.silentQueues = queue => queue === stuck;
    const transport = world.transport({ url: proxy.url });
    await world.relay(transport);
    for (const n of [1, 2]) {
      await emit(n);
      await untilOnlyTheLastWaits(n);
    }
    expect((await waiting())[0]!.error).toBe(`${stuck} does not answer its declaration`);
    expect(transport.heldSlots!().every(slot => slot % 4 === 3)).toBe(true);
    proxy.answer();
    await published();
    await expectAll('clinical.first', [1, 2]);
    expect(transport.heldSlots!()).toEqual([]);
  });

  test('a consumer that the broker forgot without a word consumes again', { timeout: 60_000 }, async () => {
    await world.consumer(world.transport({ url: proxy.url, lookMs: 50 }), noting('clinical.first', 4));
    await world.relay(world.transport());
    for (const n of [1, 2, 3]) {
      await emit(n);
      await expectAll(
        'clinical.first',
        Array.from({ length: n }, (_, before) => before + 1),
      );
      proxy.forget();
    }
  });
});

describe('the queues of tests and benchmarks', () => {
  const spec = { name: 'clinical.first', types: [], partitions: 1, generation: 1 } as const;

  /** How long after its last use each queue of a platform with this prefix goes. */
  async function expiries(prefix: string): Promise<unknown[]> {
    const found: unknown[] = [];
    const channel = new Proxy({} as Channel, {
      get: (_, method) => async (_name: string, options?: { arguments?: Record<string, unknown> }) =>
        void (method === 'assertQueue' && found.push(options?.arguments?.['x-expires'])),
    });
    for (const declare of [...coreDeclarations(new Names(prefix)), ...queueDeclarations(new Names(prefix), [spec])]) await declare(channel);
    return found;
  }

  test('go ten minutes after their last use, those of an installation never', async () => {
    for (const prefix of ['test_0123456789ab', 'test_17033_8b3ce1371cc6', 'bench_01234567'])
      expect(await expiries(prefix)).toEqual([600_000, 600_000]);
    for (const prefix of ['platform', 'test', 'test_stage', 'staging_0123456789ab'])
      expect(await expiries(prefix)).toEqual([undefined, undefined]);
  });
});
