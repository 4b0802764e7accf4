import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { handle, type Consumer, type Envelope } from '../../events/consumer.js';
import { headsOfLog } from '../../events/log-position.js';
import { ReplayPace } from '../../events/replay-pace.js';
import { startReplays } from '../../events/replays.js';
import type { ConsumerSpec, Transport } from '../../events/transport/port.js';
import { noting, numbers, type Run } from './support/consumers.js';
import { note, silent, sqlOn, type TestContext } from './support/host.js';
import { dropTemplate, events, kinds, LEASE_MS, newUser, until, World } from './support/world.js';

/** Who has much waiting keeps nobody else waiting. Source: event-machinery 9, fairness. */
const CONSUMER = 'clinical.first';

/** A transport that keeps back what it is given to publish of some groups until it is opened. */
function gated(transport: Transport, isHeld: (group: number) => boolean): { transport: Transport; open(): void } {
  const gate = Promise.withResolvers<void>();
  const publish: Transport['publish'] = async (rows, lease) => {
    if (isHeld(lease.group)) await gate.promise;
    return transport.publish(rows, lease);
  };
  const held = new Proxy(transport, {
    get(target, key) {
      if (key === 'publish') return publish;
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { transport: held, open: gate.resolve };
}

afterAll(dropTemplate);

describe.each(kinds)('%s transport', kind => {
  let world: World;
  let transport: Transport;

  beforeEach(async () => {
    world = await World.open(kind);
    transport = world.transport();
  });

  afterEach(() => world.close());

  /** So many users whose events one relay group publishes. */
  async function usersOfOneGroup(count: number): Promise<string[]> {
    const candidates = numbers(1, count * 30).map(newUser);
    const rows = await world.rows<{ id: string }>(
      `select id from unnest($1::text[]) id where ((hashtextextended('u:' || id, 0) & 63)::int >> 3) = 5 limit $2`,
      [candidates, count],
    );
    expect(rows).toHaveLength(count);
    return rows.map(({ id }) => id);
  }

  const slotOf = async (user: string): Promise<number> =>
    (await world.rows<{ slot: number }>(`select (hashtextextended('u:' || $1::text, 0) & 63)::int as slot`, [user]))[0]!.slot;
  const groupOf = async (user: string): Promise<number> => (await slotOf(user)) >> 3;

  /** A user in another slot: within one the embedded queue knows no keys. */
  async function besides(user: string): Promise<string> {
    for (const slot = await slotOf(user); ;) {
      const other = newUser();
      if ((await slotOf(other)) !== slot) return other;
    }
  }

  test('every key that waits is published before any key a second time, also where more keys wait than fit into a pass', async () => {
    const [busy, ...others] = await usersOfOneGroup(31);
    await world.emit('clinical', { userId: busy! }, numbers(1, 50));
    for (const user of others) await world.emit('clinical', { userId: user }, [1, 2]);
    await world.relay(transport, { batch: 10 });
    const order = await until('all is published', async () => {
      const rows = await world.rows<{ user: string; n: number; position: number | null }>(
        `select user_id as user, (data->>'n')::int as n, position::int as position from events.outbox order by position`,
      );
      return rows.every(({ position }) => position !== null) && rows;
    });
    const first = order.filter(({ n }) => n === 1).map(({ position }) => position!);
    const secondOfBusy = order.find(({ user, n }) => user === busy && n === 2)!.position!;
    expect(Math.max(...first)).toBeLessThan(secondOfBusy);
    for (const user of [busy, ...others])
      expect(order.filter(row => row.user === user).map(({ n }) => n)).toEqual(numbers(1, user === busy ? 50 : 2));
  });

  test('one user with thousands of events keeps nobody else waiting, and all keep their order', async () => {
    await world.consumer(transport, noting(CONSUMER));
    const busy = newUser();
    const others = await Promise.all(numbers(1, 40).map(() => besides(busy)));
    for (const part of [0, 1]) await world.emit('clinical', { userId: busy }, numbers(part * 1_000 + 1, part * 1_000 + 1_000));
    for (const user of others) await world.emit('clinical', { userId: user }, [1, 2, 3]);
    await world.relay(transport);
    const effects = await until(
      'all effects',
      async () => {
        const found = await world.effects(CONSUMER);
        return found.length === 2_120 && found;
      },
      120_000,
    );
    const of = (user: string): number[] => effects.filter(one => one.order_key === `u:${user}`).map(({ n }) => n);
    expect(of(busy)).toEqual(numbers(1, 2_000));
    for (const user of others) expect(of(user)).toEqual([1, 2, 3]);
    const lastOfOthers = effects.findLastIndex(one => one.order_key !== `u:${busy}`);
    expect(effects.slice(0, lastOfOthers).filter(one => one.order_key === `u:${busy}`).length).toBeLessThan(1_000);
  }, 180_000);

  test('a relay group that gets no answer holds no other group back, and goes on when the answer comes', async () => {
    const [one, other] = [newUser(), newUser()];
    const held = await groupOf(one);
    let elsewhere = other;
    while ((await groupOf(elsewhere)) === held) elsewhere = newUser();
    const gate = gated(transport, group => group === held);
    await world.consumer(transport, noting(CONSUMER));
    await world.relay(gate.transport);
    await world.emit('clinical', { userId: one }, [1]);
    for (const n of [1, 2, 3]) {
      await world.emit('clinical', { userId: elsewhere }, [n]);
      await until(`${n} of the other group`, async () => (await world.effects(CONSUMER)).length === n);
    }
    gate.open();
    const effects = await until('the first', async () => {
      const found = await world.effects(CONSUMER);
      return found.length === 4 && found;
    });
    expect(effects.at(-1)!.order_key).toBe(`u:${one}`);
  });

  describe('a replay', () => {
    const gateOf = (name: `clinical.${string}`, waits: (event: Envelope<{ n: number }>) => boolean) => {
      const gate = Promise.withResolvers<void>();
      const run: Run = async (_ctx, event) => (waits(event) ? gate.promise : undefined);
      const limits = { handlerTimeoutMs: 60_000, concurrency: 1 }; // what waits at the gate leaves connections to others
      return { consumer: noting(name, run, { onReplay: 'rerun', ...limits }), open: gate.resolve };
    };
    const spec = (name: `clinical.${string}`): ConsumerSpec => ({ name, types: [events.stepTaken.name], partitions: 2, generation: 1 });

    async function ask(consumer: string): Promise<string> {
      const sql = sqlOn(world.bus);
      const id = newUser();
      await sql(
        `insert into events.replay (id, consumer, mode, filter, status, requested_by, reason, created_at, upto)
         values ($1, $2, 'rerun', '{"sequence_from":0}', 'pending', 'staff:1', 'a test', clock_timestamp(), $3)`,
        [id, consumer, await headsOfLog(sql)],
      );
      return id;
    }
    const replay = async (id: string): Promise<{ status: string; sent: number }> =>
      (await world.rows<{ status: string; sent: number }>('select status, sent from events.replay where id = $1', [id]))[0]!;
    const completed = (id: string): Promise<unknown> =>
      until('the replay is completed', async () => (await replay(id)).status === 'completed', 60_000);

    /** Another consumer, of another type. */
    const other: Consumer<TestContext> = {
      name: 'clinical.second',
      partitions: 2,
      onReplay: 'rerun',
      on: [handle(events.userMoved, async (ctx: TestContext, event) => note(ctx, 'clinical.second', event))],
    };

    async function start(...consumers: readonly Consumer<TestContext>[]): Promise<void> {
      for (const consumer of consumers) await world.consumer(transport, consumer, { memoryRetryMs: [] });
      await world.relay(transport);
      const running = await startReplays({ pool: world.bus, transport, log: silent, leaseMs: LEASE_MS });
      world.onClose(() => running.stop());
    }
    test('sends no more than its consumer has done, and others are not held back by it', async () => {
      const slow = gateOf('clinical.first', event => event.replay_id !== null);
      await start(slow.consumer, other);
      const users = numbers(1, 20).map(newUser);
      for (const user of users) await world.emit('clinical', { userId: user }, numbers(1, 10));
      await world.emit('clinical', { userId: newUser() }, [1, 2], events.userMoved);
      await until('all is handled', async () => (await world.effects('clinical.first')).length === 200);
      await world.published();
      const held = await ask('clinical.first');
      await until('the first part is sent', async () => (await replay(held)).sent > 0);
      await completed(await ask('clinical.second')); // looks at both
      await completed(await ask('clinical.second'));
      const { status, sent } = await replay(held);
      expect(status).toBe('running');
      expect(sent).toBeLessThan(120);
      slow.open();
      await completed(held);
      expect(await replay(held)).toMatchObject({ sent: 200 });
      const effects = await until('all of it', async () => {
        const found = await world.effects('clinical.first');
        return found.length === 400 && found.slice(200);
      });
      for (const user of users) expect(effects.filter(one => one.order_key === `u:${user}`).map(({ n }) => n)).toEqual(numbers(1, 10));
    });

    test('waits while live events of its consumer are older than a second', async () => {
      const stuck = newUser();
      const lagging = gateOf('clinical.first', event => event.user_id === stuck);
      await start(lagging.consumer, other);
      await world.emit('clinical', { userId: newUser() }, [1, 2], events.userMoved);
      await world.emit('clinical', { userId: newUser() }, numbers(1, 10));
      await until('all is handled', async () => (await world.effects('clinical.first')).length === 10);
      await world.emit('clinical', { userId: stuck }, [1]);
      await world.published();
      await until('it lags', async () => ((await transport.pressure(spec('clinical.first'), null))?.lagMs ?? 0) > 1_000);
      const waiting = await ask('clinical.first');
      await completed(await ask('clinical.second'));
      expect(await replay(waiting)).toEqual({ status: 'running', sent: 0 });
      lagging.open();
      await completed(waiting);
      expect(await replay(waiting)).toMatchObject({ sent: 11 });
    });
  });
});

describe('the pace of a replay', () => {
  const idle = { waiting: 0, lagMs: 0 };
  /** What it sends in rounds that take so long each, ms. */
  function sizes(rounds: number, tookMs: number, most = 500): number[] {
    const pace = new ReplayPace(most);
    return numbers(1, rounds).map(round => {
      const room = pace.room(idle, round * tookMs);
      pace.sent(room, new Date(), round * tookMs);
      return room;
    });
  }

  test('grows with a quick consumer up to its most, and shrinks with a slow one down to ten', () => {
    expect(sizes(6, 100)).toEqual([50, 100, 200, 400, 500, 500]);
    expect(sizes(4, 4_000)).toEqual([50, 10, 10, 10]);
    expect(sizes(3, 400)).toEqual([50, 50, 50]);
    expect(sizes(2, 100, 7)).toEqual([7, 7]);
  });

  test('is nothing while half of what was sent waits, or live events are older than a second', () => {
    const pace = new ReplayPace(500);
    expect(pace.room({ waiting: 300, lagMs: 1_000 }, 0)).toBe(50); // of somebody else's
    pace.sent(50, new Date(), 0);
    expect(pace.room({ waiting: 26, lagMs: 0 }, 10)).toBe(0);
    expect(pace.room({ waiting: 25, lagMs: 0 }, 400)).toBe(50); // a part of the log with nothing to send
    expect(pace.room({ waiting: 26, lagMs: 0 }, 410)).toBe(0);
    pace.sent(50, new Date(), 0);
    expect(pace.room({ waiting: 25, lagMs: 1_001 }, 10)).toBe(0);
    expect(pace.room({ waiting: 25, lagMs: 1_000 }, 10)).toBe(100);
  });

  test('does not grow by small parts of which nothing is done, however often it looks', () => {
    const pace = new ReplayPace(500);
    let waiting = 0;
    for (let look = 0; look < 40; look++) {
      const part = Math.min(10, pace.room({ waiting, lagMs: 0 }, look));
      if (part > 0) pace.sent(part, new Date(), look);
      waiting += part;
    }
    expect(waiting).toBe(25);
    expect(pace.room({ waiting: 13, lagMs: 0 }, 50)).toBe(12);
    expect(pace.room({ waiting: 12, lagMs: 0 }, 50)).toBe(100); // half of what was sent is done, and soon
  });
});
