import type pg from 'pg';
import type { EventMetrics } from '../../events/metrics.js';
import type { Sql } from '../../events/outbox.js';
import { startRelay } from '../../events/relay.js';
import { startReplays } from '../../events/replays.js';
import { startRetention } from '../../events/retention.js';
import type { Backends } from './backends.js';
import type { Parts } from './parts.js';

/** Writes the catalogue of event types to the database, at the first of any number of calls. */
export function registrySync(pool: pg.Pool): () => Promise<void> {
  let synced: Promise<void> | undefined;
  const sql = async <Row>(text: string, params: readonly unknown[] = []): Promise<Row[]> =>
    (await pool.query(text, [...params])).rows as Row[];
  return () => (synced ??= sync(sql));
}

async function sync(sql: Sql): Promise<void> {
  const [{ syncRegistry }, { CATALOGUE }] = await Promise.all([import('../../events/registry.js'), import('../../events/catalogue.js')]);
  await syncRegistry(sql, CATALOGUE);
}

/** Starts the role `relay`: relay of the outbox, replays, retention of the event log. */
export async function startRelayRole(parts: Parts, { pool, transport }: Backends, metrics: EventMetrics): Promise<void> {
  const { config, stops } = parts;
  const log = parts.log.child({ part: 'relay' });
  const { leaseMs, events } = config;
  const { batch, pollMs, logDays } = events;
  const retention = startRetention({ pool, log, logDays });
  stops.add(() => retention.stop());
  const relay = await startRelay({ pool, transport, leaseMs, batch, pollMs, log, metrics });
  stops.add(() => relay.stop());
  const replays = await startReplays({ pool, transport, leaseMs, log });
  stops.add(() => replays.stop());
}
