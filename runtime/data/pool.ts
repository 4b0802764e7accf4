/** Connections without an ORM: a process that hosts no service loads none. */
import pg from 'pg';
import { roleOf, type Slug } from '../../events/slugs.js';

/**
 * A service's transaction may not hold its locks while idle for longer. Source: event-machinery 3. And no statement is compiled to machine
 * code: ours are short, and one whose plan counts as expensive (as where scans are ruled out) would compile for 28 ms at each run.
 */
const SESSION_SETTINGS = '-c idle_in_transaction_session_timeout=10000 -c statement_timeout=20000 -c jit=off';

/** Startup options that make a connection act as a service's role: a query into another schema then fails in PostgreSQL. */
export const actAs = (role: string): string => `-c role=${role} ${SESSION_SETTINGS}`;

/** Machinery asks many times a second over the connection that was used last, and every few seconds for more at once; the others were for a moment such as the start, ms. */
const MACHINERY_IDLE_MS = 8_000;

/** The same server, another database. */
export function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.toString();
}

/** Folder of the server's Unix socket, which libpq and `pg` read from a URL and MikroORM does not: a setting of its connections beside the URL. */
export function socketOf(url: string): { host?: string } {
  const host = new URL(url).searchParams.get('host');
  return host ? { host } : {};
}

/** A plain pool whose connections act as a service's role; for machinery that writes its SQL by hand. @param other settings than the usual ones. */
export function openPool(slug: Slug, url: string, max: number, other: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    min: 0,
    idleTimeoutMillis: MACHINERY_IDLE_MS,
    options: actAs(roleOf(slug)),
    application_name: roleOf(slug),
    ...other,
  });
  pool.on('error', () => undefined); // an idle connection that the server dropped; the next query opens another
  pool.on('connect', client => client.on('error', () => undefined)); // one in use: its query rejects on its own
  return pool;
}
