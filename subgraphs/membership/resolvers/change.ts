import { Arg, Ctx, ID, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { changeOwnTier, changing, join, joined } from '../commands/join.js';
import { optOut } from '../commands/opt-out.js';
import { billing, resync } from '../commands/resync.js';
import { changeTier, grant, lapse, suspend, unbilled, unsuspend } from '../commands/staff.js';
import { BUYERS, CHOOSERS, GRANTERS, WRITERS } from '../entities/access.js';
import { Membership } from '../entities/membership.js';
import { MembershipResync } from '../entities/stats.js';
import {
  ChangeMembershipTierInput,
  ChangeMyTierInput,
  GrantMembershipInput,
  JoinMembershipInput,
  LapseMembershipInput,
  SuspendMembershipInput,
  UnsuspendMembershipInput,
} from '../inputs/membership.js';
import { CheckoutSession } from '../stubs.js';

@Resolver()
export class ChangeResolver {
  @Access(BUYERS)
  @Prepare(joined)
  @Mutation(() => CheckoutSession, { description: 'Begins the purchase of a membership.' })
  joinMembership(@Arg('input', () => JoinMembershipInput) input: JoinMembershipInput, @Ctx() ctx: Context): CheckoutSession {
    return join(ctx, input);
  }

  @Access(BUYERS)
  @Prepare(changing)
  @Mutation(() => Membership, { description: 'Changes what one pays for; the tier follows when it is in effect.' })
  changeMyTier(@Arg('input', () => ChangeMyTierInput) input: ChangeMyTierInput, @Ctx() ctx: Context): Promise<Membership> {
    return changeOwnTier(ctx, input);
  }

  @Access(CHOOSERS)
  @Mutation(() => Membership, { description: 'Ends the campaign for oneself, and lets none begin again.' })
  optOutOfWinBack(
    @Rule({ pattern: UUID })
    @Arg('brandId', () => ID, { nullable: true, description: "Default: the token's, or the only one that one was a member of." })
    brandId: string | null,
    @Ctx() ctx: Context,
  ): Promise<Membership> {
    return optOut(ctx, brandId);
  }

  @Access(GRANTERS)
  @Mutation(() => Membership, { description: 'Makes somebody a member for nothing.' })
  grantMembership(@Arg('input', () => GrantMembershipInput) input: GrantMembershipInput, @Ctx() ctx: Context): Promise<Membership> {
    return grant(ctx, input);
  }

  @Access(WRITERS)
  @Mutation(() => Membership, { description: 'Holds access for a reason of staff.' })
  suspendMembership(@Arg('input', () => SuspendMembershipInput) input: SuspendMembershipInput, @Ctx() ctx: Context): Promise<Membership> {
    return suspend(ctx, input.id, input.reason);
  }

  @Access(WRITERS)
  @Mutation(() => Membership, { description: 'Takes the reason of staff away; others stand.' })
  unsuspendMembership(
    @Arg('input', () => UnsuspendMembershipInput) input: UnsuspendMembershipInput,
    @Ctx() ctx: Context,
  ): Promise<Membership> {
    return unsuspend(ctx, input.id, input.reason ?? null);
  }

  @Access(WRITERS)
  @Prepare(unbilled)
  @Mutation(() => Membership, { description: 'Ends a membership, and at payments what bills it.' })
  lapseMembership(@Arg('input', () => LapseMembershipInput) input: LapseMembershipInput, @Ctx() ctx: Context): Promise<Membership> {
    return lapse(ctx, input);
  }

  @Access(WRITERS)
  @Mutation(() => Membership, { description: 'Moves a member to another tier, whatever is paid for.' })
  changeMembershipTier(
    @Arg('input', () => ChangeMembershipTierInput) input: ChangeMembershipTierInput,
    @Ctx() ctx: Context,
  ): Promise<Membership> {
    return changeTier(ctx, input);
  }

  @Access(WRITERS)
  @Prepare(billing)
  @Mutation(() => MembershipResync, { description: 'Brings a user to what payments knows. Again: nothing differs.' })
  resyncMembership(@Rule({ pattern: UUID }) @Arg('userId', () => ID) userId: string, @Ctx() ctx: Context): Promise<MembershipResync> {
    return resync(ctx, userId);
  }
}
