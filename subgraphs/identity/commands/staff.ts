import { isUuid } from '../../../runtime/data/ids.js';
import { findRow, lockRow, requireVersion } from '../../../runtime/data/rows.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { move } from '../../../runtime/request/states.js';
import { StaffMember, StaffMemberStatus } from '../entities/staff.js';
import { UserEmail } from '../entities/user.js';
import type { InviteStaffInput, RemoveStaffInput, SuspendStaffInput, UpdateStaffInput } from '../inputs/staff.js';
import { heldRoles, rolesNamed, staffOf } from '../queries/staff-power.js';
import { given } from '../rules/changes.js';
import { emailKey } from '../rules/emails.js';
import { resendWait, STAFF, type StaffTrigger } from '../rules/staff.js';
import { takeLimit } from './count-limit.js';
import { endInvitation, sendInvitation } from './staff-invitation.js';
import { dismiss, guardLastOwner, refuseOneself, renewTokens, requirePower } from './staff-power.js';

/** An entry that somebody else's work is about, locked. @throws Problem not_found, forbidden for the own one. */
async function lockedEntry(ctx: Context, id: string): Promise<StaffMember> {
  const staff = await lockRow(ctx, StaffMember, { id });
  refuseOneself(ctx, staff.userId);
  return staff;
}

function advance(staff: StaffMember, trigger: StaffTrigger): void {
  staff.status = move(STAFF, 'staff member', staff.status, trigger);
}

/** The lock of the owners comes before that of the entry, as everywhere. */
async function guardOwner(ctx: Context, id: string): Promise<void> {
  const found = await findRow(ctx, StaffMember, { id });
  if (found?.userId) await guardLastOwner(ctx, found.userId);
  ctx.em.clear();
}

/** @throws Problem rate_limited: 50 an hour for each inviter. A refused invitation does not count. Source: identity 4.16. */
async function countInvitation(ctx: Context): Promise<void> {
  const retryAfter = await takeLimit(ctx, 'staff_invite_per_inviter', actorOf(ctx.caller));
  if (retryAfter !== null) fail('rate_limited', 'You have invited many people within the hour', { retryAfter });
}

/** @throws Problem conflict when the address belongs to an open invitation, or to somebody who works here under it or another one. */
async function refuseTwice(ctx: Context, email: string): Promise<void> {
  const { INVITED, ACTIVE, SUSPENDED } = StaffMemberStatus;
  const open = await ctx.em.findOne(StaffMember, { emailKey: emailKey(email), status: { $in: [INVITED, ACTIVE, SUSPENDED] } });
  const account = await ctx.em.findOne(UserEmail, { emailKey: emailKey(email) });
  const standing = open ?? (account && (await staffOf(ctx, account.userId)));
  if (standing) fail('conflict', `There is an entry that is ${standing.status}`, { reason: 'staff_exists' });
}

/** @throws Problem invalid_request for a role that does not exist, forbidden for one that holds more than the caller does. */
async function requireGivable(ctx: Context, roles: readonly string[], field: string): Promise<void> {
  const named = await rolesNamed(ctx, roles, index => `/${field}/${index}`);
  const permissions = named.flatMap(role => role.permissions);
  requirePower(ctx, permissions);
}

/** Asks somebody to work here. @throws Problem rate_limited, invalid_request, forbidden, conflict (`staff_exists`). */
export async function inviteStaff(ctx: Context, input: InviteStaffInput): Promise<StaffMember> {
  await countInvitation(ctx);
  const { email, roles, brandId = null, ...shown } = input;
  if (brandId !== null && !isUuid(brandId)) invalid('/input/brandId', 'must be a UUID');
  await requireGivable(ctx, roles, 'input/roles');
  await refuseTwice(ctx, email);
  const invitedRoles = [...new Set(roles)].sort();
  const invitation = { invitedRoles, invitedBy: actorOf(ctx.caller), invitedAt: ctx.now() };
  const row = { email, emailKey: emailKey(email), brandId, ...given(shown), ...invitation };
  const staff = ctx.em.create(StaffMember, row, { partial: true });
  ctx.em.persist(staff);
  await ctx.em.flush();
  await sendInvitation(ctx, staff);
  ctx.audit('staff.invited', staff.id, { roles: invitedRoles, brand_id: brandId });
  return staff;
}

/** Sends a new invitation; the link of the old one is dead. @throws Problem not_found, forbidden, conflict, rate_limited. */
export async function resendInvitation(ctx: Context, id: string): Promise<StaffMember> {
  const staff = await lockedEntry(ctx, id);
  advance(staff, 'resend');
  await requireGivable(ctx, staff.invitedRoles, 'invitedRoles');
  const retryAfter = resendWait(staff.inviteExpiresAt!, ctx.now());
  if (retryAfter) fail('rate_limited', 'The invitation went out less than a minute ago', { retryAfter });
  staff.invitedBy = actorOf(ctx.caller); // who vouches for the roles now
  await sendInvitation(ctx, staff);
  ctx.audit('staff.invitation_resent', staff.id);
  return staff;
}

/** Takes an invitation back; its link is dead. @throws Problem not_found, forbidden, conflict. */
export async function revokeInvitation(ctx: Context, id: string): Promise<StaffMember> {
  const staff = await lockedEntry(ctx, id);
  advance(staff, 'revoke');
  await endInvitation(ctx, staff);
  ctx.audit('staff.invitation_revoked', staff.id);
  return staff;
}

/** An invitation that nobody accepted in time is over. */
export async function expireInvitation(ctx: Context, staff: StaffMember): Promise<void> {
  advance(staff, 'expire');
  await endInvitation(ctx, staff);
  ctx.audit('staff.invitation_expired', staff.id);
}

/** Power comes back with the status, so that it is given only by those who hold it. */
async function activate(ctx: Context, staff: StaffMember): Promise<void> {
  advance(staff, 'activate');
  const held = await heldRoles(ctx, staff.userId!);
  const permissions = held.flatMap(role => role.permissions);
  requirePower(ctx, permissions);
  staff.statusReason = null;
  await ctx.em.flush();
  await renewTokens(ctx, [staff.userId!]);
}

/** Changes an entry, or ends a suspension. @throws Problem invalid_request, not_found, forbidden, conflict. */
export async function updateStaff(ctx: Context, input: UpdateStaffInput): Promise<StaffMember> {
  const { id, status, visibleInTeam, version, ...texts } = input;
  if (status != null && status !== StaffMemberStatus.ACTIVE) invalid('/input/status', 'must be active');
  const staff = await lockedEntry(ctx, id);
  requireVersion(staff, version);
  if (status != null && staff.status !== StaffMemberStatus.ACTIVE) await activate(ctx, staff);
  Object.assign(staff, given(texts), visibleInTeam != null && { visibleInTeam });
  ctx.audit('staff.changed', staff.id, { fields: Object.keys(given(input)).filter(name => name !== 'id') });
  return staff;
}

/** Takes somebody off duty; roles stay, power is gone at once. @throws Problem not_found, forbidden, conflict (`last_owner`). */
export async function suspendStaff(ctx: Context, { id, reason = null }: SuspendStaffInput): Promise<StaffMember> {
  await guardOwner(ctx, id);
  const staff = await lockedEntry(ctx, id);
  advance(staff, 'suspend');
  staff.statusReason = reason;
  ctx.audit('staff.suspended', staff.id);
  await ctx.em.flush();
  await renewTokens(ctx, [staff.userId!]);
  return staff;
}

/** Ends somebody's work here: the entry is final, the roles are gone. @throws Problem not_found, forbidden, conflict (`last_owner`). */
export async function removeStaff(ctx: Context, { id, reason = null }: RemoveStaffInput): Promise<StaffMember> {
  await guardOwner(ctx, id);
  const staff = await lockedEntry(ctx, id);
  staff.statusReason = reason;
  await dismiss(ctx, staff);
  await renewTokens(ctx, [staff.userId!]);
  return staff;
}
