import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ConsumerSpec } from '../../events/transport/port.js';
import { registerConsumer } from '../../events/transport/registration.js';
import { dropTemplate, kinds, World } from './support/world.js';

const SPEC: ConsumerSpec = { name: 'clinical.first', types: ['b.happened.v1', 'a.happened.v1'], partitions: 4, generation: 1 };

let world: World;

beforeEach(async () => {
  world = await World.open(kinds[0]!);
});
afterEach(() => world.close());
afterAll(dropTemplate);

const register = (changes: Partial<ConsumerSpec> = {}, keepOld = true) => registerConsumer(world.bus, { ...SPEC, ...changes }, keepOld);
const consumer = async () =>
  (
    await world.rows<{ types: string[]; on_replay: string; version: number; seen: number }>(
      'select types, on_replay, version, extract(epoch from last_seen_at)::float8 as seen from events.consumer',
    )
  )[0]!;
const parts = () => world.rows('select generation, state, count(*)::int as n from events.consumer_partition group by 1, 2 order by 1');
const starts = async () =>
  (await world.rows<{ type: string }>('select type from events.consumer_start order by type')).map(({ type }) => type);

test('a consumer that starts again as it was is seen by one statement, and nothing else changes', async () => {
  expect(await register()).toBeNull();
  const before = await consumer();
  const connect = vi.spyOn(world.bus, 'connect');
  const again = await register();
  expect(connect).toHaveBeenCalledTimes(1); // by the pool itself, for a statement alone; a transaction connects once more
  expect(again).toEqual({ types: ['a.happened.v1', 'b.happened.v1'], partitions: 4, generation: 1, detached: false });
  const { seen, ...after } = await consumer();
  expect(after).toEqual({ types: before.types, on_replay: before.on_replay, version: before.version });
  expect(seen).toBeGreaterThan(before.seen);
  expect(await parts()).toEqual([{ generation: 1, state: 'live', n: 4 }]);
});

test('a consumer whose queues are not whole gets them again', async () => {
  await register();
  await world.rows('delete from events.consumer_partition where partition = 2');
  await register();
  expect(await parts()).toEqual([{ generation: 1, state: 'live', n: 4 }]);
});

test('types that a consumer takes up or leaves are noted at its next start', async () => {
  await register();
  await register({ types: ['b.happened.v1', 'c.happened.v1'] });
  expect([(await consumer()).types, await starts()]).toEqual([
    ['b.happened.v1', 'c.happened.v1'],
    ['b.happened.v1', 'c.happened.v1'],
  ]);
});

test('how a consumer takes replays is noted at its next start', async () => {
  await register();
  await register({ onReplay: 'rerun' });
  expect((await consumer()).on_replay).toBe('rerun');
});

test('queues of an older generation stay until they are empty, and go where no transport keeps them', async () => {
  await register();
  await register({ generation: 2, partitions: 2 });
  await register({ generation: 2, partitions: 2 });
  expect(await parts()).toEqual([
    { generation: 1, state: 'draining', n: 4 },
    { generation: 2, state: 'live', n: 2 },
  ]);
  await register({ generation: 2, partitions: 2 }, false);
  expect(await parts()).toEqual([{ generation: 2, state: 'live', n: 2 }]);
});

test('an older generation, and another number of partitions without a new one, are refused', async () => {
  await register({ generation: 2 });
  await expect(register({ generation: 1 })).rejects.toThrow('has generation 2 already');
  await expect(register({ generation: 2, partitions: 8 })).rejects.toThrow('has 4 partitions');
});

test('a consumer that is detached is said to be so', async () => {
  await register();
  await world.rows("update events.consumer set status = 'detached'");
  expect(await register()).toMatchObject({ detached: true });
});
