/** What a test run can use on this machine. Read by `scripts/test.mjs` without a build, so only erasable syntax and packages. */
import { connect } from 'amqplib';
import pg from 'pg';

/** In TEST_DATABASE_URL or TEST_AMQP_URL: use the embedded one even where a server is there. */
export const EMBEDDED = 'embedded';

export interface FoundServer {
  readonly url: string;
  /** For example `15.14` or `3.10.8`. */
  readonly version: string;
}

/** Where servers are looked for when the environment names none. */
const POSTGRES_URLS = ['postgres://root@127.0.0.1:5432/postgres', 'postgres://postgres@127.0.0.1:5432/postgres'];
const RABBITMQ_URLS = ['amqp://guest:guest@127.0.0.1:5672'];
/** Longest wait for an answer, ms. */
const PROBE_LIMIT = 3_000;

/** Asks a PostgreSQL for its version. @throws Error when it cannot be reached or the role may not create databases and roles. */
async function postgresAt(url: string): Promise<FoundServer> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: PROBE_LIMIT });
  client.on('error', () => undefined); // the query rejects on its own
  try {
    await client.connect();
    const { rows } = await client.query(
      `select current_setting('server_version') as version, rolsuper or (rolcreatedb and rolcreaterole) as able from pg_roles where rolname = current_user`,
    );
    if (!rows[0].able) throw new Error('the role may not create databases and roles');
    return { url, version: rows[0].version.split(' ')[0] };
  } finally {
    await client.end();
  }
}

async function rabbitmqAt(url: string): Promise<FoundServer> {
  const connection = await connect(url, { timeout: PROBE_LIMIT });
  const { version } = connection.connection.serverProperties as { version: string };
  await connection.close();
  return { url, version };
}

async function firstOf(urls: string[], probe: (url: string) => Promise<FoundServer>): Promise<FoundServer | null> {
  for (const url of urls) {
    const found = await probe(url).catch(() => null);
    if (found) return found;
  }
  return null;
}

/** A named server is there, but may be slow while the machine compiles or other runs start: it is asked so often. */
const TRIES = 10;

async function patiently(probe: () => Promise<FoundServer>): Promise<FoundServer> {
  for (let tries = 1; ; tries++)
    try {
      return await probe();
    } catch (error) {
      if (tries === TRIES) throw error;
      await new Promise(done => setTimeout(done, 1_000));
    }
}

/** The server that the variable names, else the first found here; null for the embedded one. @throws Error when a named server fails. */
async function choose(variable: string, urls: string[], probe: (url: string) => Promise<FoundServer>): Promise<FoundServer | null> {
  const wanted = process.env[variable];
  if (wanted === EMBEDDED) return null;
  if (!wanted) return firstOf(urls, probe);
  return patiently(() => probe(wanted)).catch((cause: Error) => {
    throw new Error(`${variable} names a server that cannot be used: ${cause.message}`, { cause });
  });
}

/** PostgreSQL for this run; null means embedded. */
export const choosePostgres = (): Promise<FoundServer | null> => choose('TEST_DATABASE_URL', POSTGRES_URLS, postgresAt);

/** RabbitMQ for this run; null means the embedded transport. */
export const chooseRabbitmq = (): Promise<FoundServer | null> => choose('TEST_AMQP_URL', RABBITMQ_URLS, rabbitmqAt);
