import { visitCancelled as visitCancelledEvent } from '../../../events/catalogue/booking.js';
import { handle, type Consumer } from '../../../events/consumer.js';
import type { Envelope } from '../../../events/envelope.js';
import type { Context } from '../../../runtime/request/context.js';
import { findRow } from '../../../runtime/data/rows.js';
import { preparation } from '../../../runtime/request/operation.js';
import { visitCancelled, type CancelledVisit } from '../commands/visit.js';
import { CheckoutSession } from '../entities/checkout.js';
import { BillingCustomer } from '../entities/customer.js';
import { brandTerms } from '../ports/brand-terms.js';
import { visitOf } from '../ports/visits.js';

/** The visit, who pays, and how the brand bills. */
const cancelled = preparation(async (ctx: Context, { data }: Envelope<{ visit_id: string }>): Promise<CancelledVisit | null> => {
  const visit = await visitOf(ctx, data.visit_id);
  if (!visit) return null;
  const session = visit.checkoutSession && (await findRow(ctx, CheckoutSession, { id: visit.checkoutSession.id }));
  const where = session ? { id: session.customerId } : { userId: visit.user.id };
  const customer = await ctx.em.findOne(BillingCustomer, where, { orderBy: { createdAt: 'desc' } });
  return { visit, customerId: customer?.id ?? null, terms: customer && (await brandTerms(ctx, customer.brandId)) };
});

/** A cancelled visit is refunded, or its fee is asked for. Source: payments 5.2. */
export const visits: Consumer<Context> = {
  name: 'payments.visits',
  prepare: cancelled.run,
  on: [
    handle(visitCancelledEvent, async (ctx: Context, { data }) => {
      const facts = cancelled.of(ctx);
      if (facts) await visitCancelled(ctx, facts, data.fee_applies);
    }),
  ],
};
