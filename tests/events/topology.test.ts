import type { Channel } from 'amqplib';
import { expect, test } from 'vitest';
import { coreDeclarations, Names, queueDeclarations } from '../../events/transport/rabbitmq-topology.js';

/** Queues as they are declared: a broker does not say over AMQP which arguments a queue has. */
async function declaredQueues(): Promise<Map<string, object>> {
  const queues = new Map<string, object>();
  const channel = {
    assertExchange: async () => undefined,
    bindQueue: async () => undefined,
    assertQueue: async (name: string, { durable, arguments: more }: { durable: boolean; arguments: object }) =>
      void queues.set(name, { durable, ...more }),
  } as unknown as Channel;
  const names = new Names('platform');
  const spec = { name: 'clinical.retest', types: ['clinical.biomarker.added.v1'], partitions: 2, generation: 3 } as const;
  for (const declare of [...coreDeclarations(names), ...queueDeclarations(names, [spec])]) await declare(channel);
  return queues;
}

test('partition queues are quorum queues with one active consumer, 20 deliveries, and dead letters that are not lost', async () => {
  const queues = await declaredQueues();
  const partition = {
    durable: true,
    'x-queue-type': 'quorum',
    'x-single-active-consumer': true,
    'x-delivery-limit': 20,
    'x-dead-letter-exchange': 'platform.dlx',
    'x-dead-letter-strategy': 'at-least-once',
    'x-overflow': 'reject-publish',
  };
  const names = [...queues.keys()].filter(name => name.includes('clinical.retest'));
  expect(names).toHaveLength(2);
  for (const name of names) expect(queues.get(name)).toEqual(partition);
  expect(queues.get('platform.dlq')).toMatchObject({ durable: true, 'x-queue-type': 'quorum', 'x-overflow': 'reject-publish' });
});
