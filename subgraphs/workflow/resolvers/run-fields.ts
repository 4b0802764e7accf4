import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { WorkflowRun, WorkflowStep, WorkflowWaiting } from '../entities/run.js';
import { WorkflowTask } from '../entities/task.js';
import { ASSIGNEES, READERS, SHOWN } from '../entities/enums.js';
import { CriticalAlert, LoopTick, User } from '../stubs.js';
import { runIdOf } from '../commands/starting.js';

const TIME = (column: string): string => `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const MAX_OF_USER = 20;

@Resolver(() => WorkflowRun)
export class RunFieldsResolver {
  @Access(SHOWN)
  @FieldResolver(() => User, { nullable: true })
  user(@Root() { userId }: WorkflowRun): User | null {
    return userId === null ? null : { id: userId };
  }

  @Access(SHOWN)
  @FieldResolver(() => WorkflowWaiting, { nullable: true })
  waitingFor(@Root() { waitingKind, waitingName, waitingUntil }: WorkflowRun): WorkflowWaiting | null {
    return waitingKind === null ? null : { kind: waitingKind, name: waitingName ?? '', until: waitingUntil };
  }

  @Access(SHOWN)
  @FieldResolver(() => [WorkflowStep], { description: 'In order.' })
  async steps(@Root() { id }: WorkflowRun, @Ctx() ctx: Context): Promise<WorkflowStep[]> {
    const found = await ctx.load('workflow.steps', id, async ids => {
      const rows = await ctx.sql<WorkflowStep & { run_id: string; begun: string; ended: string | null }>(
        `select run_id, idx as index, name, status, attempts, ${TIME('started_at')} as begun, ${TIME('finished_at')} as ended,
           output_digest as "outputDigest", error_code as "errorCode", child_run_id as "childRunId"
         from workflow.workflow_step where run_id = any($1) order by idx`,
        [ids],
      );
      const dated = rows.map(row => ({
        ...row,
        startedAt: new Date(row.begun),
        finishedAt: row.ended === null ? null : new Date(row.ended),
      }));
      return ids.map(one => dated.filter(row => row.run_id === one));
    });
    return found ?? [];
  }
}

@Resolver(() => WorkflowTask)
export class TaskFieldsResolver {
  @Access(ASSIGNEES)
  @FieldResolver(() => WorkflowRun)
  async run(@Root() { runId }: WorkflowTask, @Ctx() ctx: Context): Promise<WorkflowRun> {
    const run = await ctx.load('workflow.run', runId, async ids =>
      inOrder(ids, await ctx.em.find(WorkflowRun, { id: { $in: [...ids] } }), one => one.id),
    );
    return run!;
  }
}

@Resolver(() => User)
export class UserRunsResolver {
  @Access(READERS)
  @FieldResolver(() => [WorkflowRun], { description: 'The newest 20 runs that concern the user.' })
  async workflowRuns(@Root() { id }: User, @Ctx() ctx: Context): Promise<WorkflowRun[]> {
    if (!isUuid(id)) return [];
    const found = await ctx.load('user.workflow_runs', id.toLowerCase(), async users => {
      const rows = await ctx.sql<{ id: string }>(
        `select r.id from unnest($1::uuid[]) as u(id) cross join lateral (select id from workflow.workflow_run_meta m where m.user_id = u.id
           order by created_at desc, id desc limit ${MAX_OF_USER}) r`,
        [users],
      );
      const runs = await ctx.em.find(WorkflowRun, { id: { $in: rows.map(row => row.id) } }, { orderBy: { createdAt: 'desc', id: 'desc' } });
      return users.map(user => runs.filter(run => run.userId === user));
    });
    return found ?? [];
  }
}

@Resolver(() => CriticalAlert)
export class AlertRunResolver {
  @Access(READERS)
  @FieldResolver(() => WorkflowRun, { nullable: true, description: 'The run that escalates it.' })
  workflowRun(@Root() { id }: CriticalAlert, @Ctx() ctx: Context): Promise<WorkflowRun | null> {
    return ctx.load('critical_alert.run', runIdOf('critical_lab_escalation', id.toLowerCase()), async ids =>
      inOrder(ids, await ctx.em.find(WorkflowRun, { id: { $in: [...ids] } }), run => run.id),
    );
  }
}

@Resolver(() => LoopTick)
export class TickRunResolver {
  @Access(READERS)
  @FieldResolver(() => WorkflowRun, { nullable: true, description: 'The run that asked for it.' })
  workflowRun(@Root() { id }: LoopTick, @Ctx() ctx: Context): Promise<WorkflowRun | null> {
    return ctx.load('loop_tick.run', id.toLowerCase(), async ticks => {
      const rows = await ctx.sql<{ id: string; tick: string }>(
        `select id, output->>'tick_id' as tick from workflow.workflow_run_meta where definition_key = 'intelligence_loop' and output->>'tick_id' = any($1)`,
        [ticks],
      );
      const runs = await ctx.em.find(WorkflowRun, { id: { $in: rows.map(row => row.id) } });
      return ticks.map(tick => runs.find(run => run.id === rows.find(row => row.tick === tick)?.id) ?? null);
    });
  }
}
