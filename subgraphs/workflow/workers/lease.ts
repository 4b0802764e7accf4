import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { alarm } from '../commands/notices.js';
import type { WorkflowDefinitionCode } from '../ports/workflow.js';

/** How long an executor counts as alive after its last sign of life. Source: workflow 7.6. */
export const LEASE_MS = 15_000;

/** Keys and versions that this code can execute, and how many at once, as arrays for `unnest`. Source: workflow 7.6. */
export function executable(definitions: ReadonlyMap<string, WorkflowDefinitionCode>): [string[], number[], number[], number[]] {
  const all = [...definitions.values()];
  return [
    all.map(one => one.key),
    all.map(one => one.since ?? one.version),
    all.map(one => one.version),
    all.map(one => one.maxConcurrent),
  ];
}

export const renewLease = (host: ServiceHost, id: string, codeVersion: string): Promise<unknown> =>
  host.transaction(ctx =>
    ctx.sql(
      `insert into workflow.executor (id, lease_until, code_version) values ($1, clock_timestamp() + $3 * interval '1 millisecond', $2)
       on conflict (id) do update set lease_until = excluded.lease_until`,
      [id, codeVersion, LEASE_MS],
    ),
  );

/** At the end of a process: its runs are taken over at once, and nobody is alarmed. */
export const endLease = (host: ServiceHost, id: string): Promise<unknown> =>
  host.transaction(ctx => ctx.sql('update workflow.executor set lease_until = clock_timestamp(), stopped = true where id = $1', [id]));

/** Runs of an executor whose lease is over go on elsewhere, as forks that keep all that was recorded. True when there was one. */
export function takeOver(host: ServiceHost): Promise<boolean> {
  return host.transaction(async ctx => {
    const [lost] = await ctx.sql<{ id: string; stopped: boolean }>(
      `delete from workflow.executor where id in (select id from workflow.executor where lease_until < clock_timestamp()
         limit 1 for update skip locked) returning id, stopped`,
    );
    if (!lost) return false;
    const runs = await ctx.sql<{ id: string }>(
      `select id from workflow.workflow_run_meta where executor = $1 and status in ('running', 'waiting') order by id for update`,
      [lost.id],
    );
    await moveOn(
      ctx,
      runs.map(run => run.id),
    );
    if (runs.length && !lost.stopped) alarm(ctx, 'workflow_executor_lost', { executor: lost.id });
    return true;
  });
}

/** Each table's rows of the former execution become the new one's. */
const RENAMED = ['timer', 'wait', 'message'].map(
  table => `update workflow.${table} t set engine_id = r.engine_id from workflow.workflow_run_meta r
    where r.id = any($1) and t.engine_id = r.id::text || ':' || (r.engine_no - 1)`,
);

/** Runs under a new name of the engine that keep everything recorded, and everything that they wait for. */
async function moveOn(ctx: Context, ids: readonly string[]): Promise<void> {
  if (!ids.length) return;
  await ctx.sql(
    `update workflow.workflow_run_meta r set engine_id = r.id::text || ':' || (r.engine_no + 1), engine_no = r.engine_no + 1, status = 'pending', executor = null,
       engine_from = (select jsonb_build_object('id', r.engine_id, 'step', max(o.function_id) + 1) from dbos.operation_outputs o
         where o.workflow_uuid = r.engine_id having count(*) > 0)
     where id = any($1)`,
    [ids],
  );
  for (const rename of RENAMED) await ctx.sql(rename, [ids]);
  await ctx.sql(
    `update workflow.message m set sent_at = null from workflow.workflow_run_meta r where r.id = any($1) and m.engine_id = r.engine_id`,
    [ids],
  );
  await ctx.sql(
    `update workflow.workflow_task t set engine_id = r.engine_id || substring(t.engine_id from position(' ' in t.engine_id))
     from workflow.workflow_run_meta r where r.id = any($1) and t.run_id = r.id`,
    [ids],
  );
}

/** Runs that were begun by code too old to be carried on stay pending; each is named once. Source: workflow 7.6. */
export function alarmOldVersions(host: ServiceHost, definitions: ReadonlyMap<string, WorkflowDefinitionCode>): Promise<void> {
  return host.transaction(async ctx => {
    const [keys, since] = executable(definitions);
    const old = await ctx.sql<{ id: string; definition_key: string; definition_version: number }>(
      `update workflow.workflow_run_meta r set version_alarmed = true from unnest($1::text[], $2::int[]) as d(key, since)
       where r.status = 'pending' and not r.version_alarmed and r.definition_key = d.key and r.definition_version < d.since
       returning r.id, r.definition_key, r.definition_version`,
      [keys, since],
    );
    for (const run of old)
      alarm(ctx, 'workflow_version_unsupported', { definition: run.definition_key, version: run.definition_version, run_id: run.id });
  });
}
