import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import {
  MikroORM,
  type EntityClass,
  type EntityMetadata,
  type EntityName,
  type MetadataStorage,
  type MigrationObject,
  type Options,
  type PostgreSqlDriver,
  type SqlEntityManager,
} from '@mikro-orm/postgresql';
import { ReflectMetadataProvider } from '@mikro-orm/decorators/legacy';
import { CompiledQuery, type Kysely } from 'kysely';
import pg from 'pg';
import { cancelStatements, type Cancellable } from '../request/cancellation.js';
import { createExtensions } from './extensions.js';
import { PlainFindDriver } from './plain-find.js';
import { actAs, socketOf, withDatabase } from './pool.js';
import { saveRoundTrips, type PgClient } from './round-trips.js';
import { traceStatements } from '../observe/tracing.js';
import type { Sql } from '../../events/outbox.js';
import { roleOf, schemaOf, SLUGS, type Slug } from '../../events/slugs.js';

/** Advisory lock numbers, one for each thing that only one process may do at a time. */
const ROLE_LOCK = 0x706c6174;
const MIGRATION_LOCK = 0x6d696772;

/** A service needs its connections in bursts; what it keeps between them is missing elsewhere, ms. Longer than between two looks of its timers. */
const IDLE_MS = 20_000;

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined); // the query in flight rejects on its own
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/**
 * Makes the roles `platform_<slug>` and `platform_ro`. Roles belong to the whole cluster, so two databases creating them at
 * once collide (80 of 120 tries): the lock is taken in database `postgres`, which all share.
 */
export async function createRoles(url: string): Promise<void> {
  const wanted = [...SLUGS.map(roleOf), 'platform_ro', 'platform_views'];
  await withClient(withDatabase(url, 'postgres'), async client => {
    await client.query('select pg_advisory_lock($1)', [ROLE_LOCK]);
    const { rows } = await client.query<{ rolname: string }>('select rolname from pg_roles where rolname = any($1)', [wanted]);
    const missing = wanted.filter(role => !rows.some(row => row.rolname === role));
    for (const role of missing) await client.query(`create role ${quote(role)} nologin; grant ${quote(role)} to current_user`);
    if (missing.includes('platform_ro'))
      await client.query(
        `alter role platform_ro set default_transaction_read_only = on; alter role platform_ro set statement_timeout = '30s'`,
      );
  });
}

interface MigrationModule {
  [name: string]: MigrationObject['class'];
}

const migrationsFolder = (slug: Slug): URL => new URL(`../../migrations/${slug}/`, import.meta.url);

const nameOf = (file: string): string => file.replace(/\.[jt]s$/, '');

/** The files of a service's migrations, oldest first. */
const migrationFiles = async (slug: Slug): Promise<string[]> =>
  (await readdir(fileURLToPath(migrationsFolder(slug))).catch(() => [])).filter(file => /^\d{12}_\w+\.(js|ts)$/.test(file)).sort();

/** The class that each file of `migrations/<slug>/` exports. */
const loadMigrations = (slug: Slug, files: readonly string[]): Promise<MigrationObject[]> =>
  Promise.all(
    files.map(async file => {
      const module = (await import(new URL(file, migrationsFolder(slug)).href)) as MigrationModule;
      return { name: nameOf(file), class: Object.values(module)[0]! };
    }),
  );

/** Settings that keep the schema tools inside their own schema (they would drop all others). Source: stack notes, trap 7. */
const schemaTools = (slug: Slug) => ({
  ignoreSchema: [...SLUGS.filter(other => other !== slug).map(schemaOf), 'public', 'extensions', 'pgboss', 'dbos'],
  skipViews: [/_safe$/],
  skipTables: [/^(audit_log|inbox.*|idempotency_key|schedule_slot|test_clock|migration|.*_feed_(head|entry))$/],
  ignoreRoutines: true,
  ignoreTriggers: true,
});

/** Settings of a service's ORM; its schema tools see that schema alone. */
export function ormOptions(slug: Slug, url: string, entities: readonly EntityClass[], pool: number, idleMs = IDLE_MS) {
  return {
    driver: PlainFindDriver as typeof PostgreSqlDriver,
    clientUrl: url,
    schema: schemaOf(slug),
    entities: [...entities] as EntityClass[],
    metadataProvider: ReflectMetadataProvider,
    discovery: { warnWhenNoEntities: false },
    pool: { min: 0, max: pool, idleTimeoutMillis: idleMs },
    ignoreUndefinedInQuery: false,
    forceUtcTimezone: true,
    debug: false,
    schemaGenerator: schemaTools(slug) as never,
  };
}

/** Names of the migrations that ran, by schema: two statements for all services, where a migrator would cost each an ORM and two connections. */
async function appliedIn(client: pg.Client): Promise<Map<string, Set<string>>> {
  const { rows: tables } = await client.query<{ schema: string }>(
    `select schemaname as schema from pg_tables where tablename = 'migration'`,
  );
  const applied = new Map(tables.map(({ schema }) => [schema, new Set<string>()]));
  const each = [...applied.keys()].map(schema => `select '${schema}' as schema, name from ${quote(schema)}.migration`);
  if (each.length === 0) return applied;
  const { rows } = await client.query<{ schema: string; name: string }>(each.join(' union all '));
  for (const { schema, name } of rows) applied.get(schema)!.add(name);
  return applied;
}

/** Runs what is pending of a service. @returns how many. */
async function migrateOne(url: string, slug: Slug, applied: ReadonlySet<string> | undefined): Promise<number> {
  const files = await migrationFiles(slug);
  if (files.every(file => applied?.has(nameOf(file)))) return 0; // a start with nothing to do loads none of the 111
  const { Migrator } = await import('@mikro-orm/migrations');
  const migrationsList = await loadMigrations(slug, files);
  const orm = new MikroORM({
    ...ormOptions(slug, url, [], 2),
    extensions: [Migrator],
    migrations: {
      migrationsList,
      tableName: `${schemaOf(slug)}.migration`,
      snapshot: false,
      snapshotOnMigrate: false,
      silent: true,
      allOrNothing: false,
    },
  });
  try {
    return (await orm.migrator.up()).length;
  } finally {
    await orm.close(true);
  }
}

/**
 * Runs the pending migrations of the given services as the owner of the database, one process at a time.
 * `events` always comes first: every other service appends to its outbox. `then` runs under the same lock (seeds), and may ask as the owner.
 */
export async function migrate(
  url: string,
  slugs: readonly Slug[],
  then: (owner: pg.Client) => Promise<void> = async () => undefined,
): Promise<number> {
  await createRoles(url);
  return withClient(url, async client => {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await createExtensions(client);
    const applied = await appliedIn(client);
    let count = 0;
    for (const slug of ['events' as Slug, ...slugs.filter(slug => slug !== 'events')])
      count += await migrateOne(url, slug, applied.get(schemaOf(slug)));
    await then(client);
    return count;
  });
}

/** Whoever holds a connection that ended has had its error by then, and gives it back himself if he ever does, ms. */
const LOST_MS = 500;

/**
 * Gives the places of lost connections back: Kysely releases a transaction's connection only after a commit or rollback that succeeded,
 * so each transaction that a restart of the server interrupts would cost the pool a place, until nobody gets one any more. And it drops
 * one that it is given while it closes the pool, whose end would wait for it for ever.
 */
function giveLostBack(pool: pg.Pool): void {
  const held = new Set<pg.PoolClient>();
  const giveBack = (client: pg.PoolClient): unknown => setTimeout(() => held.has(client) && client.release(true), LOST_MS).unref();
  pool.on('acquire', client => held.add(client));
  pool.on('acquire', client => pool.ending && giveBack(client));
  pool.on('release', (_error, client) => held.delete(client));
  pool.on('connect', client => saveRoundTrips(client as unknown as PgClient));
  pool.on('connect', traceStatements);
  pool.on('connect', client => cancelStatements(client as unknown as Cancellable));
  pool.on('connect', client => client.once('end', () => giveBack(client)));
}

/** The pool of each service's ORM, once it has one. */
const pools = new WeakMap<MikroORM, () => pg.Pool | undefined>();

/** Whether all connections of a service are in use, so that who needs one waits. */
export function isExhausted(orm: MikroORM): boolean {
  const pool = pools.get(orm)?.();
  return pool !== undefined && pool.totalCount - pool.idleCount >= pool.options.max!;
}

/** What MikroORM found out about a service's entities, by the list of its declaration. */
const discovered = new WeakMap<readonly EntityClass[], MetadataStorage>();

/** An ORM whose entities another one of this process has discovered: 3-12 ms of CPU a service, which tests would pay at each start. */
class KnownOrm extends MikroORM {
  constructor(
    options: Options,
    private readonly known: MetadataStorage,
  ) {
    super({ ...options, discovery: { ...options.discovery, skipSyncDiscovery: true } });
    this.driver.setMetadata(known);
    this.em = Object.assign(this.driver.createEntityManager(), { global: true }) as this['em'];
    known.decorate(this.em);
  }

  override getMetadata(): MetadataStorage;
  override getMetadata<Entity extends object>(entityName: EntityName<Entity>): EntityMetadata<Entity>;
  override getMetadata<Entity extends object>(entityName?: EntityName<Entity>): MetadataStorage | EntityMetadata<Entity> {
    return entityName ? this.known.get(entityName) : this.known;
  }
}

/**
 * A service's ORM: its entities, its schema, its role, a small pool that empties itself when idle. By the constructor, because `init`
 * looks for four optional packages first.
 */
export function openOrm(slug: Slug, url: string, entities: readonly EntityClass[], max: number, idleMs?: number): MikroORM {
  let pool: pg.Pool | undefined;
  const onPoolCreated = (created: pg.Pool): void => giveLostBack((pool = created));
  const options = {
    ...ormOptions(slug, url, entities, max, idleMs),
    driverOptions: { ...socketOf(url), options: actAs(roleOf(slug)), application_name: roleOf(slug), onPoolCreated },
  };
  const known = discovered.get(entities);
  const orm = known ? new KnownOrm(options, known) : (new MikroORM(options) as MikroORM);
  if (!known) discovered.set(entities, orm.getMetadata());
  pools.set(orm, () => pool);
  return orm;
}

/** `$1`-style SQL on the entity manager's transaction, or on its pool outside one. */
export function sqlOf(em: SqlEntityManager): Sql {
  return async <Row>(text: string, params: readonly unknown[] = []) => {
    const runner = (em.getTransactionContext() ?? em.getConnection().getClient()) as unknown as Kysely<unknown>;
    return (await runner.executeQuery<Row>(CompiledQuery.raw(text, [...params]))).rows;
  };
}
