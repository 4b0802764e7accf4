import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { withDatabase } from '../../runtime/data/pool.js';

/** Databases on the run's PostgreSQL: made for a file, removed after it. */
export async function withServer<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: withDatabase(url, 'postgres') });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Name of something of this run: it says which process answers for it, so that a later run can remove what a killed one has left. */
export const randomName = (prefix: string): string =>
  `${prefix}_${process.env.PLATFORM_TEST_RUN ?? process.pid}_${randomBytes(6).toString('hex')}`;

/** Databases whose run was killed before it could remove them. */
export async function dropOrphans(server: string, isAlive: (pid: number) => boolean): Promise<void> {
  await withServer(server, async client => {
    const { rows } = await client.query<{ name: string }>(
      `select datname as name from pg_database where datname ~ '^platform_[a-z]+_[0-9]+_'`,
    );
    const orphans = rows.filter(({ name }) => !isAlive(Number(name.split('_')[2])));
    for (const { name } of orphans) await client.query(`drop database if exists ${name} with (force)`);
  });
}

/**
 * How a database is cloned: by its files, where the checkpoint that this takes costs nothing because the server is in memory and not durable
 * (40 ms of CPU), else through the log (100 ms; both have some 3,000 files to make).
 */
export type CloneStrategy = 'file_copy' | 'wal_log';

/** A database cloned from a template, or an empty one. A commit waits for no disk: these survive no crash of the server anyway. */
export async function createDatabase(server: string, template = 'template0', strategy: CloneStrategy = 'wal_log'): Promise<string> {
  const name = randomName('platform_test');
  await withServer(server, async client => {
    await client.query(`create database ${name} template ${template} encoding 'UTF8' strategy ${strategy}`);
    if (strategy === 'wal_log') await client.query(`alter database ${name} set synchronous_commit = off`);
  });
  return withDatabase(server, name);
}

export async function dropDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await withServer(url, client => client.query(`drop database if exists ${name} with (force)`));
}

const TEMPLATE_LOCK = 0x74656d70;

/** The template of this run, made by whoever comes first. */
export async function templateDatabase(server: string, name: string, fill: (url: string) => Promise<void>): Promise<string> {
  await withServer(server, async client => {
    await client.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (rowCount) return;
    await client.query(`create database ${name}_making template template0 encoding 'UTF8'`);
    await client.query(`alter database ${name}_making set synchronous_commit = off`);
    try {
      await fill(withDatabase(server, `${name}_making`));
      await client.query(`alter database ${name}_making rename to ${name}`);
    } catch (error) {
      await client.query(`drop database if exists ${name}_making with (force)`);
      throw error;
    }
  });
  return name;
}
