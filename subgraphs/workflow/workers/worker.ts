import type { Context } from '../../../runtime/request/context.js';
import { nextCron } from '../../../runtime/time/cron.js';
import type { ServiceHost } from '../../../runtime/host.js';
import type { Worker } from '../../../runtime/service.js';
import { Executor } from './executor.js';
import type { WorkflowDefinitionCode } from '../ports/workflow.js';
import { DEFINITIONS } from '../commands/definitions/definitions.js';

/** Brings the tables up to date with the code; whether a definition is enabled is the operator's. */
async function register(ctx: Context, definition: WorkflowDefinitionCode): Promise<void> {
  const { key, version, schedule } = definition;
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

const LOCK = 0x776f726b;

async function registerAll(host: ServiceHost): Promise<void> {
  await host.transaction(async ctx => {
    await ctx.sql('select pg_advisory_xact_lock($1)', [LOCK]);
    for (const definition of DEFINITIONS.values()) await register(ctx, definition);
  });
}

/** What a process that only answers must know. */
const registration: Worker = {
  role: 'subgraphs',
  start: async host => {
    await registerAll(host);
    return { stop: async () => undefined };
  },
};

/** Executes runs, beside the timers that wake them. */
const executor: Worker = {
  role: 'scheduler',
  start: async host => {
    await registerAll(host);
    return new Executor(host, host.databaseUrl, DEFINITIONS).start();
  },
};

export const workers: readonly Worker[] = [registration, executor];
