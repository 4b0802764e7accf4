import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Envelope } from '../../events/consumer.js';
import type { Condition } from '../../events/entrance.js';
import { headsOfLog } from '../../events/log-position.js';
import { countReplay, type ReplayFilter } from '../../events/replay-log.js';
import { startReplays, type ReplaysOptions } from '../../events/replays.js';
import type { Transport } from '../../events/transport/port.js';
import { noting, numbers } from './support/consumers.js';
import { silent, sqlOn, type TestContext } from './support/host.js';
import { dropTemplate, events, kinds, LEASE_MS, newUser, until, World } from './support/world.js';

afterAll(dropTemplate);

/** Replays from the log, as the operators' operations leave them to the machinery. Source: event-machinery 9. */
describe.each(kinds)('%s transport', kind => {
  let world: World;
  let transport: Transport;

  beforeEach(async () => {
    world = await World.open(kind);
    transport = world.transport();
  });

  afterEach(() => world.close());

  const run = async (options: Partial<ReplaysOptions> = {}): Promise<{ stop(): Promise<void> }> => {
    const running = await startReplays({ pool: world.bus, transport, log: silent, leaseMs: LEASE_MS, ...options });
    world.onClose(() => running.stop());
    return running;
  };

  /** As `createEventReplay` asks for one. */
  async function ask(consumer: string, filter: ReplayFilter, mode: 'dedupe' | 'rerun' = 'dedupe'): Promise<string> {
    const sql = sqlOn(world.bus);
    const id = newUser();
    await sql(
      `insert into events.replay (id, consumer, mode, filter, status, total, requested_by, reason, created_at, upto, at_group)
       values ($1, $2, $3, $4, 'pending', $5, 'staff:1', 'a test', now(), $6, case when $7::uuid is null then 0 else (hashtextextended('u:' || $7::uuid, 0) & 63)::int >> 3 end)`,
      [id, consumer, mode, JSON.stringify(filter), await countReplay(sql, filter), await headsOfLog(sql), filter.user_id ?? null],
    );
    return id;
  }

  const finished = (id: string): Promise<{ status: string; total: number; sent: number; skipped: number }> =>
    until('the replay is finished', async () => {
      const [row] = await world.rows<{ status: string; total: number; sent: number; skipped: number }>(
        'select status, total, sent, skipped from events.replay where id = $1',
        [id],
      );
      return row!.status !== 'pending' && row!.status !== 'running' && row;
    });

  /** What a lost queue would leave: handled by nobody. */
  const forget = (consumer: string, ns: readonly number[]): Promise<unknown> =>
    world.asOwner(
      `delete from clinical.inbox i using events.outbox o where i.consumer = $1 and o.id = i.event_id and (o.data->>'n')::int = any($2)`,
      [consumer, ns],
    );

  test('a replay brings one consumer what it has not handled, in order, and nobody else anything', async () => {
    await world.consumer(transport, noting('clinical.first'));
    await world.consumer(transport, noting('clinical.second'));
    await world.relay(transport);
    const users = [newUser(), newUser(), newUser()];
    for (const user of users) await world.emit('clinical', { userId: user }, numbers(1, 10));
    await world.effectsOf('clinical.first', 30);
    await world.effectsOf('clinical.second', 30);
    await world.published();
    await forget('clinical.first', [4, 5, 6]);
    await world.rows('delete from public.effect');
    await run();
    const id = await ask('clinical.first', { types: ['test.step.taken.v1'] });
    expect(await finished(id)).toEqual({ status: 'completed', total: 30, sent: 30, skipped: 0 });
    const effects = await world.effectsOf('clinical.first', 9);
    for (const user of users) expect(effects.filter(one => one.order_key === `u:${user}`).map(one => one.n)).toEqual([4, 5, 6]);
    await world.emit('clinical', { userId: users[0]! }, [11]); // behind the replay: whatever else it brought would be there by now
    expect((await world.effectsOf('clinical.first', 10)).map(one => one.n).filter(n => n === 11)).toEqual([11]);
    expect(await world.effects('clinical.first')).toHaveLength(10);
    expect((await world.effectsOf('clinical.second', 1)).map(one => one.n)).toEqual([11]);
  });

  test('handlers that declare it run again, once per replay, although the runner stops half-way and another goes on', async () => {
    await world.consumer(transport, noting('clinical.first', undefined, { onReplay: 'rerun' }));
    await world.relay(transport);
    const user = newUser();
    const other = newUser();
    await world.emit('clinical', { userId: user }, numbers(1, 60));
    await world.emit('clinical', { userId: other }, numbers(1, 60));
    await world.effectsOf('clinical.first', 120);
    await world.published();
    await world.rows('delete from public.effect');
    const first = await run({ batch: 7 });
    const id = await ask('clinical.first', { sequence_from: 0 }, 'rerun');
    await until('a part is sent', async () => (await world.rows('select from events.replay where sent > 0')).length > 0);
    await first.stop();
    await run({ batch: 11 });
    expect(await finished(id)).toEqual({ status: 'completed', total: 120, sent: 120, skipped: 0 });
    const effects = await world.effectsOf('clinical.first', 120);
    for (const one of [user, other])
      expect(effects.filter(effect => effect.order_key === `u:${one}`).map(effect => effect.n)).toEqual(numbers(1, 60));
    const again = await ask('clinical.first', { user_id: user, sequence_from: 0 }, 'rerun');
    expect(await finished(again)).toMatchObject({ status: 'completed', total: 60, sent: 60 });
    expect(await world.effectsOf('clinical.first', 180)).toHaveLength(180);
  });

  test('a batch that is sent twice by a rerun has its effects once', async () => {
    await world.consumer(transport, noting('clinical.first', undefined, { onReplay: 'rerun' }));
    await world.relay(transport);
    const user = newUser();
    await world.emit('clinical', { userId: user }, numbers(1, 5));
    await world.effectsOf('clinical.first', 5);
    await world.published();
    await run();
    const id = await ask('clinical.first', { user_id: user }, 'rerun');
    await finished(id);
    await world.effectsOf('clinical.first', 10);
    await world.rows(`update events.replay set status = 'running', at_place = 0, sent = 0, skipped = 0, finished_at = null,
      at_group = (hashtextextended('u:' || '${user}', 0) & 63)::int >> 3`); // as a process that died before it noted its batch
    expect(await finished(id)).toMatchObject({ status: 'completed', sent: 5 });
    await world.emit('clinical', { userId: user }, [6]);
    const effects = await world.effectsOf('clinical.first', 11);
    expect(effects.map(one => one.n)).toEqual([...numbers(1, 5), ...numbers(1, 5), 6]);
  });

  test('what a handler has nothing to do with is noted once per replay that runs handlers again, and is known to any other', async () => {
    const passOver = (_ctx: TestContext, { data }: Envelope<{ n: number }>): Condition => ({
      text: 'own.n > 1',
      types: { n: 'int' },
      values: [data.n],
    });
    await world.consumer(transport, noting('clinical.first', undefined, { onReplay: 'rerun', passOver }));
    await world.relay(transport);
    const users = numbers(1, 20).map(newUser);
    for (const user of users) await world.emit('clinical', { userId: user }, [1, 2, 3]);
    const noted = (): Promise<{ count: number }[]> =>
      sqlOn(world.pool('clinical'))('select count(*)::int as count from clinical.inbox group by replay_id');
    await until('all are noted', async () => (await noted())[0]?.count === 60);
    await world.published();
    await run();
    await finished(await ask('clinical.first', { sequence_from: 0 }, 'dedupe'));
    await finished(await ask('clinical.first', { sequence_from: 0 }, 'rerun'));
    await until('all are noted again', async () => (await noted())[1]?.count === 60);
    await until('the queue is empty', async () => (await world.rows('select from events.queue')).length === 0);
    expect(await noted()).toEqual([{ count: 60 }, { count: 60 }]);
    expect((await world.effects('clinical.first')).map(one => one.n)).toEqual(Array.from({ length: 40 }, () => 1));
  });

  test('erased events and types that the consumer does not take are skipped and counted', async () => {
    await world.consumer(transport, noting('clinical.first', undefined, { onReplay: 'rerun' }));
    await world.relay(transport);
    const user = newUser();
    await world.emit('clinical', { userId: user }, numbers(1, 4));
    await world.emit('clinical', { userId: user }, [9], events.userMoved);
    await world.effectsOf('clinical.first', 4);
    await world.published();
    await world.asOwner(`update events.outbox set data = '{}', erased_at = now() where (data->>'n')::int = 2`);
    await run();
    const id = await ask('clinical.first', { user_id: user }, 'rerun');
    expect(await finished(id)).toEqual({ status: 'completed', total: 5, sent: 3, skipped: 2 });
    expect((await world.effectsOf('clinical.first', 7)).slice(4).map(one => one.n)).toEqual([1, 3, 4]);
    expect(await world.rows('select from events.dead_letter')).toEqual([]);
  });

  test('a replay for a consumer that is detached meanwhile fails with the reason, and one that is cancelled stops', async () => {
    const stopped = await world.consumer(transport, noting('clinical.first'));
    await world.relay(transport);
    await world.emit('clinical', { userId: newUser() }, numbers(1, 50));
    await world.effectsOf('clinical.first', 50);
    await world.published();
    await stopped.stop();
    const cancelled = await ask('clinical.first', { sequence_from: 0 });
    await world.rows(`update events.replay set status = 'cancelled' where id = $1`, [cancelled]);
    await run();
    await world.rows(`update events.consumer set status = 'detached'`);
    const id = await ask('clinical.first', { sequence_from: 0 });
    expect(await finished(id)).toMatchObject({ status: 'failed', sent: 0 });
    expect(await world.rows('select error from events.replay where id = $1', [id])).toEqual([{ error: 'the consumer is detached' }]);
    expect(await world.rows('select status, sent from events.replay where id = $1', [cancelled])).toEqual([
      { status: 'cancelled', sent: 0 },
    ]);
  });
});
