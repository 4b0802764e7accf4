import type { Context } from '../../runtime/request/context.js';
import type { Timer } from '../../runtime/time/clock.js';
import { DAY_MS } from '../../runtime/time/durations.js';
import { earliest } from '../../runtime/time/due.js';
import { sweepTimer } from '../../runtime/time/schedule.js';
import { checkFiles } from './commands/file-check.js';
import { enforceDue } from './commands/policy.js';
import { publishDue } from './commands/release.js';

const NEXT_RELEASE = "select publish_at as at from content.content_release where status = 'SCHEDULED' order by publish_at limit 1";
const NEXT_POLICY = 'select effective_at as at from content.policy_version where not in_force order by effective_at limit 1';

export const timers: readonly Timer<Context>[] = [
  /** Within 5 s of its time. Source: content, rule 9. */
  { name: 'content-releases', everySeconds: 2, next: earliest(NEXT_RELEASE), run: publishDue },
  { name: 'content-policies', everySeconds: 5, next: earliest(NEXT_POLICY), run: enforceDue },
  sweepTimer({ name: 'content-files', everyMs: DAY_MS, run: checkFiles }),
];
