import type { SqlEntityManager } from '@mikro-orm/postgresql';
import { CompiledQuery, type Kysely } from 'kysely';
import type { ServiceHost } from '../request/context.js';

const lock = (name: string) => CompiledQuery.raw('select pg_try_advisory_lock(hashtextextended($1, 19)) as ok', [name]);
const unlock = (name: string) => CompiledQuery.raw('select pg_advisory_unlock(hashtextextended($1, 19))', [name]);

/**
 * Does `work` while nobody else does any of that name, in any process; null when somebody does. The advisory lock belongs to a connection
 * of its own, because a transaction held open for the whole work would be ended after 10 s of idling, and a lost connection frees the lock.
 */
export async function exclusively<T>(host: ServiceHost, name: string, work: () => Promise<T>): Promise<T | null> {
  const client = (host.orm.em as SqlEntityManager).getConnection().getClient() as unknown as Kysely<unknown>;
  return client.connection().execute(async connection => {
    const { rows } = await connection.executeQuery<{ ok: boolean }>(lock(name));
    if (!rows[0]?.ok) return null;
    try {
      return await work();
    } finally {
      await connection.executeQuery(unlock(name));
    }
  });
}
