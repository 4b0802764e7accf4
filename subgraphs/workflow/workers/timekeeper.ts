import type { Timer } from '../../../runtime/time/clock.js';
import type { Context } from '../../../runtime/request/context.js';
import { nextCron } from '../../../runtime/time/cron.js';
import { earliest } from '../../../runtime/time/due.js';
import { MINUTE_MS } from '../../../runtime/time/durations.js';
import { WorkflowTriggerKind } from '../entities/enums.js';
import { alarm } from '../commands/notices.js';
import { endRuns } from '../commands/ending.js';
import { NOT_WAITING } from '../commands/records.js';
import { DUE_TO_CANCEL } from './undoing.js';
import { sendToRun, wakeExecutors } from '../commands/messages.js';
import { start } from '../commands/starting.js';
import { expireTasks } from '../commands/task.js';
import { DEFINITIONS } from '../commands/definitions/definitions.js';

/** An occurrence that is noticed later is a miss. */
const GRACE_MS = 5 * MINUTE_MS;
/** The loop has not succeeded for so long: somebody must look. Source: workflow 5. */
const LOOP_SILENT = `interval '3 hours'`;

interface Due {
  definition_key: string;
  cron: string;
  time_zone: string;
  ms: string;
}

/** Starts the run of each occurrence; missed ones by the definition's `misfire`. Source: workflow 7.4. */
async function fire(ctx: Context, { definition_key: key, cron, time_zone: zone, ms }: Due): Promise<void> {
  const definition = DEFINITIONS.get(key)!;
  const now = ctx.now();
  const due: Date[] = [];
  for (let at: Date | null = new Date(Math.round(Number(ms))); at && at <= now; at = nextCron(cron, zone, at)) due.push(at);
  const late = due.filter(at => now.getTime() - at.getTime() > GRACE_MS);
  const caughtUp = definition.schedule?.misfire === 'once' ? late.slice(-1) : [];
  const [switched] = await ctx.sql<{ enabled: boolean }>('select enabled from workflow.workflow_definition where key = $1', [key]);
  if (switched?.enabled)
    for (const at of [...caughtUp, ...due.filter(one => !late.includes(one))])
      await start(ctx, definition, at.toISOString(), { trigger: WorkflowTriggerKind.SCHEDULE });
  await ctx.sql(
    'update workflow.workflow_trigger set next_at = $3, last_at = $4, misses = misses + $5 where definition_key = $1 and cron = $2',
    [key, cron, nextCron(cron, zone, now)?.toISOString() ?? null, due.at(-1)!.toISOString(), late.length - caughtUp.length],
  );
}

const schedules: Timer<Context> = {
  name: 'workflow.schedules',
  everySeconds: 1,
  next: earliest('select next_at as at from workflow.workflow_trigger'),
  run: async ctx => {
    const due = await ctx.sql<Due>(
      `select definition_key, cron, time_zone, extract(epoch from next_at) * 1000 as ms from workflow.workflow_trigger where next_at <= $1
       order by next_at for update skip locked`,
      [ctx.now().toISOString()],
    );
    for (const one of due) await fire(ctx, one);
  },
};

/** Ends waits whose time has come, by a message to the run. */
const timers: Timer<Context> = {
  name: 'workflow.timers',
  everySeconds: 0.5, // looked for once a second, the twentieth part was 1.3 s late, and 7.12 allows 1 s
  next: earliest('select due_at as at from workflow.timer where released_at is null'),
  run: async ctx => {
    const due = await ctx.sql<{ id: string; engine_id: string; topic: string }>(
      `update workflow.timer set released_at = $1 where id in (select id from workflow.timer where released_at is null and due_at <= $1
         order by due_at limit 500 for update skip locked) returning id, engine_id, topic`,
      [ctx.now().toISOString()],
    );
    for (const { engine_id: engineId, topic } of due) await sendToRun(ctx, engineId, topic, { timeout: true });
    await expireTasks(ctx);
    wakeExecutors(ctx);
  },
};

/** Runs that have not ended in the days of their definition fail; what they registered is not undone. Source: workflow 3. */
const timeouts: Timer<Context> = {
  name: 'workflow.timeouts',
  everySeconds: 15,
  next: earliest(`select deadline_at as at from workflow.workflow_run_meta where status in ('pending', 'running', 'waiting')`),
  run: async ctx => {
    const late = await ctx.sql<{ id: string; definition_key: string }>(
      `update workflow.workflow_run_meta set status = 'failed', error_code = 'timed_out', finished_at = $1, cancel_pending = true, ${NOT_WAITING}
       where id in (select id from workflow.workflow_run_meta where status in ('pending', 'running', 'waiting') and deadline_at <= $1
         order by deadline_at limit 100 for update skip locked) returning id, definition_key`,
      [ctx.now().toISOString()],
    );
    await endRuns(
      ctx,
      late.map(run => run.id),
    );
    for (const { id, definition_key: definition } of late) {
      alarm(ctx, 'workflow_failed', { definition, run_id: id });
      ctx.audit('workflow_run.failed', id, { definition, error_code: 'timed_out' });
    }
    wakeExecutors(ctx);
  },
};

/** The loop is silent: one alarm, until it succeeds again. */
const loopWatch: Timer<Context> = {
  name: 'workflow.loop_watch',
  everySeconds: 60,
  next: earliest(`select coalesce(last_success_at, registered_at) + ${LOOP_SILENT} as at from workflow.workflow_definition
       where key = 'intelligence_loop' and enabled and alarmed_at is null`),
  run: async ctx => {
    await ctx.sql(`update workflow.workflow_definition set alarmed_at = $1 where key = 'intelligence_loop'`, [ctx.now().toISOString()]);
    alarm(ctx, 'workflow_loop_tick_missing', { definition: 'intelligence_loop', at: ctx.now().toISOString() });
  },
};

/** Lets executors try again what cancelled runs could not undo. */
const undoing: Timer<Context> = {
  name: 'workflow.undoing',
  everySeconds: 1,
  next: earliest('select retry_at as at from workflow.compensation where retry_at is not null'),
  run: async ctx => {
    await ctx.sql('update workflow.compensation set retry_at = null where retry_at <= $1', [ctx.now().toISOString()]);
    wakeExecutors(ctx);
  },
};

const nothing = async (): Promise<void> => undefined;

/** Is never due; the manual clock stands still while a run is on its way, so that runs settle before it answers. Source: workflow 4. */
const settling: Timer<Context> = {
  name: 'workflow.settling',
  everySeconds: 3600,
  next: async () => null,
  run: nothing,
  claimed: {
    claim: nothing,
    keep: nothing,
    finish: nothing,
    running: async ctx => {
      const [row] = await ctx.sql<{ busy: boolean }>(
        `select exists (select 1 from workflow.executor where lease_until > clock_timestamp()) and (
           exists (select 1 from workflow.workflow_run_meta r where status in ('pending', 'running') or (${DUE_TO_CANCEL}))
           or exists (select 1 from workflow.message m join workflow.workflow_run_meta r on r.engine_id = m.engine_id
             where m.sent_at is null and r.status = 'waiting')) as busy`,
      );
      return row!.busy;
    },
  },
};

export const timekeepers: readonly Timer<Context>[] = [timers, schedules, timeouts, undoing, loopWatch, settling];
