import { findRow, lockRow, requireRow } from '../../../runtime/data/rows.js';
import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid, type Problem } from '../../../runtime/request/errors.js';
import { twoPhases } from '../../../runtime/request/two-phase.js';
import { staffWith } from '../entities/access.js';
import { DunningSkipReason, type DunningRun } from '../entities/billing-views.js';
import { InvoiceStatus } from '../entities/enums-billing.js';
import { PaymentMethodStatus, PaymentStatus } from '../entities/enums-payment.js';
import { Invoice } from '../entities/invoice.js';
import { PaymentMethod } from '../entities/payment-method.js';
import type { CloseInvoiceInput, PayInvoiceInput, RetryInvoicesInput } from '../inputs/invoice.js';
import { ownRows } from '../queries/own-rows.js';
import { lockInvoice, skipOf, tryInvoice, type Tried } from './dunning.js';
import { noteDelinquency, voidInvoice, writeOff } from './invoice.js';
import { applyCharged, callInvoice, declineOf } from './invoice-charging.js';
import { collect, endPayment, methodFor } from './invoice-payment.js';
import { forgive } from './subscription-state.js';

/** What lets staff close anybody's invoice. */
const INVOICE_WRITERS = staffWith('invoice:write');

const PAYABLE = [InvoiceStatus.OPEN, InvoiceStatus.PAST_DUE, InvoiceStatus.UNCOLLECTIBLE];

/** An invoice of the caller, or anybody's for services and staff of the rule, locked with its subscription. @throws Problem not_found. */
async function lockOwnInvoice(ctx: Context, id: string, rule: { staff?: string } = {}): Promise<Invoice> {
  const { id: found } = await requireRow(ctx, Invoice, { id: id.toLowerCase(), ...ownRows(ctx, rule) });
  return lockInvoice(ctx, found);
}

async function methodToPay(ctx: Context, invoice: Invoice, id: string | null): Promise<PaymentMethod> {
  if (id === null)
    return (await methodFor(ctx, invoice)) ?? fail('conflict', 'there is no method to charge', { reason: 'no_payment_method' });
  const method = await findRow(ctx, PaymentMethod, { id, customerId: invoice.customerId, status: PaymentMethodStatus.ACTIVE });
  return method ?? invalid('/input/paymentMethodId', 'is no method of the customer');
}

type Pay = { input: PayInvoiceInput };

/** Pays an invoice now. The networks' ceiling holds here too. Source: payments 3.5. */
export const paying = twoPhases({
  async intend(ctx: Context, { input }: Pay) {
    const invoice = await lockOwnInvoice(ctx, input.id);
    if (!PAYABLE.includes(invoice.status)) fail('conflict', `an invoice that is ${invoice.status.replaceAll('_', ' ')} cannot be paid`);
    const method = await methodToPay(ctx, invoice, input.paymentMethodId?.toLowerCase() ?? null);
    if ((await skipOf(ctx, invoice, true)) === 'ceiling') fail('conflict', 'it was tried too often', { reason: 'ceiling' });
    await collect(ctx, invoice, { offSession: ctx.caller.userId !== invoice.userId, method });
    return invoice.id;
  },
  call: (ctx, { id }) => callInvoice(ctx, id),
});

/** Transaction 2. @returns the invoice, or the problem that the charge was declined. */
export async function paid(ctx: Context): Promise<Invoice | Problem> {
  const { intent, outcome } = paying.of(ctx);
  const payment = await applyCharged(ctx, outcome);
  return declineOf(payment) ?? lockRow(ctx, Invoice, { id: intent.id });
}

/** Staff take an invoice back. @throws Problem not_found, conflict. */
export async function voidByStaff(ctx: Context, { id, reason }: CloseInvoiceInput): Promise<Invoice> {
  const invoice = await lockOwnInvoice(ctx, id, INVOICE_WRITERS);
  await endPayment(ctx, invoice.id);
  await voidInvoice(ctx, invoice, reason);
  return closed(ctx, invoice);
}

/** Staff write an invoice off. @throws Problem not_found, conflict. */
export async function writeOffByStaff(ctx: Context, { id, reason }: CloseInvoiceInput): Promise<Invoice> {
  const invoice = await lockOwnInvoice(ctx, id, INVOICE_WRITERS);
  await endPayment(ctx, invoice.id);
  writeOff(ctx, invoice, reason);
  return closed(ctx, invoice);
}

async function closed(ctx: Context, invoice: Invoice): Promise<Invoice> {
  await ctx.em.flush();
  await forgive(ctx, invoice);
  await noteDelinquency(ctx, invoice.customerId);
  return invoice;
}

/** Ids of what is to be tried: the named ones, else what became past due before. @throws Problem invalid_request unless it is one of the two. */
async function chosen(ctx: Context, { invoiceIds, pastDueBefore, limit }: RetryInvoicesInput): Promise<string[]> {
  if ((invoiceIds == null) === (pastDueBefore == null)) invalid('/input', 'must have exactly one of invoice_ids and past_due_before');
  const where = invoiceIds
    ? { id: { $in: invoiceIds.map(id => id.toLowerCase()) } }
    : { status: InvoiceStatus.PAST_DUE, pastDueAt: { $lt: pastDueBefore! } };
  const found = await ctx.em.find(Invoice, where, {
    orderBy: { pastDueAt: 'asc', id: 'asc' },
    limit: invoiceIds ? invoiceIds.length : limit,
    fields: ['id'],
  });
  return found.map(({ id }) => id);
}

async function look(ctx: Context, id: string, ignoreSchedule: boolean): Promise<Tried> {
  const skipped = await skipOf(ctx, await requireRow(ctx, Invoice, { id }), ignoreSchedule);
  return skipped ? { skipped } : { payment: null };
}

/** Tries invoices one by one, each in transactions of its own. Not in a transaction. Source: payments 4.4. */
export async function retryInvoices(ctx: Context, input: RetryInvoicesInput): Promise<DunningRun> {
  const { dryRun, ignoreSchedule } = input;
  const run: DunningRun = { id: newId(), attempted: 0, succeeded: 0, failed: 0, skipped: [], dryRun };
  for (const id of await chosen(ctx, input)) {
    const tried = dryRun ? await look(ctx, id, ignoreSchedule) : await tryInvoice(ctx.host, id, ignoreSchedule);
    if ('skipped' in tried) run.skipped.push({ invoiceId: id, reason: tried.skipped as DunningSkipReason });
    else count(run, tried.payment?.status ?? null);
  }
  await ctx.host.transaction(async own => own.audit('dunning.ran', run.id, { ...run, skipped: run.skipped.length }), ctx.request);
  return run;
}

function count(run: DunningRun, status: PaymentStatus | null): void {
  run.attempted += 1;
  if (status === PaymentStatus.SUCCEEDED) run.succeeded += 1;
  else if (status !== null && status !== PaymentStatus.PROCESSING) run.failed += 1;
}
