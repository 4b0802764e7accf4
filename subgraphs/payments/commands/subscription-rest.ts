import type { Context } from '../../../runtime/request/context.js';
import type { Problem } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { twoPhases } from '../../../runtime/request/two-phase.js';
import { lockRow } from '../../../runtime/data/rows.js';
import { BillingSubscription } from '../entities/subscription.js';
import {
  BillingEffective,
  type AdminPauseBillingSubscriptionInput,
  type AdminResumeBillingSubscriptionInput,
  type PauseBillingSubscriptionInput,
  type PauseMyBillingSubscriptionInput,
  type ResumeBillingSubscriptionInput,
} from '../inputs/subscription.js';
import { brandTerms, type BrandTerms } from '../ports/brand-terms.js';
import { applyCharged, callInvoice, declineOf } from './invoice-charging.js';
import { lockOwn, myMembership, requireOwn, requireResumeAt, SUBSCRIPTION_WRITERS } from './own-subscription.js';
import { pauseLater, pauseNow, requireResumable } from './subscription-pause.js';
import { resume } from './renewal.js';

/** Days that a pause may last: of a customer, of staff. Source: payments 4.1, 4.3. */
const [MOST_DAYS, MOST_STAFF_DAYS] = [180, 365];

interface Pausing {
  resumeAt: Date | null;
  effective: BillingEffective;
  voidOpen: boolean;
}

async function pause(
  ctx: Context,
  subscription: BillingSubscription,
  { resumeAt, effective, voidOpen }: Pausing,
): Promise<BillingSubscription> {
  if (effective === BillingEffective.PERIOD_END) await pauseLater(ctx, subscription, resumeAt);
  else await pauseNow(ctx, subscription, { resumeAt, voidOpen });
  return subscription;
}

/** @throws Problem not_found, conflict unless it is active or in trial and nothing of it is unpaid. */
export async function pauseSubscription(
  ctx: Context,
  { id, effective, ...given }: PauseBillingSubscriptionInput,
): Promise<BillingSubscription> {
  const resumeAt = requireResumeAt(ctx, given.resumeAt, MOST_DAYS);
  return pause(ctx, await lockOwn(ctx, id), { resumeAt, effective, voidOpen: false });
}

/** @throws Problem not_found without a live membership, and as {@link pauseSubscription}. */
export async function pauseMine(ctx: Context, { resumeAt, effective }: PauseMyBillingSubscriptionInput): Promise<BillingSubscription> {
  const until = requireResumeAt(ctx, resumeAt, MOST_DAYS);
  return pause(ctx, await lockOwn(ctx, (await myMembership(ctx)).id), { resumeAt: until, effective, voidOpen: false });
}

/** Staff may pause longer, and what is overdue may be taken back. @throws Problem not_found, conflict. */
export async function pauseByStaff(
  ctx: Context,
  { id, effective, voidOpen, reason, ...given }: AdminPauseBillingSubscriptionInput,
): Promise<BillingSubscription> {
  const resumeAt = requireResumeAt(ctx, given.resumeAt, MOST_STAFF_DAYS);
  ctx.audit('subscription.paused_by_staff', id, { reason, void_open: voidOpen });
  return pause(ctx, await lockOwn(ctx, id, SUBSCRIPTION_WRITERS), { resumeAt, effective, voidOpen });
}

type Asked = { input: ResumeBillingSubscriptionInput | AdminResumeBillingSubscriptionInput };

/** Staff have an operation of their own, which asks why. */
const ruleOf = ({ input }: Asked): { staff?: string } => ('reason' in input ? SUBSCRIPTION_WRITERS : {});

/** How the subscription's brand bills. */
export const resumeTerms = preparation(async (ctx: Context, asked: Asked): Promise<BrandTerms> => {
  const { brandId } = await requireOwn(ctx, asked.input.id, ruleOf(asked));
  return brandTerms(ctx, brandId);
});

/** Resumes; where no paid time is left, the next period is charged first. */
export const resuming = twoPhases({
  async intend(ctx: Context, { input }: Asked) {
    const subscription = await lockOwn(ctx, input.id, ruleOf({ input }));
    const isWaiving = 'waiveOverdue' in input && input.waiveOverdue;
    if ('reason' in input) ctx.audit('subscription.resumed_by_staff', subscription.id, { reason: input.reason, waive_overdue: isWaiving });
    await requireResumable(ctx, subscription, isWaiving);
    await resume(ctx, subscription, resumeTerms.of(ctx), ctx.caller.userId !== subscription.userId);
    return subscription.id;
  },
  call: async (ctx, { id }) => callInvoice(ctx, (await ctx.em.findOneOrFail(BillingSubscription, { id })).latestInvoiceId),
});

/** Transaction 2. @returns the subscription, or the problem that the period it must begin with was declined. */
export async function resumed(ctx: Context): Promise<BillingSubscription | Problem> {
  const { intent, outcome } = resuming.of(ctx);
  const payment = await applyCharged(ctx, outcome);
  return declineOf(payment) ?? lockRow(ctx, BillingSubscription, { id: intent.id });
}
