import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelModel } from 'amqplib';
import type { ConsumerSpec } from './port.js';
import { declare, typeRemovals, type Names } from './rabbitmq-topology.js';
import type { QueuePart } from './registration.js';

/** Messages that are looked at in a queue: more than a process has unacknowledged, which come back in an order of their own. */
const PEEK = 1_000;
/** Consumers notice within two seconds that they are detached, and let go when their handlers have ended. */
const IDLE_MS = 25_000;
const LOOK_MS = 100;
/** A queue gives what it holds at once. */
const PEEK_MS = 5_000;

/** What is not there need not be removed. @throws any other error of the broker. */
export function unlessMissing(error: unknown): void {
  if ((error as { code?: unknown }).code !== 404) throw error;
}

/**
 * Takes a consumer out of the stream, waits until nobody consumes it, and removes its queues and its exchange.
 * Answers the ids of what stood first in the queues. @throws Error when a process still consumes.
 */
export async function removeConsumer(
  model: ChannelModel,
  names: Names,
  spec: ConsumerSpec,
  parts: readonly QueuePart[],
): Promise<string[]> {
  await declare(model, typeRemovals(names, spec.name, spec.types)).catch(unlessMissing);
  const queues = parts.map(part => names.queue(spec.name, part));
  await Promise.all(queues.map(queue => idle(model, queue)));
  const waiting = await Promise.all(queues.map(queue => peek(model, queue)));
  await declare(
    model,
    queues.map(queue => channel => channel.deleteQueue(queue)),
  );
  // Not beside them: RabbitMQ 3.10 breaks the connection where a queue goes while the exchange that it is bound to does
  await declare(model, [channel => channel.deleteExchange(names.consumerExchange(spec.name))]);
  return waiting.flat();
}

async function idle(model: ChannelModel, queue: string): Promise<void> {
  const until = performance.now() + IDLE_MS;
  for (;;) {
    let consumers = 0;
    await declare(model, [async channel => void (consumers = (await channel.checkQueue(queue)).consumerCount)]).catch(unlessMissing);
    if (consumers === 0) return;
    if (performance.now() > until) throw new Error(`${queue} is still consumed`);
    await sleep(LOOK_MS);
  }
}

/** By consuming, because a queue with a single active consumer refuses `basic.get`. Nothing is acknowledged: closing the channel gives all back. */
async function peek(model: ChannelModel, queue: string): Promise<string[]> {
  const ids: string[] = [];
  await declare(model, [
    async channel => {
      const { messageCount } = await channel.checkQueue(queue);
      if (messageCount === 0) return;
      const wanted = Math.min(messageCount, PEEK);
      await channel.prefetch(PEEK);
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`${queue} did not give what it holds`)), PEEK_MS);
        channel
          .consume(queue, message => {
            if (message) ids.push(String(message.properties.messageId));
            if (message && ids.length < wanted) return;
            clearTimeout(timer);
            resolve();
          })
          .catch(reject);
      });
    },
  ]).catch(unlessMissing);
  return ids;
}
