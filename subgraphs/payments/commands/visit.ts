import { FOR_UPDATE, findRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { CheckoutSession } from '../entities/checkout.js';
import { BillingCustomer } from '../entities/customer.js';
import { InvoiceKind, InvoiceLineKind } from '../entities/enums-billing.js';
import { RefundReason } from '../entities/enums-payment.js';
import { Invoice } from '../entities/invoice.js';
import { Refund } from '../entities/refund.js';
import type { BrandTerms } from '../ports/brand-terms.js';
import type { Visit } from '../ports/visits.js';
import { makeOut } from './invoice.js';
import { groundOfSession } from './refund/ground.js';
import { beginRefund } from './refund/create.js';

/** What is known of a cancelled visit before the transaction. */
export interface CancelledVisit {
  visit: Visit;
  /** Who pays: the session's customer, else the user's newest one; null: nobody is known. */
  customerId: string | null;
  terms: BrandTerms | null;
}

const feeOf = ({ visit }: CancelledVisit, feeApplies: boolean): number => (feeApplies ? (visit.lateCancelFee?.amount ?? 0) : 0);

/** A visit that was paid is refunded, less the fee where it applies; an unpaid one is invoiced the fee. Once for each visit. Source: payments 5.2. */
export async function visitCancelled(ctx: Context, cancelled: CancelledVisit, feeApplies: boolean): Promise<void> {
  const fee = feeOf(cancelled, feeApplies);
  const session = cancelled.visit.checkoutSession && (await findRow(ctx, CheckoutSession, { id: cancelled.visit.checkoutSession.id }));
  if (session?.isPaid) return giveBack(ctx, session, fee);
  if (fee > 0) await invoiceFee(ctx, cancelled, fee);
}

async function giveBack(ctx: Context, session: CheckoutSession, fee: number): Promise<void> {
  if ((await ctx.em.count(Refund, { checkoutSessionId: session.id })) > 0) return;
  const { left } = await groundOfSession(ctx, session.id);
  const amount = left.card + left.cash + left.credit - fee;
  if (amount <= 0) return;
  const wanted = {
    checkoutSessionId: session.id,
    amount: { amount, currency: session.currency },
    reason: RefundReason.REQUESTED_BY_CUSTOMER,
  };
  await beginRefund(ctx, wanted).catch(error => {
    if (!(error instanceof Problem) || error.code !== 'conflict') throw error;
    ctx.log.warn({ session: session.id, reason: error.options.reason }, 'a cancelled visit cannot be refunded');
  });
}

/** One line, collected by the worker at once. */
async function invoiceFee(ctx: Context, { visit, customerId, terms }: CancelledVisit, fee: number): Promise<void> {
  if (customerId === null || terms === null || (await findRow(ctx, Invoice, { referenceType: 'visit', referenceId: visit.id }))) return;
  const customer = await ctx.em.findOneOrFail(BillingCustomer, { id: customerId }, FOR_UPDATE);
  const invoice = await makeOut(ctx, {
    customer,
    currency: visit.lateCancelFee!.currency,
    kind: InvoiceKind.ONE_TIME,
    lines: [{ kind: InvoiceLineKind.ONE_TIME, description: 'late cancellation', amount: fee }],
    seller: terms.legalName,
    dunning: terms.dunning,
    reference: { type: 'visit', id: visit.id },
  });
  invoice.nextAttemptAt = ctx.now();
}
