import { connect } from 'amqplib';
import { afterAll, afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { handle, Permanent } from '../../events/consumer.js';
import { discardDeadLetter } from '../../events/dead-letters.js';
import { envelopeOf, NO_REPLAY, OUTBOX_COLUMNS, type OutboxRow } from '../../events/envelope.js';
import { Inbox } from '../../events/inbox.js';
import { headsOfLog } from '../../events/log-position.js';
import { appendEvents, type Sql } from '../../events/outbox.js';
import { startReplays } from '../../events/replays.js';
import type { ConsumerSpec, Transport } from '../../events/transport/port.js';
import { Names } from '../../events/transport/rabbitmq-topology.js';
import { inTransaction, note, silent, sqlOn, type TestContext } from './support/host.js';
import { dropTemplate, events, kinds, LEASE_MS, newUser, until, World } from './support/world.js';

/** What an operator discarded is settled at its consumer, on every way that leads there. Source: event-machinery 9, events 7.6. */
const CONSUMER = 'clinical.first';
const SPEC: ConsumerSpec = { name: CONSUMER, types: ['test.step.taken.v1'], partitions: 2, generation: 1 };

afterAll(dropTemplate);

test('an event that finds its key blocked, and what blocked it discarded a moment later, is handled', async () => {
  const world = await World.open(kinds[0]!);
  const user = newUser();
  await world.emit('clinical', { userId: user }, [1, 2]);
  const rows = await world.rows<OutboxRow>(`select ${OUTBOX_COLUMNS} from events.outbox o order by o.seq`);
  const [first, second] = rows.map(row => envelopeOf(row, null));
  const letter = {
    id: newUser(),
    event_id: first!.id,
    replay_id: NO_REPLAY,
    order_key: first!.order_key,
    seq: first!.seq,
    type: first!.type,
  };
  const dead = { ...letter, status: 'dead', reason: 'permanent' };
  await world.rows('select events.park($1, $2::json, now())', [CONSUMER, JSON.stringify(dead)]);
  const inbox = new Inbox({ consumer: CONSUMER, schema: 'clinical', rerun: false, timeoutMs: 1_000 });
  const entrance = await inTransaction(
    world.pool('clinical'),
    appendEvents,
    async ({ sql }) => {
      let discarded: Promise<unknown> | undefined;
      const discarding: Sql = async <Row>(text: Parameters<Sql>[0], params?: readonly unknown[]) => {
        const found = await sql<Row>(text, params);
        await (discarded ??= discardDeadLetter(sqlOn(world.bus), letter.id, 'entered twice', 'staff:1', new Date()));
        return found;
      };
      const delivery = { event: second!, slot: rows[1]!.slot, malformed: null, deliveries: 0, queued: false, rerun: false, erased: false };
      return inbox.enter(discarding, { ...delivery, stale: () => false });
    },
    () => new Date(),
  );
  await world.close();
  expect(entrance.is).toBe('fresh');
});

describe.each(kinds)('%s transport: of 1, 2 and 3 the second was discarded, and', kind => {
  let world: World;
  let transport: Transport;
  let user: string;
  let broken: boolean;

  const handlers = {
    name: CONSUMER,
    partitions: 2,
    onReplay: 'rerun',
    on: [
      handle(events.stepTaken, async (ctx: TestContext, event) => {
        if (broken && event.data.n === 2) throw new Permanent('the step is impossible');
        await note(ctx, CONSUMER, event);
      }),
    ],
  } as const;

  const handled = async (): Promise<number[]> => (await world.effects(CONSUMER)).map(({ n }) => n);
  const untilHandled = (ns: readonly number[]): Promise<unknown> =>
    until(`${ns.join()} are handled`, async () => (await handled()).length >= ns.length);
  const discardDead = async (): Promise<void> => {
    const [letter] = await until('a dead letter', async () => {
      const found = await world.rows<{ id: string }>(`select id from events.dead_letter where status = 'dead'`);
      return found.length > 0 && found;
    });
    await discardDeadLetter(sqlOn(world.bus), letter!.id, 'entered twice', 'staff:1', new Date());
  };

  beforeEach(async () => {
    world = await World.open(kind);
    transport = world.transport();
    [user, broken] = [newUser(), true];
    await world.consumer(transport, handlers);
    await world.relay(transport);
    const running = await startReplays({ pool: world.bus, transport, log: silent, leaseMs: LEASE_MS });
    world.onClose(() => running.stop());
    await world.emit('clinical', { userId: user }, [1, 2, 3]);
    await discardDead();
    await untilHandled([1, 3]);
    broken = false;
  });

  afterEach(() => world.close());

  /** As `createEventReplay` asks for one. */
  async function ask(mode: 'dedupe' | 'rerun'): Promise<string> {
    const sql = sqlOn(world.bus);
    const id = newUser();
    await sql(
      `insert into events.replay (id, consumer, mode, filter, status, total, requested_by, reason, created_at, upto)
       values ($1, $2, $3, '{"sequence_from":0}', 'pending', 3, 'staff:1', 'a test', now(), $4)`,
      [id, CONSUMER, mode, await headsOfLog(sql)],
    );
    return id;
  }

  const finished = (id: string): Promise<object> =>
    until('the replay is finished', async () => {
      const [row] = await world.rows<{ status: string }>('select status, sent, skipped from events.replay where id = $1', [id]);
      return row!.status === 'completed' && row!;
    });

  /** An event behind everything: whatever was brought back would be there by now. */
  async function expectThen(...ns: number[]): Promise<void> {
    await world.emit('clinical', { userId: user }, [ns.at(-1)!]);
    await untilHandled(ns);
    expect(await handled()).toEqual(ns);
  }

  test('a dedupe replay leaves it out and counts it as skipped', async () => {
    expect(await finished(await ask('dedupe'))).toEqual({ status: 'completed', sent: 2, skipped: 1 });
    await expectThen(1, 3, 4);
  });

  test('one that stands in the queue already is dropped there', async () => {
    const sent = await world.rows<OutboxRow>(`select ${OUTBOX_COLUMNS} from events.outbox o order by o.seq`);
    await transport.replay(SPEC, sent, { id: newUser(), mode: 'dedupe' });
    await expectThen(1, 3, 4);
  });

  test('a copy that a replay parked behind it is resolved without its handler', async () => {
    broken = true;
    const [other, replay] = [newUser(), newUser()];
    await world.emit('clinical', { userId: other }, [1, 2, 3]);
    await until(
      'the second is dead',
      async () => (await world.rows(`select from events.dead_letter where status = 'parked'`)).length === 1,
    );
    const rows = await world.rows<OutboxRow>(
      `select ${OUTBOX_COLUMNS} from events.outbox o where o.user_id = $1 and (o.data->>'n') = '2'`,
      [other],
    );
    await transport.replay(SPEC, rows, { id: replay, mode: 'dedupe' });
    await until(
      'the copy is parked',
      async () => (await world.rows('select from events.dead_letter where replay_id = $1', [replay])).length,
    );
    broken = false;
    await discardDead();
    await until('no letter is open', async () => (await world.rows(`select from events.dead_letter where status = 'parked'`)).length === 0);
    expect((await world.effects(CONSUMER)).filter(one => one.order_key === `u:${other}`).map(({ n }) => n)).toEqual([1, 3]);
  });

  test('feeding the consumer from the log, after it was detached, leaves it out', async () => {
    await world.rows(`update events.consumer set status = 'detached'`);
    await transport.detach(SPEC);
    await world.rows(`update events.consumer set status = 'active', position = '{0,0,0,0,0,0,0,0}'`);
    await until('it is fed', async () => (await world.rows('select from events.consumer where position is null')).length === 1, 60_000);
    await expectThen(1, 3, 4);
  });

  test('the recovery after the loss of everything that the transport held leaves it out', async () => {
    await loseQueues();
    await finished(await ask('dedupe'));
    await expectThen(1, 3, 4);
  });

  /**
   * Broker and disks are gone, and the queues are there again and empty. They are emptied, not deleted: RabbitMQ 3.10 does not cancel the
   * consumers of a queue that is declared again while they are being told, and those would wait for ever.
   */
  async function loseQueues(): Promise<void> {
    if (kind === 'embedded') return void (await world.asOwner('truncate events.queue'));
    const connection = await connect(inject('amqpUrl')!);
    const channel = await connection.createChannel();
    for (const partition of [0, 1]) await channel.purgeQueue(new Names(world.prefix).queue(CONSUMER, { generation: 1, partition }));
    await connection.close();
  }

  test('only a replay that runs handlers again brings it back, and what is discarded within one stays so within it', async () => {
    expect(await finished(await ask('rerun'))).toMatchObject({ sent: 3, skipped: 0 });
    await untilHandled([1, 3, 1, 2, 3]);
    expect(await handled()).toEqual([1, 3, 1, 2, 3]);
    expect(await finished(await ask('dedupe'))).toMatchObject({ sent: 2, skipped: 1 });
    broken = true;
    const again = await ask('rerun');
    await finished(again);
    await discardDead();
    await untilHandled([1, 3, 1, 2, 3, 1, 3]);
    broken = false;
    await world.rows(
      `update events.replay set status = 'running', at_group = 0, at_place = 0, sent = 0, skipped = 0, finished_at = null where id = $1`,
      [again],
    ); // as a process that died before it noted its batch
    expect(await finished(again)).toMatchObject({ sent: 2, skipped: 1 });
    await expectThen(1, 3, 1, 2, 3, 1, 3, 4);
  });
});
