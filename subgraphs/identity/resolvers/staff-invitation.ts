import { LockMode } from '@mikro-orm/postgresql';
import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Timer } from '../../../runtime/time/clock.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { move } from '../../../runtime/request/states.js';
import { Role, StaffMember, StaffMemberStatus } from '../entities/staff.js';
import { User, UserEmail, UserStatus } from '../entities/user.js';
import { beyond } from '../rules/permissions.js';
import { STAFF } from '../rules/staff.js';
import { acceptLink, endChallenges, findByLink, issueChallenge } from '../commands/challenge.js';
import { grantRole } from './role.js';
import { activeMethods } from '../commands/second-factor.js';
import { powerHeld, renewTokens, staffOf } from '../commands/staff-power.js';

const TEMPLATES = ['staff_invitation'] as const;
const AT_ONCE = 100;

/** The link of an invitation is dead from now on. Needs a transaction. */
export const endInvitation = (ctx: Context, staff: StaffMember): Promise<void> => endChallenges(ctx, 'staff_id', staff.id, TEMPLATES);

/** Has an invitation sent; links of earlier ones are dead. Needs a transaction. */
export async function sendInvitation(ctx: Context, staff: StaffMember): Promise<void> {
  await endInvitation(ctx, staff);
  const { expiresAt } = await issueChallenge(ctx, { template: TEMPLATES[0], to: staff.email, userId: null, staffId: staff.id });
  staff.inviteExpiresAt = expiresAt;
}

/** The entry that a link invites to, whatever has become of it; null for a link that was never sent. Spends nothing. */
export async function invitedBy(ctx: Context, token: string): Promise<{ staff: StaffMember; open: boolean } | null> {
  const challenge = await findByLink(ctx, token, TEMPLATES);
  const staff = challenge?.staffId ? await ctx.em.findOne(StaffMember, { id: challenge.staffId }) : null;
  if (!challenge || !staff) return null;
  return { staff, open: staff.status === StaffMemberStatus.INVITED && challenge.consumedAt === null && challenge.expiresAt > ctx.now() };
}

const INVITED = `
select 1 as invited from identity.user_email e join identity.staff_member s on s.email_key = e.email_key
where e.user_id = $1 and e.verified_at is not null and s.status = 'invited' and s.invite_expires_at > $2`;

/** Whether an open invitation waits for somebody at their proven address. */
export const isInvited = async (ctx: Context, userId: string): Promise<boolean> =>
  (await ctx.sql(INVITED, [userId, ctx.now().toISOString()])).length > 0;

/**
 * The roles are given now, by whom invited: by staff only as far as they hold what is in them at this time. Services may give all.
 * @throws Problem conflict (`inviter_lacks_power`).
 */
async function requireInviter(ctx: Context, { invitedBy: inviter, invitedRoles, brandId }: StaffMember): Promise<void> {
  const [kind, userId] = inviter.split(':');
  if (kind !== 'staff') return;
  const { permissions } = await powerHeld(ctx, userId!, brandId);
  const given = await ctx.em.find(Role, { key: { $in: invitedRoles } });
  if (
    beyond(
      permissions,
      given.flatMap(role => role.permissions),
    ).length
  )
    fail('conflict', 'Who invited may no longer give these roles', { reason: 'inviter_lacks_power' });
}

/** What still keeps somebody from accepting: nobody else's invitation, and no work without a second factor. Source: identity 3, Staff. */
export type Obstacle = 'wrong_account' | 'mfa_required' | 'already_staff';

export async function obstacleOf(ctx: Context, staff: StaffMember, userId: string): Promise<Obstacle | null> {
  const email = await ctx.em.findOne(UserEmail, { userId });
  if (email?.emailKey !== staff.emailKey || email.verifiedAt === null) return 'wrong_account';
  if (await staffOf(ctx, userId)) return 'already_staff';
  return (await activeMethods(ctx, userId)).length === 0 ? 'mfa_required' : null;
}

const TOLD: Readonly<Record<Obstacle, string>> = {
  wrong_account: 'The invitation is for somebody else',
  mfa_required: 'Set up a second factor first',
  already_staff: 'This account works here already',
};

/** The account comes first in the order of locks; it also keeps the last second factor from being removed meanwhile. */
async function lockUser(ctx: Context, userId: string): Promise<void> {
  const user = await ctx.em.findOne(User, { id: userId, status: UserStatus.ACTIVE }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!user) fail('not_found', 'Not found');
}

/**
 * Makes the person who was invited staff, with the roles of the invitation. Needs a transaction.
 * @throws Problem not_found for an unknown link, forbidden (`wrong_account`), conflict (`mfa_required`, `already_staff`, `inviter_lacks_power`,
 * or an invitation that is over).
 */
export async function acceptInvitation(ctx: Context, token: string, userId: string): Promise<StaffMember> {
  const found = await invitedBy(ctx, token);
  if (!found) fail('not_found', 'Not found');
  await lockUser(ctx, userId);
  const staff = await ctx.em.findOneOrFail(StaffMember, { id: found.staff.id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  const obstacle = await obstacleOf(ctx, staff, userId);
  if (obstacle === 'wrong_account') fail('forbidden', TOLD[obstacle], { reason: obstacle });
  const next = move(STAFF, 'staff member', staff.status, 'accept');
  if (obstacle) fail('conflict', TOLD[obstacle], { reason: obstacle });
  await requireInviter(ctx, staff);
  if (!(await acceptLink(ctx, token, TEMPLATES))) fail('conflict', 'The invitation is over', { reason: 'invitation_over' });
  Object.assign(staff, { status: next, userId, acceptedAt: ctx.now() });
  await ctx.em.flush();
  const { brandId, invitedBy: grantedBy } = staff;
  for (const role of staff.invitedRoles) await grantRole(ctx, { userId, role, brandId, grantedBy });
  ctx.audit('staff.accepted', staff.id, { roles: staff.invitedRoles, brand_id: brandId });
  await ctx.em.flush();
  await renewTokens(ctx, [userId]);
  return staff;
}

@Resolver()
export class StaffInvitationResolver {
  @Access({ user: 'read:account', firstParty: true })
  @Mutation(() => StaffMember, { description: 'Accepts an invitation; the caller has its address and a second factor.' })
  acceptStaffInvitation(
    @Rule({ pattern: '^[A-Za-z0-9_-]{20,128}$' }) @Arg('token', () => String) token: string,
    @Ctx() ctx: Context,
  ): Promise<StaffMember> {
    return acceptInvitation(ctx, token, ctx.caller.userId!);
  }
}

/** Invitations that nobody accepted within seven days are over. */
export const invitations: Timer<Context> = {
  name: 'identity.invitations',
  async next(ctx) {
    const [row] = await ctx.sql<{ at: number | null }>(
      "select extract(epoch from min(invite_expires_at))::float8 * 1000 as at from identity.staff_member where status = 'invited'",
    );
    return row?.at == null ? null : new Date(Math.round(row.at));
  },
  async run(ctx, at) {
    const due = await ctx.em.find(
      StaffMember,
      { status: StaffMemberStatus.INVITED, inviteExpiresAt: { $lte: at } },
      { orderBy: { inviteExpiresAt: 'asc', id: 'asc' }, limit: AT_ONCE, lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    for (const staff of due) {
      staff.status = move(STAFF, 'staff member', staff.status, 'expire');
      await endInvitation(ctx, staff);
      ctx.audit('staff.invitation_expired', staff.id);
    }
  },
  everySeconds: 60,
};
