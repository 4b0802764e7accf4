import { FOR_UPDATE, lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { move } from '../../../runtime/request/states.js';
import { Role } from '../entities/role.js';
import { StaffMember } from '../entities/staff.js';
import { User, UserStatus } from '../entities/user.js';
import { invitedBy, type Obstacle, obstacleOf } from '../queries/staff-invitation.js';
import { powerHeld } from '../queries/staff-power.js';
import { beyond } from '../rules/permissions.js';
import { STAFF } from '../rules/staff.js';
import { acceptLink, endChallenges, issueChallenge } from './challenge.js';
import { grantRole } from './role.js';
import { renewTokens } from './staff-power.js';

const TEMPLATES = ['staff_invitation'] as const;

/** The link of an invitation is dead from now on. Needs a transaction. */
export const endInvitation = (ctx: Context, staff: StaffMember): Promise<void> => endChallenges(ctx, 'staff_id', staff.id, TEMPLATES);

/** Has an invitation sent; links of earlier ones are dead. Needs a transaction. */
export async function sendInvitation(ctx: Context, staff: StaffMember): Promise<void> {
  await endInvitation(ctx, staff);
  const { expiresAt } = await issueChallenge(ctx, { template: TEMPLATES[0], to: staff.email, userId: null, staffId: staff.id });
  staff.inviteExpiresAt = expiresAt;
}

/**
 * The roles are given now, by whom invited: by staff only as far as they hold what is in them at this time. Services may give all.
 * @throws Problem conflict (`inviter_lacks_power`).
 */
async function requireInviter(ctx: Context, { invitedBy: inviter, invitedRoles, brandId }: StaffMember): Promise<void> {
  const [kind, userId] = inviter.split(':');
  if (kind !== 'staff') return;
  const { permissions } = await powerHeld(ctx, userId!, brandId);
  const given = await ctx.em.find(Role, { key: { $in: invitedRoles } });
  const wanted = given.flatMap(role => role.permissions);
  if (beyond(permissions, wanted).length) fail('conflict', 'Who invited may no longer give these roles', { reason: 'inviter_lacks_power' });
}

const DETAILS: Readonly<Record<Obstacle, string>> = {
  wrong_account: 'The invitation is for somebody else',
  mfa_required: 'Set up a second factor first',
  already_staff: 'This account works here already',
};

/** The account comes first in the order of locks; it also keeps the last second factor from being removed meanwhile. */
async function lockUser(ctx: Context, userId: string): Promise<void> {
  await lockRow(ctx, User, { id: userId, status: UserStatus.ACTIVE });
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
  const staff = await ctx.em.findOneOrFail(StaffMember, { id: found.staff.id }, { ...FOR_UPDATE, refresh: true });
  const obstacle = await obstacleOf(ctx, staff, userId);
  if (obstacle === 'wrong_account') fail('forbidden', DETAILS[obstacle], { reason: obstacle });
  const next = move(STAFF, 'staff member', staff.status, 'accept');
  if (obstacle) fail('conflict', DETAILS[obstacle], { reason: obstacle });
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
