import { v5 } from 'uuid';
import { doseReminderScheduled } from '../../events/catalogue/clinical.js';
import { externalSyncCompleted } from '../../events/catalogue/partner.js';
import { handle, type Consumer } from '../../events/consumer.js';
import type { Context } from '../../runtime/request/context.js';
import { enqueue } from '../../runtime/jobs/enqueue.js';
import { after, MINUTE_MS } from '../../runtime/time/durations.js';
import { noteSync } from './commands/schedule.js';
import { doseReminderWatch } from './workers/queues.js';

/** When a reminder that nobody has sent is late. Source: jobs 5. */
const LATE_MS = 15 * MINUTE_MS;
/** Name space of the ids of watchdogs, so that an event that comes twice enqueues one. */
const WATCHDOGS = '3f0c6a3e-6d0c-5e0b-8f0a-2a4f3b9c1d10';

const reminder = handle(doseReminderScheduled, async (ctx: Context, { user_id: userId, data }) => {
  const { reminder_id, protocol_id, scheduled_for } = data;
  const runAt = after(new Date(scheduled_for), LATE_MS);
  await enqueue(ctx, doseReminderWatch, { reminder_id, protocol_id }, { id: v5(reminder_id, WATCHDOGS), userId: userId!, runAt });
});

const sync = handle(externalSyncCompleted, (ctx: Context, { data, occurred_at: at }) => noteSync(ctx, data, at));

export const consumers: readonly Consumer<Context>[] = [
  { name: 'jobs.reminders', on: [reminder] },
  { name: 'jobs.syncs', on: [sync], partitions: 1 },
];
