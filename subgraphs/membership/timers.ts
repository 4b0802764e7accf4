import type { Context } from '../../runtime/request/context.js';
import type { Timer } from '../../runtime/time/clock.js';
import { earliest } from '../../runtime/time/due.js';
import { lockMember } from './commands/facts.js';
import { refold } from './commands/refold.js';

/** Members in one transaction; their events stay far below what one may emit. */
const AT_ONCE = 100;

const NEXT = 'select due_at as at from membership.membership where due_at is not null order by due_at limit 1';
const DUE = 'select user_id from membership.membership where due_at <= $1 order by due_at limit $2';

/** Grace, comps, days as a member and campaigns: whatever time alone changes. Source: membership 7.9. */
export const timers: readonly Timer<Context>[] = [
  {
    name: 'membership-due',
    next: earliest(NEXT),
    run: async (ctx, at) => {
      const due = await ctx.sql<{ user_id: string }>(DUE, [at.toISOString(), AT_ONCE]);
      const users = [...new Set(due.map(row => row.user_id))].sort();
      for (const userId of users) await lockMember(ctx, userId);
      for (const userId of users) await refold(ctx, userId);
    },
  },
];
