import { lockRow } from '../../../runtime/data/rows.js';
import { isStaff } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { invalid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { twoPhases } from '../../../runtime/request/two-phase.js';
import { CheckoutSession } from '../entities/checkout.js';
import { InvoiceKind } from '../entities/enums-billing.js';
import { PaymentStatus, RefundReason, RefundStatus } from '../entities/enums-payment.js';
import { Invoice } from '../entities/invoice.js';
import { Payment } from '../entities/payment.js';
import { Refund } from '../entities/refund.js';
import type { BillingSubscription } from '../entities/subscription.js';
import { BillingEffective, CancelRefund, type AdminCancelBillingSubscriptionInput } from '../inputs/subscription.js';
import { refundThresholds } from '../ports/brand-settings.js';
import { restOf, shareOf } from '../rules/proration.js';
import { lockOwn, requireOwn, SUBSCRIPTION_WRITERS } from './own-subscription.js';
import { beginRefund } from './refund/create.js';
import { runRefund } from './refund/settle.js';
import { cancel } from './subscription-cancel.js';

type Asked = { input: AdminCancelBillingSubscriptionInput };

/** What staff of the brand may give back alone. @throws Problem invalid_request for a refund of what has not ended. */
export const refundTerms = preparation(async (ctx: Context, { input }: Asked): Promise<unknown> => {
  if (input.refund !== CancelRefund.NONE && input.at !== BillingEffective.NOW) invalid('/input/refund', 'is of a cancellation now');
  const { brandId } = await requireOwn(ctx, input.id, SUBSCRIPTION_WRITERS);
  return isStaff(ctx.caller) ? refundThresholds(ctx, brandId) : null;
});

interface LastPaid {
  payment: Payment;
  invoice: Invoice;
}

/** The period that was paid last by a card. */
async function lastPaid(ctx: Context, { id: subscriptionId }: BillingSubscription): Promise<LastPaid | null> {
  const payment = await ctx.em.findOne(
    Payment,
    { subscriptionId, status: PaymentStatus.SUCCEEDED },
    { orderBy: { capturedAt: 'desc' }, refresh: true },
  );
  const invoice = payment?.invoiceId ? await ctx.em.findOne(Invoice, { id: payment.invoiceId, kind: InvoiceKind.PERIOD }) : null;
  return payment && invoice ? { payment, invoice } : null;
}

/** Minor units that go back to the card; null: all that is left. */
function amountOf(ctx: Context, kind: CancelRefund, { payment, invoice }: LastPaid): number | null {
  if (kind === CancelRefund.FULL_LAST) return null;
  const { remaining, length } = restOf({ start: invoice.periodStart!, end: invoice.periodEnd! }, ctx.now());
  return length === 0 ? 0 : Math.min(payment.refundableMinor, shareOf(BigInt(payment.amountCapturedMinor), remaining, length));
}

/** The session of what may go back is locked before the subscription, in the order of all (`lockObligation`): a notice of the refund holds both. */
async function lockSession(ctx: Context, { id, refund: kind }: AdminCancelBillingSubscriptionInput): Promise<void> {
  if (kind === CancelRefund.NONE) return;
  const paid = await lastPaid(ctx, await requireOwn(ctx, id, SUBSCRIPTION_WRITERS));
  if (paid?.payment.checkoutSessionId != null) await lockRow(ctx, CheckoutSession, { id: paid.payment.checkoutSessionId });
}

async function refund(
  ctx: Context,
  subscription: BillingSubscription,
  { refund: kind, reason }: AdminCancelBillingSubscriptionInput,
): Promise<void> {
  const paid = kind === CancelRefund.NONE ? null : await lastPaid(ctx, subscription);
  if (!paid || paid.payment.refundableMinor === 0) return;
  const amount = amountOf(ctx, kind, paid);
  if (amount === 0) return;
  await beginRefund(ctx, {
    paymentId: paid.payment.id,
    amount: amount === null ? null : { amount, currency: paid.payment.currency },
    reason: RefundReason.REQUESTED_BY_CUSTOMER,
    note: reason,
    thresholds: refundTerms.of(ctx),
  });
}

/** Staff end a subscription, and may give back what was paid; above their threshold a second person has to agree. */
export const endingByStaff = twoPhases({
  async intend(ctx: Context, { input }: Asked) {
    await lockSession(ctx, input);
    const subscription = await lockOwn(ctx, input.id, SUBSCRIPTION_WRITERS);
    ctx.audit('subscription.cancelled_by_staff', subscription.id, { at: input.at, refund: input.refund });
    await cancel(ctx, subscription, { at: input.at, reason: 'staff', comment: input.reason });
    await ctx.em.flush();
    await refund(ctx, subscription, input);
    return subscription.id;
  },
  async call(ctx, { id }) {
    const pending = await ctx.em.findOne(Refund, { subscriptionId: id, status: RefundStatus.PENDING }, { orderBy: { createdAt: 'desc' } });
    if (pending) await runRefund(ctx.host, pending.id);
  },
});
