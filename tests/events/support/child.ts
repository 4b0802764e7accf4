/** A process that the tests start and kill: emits, relays or consumes with the built machinery. Run by node as it stands, so only erasable syntax. */
import type { Envelope } from '../../../events/consumer.js';
import type * as consumers from '../../../events/running-consumer.js';
import type * as define from '../../../events/define.js';
import type * as outbox from '../../../events/outbox.js';
import type * as relays from '../../../events/relay.js';
import type { Slug } from '../../../events/slugs.js';
import type * as embedded from '../../../events/transport/embedded.js';
import type * as rabbitmq from '../../../events/transport/rabbitmq.js';
import type { Partitions } from '../../../events/transport/port.js';
import type * as pools from '../../../runtime/data/pool.js';
import type * as definitionsModule from './definitions.js';
import type * as hosts from './host.js';

/** What a process is told to do. */
export interface Orders {
  databaseUrl: string;
  amqpUrl: string | null;
  prefix: string;
  leaseMs: number;
  relay?: boolean;
  /** Consumers to run; an event whose `n` is `poison` kills the process while it is handled. */
  consumers?: { name: `${Slug}.${string}`; partitions: Partitions }[];
  poison?: number;
  emit?: { service: Slug; users: string[]; transactions: number; perTransaction: number; concurrency: number };
}

const built = (path: string): Promise<unknown> => import(new URL(`../../../dist/${path}`, import.meta.url).href);
const beside = (file: string): Promise<unknown> => import(new URL(file, import.meta.url).href);

const orders = JSON.parse(process.argv[2]!) as Orders;
const { defineEvent } = (await built('events/define.js')) as typeof define;
const { appendEvents, prepareEvent } = (await built('events/outbox.js')) as typeof outbox;
const { startConsumer } = (await built('events/running-consumer.js')) as typeof consumers;
const { startRelay } = (await built('events/relay.js')) as typeof relays;
const { createEmbeddedTransport } = (await built('events/transport/embedded.js')) as typeof embedded;
const { createRabbitTransport } = (await built('events/transport/rabbitmq.js')) as typeof rabbitmq;
const { openPool } = (await built('runtime/data/pool.js')) as typeof pools;
const { definitions } = (await beside('./definitions.ts')) as typeof definitionsModule;
const { hostOf, inTransaction, note, silent } = (await beside('./host.ts')) as typeof hosts;

/** `unavailable` to a caller, who tries again: an order lock was not had within 3 s, the server has no connection left. */
const UNAVAILABLE = ['55P03', '53300'];

const { stepTaken } = definitions({ defineEvent });
const ends: (() => Promise<unknown>)[] = [];

function openTransport() {
  const pool = openPool('events', orders.databaseUrl, 4);
  const common = { pool, log: silent };
  const transport = orders.amqpUrl
    ? createRabbitTransport({ ...common, url: orders.amqpUrl, prefix: orders.prefix })
    : createEmbeddedTransport({ ...common, leaseMs: orders.leaseMs });
  ends.unshift(() => transport.close({ drainMs: 1_000 }));
  return { pool, transport };
}

async function consume({ pool, transport }: ReturnType<typeof openTransport>): Promise<void> {
  for (const { name, partitions } of orders.consumers ?? []) {
    const slug = name.split('.')[0] as Slug;
    const host = hostOf({ slug, pool: openPool(slug, orders.databaseUrl, 4), append: appendEvents });
    const run = async (ctx: hosts.TestContext, event: Envelope<{ n: number }>): Promise<void> => {
      await note(ctx, name, event);
      if (event.data.n === orders.poison) process.kill(process.pid, 'SIGKILL');
    };
    const running = await startConsumer({ name, partitions, on: { [stepTaken.name]: run } }, host, transport, {
      pool,
      catalogue: new Map([[stepTaken.name, stepTaken]]),
    });
    ends.unshift(() => running.stop());
  }
}

/** Transactions of random users; the numbers say nothing, the order is that of the log. */
async function emit({ service, users, transactions, perTransaction, concurrency }: NonNullable<Orders['emit']>): Promise<void> {
  const pool = openPool(service, orders.databaseUrl, concurrency);
  const meta = { source: service, requestId: null, causationId: null, actor: `service:${service}`, traceparent: null };
  let left = transactions;
  const append = async (ctx: hosts.TestContext): Promise<void> => {
    for (let n = 0; n < perTransaction; n++) {
      const userId = users[Math.floor(Math.random() * users.length)]!;
      ctx.pending.push(prepareEvent(stepTaken, { n }, { userId }, meta));
    }
  };
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left--;
      await inTransaction(pool, appendEvents, append, () => new Date()).catch((error: { code?: string }) => {
        if (!UNAVAILABLE.includes(error.code ?? '')) throw error;
        left++;
      });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  await pool.end();
}

const end = async (): Promise<void> => {
  for (const one of ends) await one();
  process.exit(0);
};
process.once('SIGTERM', () => void end());
process.stdin.on('end', () => process.exit(1)).resume(); // the test is gone

if (orders.emit) {
  await emit(orders.emit);
  process.exit(0);
}
const opened = openTransport();
await consume(opened);
if (orders.relay) {
  const relay = await startRelay({ pool: opened.pool, transport: opened.transport, log: silent, leaseMs: orders.leaseMs });
  ends.unshift(() => relay.stop());
}
console.log('ready');
