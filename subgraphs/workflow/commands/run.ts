import type { ZodError } from 'zod';
import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid, type Violation } from '../../../runtime/request/errors.js';
import { newId } from '../../../runtime/data/ids.js';
import { findRow, lockRow } from '../../../runtime/data/rows.js';
import { move } from '../../../runtime/request/states.js';
import { WorkflowDefinition } from '../entities/definition.js';
import { WorkflowRun } from '../entities/run.js';
import { WorkflowTriggerKind } from '../entities/enums.js';
import type { ForkWorkflowRunInput, OperateWorkflowRunInput, SignalWorkflowRunInput, StartWorkflowInput } from '../inputs/run.js';
import { deadlineOf, runIdOf } from '../rules/run.js';
import { RUN_STATES } from '../rules/states.js';
import type { WorkflowDefinitionCode } from '../ports/workflow.js';
import { forkPoint, resumePoint } from '../queries/engine-points.js';
import { DEFINITIONS } from './definitions/definitions.js';
import { endRuns } from './ending.js';
import { sendToRun, wakeExecutors } from './messages.js';
import { start } from './starting.js';

const WAITS_FOR_NOTHING = { waitingKind: null, waitingName: null, waitingUntil: null, waitingTopic: null } as const;

/**
 * Starts a run by hand; one of the key that is there already is answered with status 200.
 * @throws Problem not_found, conflict for a disabled definition, invalid_request by its schema, unavailable before it is registered.
 */
export async function startByHand(ctx: Context, input: StartWorkflowInput): Promise<WorkflowRun> {
  const definition = DEFINITIONS.get(input.definition) ?? fail('not_found', 'There is no such workflow');
  await requireEnabled(ctx, definition);
  const key = input.key ?? newId();
  const isNew = await start(ctx, definition, key, {
    trigger: WorkflowTriggerKind.MANUAL,
    input: parsedInput(definition, input.input ?? {}),
    userId: input.userId?.toLowerCase(),
  });
  const id = runIdOf(definition.key, key);
  if (isNew) ctx.audit('workflow_run.started', id, { definition: definition.key });
  else ctx.status(200);
  return ctx.em.findOneOrFail(WorkflowRun, { id });
}

async function requireEnabled(ctx: Context, { key }: WorkflowDefinitionCode): Promise<void> {
  const row = await findRow(ctx, WorkflowDefinition, { key });
  if (!row) fail('unavailable', 'The workflow is not registered yet', { retryAfter: 1 }); // the process has just begun
  if (!row.enabled) fail('conflict', 'a workflow that is disabled cannot be started', { reason: 'disabled' });
}

function parsedInput(definition: WorkflowDefinitionCode, input: unknown): Record<string, unknown> {
  const parsed = definition.input.strict().safeParse(input);
  if (!parsed.success) requireValid(violationsOf(parsed.error));
  return parsed.data!;
}

const violationsOf = ({ issues }: ZodError): Violation[] =>
  issues.flatMap(issue => {
    const below = issue.code === 'unrecognized_keys' ? issue.keys.map(key => [key]) : [[]];
    return below.map(key => ({ pointer: ['/input/input', ...issue.path.map(String), ...key].join('/'), message: issue.message }));
  });

/** Ends a run at its next step; what it registered is undone, last first. @throws Problem not_found, conflict. */
export async function cancelRun(ctx: Context, { id, reason }: OperateWorkflowRunInput): Promise<WorkflowRun> {
  const run = await lockRow(ctx, WorkflowRun, { id });
  ctx.audit('workflow_run.cancelled', id, { was: run.status, reason });
  run.status = move(RUN_STATES, 'run', run.status, 'cancel');
  Object.assign(run, { cancelPending: true, finishedAt: ctx.now(), ...WAITS_FOR_NOTHING });
  await ctx.em.flush();
  await ctx.sql('update workflow.compensation set attempts = 0, failed_at = null where run_id = $1 and failed_at is not null', [id]);
  await endRuns(ctx, [id]);
  wakeExecutors(ctx);
  return run;
}

/** Goes on after the last finished step, as a new execution of the engine. @throws Problem not_found, conflict. */
export async function resumeRun(ctx: Context, { id, reason }: OperateWorkflowRunInput): Promise<WorkflowRun> {
  const run = await lockRow(ctx, WorkflowRun, { id });
  ctx.audit('workflow_run.resumed', id, { was: run.status, reason });
  run.status = move(RUN_STATES, 'run', run.status, 'resume');
  if (run.cancelPending) fail('conflict', 'a run that is being cancelled cannot be resumed yet', { reason: 'cancelling' });
  Object.assign(run, await nextExecution(ctx, run));
  wakeExecutors(ctx);
  return run;
}

async function nextExecution(ctx: Context, run: WorkflowRun): Promise<Partial<WorkflowRun>> {
  const { id, engineId } = run;
  const engineNo = run.engineNo + 1;
  const engineFrom = await resumePoint(ctx, id, engineId);
  const cleared = { executor: null, finishedAt: null, errorCode: null, ...WAITS_FOR_NOTHING };
  return { ...cleared, engineFrom, engineNo, engineId: `${id}:${engineNo}`, deadlineAt: newDeadline(ctx, run) };
}

/** Days of the definition from now; one that the code no longer has keeps what it had. */
function newDeadline(ctx: Context, { definitionKey, deadlineAt }: WorkflowRun): Date | null {
  const definition = DEFINITIONS.get(definitionKey);
  return definition ? deadlineOf(definition, ctx.now()) : deadlineAt;
}

const COPY_STEPS = `
insert into workflow.workflow_step (run_id, idx, name, status, attempts, started_at, finished_at, output_digest, child_run_id, function_id)
select $2, idx, name, status, attempts, started_at, finished_at, output_digest, child_run_id, function_id from workflow.workflow_step
where run_id = $1 and idx < $3`;

/** A new run that begins at a step; the steps before it are copied. @throws Problem not_found, conflict where they have not succeeded. */
export async function forkRun(ctx: Context, { id, step, reason }: ForkWorkflowRunInput): Promise<WorkflowRun> {
  const run = await lockRow(ctx, WorkflowRun, { id });
  await requireReached(ctx, id, step);
  const fork = forkOf(run, ctx.now());
  fork.engineFrom = await forkPoint(ctx, id, run.engineId, step);
  fork.deadlineAt = newDeadline(ctx, run);
  await ctx.em.persist(fork).flush();
  await ctx.sql(COPY_STEPS, [id, fork.id, step]);
  ctx.audit('workflow_run.forked', fork.id, { from: id, step, reason });
  wakeExecutors(ctx);
  return fork;
}

async function requireReached(ctx: Context, id: string, step: number): Promise<void> {
  const done = await ctx.sql(`select 1 from workflow.workflow_step where run_id = $1 and idx < $2 and status = 'succeeded'`, [id, step]);
  if (done.length < step - 1)
    fail('conflict', `a run that has finished ${done.length} steps cannot be forked at step ${step}`, { reason: 'step_not_reached' });
}

function forkOf(
  { id: forkedFrom, key, definitionKey, definitionVersion, userId, input, causeId }: WorkflowRun,
  createdAt: Date,
): WorkflowRun {
  const id = newId();
  const same = { definitionKey, definitionVersion, userId, input, causeId };
  const own = { id, key: `${key}:fork:${id}`, engineId: `${id}:0`, forkedFrom, createdAt, trigger: WorkflowTriggerKind.MANUAL };
  return Object.assign(new WorkflowRun(), same, own);
}

const OPEN_WAIT = `
select w.topic from workflow.wait w where w.engine_id = $1 and w.name = $2 and not exists (
  select 1 from workflow.message m where m.engine_id = w.engine_id and m.topic = w.topic) order by w.topic limit 1`;

/** Sends what a run waits for, once for an idempotency key. @throws Problem not_found, conflict where the run does not wait for it. */
export async function signalRun(ctx: Context, { id, name, payload, idempotencyKey }: SignalWorkflowRunInput): Promise<WorkflowRun> {
  const run = await lockRow(ctx, WorkflowRun, { id });
  move(RUN_STATES, 'run', run.status, 'signal');
  const [wait] = await ctx.sql<{ topic: string }>(OPEN_WAIT, [run.engineId, name]);
  const isSent = await wasSent(ctx, run, idempotencyKey);
  if (!wait && !isSent) fail('conflict', `the run does not wait for ${name}`, { reason: 'not_waiting' });
  if (wait && !isSent) await sendToRun(ctx, run.engineId, wait.topic, { payload: payload ?? {} }, idempotencyKey);
  ctx.audit('workflow_run.signalled', run.id, { name });
  wakeExecutors(ctx);
  return run;
}

/** Whether a message with the key was sent to the run, in this execution or a former one. */
async function wasSent(ctx: Context, { id, engineNo }: WorkflowRun, idempotencyKey: string): Promise<boolean> {
  const found = await ctx.sql(
    `select 1 from workflow.message where engine_id in (select $1::text || ':' || n from generate_series(0, $2::int) n) and idempotency_key = $3`,
    [id, engineNo, idempotencyKey],
  );
  return found.length > 0;
}
