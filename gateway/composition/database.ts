import { join } from 'node:path';
import pg from 'pg';
import type { Config } from '../../runtime/config.js';
import { withDatabase } from '../../runtime/data/pool.js';
import { startEmbeddedPostgres } from '../../runtime/embedded-postgres/start.js';

/** Database of the platform on the embedded server. */
const EMBEDDED_DATABASE = 'platform';

interface Database {
  url: string;
  /** For people, without credentials: kind and version or host. */
  name: string;
  stop(): Promise<void>;
}

async function ensureDatabase(url: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (!rowCount) await client.query(`create database ${name} encoding 'UTF8' template template0`);
  } finally {
    await client.end();
  }
}

/** The database of `DATABASE_URL`, else an embedded PostgreSQL in the data folder. */
export async function openDatabase(config: Config, print: (line: string) => void): Promise<Database> {
  if (config.databaseUrl)
    return { url: config.databaseUrl, name: `PostgreSQL at ${new URL(config.databaseUrl).hostname}`, stop: async () => undefined };
  const server = await startEmbeddedPostgres({ dataDir: join(config.dataDir, 'postgres'), log: print });
  try {
    await ensureDatabase(server.url, EMBEDDED_DATABASE);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return { url: withDatabase(server.url, EMBEDDED_DATABASE), name: `embedded PostgreSQL ${server.version}`, stop: () => server.stop() };
}
