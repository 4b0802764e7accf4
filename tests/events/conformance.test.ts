import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Permanent, type Envelope } from '../../events/consumer.js';
import { discardDeadLetter, replayDeadLetter } from '../../events/dead-letters.js';
import { appendEvents } from '../../events/outbox.js';
import type { OutboxRow } from '../../events/envelope.js';
import { isLastOfTransaction } from '../../events/prepared.js';
import type { PublishResult, Transport } from '../../events/transport/port.js';
import { saveRoundTrips, type PgClient } from '../../runtime/data/round-trips.js';
import { noting, numbers, type Run } from './support/consumers.js';
import { inTransaction, note, sqlOn, type TestContext } from './support/host.js';
import { dropTemplate, events, kinds, newUser, pendingOf, until, World, type Effect } from './support/world.js';

const ns = (effects: readonly Effect[], user?: string): number[] =>
  effects.filter(one => user === undefined || one.order_key === `u:${user}`).map(one => one.n);

/** A transport whose publish can be made to fail before it reaches the real one. */
function faulty(transport: Transport, fault: (rows: readonly OutboxRow[]) => PublishResult | null): Transport {
  return new Proxy(transport, {
    get(target, key) {
      if (key === 'publish') {
        return async (rows: readonly OutboxRow[], lease: Parameters<Transport['publish']>[1]) => {
          const result = fault(rows);
          return result ? rows.map(() => result) : target.publish(rows, lease);
        };
      }
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

afterAll(dropTemplate);

describe.each(kinds)('%s transport', kind => {
  let world: World;

  beforeEach(async () => {
    world = await World.open(kind);
  });

  afterEach(() => world.close());

  const letters = (): Promise<{ id: string; n: number; status: string; reason: string }[]> =>
    world.rows(
      `select d.id, (o.data->>'n')::int as n, d.status, d.reason from events.dead_letter d join events.outbox o on o.id = d.event_id order by d.seq`,
    );

  test('a committed event reaches every consumer bound to its type, with its metadata', async () => {
    const transport = world.transport();
    const seen: Envelope[] = [];
    await world.consumer(
      transport,
      noting('clinical.first', async (_, event) => void seen.push(event)),
    );
    await world.consumer(transport, noting('clinical.second'));
    await world.relay(transport);
    const user = newUser();
    const [id] = await world.emit('clinical', { userId: user, brandId: user }, [7]);
    await world.effectsOf('clinical.first', 1);
    await world.effectsOf('clinical.second', 1);
    const [row] = await world.rows<{ seq: number; position: number }>(
      'select seq::float8 as seq, position::float8 as position from events.outbox',
    );
    expect(row!.position).toBe(1);
    expect(seen).toEqual([
      expect.objectContaining({
        id,
        type: 'test.step.taken.v1',
        user_id: user,
        data: { n: 7 },
        data_text: '{"n":7}',
        seq: row!.seq,
        order_key: `u:${user}`,
        brand_id: user,
        request_id: 'r-1',
        source: 'clinical',
        replay_id: null,
        schema_rev: 1,
        occurred_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      }),
    ]);
  });

  test('events emitted in transactions that roll back never appear', async () => {
    const transport = world.transport();
    await world.consumer(transport, noting('clinical.first'));
    await world.relay(transport);
    const user = newUser();
    for (const n of numbers(1, 30)) {
      const fails = n % 3 === 0;
      const work = inTransaction(
        world.pool('clinical'),
        appendEvents,
        async ctx => {
          if (!fails) return void ctx.pending.push(pendingOf('clinical', { userId: user }, { n }));
          await appendEvents(ctx.sql, [pendingOf('clinical', { userId: user }, { n })], null);
          throw new Error('rolled back');
        },
        () => new Date(),
      );
      const ended = await work.then(
        () => 'committed',
        (error: Error) => error.message,
      );
      expect(ended).toBe(fails ? 'rolled back' : 'committed');
    }
    const expected = numbers(1, 30).filter(n => n % 3 !== 0);
    expect(ns(await world.effectsOf('clinical.first', expected.length))).toEqual(expected);
    expect(await world.rows('select from events.outbox')).toHaveLength(expected.length);
  });

  test('two services emit for one user in overlapping transactions: seq follows the commits, and consumers follow seq', async () => {
    const transport = world.transport();
    await world.consumer(transport, noting('clinical.first'));
    await world.consumer(transport, noting('clinical.second'));
    await world.relay(transport);
    const user = newUser();
    const [first, second] = await Promise.all([world.pool('clinical').connect(), world.pool('platform').connect()]);
    await first.query('begin');
    await first.query('select 1');
    await second.query('begin');
    await appendEvents(sqlOn(second), [pendingOf('platform', { userId: user }, { n: 2 })], null);
    const waits = appendEvents(sqlOn(first), [pendingOf('clinical', { userId: user }, { n: 1 })], null);
    await second.query('commit');
    await waits;
    await first.query('commit');
    first.release();
    second.release();
    for (const consumer of ['clinical.first', 'clinical.second']) expect(ns(await world.effectsOf(consumer, 2))).toEqual([2, 1]);
    const log = await world.rows<{ n: number; at: Date }>(
      `select (data->>'n')::int as n, occurred_at as at from events.outbox order by seq`,
    );
    expect(log.map(row => row.n)).toEqual([2, 1]);
    expect(log[0]!.at.getTime()).toBeLessThanOrEqual(log[1]!.at.getTime());
  });

  test('two relays that publish the same groups side by side cause neither disorder nor a second effect', async () => {
    const users = numbers(1, 5).map(newUser);
    const consuming = world.transport();
    await world.consumer(consuming, noting('clinical.first'));
    await world.relay(world.transport(), { leases: false, batch: 20 });
    await world.relay(world.transport(), { leases: false, batch: 30 });
    for (const n of numbers(1, 200)) await world.emit('clinical', { userId: users[n % 5]! }, [n]);
    const effects = await world.effectsOf('clinical.first', 200);
    for (const user of users) expect(ns(effects, user)).toEqual(ns(effects, user).toSorted((a, b) => a - b));
    expect(new Set(effects.map(one => one.event_id)).size).toBe(200);
    expect(effects).toHaveLength(200);
    await until('all places to be known', async () => (await world.rows('select from events.outbox where position is null')).length === 0); // published first, noted after
    const positions = await world.rows<{ group: number; positions: number[] }>(
      'select slot >> 3 as "group", array_agg(position::int order by position) as positions from events.outbox group by 1',
    );
    for (const row of positions) expect(row.positions).toEqual(numbers(1, row.positions.length));
  });

  test('an event that fails twice is followed by the rest of its user, and other users do not wait', async () => {
    const [a, b] = [newUser(), newUser()];
    let failures = 0;
    const order: string[] = [];
    const transport = world.transport();
    const run: Run = async (_, event) => {
      if (event.user_id === a && event.data.n === 3 && failures++ < 2) throw new Error('not yet');
      order.push(`${event.user_id === a ? 'a' : 'b'}${event.data.n}`);
    };
    await world.consumer(transport, noting('clinical.first', run), { memoryRetryMs: [400, 400, 400] });
    await world.relay(transport);
    await world.emit('clinical', { userId: a }, [1, 2, 3, 4, 5]);
    await world.emit('clinical', { userId: b }, [1, 2, 3, 4, 5]);
    const effects = await world.effectsOf('clinical.first', 10);
    expect(ns(effects, a)).toEqual([1, 2, 3, 4, 5]);
    expect(ns(effects, b)).toEqual([1, 2, 3, 4, 5]);
    expect(order.indexOf('b5')).toBeLessThan(order.indexOf('a3'));
    expect(await letters()).toEqual([]);
  });

  describe('a user whose second of three events fails for good', () => {
    let user: string;
    let fixed: boolean;
    let transport: Transport;

    beforeEach(async () => {
      [user, fixed] = [newUser(), false];
      transport = world.transport();
      const run: Run = async (_, event) => {
        if (event.user_id === user && event.data.n === 2 && !fixed) throw new Permanent('the step is impossible');
      };
      await world.consumer(transport, noting('clinical.first', run));
      await world.relay(transport);
      await world.emit('clinical', { userId: user }, [1, 2, 3]);
      await until('dead and parked', async () => (await letters()).length === 2);
    });

    test('keeps it dead and the later one parked, and leaves other users alone', async () => {
      expect(await letters()).toMatchObject([
        { n: 2, status: 'dead', reason: 'permanent' },
        { n: 3, status: 'parked', reason: 'behind_another' },
      ]);
      const other = newUser();
      await world.emit('clinical', { userId: other }, [1, 2, 3]);
      await until('the other user', async () => ns(await world.effects('clinical.first'), other).length === 3);
      expect(ns(await world.effects('clinical.first'), user)).toEqual([1]);
    });

    test('refuses the replay of the parked one and names the one in front', async () => {
      const [dead, parked] = await letters();
      await expect(replayDeadLetter(sqlOn(world.bus), parked!.id, new Date())).rejects.toMatchObject({
        name: 'DeadLetterConflict',
        inFront: dead!.id,
      });
    });

    test('goes on in order after the fix and a replay: 2, 3, and what came meanwhile', async () => {
      fixed = true;
      await world.emit('clinical', { userId: user }, [4]);
      await until('4 is parked', async () => (await letters()).length === 3);
      await replayDeadLetter(sqlOn(world.bus), (await letters())[0]!.id, new Date());
      expect(ns(await world.effectsOf('clinical.first', 4))).toEqual([1, 2, 3, 4]);
      expect((await letters()).map(one => one.status)).toEqual(['resolved', 'resolved', 'resolved']);
      await world.emit('clinical', { userId: user }, [5]);
      expect(ns(await world.effectsOf('clinical.first', 5))).toEqual([1, 2, 3, 4, 5]);
      await expect(replayDeadLetter(sqlOn(world.bus), (await letters())[0]!.id, new Date())).rejects.toThrow('the dead letter is resolved');
    });

    test('goes on with 3 after 2 is discarded with a reason, and not without one', async () => {
      const [dead] = await letters();
      await expect(discardDeadLetter(sqlOn(world.bus), dead!.id, '', 'staff:1', new Date())).rejects.toThrow(RangeError);
      await discardDeadLetter(sqlOn(world.bus), dead!.id, 'entered twice', 'staff:1', new Date());
      expect(ns(await world.effectsOf('clinical.first', 2))).toEqual([1, 3]);
      expect((await letters()).map(one => one.status)).toEqual(['discarded', 'resolved']);
    });
  });

  describe('what a handler has nothing to do with', () => {
    let user: string;
    let texts: string[];

    /** It does not concern twos, and passes over what is above three, unless the step four before it was noted. */
    const choosy = (run?: Run) => {
      const { on, ...consumer } = noting('clinical.first', run);
      const concerns = (event: Envelope<any>): boolean => event.data.n !== 2;
      const unwanted = (n: number) => ({
        text: 'not exists (select from public.effect where n = own.n)',
        types: { n: 'int' },
        values: [n - 4],
      });
      return {
        ...consumer,
        on: on.map(handler => Object.assign(handler, { concerns })),
        passOver: (_ctx: TestContext, { data }: Envelope<any>) => (data.n > 3 ? unwanted(data.n as number) : null),
      };
    };
    const handled = (): Promise<unknown[]> => sqlOn(world.pool('clinical'))('select from clinical.inbox');

    beforeEach(async () => {
      [user, texts] = [newUser(), []];
      world.pool('clinical').on('connect', client => {
        const query = client.query.bind(client) as PgClient['query'];
        const noted = (...args: any[]) => (texts.push((args[0] as { text?: string }).text ?? (args[0] as string)), query(...args));
        saveRoundTrips(Object.assign(client, { query: noted }) as unknown as PgClient);
      });
    });

    test('is noted in one statement with its commit and in its place; where the condition does not hold the handler runs', async () => {
      const transport = world.transport();
      await world.consumer(transport, choosy());
      await world.relay(transport);
      await world.emit('clinical', { userId: user }, [1]);
      await world.effectsOf('clinical.first', 1);
      texts = [];
      await world.emit('clinical', { userId: user }, [2, 4]);
      await until('three are noted', async () => (await handled()).length === 3);
      const own = texts.filter(text => text.startsWith('insert into clinical.inbox') || text === 'commit');
      expect(own.map(text => isLastOfTransaction(text))).toEqual([false, true, true]); // the first is the emitter's commit
      await world.emit('clinical', { userId: user }, [5, 6, 3]);
      expect(ns(await world.effectsOf('clinical.first', 3))).toEqual([1, 5, 3]);
      expect(await handled()).toHaveLength(6);
      expect(await letters()).toEqual([]);
    });

    test('waits behind a dead letter of its user, and is resolved after it without a run', async () => {
      let fixed = false;
      const transport = world.transport();
      const run: Run = async (_, event) => {
        if (event.data.n === 1 && !fixed) throw new Permanent('the step is impossible');
      };
      await world.consumer(transport, choosy(run));
      await world.relay(transport);
      await world.emit('clinical', { userId: user }, [1, 2, 4, 3]);
      await until('all are letters', async () => (await letters()).length === 4);
      expect((await letters()).map(one => one.status)).toEqual(['dead', 'parked', 'parked', 'parked']);
      fixed = true;
      await replayDeadLetter(sqlOn(world.bus), (await letters())[0]!.id, new Date());
      expect(ns(await world.effectsOf('clinical.first', 3))).toEqual([1, 4, 3]);
      expect((await letters()).map(one => one.status)).toEqual(['resolved', 'resolved', 'resolved', 'resolved']);
    });
  });

  test('a failing handler is retried after 30 s, 2 min, 10 min and 1 h of its clock, then it is dead', async () => {
    let now = new Date('2026-01-01T00:00:00.000Z');
    let calls = 0;
    const transport = world.transport();
    const run: Run = async () => {
      calls++;
      throw new TypeError('cannot read 42 of "secret"');
    };
    const consumer = await world.consumer(transport, noting('clinical.first', run), { now: () => now });
    await world.relay(transport);
    await world.emit('clinical', { userId: newUser() }, [1]);
    const due = (): Promise<Date> => until('a retry is due', () => consumer.nextRetryAt());
    for (const [seconds, round] of [
      [30, 1],
      [120, 2],
      [600, 3],
      [3600, 4],
    ] as const) {
      expect((await due()).getTime() - now.getTime()).toBe(seconds * 1000);
      expect(calls).toBe(4 + round - 1);
      now = await due();
      await consumer.runRetries(now);
    }
    expect(await letters()).toMatchObject([{ status: 'dead', reason: 'handler_error' }]);
    expect(await world.rows('select error_class, error_message, attempts from events.dead_letter')).toEqual([
      { error_class: 'TypeError', error_message: 'cannot read # of …', attempts: 5 },
    ]);
    expect(await consumer.nextRetryAt()).toBeNull();
  });

  test('an unknown extra key is handled, a missing key is schema_invalid, and emitting an extra key rolls back', async () => {
    const transport = world.transport();
    await world.consumer(transport, noting('clinical.first'));
    await world.relay(transport);
    const [newer, broken] = [newUser(), newUser()];
    await world.emit('clinical', { userId: newer }, [1], events.stepTakenWithMore, { pace: 'slow' });
    expect(ns(await world.effectsOf('clinical.first', 1), newer)).toEqual([1]);
    await inTransaction(
      world.pool('clinical'),
      appendEvents,
      async ctx => void ctx.pending.push(pendingOf('clinical', { userId: broken }, {}, events.stepTakenWithLess)),
      () => new Date(),
    );
    await until('a dead letter', async () => (await letters()).length === 1);
    expect(await letters()).toMatchObject([{ status: 'dead', reason: 'schema_invalid' }]);
    await expect(world.emit('clinical', { userId: newer }, [2], events.stepTaken, { pace: 'slow' })).rejects.toThrow(
      'data is invalid at / (unrecognized_keys)',
    );
    expect(await world.rows('select from events.outbox')).toHaveLength(2);
  });

  test('while a publish of one event is refused, the next of its user is not published', async () => {
    const [user, other] = [newUser(), newUser()];
    const published: string[] = [];
    let refusals = 0;
    const nOf = (row: OutboxRow): string => `${row.user_id === user ? 'user' : 'other'}${(JSON.parse(row.data) as { n: number }).n}`;
    const real = world.transport();
    await world.consumer(real, noting('clinical.first'));
    await world.emit('clinical', { userId: user }, [1, 2, 3, 4]);
    await world.emit('clinical', { userId: other }, [1, 2, 3, 4]);
    const transport = faulty(real, rows => {
      if (rows.some(row => nOf(row) === 'user2') && refusals++ < 3) return 'nacked';
      published.push(...rows.map(nOf));
      return null;
    });
    await world.relay(transport);
    const effects = await world.effectsOf('clinical.first', 8);
    expect(ns(effects, user)).toEqual([1, 2, 3, 4]);
    expect(published.filter(one => one.startsWith('user'))).toEqual(['user1', 'user2', 'user3', 'user4']);
    expect(refusals).toBe(4);
    expect(await world.rows(`select attempts, last_error from events.outbox where attempts > 0 order by seq limit 1`)).toMatchObject([
      { last_error: 'nacked' },
    ]);
  });

  test('a handler that takes too long is rolled back and tried again', async () => {
    let calls = 0;
    const transport = world.transport();
    const run: Run = async (ctx, event) => {
      await note(ctx, 'clinical.half', event);
      if (calls++ === 0) await new Promise(resolve => setTimeout(resolve, 60_000).unref());
    };
    await world.consumer(transport, noting('clinical.first', run, { handlerTimeoutMs: 300 }));
    await world.relay(transport);
    await world.emit('clinical', { userId: newUser() }, [1]);
    await world.effectsOf('clinical.first', 1);
    expect(await world.effects('clinical.half')).toHaveLength(1);
    expect(calls).toBe(2);
  });

  test('what a handler emits commits with its effect, once', async () => {
    const transport = world.transport();
    let failures = 0;
    const emitting: Run = async (ctx, event) => {
      ctx.pending.push(pendingOf('clinical', { userId: event.user_id! }, { n: event.data.n * 10 }, events.userMoved));
      if (failures++ === 0) throw new Error('after the emit');
    };
    await world.consumer(transport, noting('clinical.first', emitting));
    await world.consumer(transport, {
      name: 'platform.second',
      on: { [events.userMoved.name]: async (ctx, event) => note(ctx, 'platform.second', event) },
    });
    await world.relay(transport);
    await world.emit('clinical', { userId: newUser() }, [1]);
    expect(ns(await world.effectsOf('platform.second', 1))).toEqual([10]);
    expect(await world.rows('select from events.outbox')).toHaveLength(2);
  });

  test('a paused consumer stops taking events and after the resume handles all of them in order', async () => {
    const user = newUser();
    const transport = world.transport();
    await world.consumer(transport, noting('clinical.first'));
    await world.consumer(transport, noting('clinical.second'));
    await world.relay(transport);
    await world.emit('clinical', { userId: user }, [1]);
    await world.effectsOf('clinical.first', 1);
    const status = (value: string) => world.rows(`update events.consumer set status = $1 where name = 'clinical.first'`, [value]);
    const sees = async (consumer: string, one: string): Promise<boolean> => ns(await world.effects(consumer), one).length > 0;
    /** Whether an event that the other consumer has handled passed this one by. */
    const passesBy = async (): Promise<boolean> => {
      const probe = newUser();
      await world.emit('clinical', { userId: probe }, [0]);
      await until('the other consumer', () => sees('clinical.second', probe));
      return !(await sees('clinical.first', probe));
    };
    await status('paused');
    await until('paused', async () => (await passesBy()) && (await passesBy()) && (await passesBy()));
    await world.emit('clinical', { userId: user }, numbers(2, 100));
    await until('published', async () => (await world.rows('select from events.outbox where published_at is null')).length === 0);
    await world.consumer(world.transport(), noting('clinical.first')); // another process starts paused
    expect(ns(await world.effects('clinical.first'), user)).toEqual([1]);
    await status('active');
    await until('all of them', async () => ns(await world.effects('clinical.first'), user).length === 100);
    expect(ns(await world.effects('clinical.first'), user)).toEqual(numbers(1, 100));
  });
});
