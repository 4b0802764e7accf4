import type { SqlEntityManager } from '@mikro-orm/postgresql';
import { CompiledQuery, type Kysely } from 'kysely';
import type { ServiceHost } from '../../../runtime/host.js';

const LOCK = CompiledQuery.raw(`select pg_try_advisory_lock(hashtextextended('intelligence:loop.tick', 19)) as ok`);
const UNLOCK = CompiledQuery.raw(`select pg_advisory_unlock(hashtextextended('intelligence:loop.tick', 19))`);

/**
 * Runs a tick while no other one runs, in any process; null when one does. The lock belongs to a connection of its own, so that it is
 * freed when the process dies. Source: intelligence 7.3.2.
 */
export async function withTickLock<T>(host: ServiceHost, tick: () => Promise<T>): Promise<T | null> {
  const client = (host.orm.em as SqlEntityManager).getConnection().getClient() as unknown as Kysely<unknown>;
  return client.connection().execute(async connection => {
    const { rows } = await connection.executeQuery<{ ok: boolean }>(LOCK);
    if (!rows[0]?.ok) return null;
    try {
      return await tick();
    } finally {
      await connection.executeQuery(UNLOCK);
    }
  });
}
