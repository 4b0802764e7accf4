import { Arg, Ctx, ID, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { acceptInvitation } from '../commands/staff-invitation.js';
import { inviteStaff, removeStaff, resendInvitation, revokeInvitation, suspendStaff, updateStaff } from '../commands/staff.js';
import { StaffMember } from '../entities/staff.js';
import { InviteStaffInput, RemoveStaffInput, SuspendStaffInput, UpdateStaffInput } from '../inputs/staff.js';

const STAFFS = { service: 'admin:identity', staff: 'admin:identity:staff' } as const;

@Resolver()
export class StaffAdministrationResolver {
  @Access(STAFFS)
  @Mutation(() => StaffMember, { description: 'Asks somebody to work here; the invitation goes to the address and lives for seven days.' })
  inviteStaff(@Arg('input', () => InviteStaffInput) input: InviteStaffInput, @Ctx() ctx: Context): Promise<StaffMember> {
    return inviteStaff(ctx, input);
  }

  @Access(STAFFS)
  @Mutation(() => StaffMember, { description: 'Sends a new invitation; the link of the old one is dead.' })
  resendStaffInvitation(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<StaffMember> {
    return resendInvitation(ctx, id);
  }

  @Access(STAFFS)
  @Mutation(() => StaffMember, { description: 'Takes an invitation back; its link is dead.' })
  revokeStaffInvitation(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<StaffMember> {
    return revokeInvitation(ctx, id);
  }

  @Access({ user: 'read:account', firstParty: true })
  @Mutation(() => StaffMember, { description: 'Accepts an invitation; the caller has its address and a second factor.' })
  acceptStaffInvitation(
    @Rule({ pattern: '^[A-Za-z0-9_-]{20,128}$' }) @Arg('token', () => String) token: string,
    @Ctx() ctx: Context,
  ): Promise<StaffMember> {
    return acceptInvitation(ctx, token, ctx.caller.userId!);
  }

  @Access(STAFFS)
  @Mutation(() => StaffMember, { description: 'Changes an entry, or ends a suspension.' })
  updateStaff(@Arg('input', () => UpdateStaffInput) input: UpdateStaffInput, @Ctx() ctx: Context): Promise<StaffMember> {
    return updateStaff(ctx, input);
  }

  @Access(STAFFS)
  @Mutation(() => StaffMember, { description: 'Takes somebody off duty; roles stay, power is gone at once.' })
  suspendStaff(@Arg('input', () => SuspendStaffInput) input: SuspendStaffInput, @Ctx() ctx: Context): Promise<StaffMember> {
    return suspendStaff(ctx, input);
  }

  @Access(STAFFS)
  @Mutation(() => StaffMember, { description: "Ends somebody's work here: the entry is final, the roles are gone." })
  removeStaff(@Arg('input', () => RemoveStaffInput) input: RemoveStaffInput, @Ctx() ctx: Context): Promise<StaffMember> {
    return removeStaff(ctx, input);
  }
}
