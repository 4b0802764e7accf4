import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'amqplib';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { Names } from '../../events/transport/rabbitmq-topology.js';
import { noteBroker, sweepBroker } from '../support/broker.js';
import { noting } from './support/consumers.js';
import { dropTemplate, World } from './support/world.js';

const CONSUMER = 'clinical.first';

/** The id of a process that has ended. */
async function endedProcess(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid!;
}

/** What the broker still has of a platform. */
async function left(prefix: string): Promise<string[]> {
  const names = new Names(prefix);
  const connection = await connect(inject('amqpUrl')!);
  connection.on('error', () => undefined);
  const has = async (check: 'checkQueue' | 'checkExchange', name: string): Promise<string[]> => {
    const channel = await connection.createChannel();
    channel.on('error', () => undefined); // what is missing closes the channel
    return channel[check](name).then(
      () => [name],
      () => [],
    );
  };
  const found = [
    await has('checkQueue', names.queue(CONSUMER, { generation: 1, partition: 0 })),
    await has('checkQueue', names.queue(CONSUMER, { generation: 1, partition: 1 })),
    await has('checkQueue', names.deadLetterQueue),
    await has('checkExchange', names.exchange),
    await has('checkExchange', names.deadLetterExchange),
    await has('checkExchange', names.consumerExchange(CONSUMER)),
  ];
  await connection.close();
  return found.flat();
}

/** A platform that declared its objects and was ended without deleting them, as by SIGKILL. */
async function abandoned(pid: number): Promise<World> {
  const prefix = `test_${pid}_${randomBytes(6).toString('hex')}`;
  const world = await World.open('rabbitmq', prefix);
  const consumer = await world.consumer(world.transport(), noting(CONSUMER));
  await consumer.stop();
  return world;
}

afterAll(dropTemplate);

const isAlive = (dead: number) => (pid: number) => pid !== dead;

describe.skipIf(!inject('amqpUrl'))('what a killed run has left at the broker', () => {
  test('is deleted by the next run, queues and exchanges; the objects of a run that is alive stay', async () => {
    const dead = await endedProcess();
    const [killed, alive] = [await abandoned(dead), await abandoned(process.pid)];
    expect([await left(killed.prefix), await left(alive.prefix)]).toEqual([
      expect.objectContaining({ length: 6 }),
      expect.objectContaining({ length: 6 }),
    ]);
    await sweepBroker(isAlive(dead));
    expect([await left(killed.prefix), await left(alive.prefix)]).toEqual([[], expect.objectContaining({ length: 6 })]);
    await killed.close();
    await alive.close();
  });

  test('is forgotten once it is deleted, and what every platform has goes even without its database', async () => {
    const dead = await endedProcess();
    const killed = await abandoned(dead);
    noteBroker(killed.prefix, { amqpUrl: inject('amqpUrl')!, databaseUrl: 'postgres://nobody@127.0.0.1:9/none' });
    await sweepBroker(isAlive(dead));
    expect((await left(killed.prefix)).map(name => name.slice(killed.prefix.length + 1))).toEqual([
      'clinical.first.g1.p00',
      'clinical.first.g1.p01',
      'clinical.first.in',
    ]);
    await killed.close();
    expect(await left(killed.prefix)).toEqual([]);
  });
});
