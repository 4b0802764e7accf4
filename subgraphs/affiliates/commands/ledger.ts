import { commissionPosted, commissionReversed, earningsAccrued } from '../../../events/catalogue/affiliates.js';
import { lockRow } from '../../../runtime/data/rows.js';
import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { Affiliate } from '../entities/affiliate.js';
import { Commission, CommissionMark, CommissionReversal } from '../entities/commission.js';
import { CommissionReversalCause } from '../entities/enums.js';
import { figuresOf, type Figures } from '../queries/figures.js';

/** Locks an affiliate: whatever is written of its commissions is written in one order, which is that of its events. */
export const lockAffiliate = (ctx: Context, id: string): Promise<Affiliate> => lockRow(ctx, Affiliate, { id });

/** A commission with where it stands, in the lock of its affiliate. */
export interface Open {
  affiliate: Affiliate;
  commission: Commission;
  figures: Figures;
}

/** Where a commission stands as of what is written so far. */
export async function standingOf(ctx: Context, affiliate: Affiliate, commission: Commission): Promise<Open> {
  await ctx.em.flush();
  return { affiliate, commission, figures: (await figuresOf(ctx, [commission.id]))[0]! };
}

/** Tells that so much is earned. @param accrualId the commission's, or that of the row that gives back. */
export function tellAccrued(ctx: Context, { affiliate, commission }: Open, amount: number, accrualId: string): void {
  const { orderId, subscriptionId, obligationId, currency, payableAt } = commission;
  const isSubscription = subscriptionId !== null;
  ctx.emit(
    earningsAccrued,
    {
      accrual_id: accrualId,
      affiliate_id: affiliate.id,
      amount,
      currency,
      source_type: isSubscription ? 'subscription' : 'order',
      source_id: isSubscription ? subscriptionId : (orderId ?? obligationId),
      hold_until: payableAt.toISOString(),
    },
    { userId: affiliate.userId },
  );
}

function tellPosted(ctx: Context, { affiliate, commission }: Open, amount: number, accrualId: string | null): void {
  ctx.emit(
    commissionPosted,
    {
      commission_id: commission.id,
      affiliate_id: affiliate.id,
      order_id: commission.orderId,
      subscription_id: commission.subscriptionId,
      amount,
      currency: commission.currency,
      rate_bps: commission.rateBps,
      tier: commission.tierKey,
      payable_at: commission.payableAt.toISOString(),
      accrual_id: accrualId,
    },
    { userId: affiliate.userId },
  );
}

/** Posts what is left of a commission: it is owed. */
export function post(ctx: Context, open: Open, runId: string): void {
  const { affiliate, commission, figures } = open;
  ctx.em.persist(Object.assign(new CommissionMark(), { commissionId: commission.id, kind: 'posted', runId, at: ctx.now() }));
  affiliate.changedAt = ctx.now();
  tellPosted(ctx, open, figures.net, null);
  ctx.audit('commission.posted', commission.id, { affiliate: affiliate.id, amount: figures.net });
}

const { REFUND, REFUND_FAILED, DISPUTE, FRAUD } = CommissionReversalCause;

const REASONS = { [REFUND]: 'refund', [REFUND_FAILED]: 'refund', [DISPUTE]: 'dispute', [FRAUD]: 'fraud', staff: 'adjustment' } as const;

export interface Cause {
  cause: CommissionReversalCause;
  causeId: string;
}

/** Takes back a part of a commission, or below 0 gives it back; nothing for 0. Of a held one nothing is heard. */
export function reverse(ctx: Context, open: Open, units: number, { cause, causeId }: Cause): void {
  const { affiliate, commission, figures } = open;
  if (units === 0) return;
  const row = Object.assign(new CommissionReversal(), {
    id: newId(),
    commissionId: commission.id,
    units,
    cause,
    causeId,
    createdAt: ctx.now(),
  });
  ctx.em.persist(row);
  affiliate.changedAt = ctx.now();
  ctx.audit('commission.reversed', commission.id, { affiliate: affiliate.id, amount: units, cause, cause_id: causeId });
  if (figures.isHeld) return;
  if (units > 0) tellReversed(ctx, open, row);
  else {
    tellAccrued(ctx, open, -units, row.id);
    if (figures.isPosted) tellPosted(ctx, open, -units, row.id);
  }
}

function tellReversed(ctx: Context, { affiliate, commission }: Open, { id, units, cause, createdAt }: CommissionReversal): void {
  ctx.emit(
    commissionReversed,
    {
      commission_id: commission.id,
      affiliate_id: affiliate.id,
      amount: units,
      currency: commission.currency,
      reason: REASONS[cause],
      reversed_at: createdAt.toISOString(),
      reversal_id: id,
    },
    { userId: affiliate.userId },
  );
}
