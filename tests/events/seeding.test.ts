import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { handle } from '../../events/consumer.js';
import { markPosition } from '../../events/log-position.js';
import type { Transport } from '../../events/transport/port.js';
import { noting, numbers } from './support/consumers.js';
import { note, sqlOn, type TestContext } from './support/host.js';
import { dropTemplate, events, kinds, newUser, until, World, type Effect } from './support/world.js';

afterAll(dropTemplate);

/** A consumer that is new may begin in the past. Source: event-machinery 9. */
describe.each(kinds)('%s transport', kind => {
  let world: World;
  let transport: Transport;

  beforeEach(async () => {
    world = await World.open(kind);
    transport = world.transport();
    await world.relay(transport);
  });

  afterEach(() => world.close());

  const inOrder = (effects: readonly Effect[], user: string): number[] =>
    effects.filter(one => one.order_key === `u:${user}`).map(one => one.n);

  test('a new consumer that begins in the past gets all of it and what comes meanwhile, in order and once', async () => {
    const users = numbers(1, 8).map(newUser);
    const start = new Date();
    for (const user of users) await world.emit('clinical', { userId: user }, numbers(1, 60));
    await world.published();
    await world.consumer(transport, noting('clinical.late', undefined, { startAt: start.toISOString() }));
    for (const n of numbers(61, 90)) for (const user of users) await world.emit('clinical', { userId: user }, [n]);
    const effects = await world.effectsOf('clinical.late', 8 * 90);
    for (const user of users) expect(inOrder(effects, user)).toEqual(numbers(1, 90));
    expect(effects).toHaveLength(8 * 90);
    await until('the queues are open', async () => (await world.rows('select from events.consumer where position is null')).length === 1);
    expect(await world.rows('select from events.dead_letter')).toEqual([]);
  });

  test('one that begins now does not get what was before, and one that begins at a time gets what occurred since', async () => {
    const user = newUser();
    await world.emit('clinical', { userId: user }, [1, 2]);
    await world.published();
    await markPosition(sqlOn(world.bus));
    await world.asOwner(`update events.position_mark set taken_at = taken_at - interval '1 hour'`);
    const [{ at }] = (await world.rows<{ at: Date }>('select clock_timestamp() as at')) as [{ at: Date }];
    await until('a later millisecond', async () => Date.now() > at.getTime() + 1);
    await world.emit('clinical', { userId: user }, [3, 4]);
    await world.published();
    await world.consumer(transport, noting('clinical.now'));
    await world.consumer(transport, noting('clinical.since', undefined, { startAt: new Date(at.getTime() + 1).toISOString() }));
    await world.emit('clinical', { userId: user }, [5]);
    expect(inOrder(await world.effectsOf('clinical.since', 3), user)).toEqual([3, 4, 5]);
    expect(inOrder(await world.effectsOf('clinical.now', 1), user)).toEqual([5]);
  });

  test('feeding that stops half-way goes on in another process, and a failing event holds back only its user', async () => {
    const [user, other] = [newUser(), newUser()];
    const start = new Date(Date.now() - 60_000).toISOString();
    await world.emit('clinical', { userId: user }, numbers(1, 300));
    await world.emit('clinical', { userId: other }, numbers(1, 300));
    await world.published();
    const broken = { bad: true };
    const slow = {
      name: 'clinical.late' as const,
      partitions: 2 as const,
      startAt: start,
      on: [
        handle(events.stepTaken, async (ctx: TestContext, event) => {
          if (event.user_id === other && event.data.n === 250 && broken.bad) throw new Error('not yet');
          await note(ctx, 'clinical.late', event);
        }),
      ],
    };
    const first = await world.consumer(transport, slow, { memoryRetryMs: [] });
    await world.effectsOf('clinical.late', 50);
    await first.stop();
    const second = await world.consumer(world.transport(), slow, { memoryRetryMs: [] });
    await until('the user is through', async () => inOrder(await world.effects('clinical.late'), user).length === 300, 60_000);
    await until('the other waits', async () => (await world.rows('select from events.dead_letter')).length === 51, 60_000);
    broken.bad = false;
    await until('the retry is due', async () => (await second.nextRetryAt()) !== null);
    await second.runRetries(new Date(Date.now() + 60_000));
    const effects = await world.effectsOf('clinical.late', 600);
    expect(inOrder(effects, user)).toEqual(numbers(1, 300));
    expect(inOrder(effects, other)).toEqual(numbers(1, 300));
    expect(effects).toHaveLength(600);
  });
});
