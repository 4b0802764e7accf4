import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { CreditNote, Invoice } from '../entities/invoice.js';
import type { Refund } from '../entities/refund.js';
import { emitInvoice } from './billing-events.js';
import { nextNumber } from './invoice.js';

/** What went back of an invoice with a refund: card, cash and credit. */
const amountOf = ({ amountMinor, cashReturnedMinor, creditReturnedMinor }: Refund): number =>
  amountMinor + cashReturnedMinor + creditReturnedMinor;

/**
 * A refund of an invoice settled, or a settled one bounced: the credit note of it, and what went back in all. Once for each refund and way.
 * Nothing for a refund of something else. Source: payments 2.
 */
export async function invoiceRefunded(ctx: Context, refund: Refund, isReversal: boolean): Promise<void> {
  if (refund.invoiceId === null) return;
  const invoice = await lockRow(ctx, Invoice, { id: refund.invoiceId });
  if (await ctx.em.findOne(CreditNote, { refundId: refund.id, isReversal })) return;
  const sign = isReversal ? -1 : 1;
  invoice.amountRefundedMinor += sign * amountOf(refund);
  invoice.version += 1;
  writeLast(ctx, invoice, refund, isReversal);
  emitInvoice(ctx, 'refunded', invoice);
}

/** All of a brand's credit notes wait for its counter, so they are written as the last of the transaction, as invoices get their numbers. */
function writeLast(
  ctx: Context,
  { id: invoiceId, brandId, userId, currency, sellerName }: Invoice,
  refund: Refund,
  isReversal: boolean,
): void {
  const sign = isReversal ? -1 : 1;
  ctx.beforeCommit(async () => {
    const note = Object.assign(new CreditNote(), {
      number: await nextNumber(ctx, brandId, 'CN'),
      brandId,
      userId,
      invoiceId,
      refundId: refund.id,
      isReversal,
      amountMinor: sign * amountOf(refund),
      taxMinor: sign * refund.taxMinor,
      currency,
      reason: refund.reason,
      sellerName,
      createdAt: ctx.now(),
    });
    ctx.em.persist(note);
    ctx.audit('credit_note.made', note.id, { number: note.number, invoice_id: invoiceId, amount: note.amountMinor });
  });
}
