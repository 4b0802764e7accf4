import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { lockRow } from '../../../runtime/data/rows.js';
import { nextCron } from '../../../runtime/time/cron.js';
import { WorkflowDefinition } from '../entities/definition.js';
import type { SetWorkflowEnabledInput } from '../inputs/definition.js';
import type { WorkflowDefinitionCode } from '../ports/workflow.js';
import { DEFINITIONS } from './definitions/definitions.js';

/** Lets new runs begin, or not; open ones go on. @throws Problem not_found. */
export async function setEnabled(ctx: Context, { key, enabled }: SetWorkflowEnabledInput): Promise<WorkflowDefinition> {
  const definition = await lockRow(ctx, WorkflowDefinition, { key });
  if (!DEFINITIONS.has(key)) fail('not_found', 'Not found');
  ctx.audit(enabled ? 'workflow.enabled' : 'workflow.disabled', key, { was: definition.enabled });
  definition.enabled = enabled;
  return definition;
}

/** Any number, the same in all processes: one registers at a time. */
const REGISTER_LOCK = 0x776f726b;

/** Brings the tables up to date with the code; whether a definition is enabled is the operator's. */
export async function registerDefinitions(ctx: Context): Promise<void> {
  await ctx.sql('select pg_advisory_xact_lock($1)', [REGISTER_LOCK]);
  for (const definition of DEFINITIONS.values()) await register(ctx, definition);
}

async function register(ctx: Context, { key, version, schedule }: WorkflowDefinitionCode): Promise<void> {
  await ctx.sql(
    `insert into workflow.workflow_definition (key, version, registered_at) values ($1, $2, $3) on conflict (key) do update set version = excluded.version`,
    [key, version, ctx.now().toISOString()],
  );
  const cron = schedule?.cron(ctx.host) ?? null;
  await ctx.sql('delete from workflow.workflow_trigger where definition_key = $1 and cron is distinct from $2', [key, cron]);
  if (schedule && cron)
    await ctx.sql(
      `insert into workflow.workflow_trigger (definition_key, cron, time_zone, next_at) values ($1, $2, $3, $4) on conflict do nothing`,
      [key, cron, schedule.timeZone, nextCron(cron, schedule.timeZone, ctx.now())?.toISOString() ?? null],
    );
}
