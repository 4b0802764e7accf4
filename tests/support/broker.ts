import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'amqplib';
import pg from 'pg';
import { registeredConsumers } from '../../events/transport/registration.js';
import { coreDeclarations, isDone, Names } from '../../events/transport/rabbitmq-topology.js';

const HINTS = ['auth.revocations', 'entitlements.invalidate', 'realtime', 'cache'] as const;

interface Queue {
  consumer: string;
  generation: number;
  partition: number;
}

/** Where a platform's objects are, and the database that says which. */
interface BrokerNote {
  amqpUrl: string;
  databaseUrl: string;
}

const NOTE = 'platform-test-broker-';
/** A prefix, and in it the process of its run. */
const NOTED = new RegExp(`^${NOTE}([a-z]+_(\\d+)_[0-9a-f]+)\\.json$`);
const noteOf = (prefix: string): string => join(tmpdir(), `${NOTE}${prefix}.json`);

/** Writes down that a platform will declare objects: AMQP cannot list them, and a run may be killed before it has deleted them. */
export const noteBroker = (prefix: string, note: BrokerNote): void => writeFileSync(noteOf(prefix), JSON.stringify(note), { mode: 0o600 });

/** Removes what runs that are no more have left at a broker. Called before their databases go. */
export async function sweepBroker(isAlive: (pid: number) => boolean): Promise<void> {
  const notes = readdirSync(tmpdir()).map(name => NOTED.exec(name));
  const orphans = notes.filter(found => found !== null).filter(([, , pid]) => !isAlive(Number(pid)));
  for (const [, prefix] of orphans) await sweepPrefix(prefix!).catch(() => undefined); // of a broker that is away the next run takes care
}

/** A queue that does not answer must not keep a run from its beginning. */
const PATIENCE_MS = 10_000;

async function sweepPrefix(prefix: string): Promise<void> {
  const { amqpUrl, databaseUrl } = JSON.parse(readFileSync(noteOf(prefix), 'utf8')) as BrokerNote;
  const owner = new pg.Pool({ connectionString: databaseUrl, max: 1, connectionTimeoutMillis: 2_000 });
  owner.on('error', () => undefined);
  const declared = await declaredBy(owner).catch(() => ({ queues: [], consumers: [] })); // killed before it was filled
  await owner.end();
  await isDone(deleteDeclared(amqpUrl, prefix, declared), PATIENCE_MS);
}

interface Declared {
  queues: Queue[];
  consumers: string[];
}

async function declaredBy(owner: pg.Pool): Promise<Declared> {
  const { rows: queues } = await owner.query<Queue>('select consumer, generation, partition from events.consumer_partition');
  return { queues, consumers: (await registeredConsumers(owner)).map(({ name }) => name) };
}

/** Removes everything that a platform of this prefix declared at the broker; its database still says what that was. */
export async function deleteBrokerObjects(amqpUrl: string, prefix: string, owner: pg.Pool): Promise<void> {
  await deleteDeclared(amqpUrl, prefix, await declaredBy(owner));
}

async function deleteDeclared(amqpUrl: string, prefix: string, { queues, consumers }: Declared): Promise<void> {
  const names = new Names(prefix);
  const connection = await connect(amqpUrl);
  const channel = await connection.createChannel();
  for (const declare of coreDeclarations(names)) await declare(channel); // deleting what is not there closes the channel
  for (const { consumer, ...part } of queues) await channel.deleteQueue(names.queue(consumer, part));
  for (const name of consumers) await channel.deleteExchange(names.consumerExchange(name));
  for (const hints of HINTS) await channel.deleteExchange(names.hints(hints));
  await channel.deleteQueue(names.deadLetterQueue);
  await channel.deleteExchange(names.exchange);
  await channel.deleteExchange(names.deadLetterExchange);
  await connection.close();
  rmSync(noteOf(prefix), { force: true });
}
