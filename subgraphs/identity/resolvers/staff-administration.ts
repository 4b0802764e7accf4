import { LockMode } from '@mikro-orm/postgresql';
import { Arg, Ctx, ID, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { move } from '../../../runtime/request/states.js';
import { StaffMember, StaffMemberStatus } from '../entities/staff.js';
import { UserEmail } from '../entities/user.js';
import { InviteStaffInput, RemoveStaffInput, SuspendStaffInput, UpdateStaffInput } from '../inputs/staff.js';
import { resendWait, STAFF, type StaffTrigger } from '../rules/staff.js';
import { emailKey } from '../rules/visibility.js';
import { takeLimit } from '../commands/count-limit.js';
import { rolesNamed } from './role.js';
import { endInvitation, sendInvitation } from './staff-invitation.js';
import { dismiss, guardLastOwner, heldRoles, refuseOneself, renewTokens, requirePower, staffOf } from '../commands/staff-power.js';
import { requireVersion } from '../../../runtime/data/rows.js';

const STAFFS = { service: 'admin:identity', staff: 'admin:identity:staff' } as const;

/** An entry that somebody else's work is about, locked. @throws Problem not_found, forbidden for the own one. */
async function locked(ctx: Context, id: string): Promise<StaffMember> {
  const staff = isUuid(id) ? await ctx.em.findOne(StaffMember, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
  if (!staff) fail('not_found', 'Not found');
  refuseOneself(ctx, staff.userId);
  return staff;
}

function advance(staff: StaffMember, trigger: StaffTrigger): void {
  staff.status = move(STAFF, 'staff member', staff.status, trigger);
}

/** The lock of the owners comes before that of the entry, as everywhere. */
async function guardOwner(ctx: Context, id: string): Promise<void> {
  const found = isUuid(id) ? await ctx.em.findOne(StaffMember, { id }) : null;
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

const given = <Values extends object>(values: Values): Partial<Values> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<Values>;

@Resolver()
export class StaffAdministrationResolver {
  @Access(STAFFS)
  @Mutation(() => StaffMember, { description: 'Asks somebody to work here; the invitation goes to the address and lives for seven days.' })
  async inviteStaff(@Arg('input', () => InviteStaffInput) input: InviteStaffInput, @Ctx() ctx: Context): Promise<StaffMember> {
    await countInvitation(ctx);
    if (input.brandId != null && !isUuid(input.brandId)) invalid('/input/brandId', 'must be a UUID');
    const keys = [...new Set(input.roles)].sort();
    const roles = await rolesNamed(ctx, input.roles, index => `/input/roles/${index}`);
    requirePower(
      ctx,
      roles.flatMap(role => role.permissions),
    );
    await refuseTwice(ctx, input.email);
    const { email, brandId = null, displayName = null, title = null, department = null, message = null } = input;
    const row = {
      email,
      emailKey: emailKey(email),
      brandId,
      displayName,
      title,
      department,
      message,
      invitedRoles: keys,
      invitedBy: actorOf(ctx.caller),
      invitedAt: ctx.now(),
    };
    const staff = ctx.em.create(StaffMember, row as never, { partial: true });
    ctx.em.persist(staff);
    await ctx.em.flush();
    await sendInvitation(ctx, staff);
    ctx.audit('staff.invited', staff.id, { roles: keys, brand_id: brandId });
    return staff;
  }

  @Access(STAFFS)
  @Mutation(() => StaffMember, { description: 'Sends a new invitation; the link of the old one is dead.' })
  async resendStaffInvitation(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<StaffMember> {
    const staff = await locked(ctx, id);
    advance(staff, 'resend');
    const roles = await rolesNamed(ctx, staff.invitedRoles, index => `/invitedRoles/${index}`);
    requirePower(
      ctx,
      roles.flatMap(role => role.permissions),
    );
    const retryAfter = resendWait(staff.inviteExpiresAt!, ctx.now());
    if (retryAfter) fail('rate_limited', 'The invitation went out less than a minute ago', { retryAfter });
    staff.invitedBy = actorOf(ctx.caller); // who vouches for the roles now
    await sendInvitation(ctx, staff);
    ctx.audit('staff.invitation_resent', staff.id);
    return staff;
  }

  @Access(STAFFS)
  @Mutation(() => StaffMember, { description: 'Takes an invitation back; its link is dead.' })
  async revokeStaffInvitation(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<StaffMember> {
    const staff = await locked(ctx, id);
    advance(staff, 'revoke');
    await endInvitation(ctx, staff);
    ctx.audit('staff.invitation_revoked', staff.id);
    return staff;
  }

  @Access(STAFFS)
  @Mutation(() => StaffMember, { description: 'Changes an entry, or ends a suspension.' })
  async updateStaff(@Arg('input', () => UpdateStaffInput) input: UpdateStaffInput, @Ctx() ctx: Context): Promise<StaffMember> {
    const { id, status, visibleInTeam, version, ...texts } = input;
    if (status != null && status !== StaffMemberStatus.ACTIVE) invalid('/input/status', 'must be active');
    const staff = await locked(ctx, id);
    requireVersion(staff, version);
    if (status != null && staff.status !== StaffMemberStatus.ACTIVE) await this.#activate(ctx, staff);
    Object.assign(staff, given(texts), visibleInTeam != null && { visibleInTeam });
    ctx.audit('staff.changed', staff.id, { fields: Object.keys(given(input)).filter(name => name !== 'id') });
    return staff;
  }

  /** Power comes back with the status, so that it is given only by those who hold it. */
  async #activate(ctx: Context, staff: StaffMember): Promise<void> {
    advance(staff, 'activate');
    const held = await heldRoles(ctx, staff.userId!);
    requirePower(
      ctx,
      held.flatMap(role => role.permissions),
    );
    staff.statusReason = null;
    await ctx.em.flush();
    await renewTokens(ctx, [staff.userId!]);
  }

  @Access(STAFFS)
  @Mutation(() => StaffMember, { description: 'Takes somebody off duty; roles stay, power is gone at once.' })
  async suspendStaff(
    @Arg('input', () => SuspendStaffInput) { id, reason = null }: SuspendStaffInput,
    @Ctx() ctx: Context,
  ): Promise<StaffMember> {
    await guardOwner(ctx, id);
    const staff = await locked(ctx, id);
    advance(staff, 'suspend');
    staff.statusReason = reason;
    ctx.audit('staff.suspended', staff.id);
    await ctx.em.flush();
    await renewTokens(ctx, [staff.userId!]);
    return staff;
  }

  @Access(STAFFS)
  @Mutation(() => StaffMember, { description: "Ends somebody's work here: the entry is final, the roles are gone." })
  async removeStaff(
    @Arg('input', () => RemoveStaffInput) { id, reason = null }: RemoveStaffInput,
    @Ctx() ctx: Context,
  ): Promise<StaffMember> {
    await guardOwner(ctx, id);
    const staff = await locked(ctx, id);
    staff.statusReason = reason;
    await dismiss(ctx, staff);
    await renewTokens(ctx, [staff.userId!]);
    return staff;
  }
}
