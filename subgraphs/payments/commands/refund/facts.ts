import type { Context } from '../../../../runtime/request/context.js';
import { requireValid } from '../../../../runtime/request/errors.js';
import { isStaff } from '../../../../runtime/request/caller.js';
import { preparation } from '../../../../runtime/request/operation.js';
import { CheckoutSession } from '../../entities/checkout.js';
import { Payment } from '../../entities/payment.js';
import type { CreateRefundInput } from '../../inputs/refund.js';
import { refundThresholds } from '../../ports/brand-settings.js';
import { metadataViolations } from '../../rules/checkout-input.js';

type Asked = { input: Pick<CreateRefundInput, 'paymentId' | 'checkoutSessionId' | 'metadata'> };

async function brandOf(ctx: Context, { paymentId, checkoutSessionId }: Asked['input']): Promise<string | null> {
  if (paymentId != null) return (await ctx.em.findOne(Payment, { id: paymentId }))?.brandId ?? null;
  return (await ctx.em.findOne(CheckoutSession, { id: checkoutSessionId! }))?.brandId ?? null;
}

/** What staff of the brand may give back alone; nobody asks for services. @throws Problem invalid_request, unavailable. */
export const refundFacts = preparation(async (ctx: Context, { input }: Asked): Promise<{ thresholds: unknown }> => {
  const both = (input.paymentId == null) === (input.checkoutSessionId == null);
  const found = both ? [{ pointer: '/input', message: 'exactly one of payment_id and checkout_session_id is required' }] : [];
  requireValid([...found, ...metadataViolations(input.metadata)]);
  const brandId = isStaff(ctx.caller) ? await brandOf(ctx, input) : null;
  return { thresholds: brandId === null ? null : await refundThresholds(ctx, brandId) };
});
