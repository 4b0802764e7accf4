import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { lockRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import type { Problem } from '../../../runtime/request/errors.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { TwoPhase } from '../../../runtime/request/two-phase.js';
import { pauseByStaff, resumed, resumeTerms, resuming } from '../commands/subscription-rest.js';
import { endingByStaff, refundTerms } from '../commands/subscription-refund.js';
import { staffWith } from '../entities/access.js';
import { BillingSubscription } from '../entities/subscription.js';
import {
  AdminCancelBillingSubscriptionInput,
  AdminPauseBillingSubscriptionInput,
  AdminResumeBillingSubscriptionInput,
} from '../inputs/subscription.js';

const WRITERS = staffWith('subscription:write');

@Resolver(() => BillingSubscription)
export class StaffSubscriptionResolver {
  @Access(WRITERS)
  @Prepare(refundTerms)
  @TwoPhase(endingByStaff)
  @Mutation(() => BillingSubscription, {
    description: 'Ends a subscription, and may give back what was paid last, all or what is not used.',
  })
  adminCancelBillingSubscription(
    @Arg('input', () => AdminCancelBillingSubscriptionInput) _input: AdminCancelBillingSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<BillingSubscription> {
    return lockRow(ctx, BillingSubscription, { id: endingByStaff.of(ctx).intent.id });
  }

  @Access(WRITERS)
  @Mutation(() => BillingSubscription, { description: 'Pauses up to a year, also what is past due where its invoices are voided.' })
  adminPauseBillingSubscription(
    @Arg('input', () => AdminPauseBillingSubscriptionInput) input: AdminPauseBillingSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<BillingSubscription> {
    return pauseByStaff(ctx, input);
  }

  @Access(WRITERS)
  @Prepare(resumeTerms)
  @TwoPhase(resuming)
  @Mutation(() => BillingSubscription, { description: 'Resumes, also where something is overdue, which is then voided.' })
  adminResumeBillingSubscription(
    @Arg('input', () => AdminResumeBillingSubscriptionInput) _input: AdminResumeBillingSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<BillingSubscription | Problem> {
    return resumed(ctx);
  }
}
