import { connect } from 'amqplib';
import { registeredConsumers } from '../../events/transport/registration.js';
import { coreDeclarations, Names } from '../../events/transport/rabbitmq-topology.js';
import type pg from 'pg';

const HINTS = ['auth.revocations', 'entitlements.invalidate', 'realtime', 'cache'] as const;

/** Removes everything that a platform of this prefix declared at the broker; its database still says what that was. */
export async function deleteBrokerObjects(amqpUrl: string, prefix: string, owner: pg.Pool): Promise<void> {
  const names = new Names(prefix);
  const { rows: queues } = await owner.query<{ consumer: string; generation: number; partition: number }>(
    'select consumer, generation, partition from events.consumer_partition',
  );
  const connection = await connect(amqpUrl);
  const channel = await connection.createChannel();
  for (const declare of coreDeclarations(names)) await declare(channel); // deleting what is not there closes the channel
  for (const { consumer, ...part } of queues) await channel.deleteQueue(names.queue(consumer, part));
  for (const { name } of await registeredConsumers(owner)) await channel.deleteExchange(names.consumerExchange(name));
  for (const hints of HINTS) await channel.deleteExchange(names.hints(hints));
  await channel.deleteQueue(names.deadLetterQueue);
  await channel.deleteExchange(names.exchange);
  await channel.deleteExchange(names.deadLetterExchange);
  await connection.close();
}
