import type { Context } from '../../../runtime/request/context.js';
import { requestMessage } from '../../../runtime/request/messages.js';

const DEAD = `exists (select 1 from jobs.job_meta m where m.queue = q.name and m.status = 'dead' and not m.alarmed)`;
/** Source: jobs 5. */
const PAUSE = `interval '15 minutes'`;

/** When the next alarm is due: at once for a queue that has had none, else a quarter of an hour after its last one. */
export const ALARMS_DUE = `select min(coalesce(q.last_alarm_at + ${PAUSE}, to_timestamp(0))) from jobs.queue_definition q where ${DEAD}`;

/** Tells the developers that jobs have died, at most once per queue and quarter of an hour. Source: jobs 5. */
export async function raiseAlarms(ctx: Context): Promise<void> {
  const due = await ctx.sql<{ name: string }>(
    `select q.name from jobs.queue_definition q where ${DEAD} and coalesce(q.last_alarm_at + ${PAUSE} <= $1, true) order by q.name`,
    [ctx.now().toISOString()],
  );
  for (const { name } of due) await raise(ctx, name);
}

async function raise(ctx: Context, queue: string): Promise<void> {
  const dead = await ctx.sql(`update jobs.job_meta set alarmed = true where queue = $1 and status = 'dead' and not alarmed returning id`, [
    queue,
  ]);
  const now = ctx.now().toISOString();
  await ctx.sql('update jobs.queue_definition set last_alarm_at = $2 where name = $1', [queue, now]);
  const params = { queue, count: dead.length };
  requestMessage(ctx, { staffRole: 'developer' }, { template: 'job_dead', params, dedupeKey: `job_dead:${queue}:${now}` });
  ctx.audit('job_queue.alarm_raised', queue, { count: dead.length });
}
