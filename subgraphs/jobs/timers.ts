import type { Context } from '../../runtime/request/context.js';
import type { Timer } from '../../runtime/time/clock.js';
import { earliest } from '../../runtime/time/due.js';
import { ALARMS_DUE, raiseAlarms } from './commands/alarms.js';
import { queueDueJobs, WAITS_FOR_TIME } from './commands/job.js';
import { sendDueOccurrences } from './commands/occurrences.js';

const NEXT_DUE = `select least((select min(next_run_at) from jobs.schedule where status = 'active'),
  (select m.run_at from jobs.job_meta m where ${WAITS_FOR_TIME} order by m.run_at limit 1), (${ALARMS_DUE})) as at`;

/** All that time alone does here in one timer, so that an idle process keeps one connection for it. */
const due: Timer<Context> = {
  name: 'jobs.due',
  everySeconds: 1,
  next: earliest(NEXT_DUE),
  run: async ctx => {
    await queueDueJobs(ctx);
    await sendDueOccurrences(ctx);
    await raiseAlarms(ctx);
  },
};

export const timers: readonly Timer<Context>[] = [due];
