import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SqlEntityManager } from '@mikro-orm/postgresql';
import pg from 'pg';
import { planWithIndexes } from '../../events/index-plans.js';
import { openOrm, sqlOf } from '../../runtime/data/database.js';
import { openPool } from '../../runtime/data/pool.js';
import { Brand } from '../../subgraphs/platform/entities/brand.js';
import { SERVICES } from '../../subgraphs/services.js';
import { dropDatabase, withServer } from '../support/database.js';
import { seededDatabase } from '../support/platform.js';
import { until } from '../support/until.js';

const POOL = 2;
let url: string;
let orm: ReturnType<typeof openOrm>;

beforeAll(async () => {
  url = await seededDatabase();
  orm = openOrm('clinical', url, [], POOL);
});

afterAll(async () => {
  await orm.close(true);
  await dropDatabase(url);
});

const fork = (): SqlEntityManager => orm.em.fork() as SqlEntityManager;

/** Begins a transaction and loses its connection, as when the server is killed. */
async function loseTransaction(): Promise<void> {
  const em = fork();
  await em.begin();
  const [row] = await sqlOf(em)<{ pid: number }>('select pg_backend_pid() as pid');
  await withServer(url, owner => owner.query('select pg_terminate_backend($1)', [row!.pid]));
  await expect(sqlOf(em)('select 1')).rejects.toThrow(/connection/i);
  await em.rollback().catch(() => undefined);
}

test("what was discovered of a service's entities is shared by its next ORM, which reads and writes by it", async () => {
  const { entities } = await SERVICES.platform!();
  const [first, second] = [openOrm('platform', url, entities, POOL), openOrm('platform', url, entities, POOL)];
  expect(second.getMetadata()).toBe(first.getMetadata());
  await first.close(true);
  const em = second.em.fork();
  const brand = await em.findOneOrFail(Brand, { slug: 'main' });
  brand.name = 'Renamed';
  await em.flush();
  expect(await second.em.fork().findOneOrFail(Brand, brand.id)).toMatchObject({ slug: 'main', name: 'Renamed' });
  await second.close(true);
});

test('a connection that is lost in a transaction gives its place in the pool back', async () => {
  for (let n = 0; n < POOL * 2; n++) {
    const lost = await Promise.race([loseTransaction().then(() => true), new Promise(resolve => setTimeout(resolve, 10_000, false))]);
    expect(lost, `transaction ${n + 1} got a connection`).toBe(true);
  }
  const rows = await until(
    'an answer',
    () => Promise.race([sqlOf(fork())('select 1 as one'), new Promise<null>(resolve => setTimeout(resolve, 2_000, null))]),
    one => one !== null,
  );
  expect(rows).toEqual([{ one: 1 }]);
}, 60_000);

test('an ORM closes while a connection is being made for it', async () => {
  const closing = openOrm('platform', url, [], POOL);
  const asking = sqlOf(closing.em.fork() as SqlEntityManager)('select 1').catch((error: Error) => error);
  await new Promise(setImmediate); // the pool has begun to connect
  await closing.close(true);
  await asking;
});

test('no connection compiles statements to machine code, which would take longer than they do', async () => {
  const pools = [openPool('clinical', url, 1), new pg.Pool({ connectionString: url, max: 1 })];
  planWithIndexes(pools[1]!);
  const answers = await Promise.all([sqlOf(fork())('show jit'), ...pools.map(async pool => (await pool.query('show jit')).rows)]);
  await Promise.all(pools.map(pool => pool.end()));
  expect(answers).toEqual(Array(3).fill([{ jit: 'off' }]));
});
