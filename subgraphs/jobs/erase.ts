import type { Context } from '../../runtime/request/context.js';
import type { ErasureOutcome, ErasureRequest } from '../../runtime/erasure/erasure.js';
import { cancelAtWorker } from '../../runtime/jobs/hints.js';
import { releaseHeld, schedulesOf } from '../../runtime/jobs/pg-boss.js';
import { engineOf } from './ports/engine.js';

/** Jobs that are about the user, by their column or by what they carry. */
const OF_USER = `(user_id = $1 or payload::text like '%' || $1 || '%' or output::text like '%' || $1 || '%'
  or group_key like '%' || $1 || '%' or dedupe_key like '%' || $1 || '%' or requested_by like '%' || $1)`;

interface Found {
  id: string;
  queue: string;
  status: string;
  schedule_key: string | null;
}

/** Waiting jobs end, running ones are told to, and nothing that any of them carried stays. Source: jobs 5. */
export async function erase(ctx: Context, { userId, scope }: ErasureRequest): Promise<ErasureOutcome> {
  if (scope !== 'full') return { outcome: 'nothing_held', records: {} };
  const user = userId.toLowerCase();
  const found = await ctx.sql<Found>(`select id, queue, status, schedule_key from jobs.job_meta where ${OF_USER} order by id for update`, [
    user,
  ]);
  if (found.length) await wipe(ctx, found, user);
  const schedules = await ctx.sql(
    `delete from jobs.schedule where source = 'operator' and payload::text like '%' || $1 || '%' returning 1`,
    [user],
  );
  const held = found.length + schedules.length > 0;
  return { outcome: held ? 'erased' : 'nothing_held', records: { job_meta: found.length, schedule: schedules.length } };
}

async function wipe(ctx: Context, found: readonly Found[], user: string): Promise<void> {
  const ids = found.map(job => job.id);
  const waiting = found.filter(job => ['scheduled', 'queued', 'retrying'].includes(job.status));
  await engineOf(ctx.host).forget(ctx.sql, ids);
  await ctx.sql(
    `update jobs.job_meta set payload = null, output = null, user_id = null, error_message = null, progress_message = null, progress_step = null,
       dedupe_key = null, group_key = null, held = false,
       requested_by = case when requested_by like '%' || $2 then 'user:erased' else requested_by end,
       finished_at = case when status in ('scheduled', 'queued', 'retrying') then clock_timestamp() else finished_at end,
       cancel_requested_at = case when status = 'running' then clock_timestamp() else cancel_requested_at end,
       status = case when status in ('scheduled', 'queued', 'retrying') then 'cancelled' when status = 'running' then 'cancelling' else status end
     where id = any($1)`,
    [ids, user],
  );
  await ctx.sql('delete from jobs.job_log where job_id = any($1)', [ids]);
  for (const key of schedulesOf(waiting)) await releaseHeld(ctx.sql, key);
  for (const job of found.filter(one => one.status === 'running')) cancelAtWorker(ctx, job.queue, job.id);
}
