import type { Channel, ChannelModel } from 'amqplib';
import { SLOTS } from '../envelope.js';
import { slotsOf } from './rabbitmq-slots.js';
import type { Channel as HintChannel, ConsumerSpec } from './port.js';
import type { QueuePart } from './registration.js';

/** Every object's name begins with the prefix. Source: event-machinery 5. */
export class Names {
  constructor(readonly prefix: string) {}

  get exchange(): string {
    return `${this.prefix}.events`;
  }
  get deadLetterExchange(): string {
    return `${this.prefix}.dlx`;
  }
  get deadLetterQueue(): string {
    return `${this.prefix}.dlq`;
  }
  consumerExchange(consumer: string): string {
    return `${this.prefix}.${consumer}.in`;
  }
  queue(consumer: string, { generation, partition }: QueuePart): string {
    return `${this.prefix}.${consumer}.g${generation}.p${twoDigits(partition)}`;
  }
  hints(channel: HintChannel): string {
    return `${this.prefix}.hint.${channel}`;
  }

  /** The consumer that a queue belongs to, from its name. */
  consumerOf(queue: string): string | undefined {
    return queue.startsWith(`${this.prefix}.`) ? /^(.+)\.g\d+\.p\d\d$/.exec(queue.slice(this.prefix.length + 1))?.[1] : undefined;
  }
}

/** A prefix as tests and benchmarks make them up: a word of theirs and something random. */
const THROWAWAY = /^(test|bench)_[0-9a-f_]{8,}$/;
/** So long after its last use a queue of theirs goes: those of a run that was killed would stay for ever. */
const THROWAWAY_MS = 600_000;

const expiry = ({ prefix }: Names): { 'x-expires'?: number } => (THROWAWAY.test(prefix) ? { 'x-expires': THROWAWAY_MS } : {});

const twoDigits = (number: number): string => String(number).padStart(2, '0');

/** The slot is the first word, so a partition binds slots and a consumer binds types. */
export const routingKey = (slot: number, type: string): string => `s${twoDigits(slot)}.${type}`;

const slotBinding = (slot: number): string => `s${twoDigits(slot)}.#`;
const typeBinding = (type: string): string => `*.${type}`;

/** A queue that is there answers within this time, ms. */
export const DECLARATION_MS = 3_000;

/** Declarations that run side by side: each is a round trip, and there are some 2,100. */
const CHANNELS = 8;

/** No limit in effect: RabbitMQ 3 refuses a negative one, RabbitMQ 4 has 20 by default. */
const MANY = 1_000_000_000;

export type Declaration = (channel: Channel) => Promise<unknown>;

/** Runs declarations over a few channels. @throws the broker's error when an object exists with other arguments. */
export async function declare(model: ChannelModel, declarations: readonly Declaration[]): Promise<void> {
  const left = [...declarations];
  const workers = Array.from({ length: Math.min(CHANNELS, left.length) }, async () => {
    const channel = await quietChannel(model);
    for (let next = left.shift(); next; next = left.shift()) await next(channel);
    await channel.close();
  });
  await Promise.all(workers);
}

/**
 * Runs declarations side by side, and goes on without those that the broker does not answer within `patienceMs`: a queue whose leader hangs
 * must not keep all the others away. @returns what was not answered, and its answer. @throws the broker's error of one that was.
 */
async function declareWithin<Key>(
  model: ChannelModel,
  declarations: ReadonlyMap<Key, Declaration>,
  patienceMs: number,
): Promise<Map<Key, Promise<unknown>>> {
  const until = performance.now() + patienceMs * 4;
  const late = new Map<Key, Promise<unknown>>();
  const left = [...declarations];
  const work = async (): Promise<void> => {
    let channel = await quietChannel(model);
    for (let next = left.shift(); next; next = left.shift()) {
      const [key, run] = next;
      const answer = run(channel);
      const patience = Math.max(patienceMs / 10, Math.min(patienceMs, until - performance.now()));
      if (await isDone(answer, patience)) continue;
      answer.catch(() => undefined); // the connection went; the next one asks again
      late.set(key, answer);
      channel = await quietChannel(model); // the other one waits
    }
    await channel.close();
  };
  await Promise.all(Array.from({ length: Math.min(CHANNELS, left.length) }, work));
  return late;
}

async function quietChannel(model: ChannelModel): Promise<Channel> {
  const channel = await model.createChannel();
  channel.on('error', () => undefined); // the declaration that caused it rejects
  return channel;
}

/** Whether work ends within `ms`. @throws its error. */
export async function isDone(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>(resolve => (timer = setTimeout(resolve, ms, false)));
  try {
    return await Promise.race([work.then(() => true as const), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Must stand before the partition queues. */
const coreExchanges =
  (names: Names): Declaration =>
  async channel => {
    await channel.assertExchange(names.exchange, 'topic', { durable: true });
    await channel.assertExchange(names.deadLetterExchange, 'fanout', { durable: true });
  };

/** The queue of what the broker gives up. */
const deadLetterQueue =
  (names: Names): Declaration =>
  async channel => {
    await channel.assertQueue(names.deadLetterQueue, {
      durable: true,
      arguments: { 'x-queue-type': 'quorum', 'x-overflow': 'reject-publish', 'x-delivery-limit': MANY, ...expiry(names) },
    });
    await channel.bindQueue(names.deadLetterQueue, names.deadLetterExchange, '');
  };

/** Exchanges and the queue of what the broker gives up. */
export const coreDeclarations = (names: Names): Declaration[] => [
  async channel => {
    await coreExchanges(names)(channel);
    await deadLetterQueue(names)(channel);
  },
];

/** Exchanges of the consumers; must stand before what is bound to them. */
export const exchangeDeclarations = (names: Names, specs: readonly ConsumerSpec[]): Declaration[] =>
  specs.map(
    ({ name }) =>
      channel =>
        channel.assertExchange(names.consumerExchange(name), 'topic', { durable: true }),
  );

/** The queues of a consumer's present generation. */
export const partsOf = ({ generation, partitions }: ConsumerSpec): QueuePart[] =>
  Array.from({ length: partitions }, (_, partition) => ({ generation, partition }));

/** Queues with their slots first, types last: a type that is bound finds all its queues. */
export const queueDeclarations = (names: Names, specs: readonly ConsumerSpec[]): Declaration[] =>
  specs.flatMap(spec => partsOf(spec).map(part => (channel: Channel) => declarePart(channel, names, spec, part)));

/** A queue and the slots whose events go to it. */
interface DeclaredQueue {
  queue: string;
  slots: readonly number[];
}

/** All queues, each by itself. */
const eachQueue = (names: Names, specs: readonly ConsumerSpec[]): Map<DeclaredQueue, Declaration> =>
  new Map<DeclaredQueue, Declaration>([
    [{ queue: names.deadLetterQueue, slots: [] }, deadLetterQueue(names)],
    ...specs.flatMap(spec =>
      partsOf(spec).map((part): [DeclaredQueue, Declaration] => [
        { queue: names.queue(spec.name, part), slots: slotsOf(part.partition, spec.partitions) },
        channel => declarePart(channel, names, spec, part),
      ]),
    ),
  ]);

/** What a set-up needs of the broker, without waiting for queues that do not answer. @returns the answer of each queue, undefined where it is there. */
export async function declareAll(
  model: ChannelModel,
  names: Names,
  specs: readonly ConsumerSpec[],
): Promise<Map<DeclaredQueue, Promise<unknown> | undefined>> {
  const queues = eachQueue(names, specs);
  await declare(model, [coreExchanges(names)]);
  await declare(model, exchangeDeclarations(names, specs));
  const late = await declareWithin(model, queues, DECLARATION_MS);
  await declare(model, typeDeclarations(names, specs));
  return new Map([...queues.keys()].map(queue => [queue, late.get(queue)]));
}

export const typeDeclarations = (names: Names, specs: readonly ConsumerSpec[]): Declaration[] =>
  specs.flatMap(spec =>
    spec.types.map(
      type => (channel: Channel) => channel.bindExchange(names.consumerExchange(spec.name), names.exchange, typeBinding(type)),
    ),
  );

/** Types that a consumer listens to no more. */
export const typeRemovals = (names: Names, consumer: string, types: readonly string[]): Declaration[] =>
  types.map(type => channel => channel.unbindExchange(names.consumerExchange(consumer), names.exchange, typeBinding(type)));

async function declarePart(channel: Channel, names: Names, { name, partitions }: ConsumerSpec, part: QueuePart): Promise<void> {
  const queue = names.queue(name, part);
  await channel.assertQueue(queue, {
    durable: true,
    arguments: {
      'x-queue-type': 'quorum',
      'x-single-active-consumer': true,
      'x-delivery-limit': 20,
      'x-dead-letter-exchange': names.deadLetterExchange,
      'x-dead-letter-strategy': 'at-least-once',
      'x-overflow': 'reject-publish',
      ...expiry(names),
    },
  });
  for (const slot of slotsOf(part.partition, partitions)) await channel.bindQueue(queue, names.consumerExchange(name), slotBinding(slot));
}

/** Takes a queue of an older generation out of the stream; what is in it stays. */
export async function unbindPart(channel: Channel, names: Names, consumer: string, part: QueuePart): Promise<void> {
  const queue = names.queue(consumer, part);
  for (let slot = 0; slot < SLOTS; slot++) await channel.unbindQueue(queue, names.consumerExchange(consumer), slotBinding(slot));
}
