import type pg from 'pg';
import { schemaOf, type Slug } from '../../events/slugs.js';
import { migrate } from '../../runtime/data/database.js';
import type { RunningService } from '../../runtime/running-service.js';
import { systemCaller } from '../../runtime/request/caller.js';
import { internalRequest } from '../../runtime/request/request.js';

/** Action of the audit row that marks a schema as seeded. */
const SEEDED = 'seed.applied';

/** The services that have no development data and want some: one statement, where asking each takes it a connection. */
async function unseeded(owner: Queries, hosts: readonly RunningService[]): Promise<RunningService[]> {
  const wanting = hosts.filter(({ declaration, config }) => declaration.seed && config.seed);
  if (wanting.length === 0) return [];
  const each = wanting.map(
    ({ slug }) => `select '${slug}' as slug where not exists (select from ${schemaOf(slug)}.audit_log where action = '${SEEDED}')`,
  );
  const { rows } = await owner.query<{ slug: Slug }>(each.join(' union all '));
  return wanting.filter(({ slug }) => rows.some(row => row.slug === slug));
}

/** Writes a service's development data, once: the audit row that marks it commits with it. Source: identity A11. */
async function seed(host: RunningService): Promise<boolean> {
  const plant = host.declaration.seed!;
  return host.transaction(
    async ctx => {
      const [done] = await ctx.sql(`select 1 from ${ctx.schema}.audit_log where action = $1 limit 1`, [SEEDED]);
      if (done) return false;
      await plant(ctx);
      ctx.audit(SEEDED, null);
      return true;
    },
    internalRequest(systemCaller(host.slug), 'seed'),
  );
}

type Queries = Pick<pg.Client, 'query'>;

interface Migrated {
  /** Number of migrations applied. */
  applied: number;
  /** Whether development data was written. */
  seeded: boolean;
}

/** Applies pending migrations, then writes development data. @param beforeSeeds runs between the two. */
export async function migrateAndSeed(
  databaseUrl: string,
  hosts: ReadonlyMap<RunningService['slug'], RunningService>,
  beforeSeeds: () => Promise<void>,
): Promise<Migrated> {
  let seeded = false;
  const applied = await migrate(databaseUrl, [...hosts.keys()], async owner => {
    await beforeSeeds();
    for (const host of await unseeded(owner, [...hosts.values()])) seeded = (await seed(host)) || seeded;
  });
  return { applied, seeded };
}
