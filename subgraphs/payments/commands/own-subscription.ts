import type { Context } from '../../../runtime/request/context.js';
import { requireRow } from '../../../runtime/data/rows.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { PriceSubjectKind } from '../../../runtime/schema/price-subjects.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { staffWith } from '../entities/access.js';
import { BillingSubscriptionStatus as Status } from '../entities/enums-billing.js';
import { BillingSubscription } from '../entities/subscription.js';
import { ownRows } from '../queries/own-rows.js';
import { lockSubscription } from './subscription-state.js';

/** What lets staff reach anybody's subscription. */
export const SUBSCRIPTION_WRITERS = staffWith('subscription:write');

/** A subscription of the caller, or anybody's for services and staff of the rule, locked. @throws Problem not_found. */
export const lockOwn = (ctx: Context, id: string, rule: { staff?: string } = {}): Promise<BillingSubscription> =>
  lockSubscription(ctx, { id: id.toLowerCase(), ...ownRows(ctx, rule) });

export const requireOwn = (ctx: Context, id: string, rule: { staff?: string } = {}): Promise<BillingSubscription> =>
  requireRow(ctx, BillingSubscription, { id: id.toLowerCase(), ...ownRows(ctx, rule) });

const LIVE = [Status.TRIALING, Status.ACTIVE, Status.PAST_DUE, Status.PAUSED];

/** The caller's one live membership, of the token's brand where it names one. @throws Problem not_found. */
export async function myMembership(ctx: Context): Promise<BillingSubscription> {
  const { userId, brandId } = ctx.caller;
  const where = { userId: userId!, subjectKind: PriceSubjectKind.MEMBERSHIP_PLAN, status: { $in: LIVE }, ...(brandId && { brandId }) };
  return (
    (await ctx.em.findOne(BillingSubscription, where, { orderBy: { createdAt: 'desc' } })) ?? fail('not_found', 'There is no membership')
  );
}

/** @throws Problem invalid_request unless a pause ends one day to `most` days from now, or not at all. */
export function requireResumeAt(ctx: Context, resumeAt: Date | null | undefined, most: number): Date | null {
  if (resumeAt == null) return null;
  const isWithin = resumeAt >= after(ctx.now(), DAY_MS) && resumeAt <= after(ctx.now(), most * DAY_MS);
  requireValid(isWithin ? [] : [{ pointer: '/input/resumeAt', message: `must be 1 to ${most} days from now` }]);
  return resumeAt;
}
