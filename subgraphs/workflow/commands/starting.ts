import { v5 } from 'uuid';
import type { Context } from '../../../runtime/request/context.js';
import { WorkflowRun } from '../entities/run.js';
import type { WorkflowTriggerKind } from '../entities/enums.js';
import type { WorkflowDefinitionCode } from '../ports/workflow.js';
import { tellParents, wake } from '../ports/words.js';

const RUNS = 'c9a0b7de-2c33-5b1e-8f64-8d0c6c4f5a21';
const DAY_MS = 86_400_000;

/** The id of the only run of a definition for a key. Source: workflow 7.3. */
export const runIdOf = (definition: string, key: string): string => v5(`${definition}\n${key}`, RUNS);

/** When a run of the definition that begins, or goes on, at `from` fails if it has not ended. */
export const deadlineOf = ({ timeoutDays }: WorkflowDefinitionCode, from: Date): Date => new Date(from.getTime() + timeoutDays * DAY_MS);

export interface Start {
  trigger: WorkflowTriggerKind;
  input?: unknown;
  userId?: string | null;
  /** Event that starts it. */
  causeId?: string | null;
}

/** Starts the run of a definition and key, unless it is there: true for a new one. */
export async function start(
  ctx: Context,
  definition: WorkflowDefinitionCode,
  key: string,
  { trigger, input, userId, causeId }: Start,
): Promise<boolean> {
  const id = runIdOf(definition.key, key);
  const [made] = await ctx.sql(
    `insert into workflow.workflow_run_meta (id, engine_id, definition_key, definition_version, key, status, trigger, user_id, input, created_at, cause_id, deadline_at)
     values ($1::uuid, $1::text || ':0', $2, $3, $4, 'pending', $5, $6, $7::jsonb, $8, $9, $10) on conflict (id) do nothing returning 1`,
    [
      id,
      definition.key,
      definition.version,
      key,
      trigger,
      userId ?? null,
      JSON.stringify(input ?? {}),
      ctx.now().toISOString(),
      causeId ?? null,
      deadlineOf(definition, ctx.now()).toISOString(),
    ],
  );
  wake(ctx);
  return made !== undefined;
}

/** Starts a part of a run: trigger, user and cause are the parent's. One that has ended already says so at once. Answers its id. */
export async function startChild(
  ctx: Context,
  definition: WorkflowDefinitionCode,
  key: string,
  parentId: string,
  input: object,
): Promise<string> {
  const id = runIdOf(definition.key, key);
  await ctx.sql(
    `insert into workflow.workflow_run_meta (id, engine_id, definition_key, definition_version, key, status, trigger, user_id, input, created_at, cause_id, deadline_at, parent_id)
     select $1::uuid, $1::text || ':0', $2, $3, $4, 'pending', p.trigger, p.user_id, $5::jsonb, $6, p.cause_id, $7, p.id
     from workflow.workflow_run_meta p where p.id = $8 on conflict (id) do nothing`,
    [
      id,
      definition.key,
      definition.version,
      key,
      JSON.stringify(definition.input.strict().parse(input)),
      ctx.now().toISOString(),
      deadlineOf(definition, ctx.now()).toISOString(),
      parentId,
    ],
  );
  wake(ctx);
  return id;
}

/** For a child that ended before its parent listened. */
export const tellIfEnded = async (ctx: Context, id: string): Promise<void> => {
  const [ended] = await ctx.sql(
    `select 1 from workflow.workflow_run_meta where id = $1 and status in ('succeeded', 'failed', 'cancelled')`,
    [id],
  );
  if (ended) await tellParents(ctx, [id]);
};

export const loadRun = (ctx: Context, id: string): Promise<WorkflowRun> => ctx.em.findOneOrFail(WorkflowRun, { id });
