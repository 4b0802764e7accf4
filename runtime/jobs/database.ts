import type pg from 'pg';
import type { Sql } from '../../events/outbox.js';

const sqlOn =
  (runner: pg.Pool | pg.PoolClient): Sql =>
  async <Row>(text: string, params: readonly unknown[] = []) =>
    (await runner.query(text, [...params])).rows as Row[];

/** The queues' tables as the role of `jobs` sees them, whichever service's process this is. */
export class JobDatabase {
  readonly sql: Sql;

  constructor(private readonly pool: pg.Pool) {
    this.sql = sqlOn(pool);
  }

  async transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    try {
      await client.query('begin');
      const result = await work(sqlOn(client));
      await client.query('commit');
      client.release();
      return result;
    } catch (error) {
      await client.query('rollback').then(
        () => client.release(),
        broken => client.release(broken as Error), // the connection is gone; the pool opens another
      );
      throw error;
    }
  }
}
