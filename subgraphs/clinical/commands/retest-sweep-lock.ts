import { CompiledQuery, type Kysely } from 'kysely';
import type { SqlEntityManager } from '@mikro-orm/postgresql';
import type { ServiceHost } from '../../../runtime/host.js';

const LOCK = CompiledQuery.raw(`select pg_try_advisory_lock(hashtextextended('clinical:retest.sweep', 19)) as ok`);
const UNLOCK = CompiledQuery.raw(`select pg_advisory_unlock(hashtextextended('clinical:retest.sweep', 19))`);

/**
 * Runs a sweep while no other one runs, in any process; null when one does. The advisory lock belongs to a connection of its own,
 * because a transaction held open for a whole sweep would be ended after 10 s of idling, and a lost connection frees the lock.
 */
export async function withSweepLock<T>(host: ServiceHost, sweep: () => Promise<T>): Promise<T | null> {
  const client = (host.orm.em as SqlEntityManager).getConnection().getClient() as unknown as Kysely<unknown>;
  return client.connection().execute(async connection => {
    const { rows } = await connection.executeQuery<{ ok: boolean }>(LOCK);
    if (!rows[0]?.ok) return null;
    try {
      return await sweep();
    } finally {
      await connection.executeQuery(UNLOCK);
    }
  });
}
