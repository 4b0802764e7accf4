import { expect, test } from 'vitest';
import { v7 } from 'uuid';
import { NO_REPLAY } from '../../events/envelope.js';
import { KeyScheduler } from '../../events/key-scheduler.js';
import { EmbeddedSubscription } from '../../events/transport/embedded-subscription.js';
import type { Delivery } from '../../events/transport/port.js';
import { until } from '../support/until.js';

const rowOf = (seq: number) => ({
  id: v7(),
  seq,
  order_key: 'u:1',
  slot: 0,
  type: 'clinical.protocol.started.v1',
  schema_rev: 1,
  user_id: null,
  subject: 's',
  brand_id: null,
  source: 'clinical',
  occurred_at: new Date().toISOString(),
  data: '{}',
  replay_id: NO_REPLAY,
  deliveries: 0,
  rerun: false,
  erased: false,
});

/** A queue with three events of one key, and a lease that the test takes and gives. */
function setting(onEvent: (seq: number, lease: { held: boolean }) => Promise<void> | void) {
  const lease = { held: true };
  let queue = [1, 2, 3].map(rowOf);
  const handled: number[] = [];
  const pool = {
    query: async ({ values }: { values: [string, number[], number[], number] }) => ({
      rows: queue.filter(row => !values[2].includes(row.seq)),
    }),
  };
  const keeper = {
    held: () => (lease.held ? { name: 'consumer:clinical.test:0', epoch: 1, crashed: false } : undefined),
    join: async () => undefined,
    leave: async () => undefined,
  };
  const scheduler = new KeyScheduler();
  const take = async ({ event, stale }: Delivery): Promise<'done'> => {
    await onEvent(event.seq, lease);
    if (stale!()) throw new Error('given back');
    handled.push(event.seq);
    queue = queue.filter(row => row.seq !== event.seq);
    return 'done';
  };
  const spec = { name: 'clinical.test', types: [], partitions: 1, generation: 1, onReplay: 'dedupe', startAt: undefined } as const;
  const log = { debug: () => undefined, info: () => undefined, warn: console.warn, error: console.error };
  const subscription = new EmbeddedSubscription(spec as never, pool as never, keeper as never, log as never, delivery =>
    scheduler.run(delivery.event.order_key, () => take(delivery)),
  );
  return { subscription, handled, lease };
}

test('a lease that lapses for a moment gives back everything that is in hand, so that no event overtakes one that was given back', async () => {
  const lapses = new Set([2]);
  const { subscription, handled } = setting(async (seq, lease) => {
    lease.held = !lapses.delete(seq); // renewed before the next of the key is looked at
  });
  await subscription.resume();
  await until(
    'all',
    async () => subscription.wake() ?? handled.length,
    count => count === 3,
  );
  expect(handled).toEqual([1, 2, 3]);
  await subscription.close();
});

test('a pause of a moment gives back everything that is in hand as well', async () => {
  const pauses = new Set([2]);
  const { subscription, handled } = setting(seq => (pauses.delete(seq) ? subscription.pause() : subscription.resume()));
  await subscription.resume();
  await until(
    'all',
    async () => subscription.wake() ?? handled.length,
    count => count === 3,
  );
  expect(handled).toEqual([1, 2, 3]);
  await subscription.close();
});
