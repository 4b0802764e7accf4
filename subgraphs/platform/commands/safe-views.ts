import { schemaOf, SLUGS } from '../../../events/slugs.js';
import type { Context } from '../../../runtime/request/context.js';
import { systemClock } from '../../../runtime/time/clock.js';
import { judgeViews, type Grant, type TableColumn, type ViewFacts } from '../rules/safe-views.js';

/** The database's own catalogue, which every role may read; names only, never a row of another service. */
const COLUMNS = `
  select n.nspname as schema, c.relname as "table", a.attname as "column", col_description(c.oid, a.attnum) as mark
  from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
  where n.nspname = any ($1) and c.relkind in ('r', 'p') and not c.relispartition and a.attnum > 0 and not a.attisdropped order by 1, 2, a.attnum`;
const VIEWS = `
  select n.nspname as schema, c.relname as view, array_agg(a.attname::text order by a.attnum) as columns,
    coalesce('security_barrier=true' = any (c.reloptions), false) as barrier, r.rolcanlogin as "ownerLogsIn"
  from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_roles r on r.oid = c.relowner join pg_attribute a on a.attrelid = c.oid
  where n.nspname = any ($1) and c.relkind = 'v' and c.relname like '%\\_safe' and a.attnum > 0 and not a.attisdropped
  group by 1, 2, c.reloptions, r.rolcanlogin order by 1, 2`;
const GRANTS = `
  select n.nspname as schema, c.relname as relation, g.privilege_type as privilege
  from pg_class c join pg_namespace n on n.oid = c.relnamespace cross join lateral aclexplode(c.relacl) g join pg_roles r on r.oid = g.grantee
  where r.rolname = 'platform_ro' and n.nspname = any ($1) order by 1, 2, 3`;

const REPLACE = `
  insert into platform.safe_view (schema, view, columns, omitted, drift, checked_at)
  select r.schema, r.view, r.columns, r.omitted, r.drift, $2 from jsonb_to_recordset($1::jsonb) as r(schema text, view text, columns text[], omitted jsonb, drift jsonb)`;

/** Compares what the read-only role sees with the marks of the columns, and keeps what was found. */
export async function checkSafeViews(ctx: Context): Promise<void> {
  const schemas = SLUGS.map(schemaOf);
  const columns = await ctx.sql<TableColumn>(COLUMNS, [schemas]);
  const views = await ctx.sql<ViewFacts>(VIEWS, [schemas]);
  const grants = await ctx.sql<Grant>(GRANTS, [schemas]);
  const judged = judgeViews({ columns, views, grants });
  await ctx.sql('delete from platform.safe_view');
  await ctx.sql(REPLACE, [JSON.stringify(judged), systemClock.now().toISOString()]);
  const drifted = judged.filter(({ drift }) => drift.length > 0).map(({ schema, view }) => `${schema}.${view}`);
  if (drifted.length) ctx.log.error({ alarm: 'safe view drift', views: drifted }, 'safe views and the marks of columns disagree');
}
