import { connect } from 'amqplib';
import { afterAll, afterEach, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { handle } from '../../events/consumer.js';
import { startConsumer } from '../../events/running-consumer.js';
import { eraseUserEvents } from '../../events/erasure.js';
import { userErasureRequested } from '../../events/catalogue/identity.js';
import { timeOfId } from '../../events/envelope.js';
import { appendEvents } from '../../events/outbox.js';
import { BrokerConnection } from '../../events/transport/rabbitmq-connection.js';
import { Names, queueDeclarations } from '../../events/transport/rabbitmq-topology.js';
import { noting, numbers, type Run } from './support/consumers.js';
import { hostOf, note, silent, sqlOn, type TestContext } from './support/host.js';
import { Proxy } from './support/proxy.js';
import { dropTemplate, events, kinds, newUser, until, World, type Effect } from './support/world.js';

/** Length of the simulated outages, ms; a minute in `npm run chaos`. */
const OUTAGE_MS = Number(process.env.CHAOS_OUTAGE_MS ?? 3_000);

const inOrder = (effects: readonly Effect[], user: string): number[] =>
  effects.filter(one => one.order_key === `u:${user}`).map(one => one.n);
const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

afterAll(dropTemplate);

describe.each(kinds)('%s transport', kind => {
  let world: World;

  beforeEach(async () => {
    world = await World.open(kind);
  });

  afterEach(() => world.close());

  test(
    'while the transport is down emits succeed, and afterwards everything arrives in order',
    { timeout: OUTAGE_MS * 2 + 60_000 },
    async () => {
      const proxy = kind === 'rabbitmq' ? await Proxy.before(inject('amqpUrl')!) : undefined;
      if (proxy) world.onClose(() => proxy.cut());
      const transport = world.transport({ ...(proxy && { url: proxy.url }) });
      await world.consumer(transport, noting('clinical.first'));
      const relay = await world.relay(transport);
      const users = numbers(1, 5).map(() => newUser());
      await world.emit('clinical', { userId: users[0]! }, [1]);
      await world.effectsOf('clinical.first', 1);
      await (proxy ? proxy.cut() : relay.stop());
      for (const n of numbers(2, 200)) await world.emit('clinical', { userId: users[n % 5]! }, [n]);
      await sleep(OUTAGE_MS);
      expect(await world.effects('clinical.first')).toHaveLength(1);
      await (proxy ? proxy.open() : world.relay(transport));
      const effects = await world.effectsOf('clinical.first', 200, 40_000);
      for (const user of users) expect(inOrder(effects, user)).toEqual(inOrder(effects, user).toSorted((a, b) => a - b));
      expect(new Set(effects.map(one => one.event_id)).size).toBe(200);
      expect(effects).toHaveLength(200);
    },
  );

  test('after every database connection was cut, everything goes on without a restart', async () => {
    const transport = world.transport();
    await world.consumer(transport, noting('clinical.first'));
    await world.relay(transport);
    const user = newUser();
    for (const round of numbers(1, 3)) {
      // a caller who meets a connection that was cut, and has not noticed yet, is told `unavailable` and tries again
      await vi.waitFor(() => world.emit('clinical', { userId: user }, numbers(round * 10, round * 10 + 9)));
      await world.asOwner(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      );
    }
    await vi.waitFor(() => world.effects('clinical.first')); // so does who looks
    expect(inOrder(await world.effectsOf('clinical.first', 30), user)).toEqual(numbers(10, 39));
  });

  test('a hint reaches the listeners of every process, and the one that throws disturbs nobody', async () => {
    const [here, there] = [world.transport(), world.transport()];
    const heard: string[] = [];
    here.onHint('cache', 'brand:1', () => {
      throw new Error('a bad listener');
    });
    here.onHint('cache', 'brand:1', body => heard.push(`here ${JSON.stringify(body)}`));
    const all = there.onHint('cache', '*', (body, key) => heard.push(`there ${key} ${JSON.stringify(body)}`));
    there.onHint('cache', 'brand:2', () => heard.push('never'));
    there.onHint('realtime', 'brand:1', () => heard.push('never'));
    const say = () => here.hint('cache', 'brand:1', { version: 7 });
    await vi.waitFor(
      () => {
        say(); // lossy: until both listen
        expect(new Set(heard)).toEqual(new Set(['here {"version":7}', 'there brand:1 {"version":7}']));
      },
      { timeout: 5_000, interval: 100 },
    );
    all.stop();
    const behind = there.onHint('cache', 'fence', () => heard.push('behind'));
    await vi.waitFor(() => {
      here.hint('cache', 'brand:1', { version: 8 });
      here.hint('cache', 'fence', null); // sent behind it
      expect(heard).toContain('behind');
      expect(heard).toContain('here {"version":8}');
    });
    behind.stop();
    expect(heard).not.toContain('there brand:1 {"version":8}');
  });

  test('a consumer that stops lets its running handlers end, and its successor goes on behind them', async () => {
    const first = world.transport();
    const user = newUser();
    let running = 0;
    const gate = Promise.withResolvers<void>();
    const slow: Run = async () => {
      running++;
      await gate.promise;
      running--;
    };
    const stopping = await world.consumer(first, noting('clinical.first', slow));
    await world.relay(first);
    await world.emit('clinical', { userId: user }, numbers(1, 20));
    await until('a handler runs', async () => running > 0);
    const stopped = stopping.stop();
    gate.resolve();
    await stopped;
    expect(running).toBe(0);
    const before = (await world.effects('clinical.first')).length;
    expect(before).toBeLessThan(20);
    await world.consumer(world.transport(), noting('clinical.first'));
    expect(inOrder(await world.effectsOf('clinical.first', 20), user)).toEqual(numbers(1, 20));
    expect(await world.effects('clinical.first')).toHaveLength(20);
  });

  test('a new generation with more partitions starts when the old queues are empty', async () => {
    const users = numbers(1, 20).map(() => newUser());
    const first = world.transport();
    const [gate, options] = [Promise.withResolvers<void>(), { partitions: 2, concurrency: 1 } as const];
    let begun = 0;
    const old = await world.consumer(
      first,
      noting('clinical.first', async () => void (++begun > 10 && (await gate.promise)), options),
    );
    await world.relay(first);
    for (const n of numbers(1, 5)) for (const user of users) await world.emit('clinical', { userId: user }, [n]);
    await world.effectsOf('clinical.first', 10);
    const stopped = old.stop();
    gate.resolve();
    await stopped;
    expect((await world.effects('clinical.first')).length).toBeLessThan(100);
    await world.consumer(world.transport(), noting('clinical.first', undefined, { partitions: 8, generation: 2 }));
    for (const n of numbers(6, 10)) for (const user of users) await world.emit('clinical', { userId: user }, [n]);
    const effects = await world.effectsOf('clinical.first', 200);
    for (const user of users) expect(inOrder(effects, user)).toEqual(numbers(1, 10));
    await expect(world.consumer(world.transport(), noting('clinical.first', undefined, { partitions: 2 }))).rejects.toThrow(
      'has generation 2 already',
    );
    await expect(world.consumer(world.transport(), noting('clinical.first', undefined, { partitions: 4, generation: 2 }))).rejects.toThrow(
      'has 8 partitions; raise its generation',
    );
    expect(await world.rows('select generation, state, count(*)::int as partitions from events.consumer_partition group by 1, 2')).toEqual([
      { generation: 2, state: 'live', partitions: 8 },
    ]);
  });

  test('two processes share the partitions of a consumer, and a type that is dropped is not delivered any more', async () => {
    const [first, second] = [world.transport(), world.transport()];
    const user = newUser();
    const both = noting('clinical.first');
    const running = await world.consumer(first, {
      ...both,
      on: [...both.on, handle(events.userMoved, async (ctx: TestContext, event) => note(ctx, 'moved', event))],
    });
    await world.consumer(second, both);
    await world.relay(first);
    await world.emit('clinical', { userId: user }, [1]);
    await world.effectsOf('clinical.first', 1);
    await running.stop();
    await world.emit('clinical', { userId: user }, [2], events.userMoved);
    await world.emit('clinical', { userId: user }, [3]);
    expect(inOrder(await world.effectsOf('clinical.first', 2), user)).toEqual([1, 3]);
    expect(await world.effects('moved')).toEqual([]);
    expect(await world.rows('select from events.dead_letter')).toEqual([]);
  });

  test('depth tells what waits', async () => {
    const transport = world.transport();
    const running = await world.consumer(transport, noting('clinical.first'));
    await running.stop();
    await world.relay(transport);
    for (const user of numbers(1, 9).map(() => newUser())) await world.emit('clinical', { userId: user }, [1, 2, 3]); // in every partition
    await vi.waitFor(async () => expect((await transport.depths(['clinical.first']))[0]).toMatchObject({ ready: 27, unacked: 0 }), {
      timeout: 10_000,
    });
  });

  test('any process says since when the oldest event waits, in hand or in the queue', async () => {
    const [transport, other] = [world.transport(), world.transport()];
    let free: (() => void) | undefined;
    const held = new Promise<void>(resolve => (free = resolve));
    const running = await world.consumer(
      transport,
      noting('clinical.first', (_ctx, event) => (event.data.n === 1 ? held : Promise.resolve())),
    );
    await world.relay(transport);
    const [first] = await world.emit('clinical', { userId: newUser() }, [1]);
    await world.emit('clinical', { userId: newUser() }, [2]);
    const told = { oldestAt: new Date(timeOfId(first!)) };
    await vi.waitFor(async () => expect((await other.depths(['clinical.first']))[0]).toMatchObject(told), { timeout: 20_000 });
    free!();
    await world.effectsOf('clinical.first', 2);
    const nothing = { ready: 0, unacked: 0, oldestAt: null };
    await vi.waitFor(async () => expect((await other.depths(['clinical.first']))[0]).toEqual(nothing), { timeout: 20_000 });
    await running.stop();
    const [second] = await world.emit('clinical', { userId: newUser() }, [3]);
    const waiting = { ready: 1, unacked: 0, oldestAt: new Date(timeOfId(second!)) };
    await vi.waitFor(async () => expect((await other.depths(['clinical.first']))[0]).toEqual(waiting), { timeout: 20_000 });
  });

  test('erasing a user empties the earlier payloads and frees the keys that waited behind them', async () => {
    const [user, other] = [newUser(), newUser()];
    const transport = world.transport();
    const erased: number[] = [];
    const handled: string[] = [];
    await world.consumer(transport, {
      name: 'clinical.first',
      retrySeconds: [3600],
      on: [
        handle(events.stepTaken, async (ctx: TestContext, event) => {
          if (event.user_id === user && event.data.n === 2) throw new Error('not today');
          await note(ctx, 'clinical.first', event);
        }),
        handle(userErasureRequested, async (_: TestContext, event) => void handled.push(event.id)),
      ],
    });
    await world.relay(transport);
    await world.emit('clinical', { userId: user }, [1, 2, 3]);
    await world.emit('clinical', { userId: other }, [1]);
    await until('2 waits', async () => (await world.rows('select from events.dead_letter')).length === 2);
    const erase = handle(userErasureRequested, async (ctx: TestContext, event) => {
      erased.push(await eraseUserEvents(ctx.sql, event.user_id!, event.seq, `${event.type}:${event.id}`, ctx.now()));
    });
    const host = hostOf({ slug: 'events', pool: world.bus, append: appendEvents });
    const running = await startConsumer({ name: 'events.erasure', partitions: 1, on: [erase] }, host, transport, { pool: world.bus });
    world.onClose(() => running.stop());
    const request = { request_id: newUser(), scope: 'full', requested_at: '2026-11-20T09:30:00.000Z', due_at: '2026-12-20T09:30:00.000Z' };
    const [id] = await world.emitData('identity', { userId: user }, [request], userErasureRequested);
    await until('the erasure of clinical', async () => handled.includes(id!));
    expect(erased).toEqual([3]);
    const rows = await world.rows(
      'select data::text as data, erased_at is not null as erased, type from events.outbox where user_id = $1 order by seq',
      [user],
    );
    expect(rows.map(row => [row.data, row.erased])).toEqual([
      ['{}', true],
      ['{}', true],
      ['{}', true],
      [expect.stringContaining(request.request_id), false],
    ]);
    expect(await world.rows('select data::text as data from events.outbox where user_id = $1', [other])).toEqual([{ data: '{"n":1}' }]);
    const letters = () =>
      world.rows<{ status: string; error_message: string | null }>('select status, error_message from events.dead_letter order by seq');
    await until('no letter is open', async () => (await letters()).every(({ status }) => status === 'discarded' || status === 'resolved'));
    const gone = { status: 'discarded', error_message: null };
    expect((await letters()).slice(0, 2)).toEqual([gone, gone]); // a third is the request itself, if it had to wait behind them
    expect(inOrder(await world.effects('clinical.first'), user)).toEqual([1]);
    expect(await eraseUserEvents(sqlOn(world.bus), user, Number.MAX_SAFE_INTEGER, 'again', new Date())).toBe(1);
  });
});

/** What only a broker can do. */
describe.each(kinds.filter(kind => kind === 'rabbitmq'))('%s', () => {
  let world: World;

  beforeEach(async () => {
    world = await World.open('rabbitmq');
  });

  afterEach(() => world.close());

  const amqp = async <T>(
    use: (channel: Awaited<ReturnType<Awaited<ReturnType<typeof connect>>['createChannel']>>) => Promise<T>,
  ): Promise<T> => {
    const connection = await connect(inject('amqpUrl')!);
    const channel = await connection.createChannel();
    try {
      return await use(channel);
    } finally {
      await connection.close();
    }
  };

  test('a consumer whose queue was deleted goes on as soon as it is there again, and its other queues meanwhile', async () => {
    const transport = world.transport({ lookMs: 200 });
    await world.consumer(transport, noting('clinical.first', undefined, { partitions: 2 }));
    await world.relay(transport);
    const [names, spec] = [new Names(world.prefix), { name: 'clinical.first', types: [], partitions: 2, generation: 1 } as const];
    await amqp(channel => channel.deleteQueue(names.queue('clinical.first', { generation: 1, partition: 0 })));
    const rows = await world.rows<{ id: string; odd: boolean }>(
      `select id, hashtextextended('u:' || id, 0) & 1 = 1 as odd from unnest($1::text[]) id`,
      [numbers(1, 30).map(newUser)],
    );
    const ofPart = (odd: boolean): string[] => rows.filter(row => row.odd === odd).map(({ id }) => id);
    for (const userId of ofPart(true)) await world.emit('clinical', { userId }, [2]);
    await world.effectsOf('clinical.first', ofPart(true).length);
    await amqp(async channel => {
      for (const declaration of queueDeclarations(names, [spec])) await declaration(channel);
    });
    for (const userId of ofPart(false)) await world.emit('clinical', { userId }, [2]);
    await world.effectsOf('clinical.first', 30);
  });

  test('a new generation starts where a queue of the old one is gone: it holds nothing any more', async () => {
    const transport = world.transport();
    const old = await world.consumer(transport, noting('clinical.first', undefined, { partitions: 2 }));
    await world.relay(transport);
    await old.stop();
    const names = new Names(world.prefix);
    await amqp(channel => channel.deleteQueue(names.queue('clinical.first', { generation: 1, partition: 0 })));
    await world.consumer(world.transport(), noting('clinical.first', undefined, { partitions: 4, generation: 2 }));
    for (const userId of numbers(1, 10).map(newUser)) await world.emit('clinical', { userId }, [1]);
    await world.effectsOf('clinical.first', 10, 20_000);
    expect(await world.rows("select partition from events.consumer_partition where state = 'draining'")).toEqual([]);
  });

  test('what a replay has before it is known by notes that are newer than the look at the queues', async () => {
    const transport = world.transport();
    const spec = { name: 'clinical.first', types: [events.stepTaken.name], partitions: 2, generation: 1 } as const;
    await transport.ensureTopology([spec]);
    const process = newUser();
    const note = async (replaying: number): Promise<void> =>
      void (await world.rows(
        `insert into events.consumer_progress (consumer, holder, in_hand, replaying, seen_at) values ($1, $2, 0, $3, clock_timestamp())
         on conflict (consumer, holder) do update set replaying = excluded.replaying, seen_at = excluded.seen_at`,
        [spec.name, process, replaying],
      ));
    const [{ since }] = (await world.rows<{ since: Date }>(`select clock_timestamp() - interval '5 s' as since`)) as [{ since: Date }];
    await note(0); // and then the events are delivered: they are in no queue, and in no note yet
    expect(await transport.pressure(spec, since)).toBeNull();
    expect(await transport.pressure(spec, since)).toBeNull();
    const pressure = await until('a newer note', async () => {
      await note(7);
      return transport.pressure(spec, since);
    });
    expect(pressure).toEqual({ waiting: 7, lagMs: 0 });
    await world.asOwner('delete from events.consumer_progress'); // a process that has just begun
    expect([await transport.pressure(spec, since), await transport.pressure(spec, since)]).toEqual([null, null]);
  });

  test('a message bears the envelope without client_id, our headers and those of CloudEvents', async () => {
    const transport = world.transport();
    const user = newUser();
    const stopped = await world.consumer(transport, noting('clinical.first', undefined, { partitions: 1 }));
    await stopped.stop();
    await world.relay(transport);
    const [id] = await world.emit('clinical', { userId: user }, [7]);
    const queue = new Names(world.prefix).queue('clinical.first', { generation: 1, partition: 0 });
    const message = await amqp(channel =>
      until('a message', async () => {
        const { messageCount } = await channel.checkQueue(queue);
        if (messageCount === 0) return null;
        const found = new Promise<Parameters<Parameters<typeof channel.consume>[1]>[0]>(resolve => void channel.consume(queue, resolve));
        return found;
      }),
    );
    const [row] = await world.rows<{ seq: number; slot: number; at: string }>(
      `select seq::float8 as seq, slot, to_char(occurred_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at from events.outbox`,
    );
    expect(message!.content.toString()).toBe(
      `{"id":"${id}","type":"test.step.taken.v1","user_id":"${user}","occurred_at":"${row!.at}","data":{"n":7}}`,
    );
    expect(message!.fields.routingKey).toBe(`s${String(row!.slot).padStart(2, '0')}.test.step.taken.v1`);
    expect(message!.properties).toMatchObject({
      messageId: id,
      type: 'test.step.taken.v1',
      appId: 'clinical',
      contentType: 'application/json',
      deliveryMode: 2,
      timestamp: Math.floor(Date.parse(row!.at) / 1000),
    });
    expect(message!.properties.headers).toMatchObject({
      'x-seq': row!.seq,
      'x-order-key': `u:${user}`,
      'x-slot': row!.slot,
      'x-schema-rev': 1,
      'x-request-id': 'r-1',
      'x-replay': '0',
      'cloudEvents:id': id,
      'cloudEvents:source': '/services/clinical',
      'cloudEvents:type': 'test.step.taken.v1',
      'cloudEvents:time': row!.at,
      'cloudEvents:subject': user,
    });
  });

  test('an event to which nobody is bound counts as published', async () => {
    await world.relay(world.transport());
    await world.emit('clinical', { userId: newUser() }, [1]);
    await until('published', async () => (await world.rows('select from events.outbox where published_at is not null')).length === 1);
  });

  test('a message that is no event of ours becomes a dead letter and blocks nobody else', async () => {
    const transport = world.transport();
    await world.consumer(transport, noting('clinical.first', undefined, { partitions: 1 }));
    await world.relay(transport);
    await amqp(async channel => {
      channel.publish(new Names(world.prefix).exchange, 's01.test.step.taken.v1', Buffer.from('not json'));
      await channel.checkExchange(new Names(world.prefix).exchange); // the answer comes after the message
    });
    await until('a dead letter', async () => (await world.rows('select from events.dead_letter')).length === 1);
    expect(await world.rows('select status, reason, error_message from events.dead_letter')).toEqual([
      { status: 'dead', reason: 'schema_invalid', error_message: 'the body is no envelope' },
    ]);
    await world.emit('clinical', { userId: newUser() }, [1]);
    await until('an effect', async () => (await world.effects('clinical.first')).length === 1);
  });

  test('what the broker gives up is filed as a dead letter of its consumer', async () => {
    const transport = world.transport();
    const names = new Names(world.prefix);
    const running = await world.consumer(transport, noting('clinical.first', undefined, { partitions: 1 }));
    await running.stop();
    await world.relay(transport);
    const [id] = await world.emit('clinical', { userId: newUser() }, [1]);
    await amqp(async channel => {
      await channel.consume(
        names.queue('clinical.first', { generation: 1, partition: 0 }),
        message => message && channel.reject(message, false),
      );
      await until('a dead letter', async () => (await world.rows('select from events.dead_letter')).length === 1);
    });
    expect(await world.rows('select consumer, event_id, status, reason from events.dead_letter')).toEqual([
      { consumer: 'clinical.first', event_id: id, status: 'dead', reason: 'crash_loop' },
    ]);
  });

  test('while the broker is short of resources the relay pauses, and goes on when it is told', async () => {
    const frame = (method: number, body: number[]) => Buffer.from([1, 0, 0, 0, 0, 0, 4 + body.length, 0, 10, 0, method, ...body, 0xce]);
    const [blocked, unblocked] = [frame(60, [3, 0x6c, 0x6f, 0x77]), frame(61, [])];
    const proxy = await Proxy.before(inject('amqpUrl')!);
    world.onClose(() => proxy.cut());
    const transport = world.transport({ url: proxy.url });
    await world.consumer(transport, noting('clinical.first'));
    await world.relay(transport);
    await until('connected', async () => transport.accepting());
    proxy.inject(blocked);
    await until('paused', async () => !transport.accepting());
    await world.emit('clinical', { userId: newUser() }, [1]);
    await sleep(1_000);
    expect(await world.rows('select from events.outbox where published_at is null')).toHaveLength(1);
    proxy.inject(unblocked);
    await until('an effect', async () => (await world.effects('clinical.first')).length === 1);
  });

  test('when confirms hang, the connection is made anew and what was unconfirmed is published again', async () => {
    const proxy = await Proxy.before(inject('amqpUrl')!);
    world.onClose(() => proxy.cut());
    const user = newUser();
    await world.consumer(world.transport(), noting('clinical.first'));
    const transport = world.transport({ url: proxy.url, confirmTimeoutMs: 500 });
    await world.relay(transport);
    await world.emit('clinical', { userId: user }, [1]);
    await until('an effect', async () => (await world.effects('clinical.first')).length === 1);
    proxy.hold();
    await world.emit('clinical', { userId: user }, [2, 3]);
    await until('all effects', async () => (await world.effects('clinical.first')).length === 3);
    expect(inOrder(await world.effects('clinical.first'), user)).toEqual([1, 2, 3]);
    await until('marked', async () => (await world.rows('select from events.outbox where published_at is null')).length === 0);
  });

  test(
    'a start without a broker goes on, readiness tells after 10 s, and the broker is used as soon as it is there',
    { timeout: 60_000 },
    async () => {
      const proxy = await Proxy.before(inject('amqpUrl')!);
      await proxy.cut();
      world.onClose(() => proxy.cut());
      const transport = world.transport({ url: proxy.url });
      await world.consumer(transport, noting('clinical.first'));
      await world.relay(transport);
      await world.emit('clinical', { userId: newUser() }, [1]);
      await until('not ready', async () => !transport.ready().ok, 15_000);
      expect(transport.ready()).toEqual({ ok: false, reason: 'the broker was not reached for 10 s' });
      await proxy.open();
      await until('an effect', async () => (await world.effects('clinical.first')).length === 1);
      expect(transport.ready()).toEqual({ ok: true, reason: null });
    },
  );

  test('a set-up that the broker never answers is given up, and the connection is made anew', async () => {
    let tries = 0;
    const setUp = (): Promise<void> => (++tries === 1 ? new Promise(() => undefined) : Promise.resolve());
    const connection = new BrokerConnection({ url: inject('amqpUrl')!, name: 'test', log: silent, setUpMs: 50, setUp });
    world.onClose(() => connection.close());
    expect(await connection.whenUp(40_000)).toBe(true);
    expect(tries).toBe(2);
  });
});
