import { LockMode, type FilterQuery } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { isUuid, newId } from '../../../runtime/data/ids.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { move } from '../../../runtime/request/states.js';
import { DEFINITIONS } from '../commands/definitions/definitions.js';
import { WorkflowDefinition } from '../entities/definition.js';
import { WorkflowRun, WorkflowRunConnection } from '../entities/run.js';
import { OPERATORS, READERS, SERVICES_ONLY, WorkflowTriggerKind } from '../entities/enums.js';
import {
  ForkWorkflowRunInput,
  OperateWorkflowRunInput,
  SignalWorkflowRunInput,
  StartWorkflowInput,
  WorkflowRunsArgs,
} from '../inputs/run.js';
import { endRuns } from '../workers/ending.js';
import { forkPoint, resumePoint } from '../workers/resuming.js';
import { say, wake } from '../ports/words.js';
import { RUN_STATES } from '../rules/states.js';
import { deadlineOf, loadRun, runIdOf, start } from '../commands/starting.js';

const filterOf = ({ definition, status, userId, waitingFor, from, to }: WorkflowRunsArgs): FilterQuery<WorkflowRun> =>
  ({
    ...(definition && { definitionKey: definition }),
    ...(status?.length && { status: { $in: status } }),
    ...(userId && { userId: userId.toLowerCase() }),
    ...(waitingFor && { waitingKind: waitingFor }),
    ...((from || to) && { createdAt: { ...(from && { $gte: from }), ...(to && { $lt: to }) } }),
  }) as FilterQuery<WorkflowRun>;

const NOT_WAITING = { waitingKind: null, waitingName: null, waitingUntil: null, waitingTopic: null } as const;

/** Days of the definition from now; one that the code no longer has keeps what it had. */
const newDeadline = (ctx: Context, { definitionKey, deadlineAt }: WorkflowRun): Date | null => {
  const definition = DEFINITIONS.get(definitionKey);
  return definition ? deadlineOf(definition, ctx.now()) : deadlineAt;
};

async function lock(ctx: Context, id: string): Promise<WorkflowRun> {
  const run = isUuid(id) ? await ctx.em.findOne(WorkflowRun, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
  return run ?? fail('not_found', 'Not found');
}

/** Whether a word with the key was said to the run, in this execution or a former one. */
async function hasHeard(ctx: Context, { id, engineNo }: WorkflowRun, key: string): Promise<boolean> {
  const found = await ctx.sql(
    `select 1 from workflow.message where engine_id in (select $1::text || ':' || n from generate_series(0, $2::int) n) and idempotency_key = $3`,
    [id, engineNo, key],
  );
  return found.length > 0;
}

@Resolver(() => WorkflowRun)
export class RunResolver {
  @Access(READERS)
  @Query(() => WorkflowRunConnection, { description: 'Runs, newest first.' })
  workflowRuns(@Args(() => WorkflowRunsArgs) args: WorkflowRunsArgs, @Ctx() ctx: Context): Promise<Connection<WorkflowRun>> {
    return page<WorkflowRun>(ctx.em, WorkflowRun, filterOf(args), args, { time: 'createdAt' });
  }

  @Access(READERS)
  @Query(() => WorkflowRun, { nullable: true })
  async workflowRun(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<WorkflowRun | null> {
    return isUuid(id) ? ctx.em.findOne(WorkflowRun, { id }) : null;
  }

  @Access(OPERATORS)
  @Mutation(() => WorkflowRun, { description: 'Starts a run; the same key finds the run that is there.' })
  async startWorkflow(@Arg('input', () => StartWorkflowInput) input: StartWorkflowInput, @Ctx() ctx: Context): Promise<WorkflowRun> {
    const definition = DEFINITIONS.get(input.definition) ?? fail('not_found', 'There is no such workflow');
    const row = await ctx.em.findOne(WorkflowDefinition, { key: definition.key });
    if (!row) fail('unavailable', 'The workflow is not registered yet', { retryAfter: 1 }); // the process has just begun
    if (!row.enabled) fail('conflict', 'a workflow that is disabled cannot be started', { reason: 'disabled' });
    const parsed = definition.input.strict().safeParse(input.input ?? {});
    if (!parsed.success) {
      const errors = parsed.error.issues.flatMap(issue => {
        const below = issue.code === 'unrecognized_keys' ? issue.keys : [null];
        return below.map(key => ({
          pointer: ['/input/input', ...issue.path.map(String), ...(key ? [key] : [])].join('/'),
          message: issue.message,
        }));
      });
      fail('invalid_request', 'The input is invalid', { errors });
    }
    const key = input.key ?? newId();
    const made = await start(ctx, definition, key, {
      trigger: WorkflowTriggerKind.MANUAL,
      input: parsed.data,
      userId: input.userId?.toLowerCase(),
    });
    const id = runIdOf(definition.key, key);
    if (made) ctx.audit('workflow_run.started', id, { definition: definition.key });
    else ctx.status(200);
    return loadRun(ctx, id);
  }

  @Access(OPERATORS)
  @Mutation(() => WorkflowRun, { description: 'Ends a run at its next step; what it registered is undone, last first.' })
  async cancelWorkflowRun(
    @Arg('input', () => OperateWorkflowRunInput) { id, reason }: OperateWorkflowRunInput,
    @Ctx() ctx: Context,
  ): Promise<WorkflowRun> {
    const run = await lock(ctx, id);
    ctx.audit('workflow_run.cancelled', id, { was: run.status, reason });
    run.status = move(RUN_STATES, 'run', run.status, 'cancel');
    Object.assign(run, { cancelPending: true, finishedAt: ctx.now(), ...NOT_WAITING });
    await ctx.em.flush();
    await ctx.sql('update workflow.compensation set attempts = 0, failed_at = null where run_id = $1 and failed_at is not null', [id]);
    await endRuns(ctx, [id]);
    wake(ctx);
    return run;
  }

  @Access(OPERATORS)
  @Mutation(() => WorkflowRun, { description: 'Goes on after the last finished step.' })
  async resumeWorkflowRun(
    @Arg('input', () => OperateWorkflowRunInput) { id, reason }: OperateWorkflowRunInput,
    @Ctx() ctx: Context,
  ): Promise<WorkflowRun> {
    const run = await lock(ctx, id);
    ctx.audit('workflow_run.resumed', id, { was: run.status, reason });
    run.status = move(RUN_STATES, 'run', run.status, 'resume');
    if (run.cancelPending) fail('conflict', 'a run that is being cancelled cannot be resumed yet', { reason: 'cancelling' });
    const { engineId, engineNo } = run;
    const engineFrom = await resumePoint(ctx, id, engineId);
    Object.assign(run, {
      engineFrom,
      engineNo: engineNo + 1,
      engineId: `${id}:${engineNo + 1}`,
      executor: null,
      finishedAt: null,
      errorCode: null,
      deadlineAt: newDeadline(ctx, run),
      ...NOT_WAITING,
    });
    wake(ctx);
    return run;
  }

  @Access(OPERATORS)
  @Mutation(() => WorkflowRun, { description: 'A new run that begins at a step; the steps before it are copied.' })
  async forkWorkflowRun(
    @Arg('input', () => ForkWorkflowRunInput) { id, step, reason }: ForkWorkflowRunInput,
    @Ctx() ctx: Context,
  ): Promise<WorkflowRun> {
    const run = await lock(ctx, id);
    const done = await ctx.sql(`select 1 from workflow.workflow_step where run_id = $1 and idx < $2 and status = 'succeeded'`, [id, step]);
    if (done.length < step - 1)
      fail('conflict', `a run that has finished ${done.length} steps cannot be forked at step ${step}`, { reason: 'step_not_reached' });
    const fork = Object.assign(new WorkflowRun(), {
      id: newId(),
      definitionKey: run.definitionKey,
      definitionVersion: run.definitionVersion,
      trigger: WorkflowTriggerKind.MANUAL,
      userId: run.userId,
      input: run.input,
      engineFrom: await forkPoint(ctx, id, run.engineId, step),
      forkedFrom: run.id,
      createdAt: ctx.now(),
      deadlineAt: newDeadline(ctx, run),
      causeId: run.causeId,
    });
    Object.assign(fork, { key: `${run.key}:fork:${fork.id}`, engineId: `${fork.id}:0` });
    await ctx.em.persist(fork).flush();
    await ctx.sql(
      `insert into workflow.workflow_step (run_id, idx, name, status, attempts, started_at, finished_at, output_digest, child_run_id, function_id)
       select $2, idx, name, status, attempts, started_at, finished_at, output_digest, child_run_id, function_id from workflow.workflow_step
       where run_id = $1 and idx < $3`,
      [id, fork.id, step],
    );
    ctx.audit('workflow_run.forked', fork.id, { from: id, step, reason });
    wake(ctx);
    return fork;
  }

  @Access(SERVICES_ONLY)
  @Mutation(() => WorkflowRun, { description: 'Says what a run waits for; a word that was said already is not said again.' })
  async signalWorkflowRun(
    @Arg('input', () => SignalWorkflowRunInput) input: SignalWorkflowRunInput,
    @Ctx() ctx: Context,
  ): Promise<WorkflowRun> {
    const run = await lock(ctx, input.id);
    move(RUN_STATES, 'run', run.status, 'signal');
    const [wait] = await ctx.sql<{ topic: string }>(
      `select w.topic from workflow.wait w where w.engine_id = $1 and w.name = $2 and not exists (
         select 1 from workflow.message m where m.engine_id = w.engine_id and m.topic = w.topic) order by w.topic limit 1`,
      [run.engineId, input.name],
    );
    const said = await hasHeard(ctx, run, input.idempotencyKey);
    if (!wait && !said) fail('conflict', `the run does not wait for ${input.name}`, { reason: 'not_waiting' });
    if (wait && !said) await say(ctx, run.engineId, wait.topic, { payload: input.payload ?? {} }, input.idempotencyKey);
    ctx.audit('workflow_run.signalled', run.id, { name: input.name });
    wake(ctx);
    return run;
  }
}
