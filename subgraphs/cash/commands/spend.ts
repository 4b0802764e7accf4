import { preparation } from '../../../runtime/request/operation.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { CashReservation } from '../entities/reservation.js';
import { CashReservationStatus } from '../entities/enums.js';
import { CashSpend } from '../entities/spend.js';
import type { SpendCashInput } from '../inputs/reservation.js';
import { invoiceOf, type Invoice } from '../ports/invoices.js';
import { subjectOf } from '../queries/subject.js';
import { allot, sumOf } from '../rules/lots.js';
import { consume, hold, openBook } from './book.js';
import { insufficient, purchaseOf, referenceOf } from './reservation.js';
import { settleObligation } from './spend-rows.js';

/** A member's own invoice, asked before the transaction; of a service nothing is asked. */
export const ownInvoice = preparation(async (ctx, { input }: { input: SpendCashInput }): Promise<Invoice | null> => {
  if (ctx.caller.kind !== 'user') return null;
  if (input.reference.type !== 'invoice') invalid('/input/reference/type', 'must be invoice');
  const invoice = await invoiceOf(ctx, input.reference.id);
  return invoice?.user.id === ctx.caller.userId ? invoice : fail('not_found', 'Not found');
});

/** @throws Problem conflict for more than an invoice has open, or in another currency. */
function requireWithin(invoice: Invoice | null, { amount, currency }: SpendCashInput['amount']): void {
  if (invoice && (invoice.amountDue.currency !== currency || amount > invoice.amountDue.amount))
    fail('conflict', 'The invoice has less open than that', { reason: 'over_amount_due' });
}

function repeated(ctx: Context, before: CashSpend, userId: string, { amount, currency }: SpendCashInput['amount']): CashSpend {
  if (before.userId !== userId) fail('conflict', 'This was settled by somebody else');
  if (before.units !== amount || before.currency !== currency)
    fail('idempotency_mismatch', 'This reference was settled with another amount');
  ctx.status(200);
  return before;
}

/** Spends an amount at once, all of it or nothing, and once for each reference. */
export async function spendCash(ctx: Context, input: SpendCashInput): Promise<CashSpend> {
  const { amount: money } = input;
  const [userId, reference] = [subjectOf(ctx, input.userId, '/input/userId'), referenceOf(input.reference)];
  if (money.amount < 1) invalid('/input/amount/amount', 'must be at least 1');
  const purchase = input.purchase ? purchaseOf(input.purchase, money) : null;
  const book = await openBook(ctx, userId, money.currency);
  const before = await ctx.em.findOne(CashSpend, reference);
  if (before) return repeated(ctx, before, userId, money);
  requireWithin(ownInvoice.of(ctx), money);
  if (await ctx.em.findOne(CashReservation, { ...reference, state: CashReservationStatus.HELD }))
    fail('conflict', 'A checkout holds cash for this', { reason: 'reserved' });
  const takes = allot([...book.grants.values()], money.amount, purchase, book.now);
  if (sumOf(takes, ({ amount }) => amount) < money.amount) insufficient();
  for (const { lot, amount } of takes) {
    hold(book, lot, amount);
    consume(book, lot, amount);
  }
  return settleObligation(ctx, book, takes, reference);
}
