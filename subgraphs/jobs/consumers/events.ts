import { v5 } from 'uuid';
import { doseReminderScheduled } from '../../../events/catalogue/clinical.js';
import { externalSyncCompleted } from '../../../events/catalogue/partner.js';
import { handle, type Consumer } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { enqueue } from '../../../runtime/jobs/enqueue.js';
import { doseReminderWatch } from '../workers/queues.js';

/** When a reminder that nobody has sent is late. Source: jobs 5. */
const LATE_MS = 15 * 60_000;
const WATCHDOGS = '3f0c6a3e-6d0c-5e0b-8f0a-2a4f3b9c1d10';

const reminder = handle(doseReminderScheduled, async (ctx: Context, { user_id: userId, data }) => {
  await enqueue(
    ctx,
    doseReminderWatch,
    { reminder_id: data.reminder_id, protocol_id: data.protocol_id },
    { id: v5(data.reminder_id, WATCHDOGS), userId: userId!, runAt: new Date(new Date(data.scheduled_for).getTime() + LATE_MS) },
  );
});

/** Each run once, and none after a later one. */
const SYNCED = `
update jobs.schedule set last_status = $2, last_sync_run = $3, last_sync_at = $4 where split_part(key, '.', 1) = 'partner' and payload->>'entity' = $1
  and (last_sync_at is null or (last_sync_at < $4 and last_sync_run <> $3))`;

/** The run itself says how it ended; the job that began it only knows that it began. */
const sync = handle(externalSyncCompleted, async (ctx: Context, { data, occurred_at: at }) => {
  await ctx.sql(SYNCED, [data.entity, data.status, data.run_id, at]);
});

export const consumers: readonly Consumer<Context>[] = [
  { name: 'jobs.reminders', on: [reminder] },
  { name: 'jobs.syncs', on: [sync], partitions: 1 },
];
