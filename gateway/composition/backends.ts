import type pg from 'pg';
import type { Transport } from '../../events/transport/port.js';
import { openPool } from '../../runtime/data/pool.js';
import { openDatabase } from './database.js';
import type { Parts } from './parts.js';

/** Connections of dead letters, consumers' states and the embedded transport, and where the relay publishes beside them. */
const EVENTS_POOL = 3;
const EVENTS_POOL_WITH_RELAY = 5;
/** Time for handlers under way when the transport closes, ms. */
const DRAIN_MS = 10_000;

export interface Backends {
  databaseUrl: string;
  /** Connections of the events service. */
  pool: pg.Pool;
  transport: Transport;
  /** For people, without credentials. */
  description: string;
}

/** Of the two transports only the one in use is loaded. */
async function openTransport({ config, log }: Parts, pool: pg.Pool): Promise<Transport> {
  const { amqpUrl, amqpPrefix, leaseMs, events } = config;
  const eventLog = log.child({ part: 'events' });
  if (!amqpUrl) {
    const { createEmbeddedTransport } = await import('../../events/transport/embedded.js');
    return createEmbeddedTransport({ pool, leaseMs, log: eventLog });
  }
  const { createRabbitTransport } = await import('../../events/transport/rabbitmq.js');
  return createRabbitTransport({ url: amqpUrl, prefix: amqpPrefix, pool, log: eventLog, confirmTimeoutMs: events.confirmTimeoutMs });
}

/** Opens the database and the event transport. */
export async function openBackends(parts: Parts): Promise<Backends> {
  const { config, stops, print } = parts;
  const database = await openDatabase(config, line => print(`  ${line}`));
  stops.add(() => database.stop());
  const pool = openPool('events', database.url, config.roles.has('relay') ? EVENTS_POOL_WITH_RELAY : EVENTS_POOL);
  stops.add(() => pool.end());
  const transport = await openTransport(parts, pool);
  stops.add(() => transport.close({ drainMs: DRAIN_MS }));
  const description = `${database.name}, ${config.amqpUrl ? 'RabbitMQ' : 'embedded event transport'}`;
  return { databaseUrl: database.url, pool, transport, description };
}
