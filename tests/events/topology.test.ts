import type { Channel, ChannelModel } from 'amqplib';
import { expect, test } from 'vitest';
import { removeConsumer } from '../../events/transport/rabbitmq-removal.js';
import { coreDeclarations, Names, partsOf, queueDeclarations } from '../../events/transport/rabbitmq-topology.js';

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

test('a consumer that is removed loses its queues before its exchange, which RabbitMQ 3.10 does not take side by side', async () => {
  const steps: string[] = [];
  const step = async (what: string): Promise<object> => {
    steps.push(`${what} begins`);
    await new Promise(setImmediate);
    steps.push(`${what} ends`);
    return { messageCount: 0, consumerCount: 0 };
  };
  const channel = {
    on: () => channel,
    close: async () => undefined,
    unbindExchange: async () => undefined,
    checkQueue: async () => ({ messageCount: 0, consumerCount: 0 }),
    deleteQueue: (name: string) => step(name),
    deleteExchange: (name: string) => step(name),
  };
  const model = { createChannel: async () => channel } as unknown as ChannelModel;
  const spec = { name: 'clinical.retest', types: ['clinical.biomarker.added.v1'], partitions: 2, generation: 1 } as const;
  await removeConsumer(model, new Names('platform'), spec, partsOf(spec));
  expect(steps.slice(0, 4).every(one => one.includes('.g1.p'))).toBe(true);
  expect(steps.slice(4)).toEqual(['platform.clinical.retest.in begins', 'platform.clinical.retest.in ends']);
});
