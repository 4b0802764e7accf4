import { FOR_UPDATE } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Timer } from '../../../runtime/time/clock.js';
import { forgetPending } from '../commands/account.js';
import { endSuspension } from '../commands/moderation.js';
import { expireInvitation } from '../commands/staff.js';
import { ModerationAction } from '../entities/moderation.js';
import { StaffMember, StaffMemberStatus } from '../entities/staff.js';
import { earliest } from './due.js';

const AT_ONCE = 100;

/** Source: identity 3, User. */
const UNPROVEN = `interval '168 hours'`;
const UNPROVEN_AT_ONCE = 500;

const DUE_UNPROVEN = `
select id from identity."user" where status = 'pending' and created_at + ${UNPROVEN} <= $1 order by created_at limit ${UNPROVEN_AT_ONCE}`;

/** Accounts that were never proven are gone after seven days. */
const unproven: Timer<Context> = {
  name: 'identity.unproven_accounts',
  next: ctx => earliest(ctx, `select min(created_at) + ${UNPROVEN} as at from identity."user" where status = 'pending'`),
  async run(ctx, at) {
    const rows = await ctx.sql<{ id: string }>(DUE_UNPROVEN, [at.toISOString()]);
    await forgetPending(
      ctx,
      rows.map(row => row.id),
    );
  },
  everySeconds: 60,
};

/** Opens accounts whose suspension is over. */
const suspensions: Timer<Context> = {
  name: 'identity.suspensions',
  next: ctx => earliest(ctx, 'select min(until) as at from identity.moderation_action where ended_at is null and until is not null'),
  async run(ctx, at) {
    const due = await ctx.em.find(ModerationAction, { endedAt: null, until: { $lte: at } }, { orderBy: { until: 'asc' }, limit: AT_ONCE });
    for (const action of due) await endSuspension(ctx, action);
  },
  everySeconds: 5,
};

/** Invitations that nobody accepted within seven days are over. */
const invitations: Timer<Context> = {
  name: 'identity.invitations',
  next: ctx => earliest(ctx, "select min(invite_expires_at) as at from identity.staff_member where status = 'invited'"),
  async run(ctx, at) {
    const due = await ctx.em.find(
      StaffMember,
      { status: StaffMemberStatus.INVITED, inviteExpiresAt: { $lte: at } },
      { orderBy: { inviteExpiresAt: 'asc', id: 'asc' }, limit: AT_ONCE, ...FOR_UPDATE },
    );
    for (const staff of due) await expireInvitation(ctx, staff);
  },
  everySeconds: 60,
};

export const accountTimers: readonly Timer<Context>[] = [suspensions, invitations, unproven];
