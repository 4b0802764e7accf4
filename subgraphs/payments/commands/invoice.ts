import { FOR_UPDATE, lockOnce, lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { move } from '../../../runtime/request/states.js';
import { BillingCustomer } from '../entities/customer.js';
import { InvoiceKind, InvoiceStatus, type InvoiceLineKind } from '../entities/enums-billing.js';
import { Invoice, InvoiceLine } from '../entities/invoice.js';
import { creditFor, documentNumber, totalsOf } from '../rules/invoice.js';
import { INVOICE_STATES } from '../rules/invoice-states.js';
import type { DunningPolicy } from '../rules/dunning.js';
import type { Period } from '../rules/periods.js';

const NEXT_NUMBER = `insert into payments.invoice_counter (brand_id, kind, year, last) values ($1, $2, $3, 1)
  on conflict (brand_id, kind, year) do update set last = invoice_counter.last + 1 returning last`;

/** The next number of a brand's documents in the running year. Holds the counter's row to the end of the transaction, so none is left out. */
export async function nextNumber(ctx: Context, brandId: string, prefix: 'INV' | 'CN'): Promise<string> {
  const year = ctx.now().getUTCFullYear();
  const [row] = await ctx.sql<{ last: number }>(NEXT_NUMBER, [brandId, prefix, year]);
  return documentNumber(prefix, year, row!.last);
}

/** A line before it has an invoice. Minor units of the invoice's currency. */
export interface NewLine {
  kind: InvoiceLineKind;
  description: string;
  amount: number;
  quantity?: number;
  priceId?: string | null;
  period?: Period | null;
}

export interface NewInvoice {
  /** Where it is known before. */
  id?: string | null;
  customer: BillingCustomer;
  currency: string;
  kind: InvoiceKind;
  lines: readonly NewLine[];
  seller: string;
  /** How the brand collects; null: as the contract says. */
  dunning: DunningPolicy | null;
  subscriptionId?: string | null;
  period?: Period | null;
  taxRegion?: string | null;
  promo?: { id: string; code: string } | null;
  affiliateCode?: string | null;
  checkoutSessionId?: string | null;
  reference?: { type: string; id: string } | null;
  /** What the checkout has taken; without it the customer's credit pays first. */
  applied?: { cash: number; credit: number } | null;
}

const linesOf = (invoice: Invoice, lines: readonly NewLine[]): InvoiceLine[] =>
  lines.map((line, position) =>
    Object.assign(new InvoiceLine(), {
      invoiceId: invoice.id,
      position,
      kind: line.kind,
      description: line.description,
      priceId: line.priceId ?? null,
      quantity: line.quantity ?? 1,
      amountMinor: line.amount,
      currency: invoice.currency,
      periodStart: line.period?.start ?? null,
      periodEnd: line.period?.end ?? null,
    }),
  );

/** Takes what the customer's credit pays of a total. */
async function takeCredit(ctx: Context, customer: BillingCustomer, currency: string, total: number): Promise<number> {
  if (total === 0 || customer.currency !== currency) return 0;
  const locked = await lockOnce(ctx, BillingCustomer, customer.id);
  const credit = creditFor(total, locked.creditBalanceMinor);
  locked.creditBalanceMinor -= credit;
  return credit;
}

/**
 * All of a brand's invoices wait for its counter, so a number is given as the last of the transaction, when nothing else is waited for; the
 * invoice is written with it, after the rows that refer to it.
 */
function insertLast(ctx: Context, invoice: Invoice): void {
  const { id, brandId, kind, totalMinor: total, currency } = invoice;
  ctx.beforeCommit(async () => {
    invoice.number = await nextNumber(ctx, brandId, 'INV');
    ctx.em.persist(invoice);
    ctx.audit('invoice.finalized', id, { number: invoice.number, kind, total, currency, due: invoice.amountDueMinor });
  });
}

/** Says what tells the number of an invoice: now, or as soon as its transaction has given it one. */
export function onceNumbered(ctx: Context, invoice: Invoice, say: () => void): void {
  if (invoice.number === null) ctx.beforeCommit(say);
  else say();
}

/** Makes an invoice out: its lines frozen, OPEN. It has its number, and its row, when the transaction ends. */
export async function makeOut(ctx: Context, given: NewInvoice): Promise<Invoice> {
  const { customer, currency, kind, lines, seller, promo, period } = given;
  const { subtotal, discount, tax, total } = totalsOf(lines.map(({ kind: of, amount }) => ({ kind: of, amount })));
  const invoice = Object.assign(new Invoice(), {
    ...(given.id && { id: given.id }),
    brandId: customer.brandId,
    userId: customer.userId,
    customerId: customer.id,
    subscriptionId: given.subscriptionId ?? null,
    kind,
    currency,
    subtotalMinor: subtotal,
    discountMinor: discount,
    taxMinor: tax,
    totalMinor: total,
    taxRegion: given.taxRegion ?? null,
    promoId: promo?.id ?? null,
    promoCode: promo?.code ?? null,
    affiliateCode: given.affiliateCode ?? null,
    checkoutSessionId: given.checkoutSessionId ?? null,
    firstPurchase: customer.firstPaidAt === null ? null : false,
    referenceType: given.reference?.type ?? null,
    referenceId: given.reference?.id ?? null,
    periodStart: period?.start ?? null,
    periodEnd: period?.end ?? null,
    seller,
    dunning: given.dunning,
    dueAt: ctx.now(),
    finalizedAt: ctx.now(),
    createdAt: ctx.now(),
  });
  invoice.cashAppliedMinor = given.applied?.cash ?? 0;
  invoice.creditAppliedMinor = given.applied ? given.applied.credit : await takeCredit(ctx, customer, currency, total);
  invoice.status = move(INVOICE_STATES, 'invoice', invoice.status, 'finalize');
  ctx.em.persist(linesOf(invoice, lines));
  insertLast(ctx, invoice);
  return invoice;
}

/** Gives credit that an invoice has taken back to its customer; that of a checkout is given back by the checkout. */
async function returnCredit(ctx: Context, invoice: Invoice): Promise<void> {
  if (invoice.creditAppliedMinor === 0 || invoice.checkoutSessionId !== null) return;
  const customer = await lockRow(ctx, BillingCustomer, { id: invoice.customerId });
  customer.creditBalanceMinor += invoice.creditAppliedMinor;
  ctx.audit('invoice.credit_returned', invoice.id, { amount: invoice.creditAppliedMinor, currency: invoice.currency });
  invoice.creditAppliedMinor = 0;
}

/** Nobody asks for it any more. */
export function stopCollection(invoice: Invoice): void {
  invoice.nextAttemptAt = null;
  invoice.giveUpAt = null;
  invoice.leasedUntil = null;
  invoice.version += 1;
}

/** Takes an invoice back of which nothing was captured. @throws Problem conflict for one that is paid, void or paid in part. */
export async function voidInvoice(ctx: Context, invoice: Invoice, reason: string): Promise<void> {
  if (invoice.amountPaidMinor > 0) fail('conflict', 'an invoice that is paid in part cannot be void', { reason: 'captured' });
  invoice.status = move(INVOICE_STATES, 'invoice', invoice.status, 'void');
  stopCollection(invoice);
  await returnCredit(ctx, invoice);
  ctx.audit('invoice.voided', invoice.id, { number: invoice.number, reason });
}

/** Writes an invoice off. @throws Problem conflict unless it is open or past due. */
export function writeOff(ctx: Context, invoice: Invoice, reason: string): void {
  invoice.status = move(INVOICE_STATES, 'invoice', invoice.status, 'write_off');
  stopCollection(invoice);
  ctx.audit('invoice.written_off', invoice.id, { number: invoice.number, reason });
}

const COLLECTED = [InvoiceStatus.OPEN, InvoiceStatus.PAST_DUE];

/** What is asked for now, locked, the oldest first. */
export const lockCollected = (ctx: Context, subscriptionId: string): Promise<Invoice[]> =>
  ctx.em.find(Invoice, { subscriptionId, status: { $in: COLLECTED } }, { orderBy: { id: 'asc' }, ...FOR_UPDATE, refresh: true });

/** A customer owes for an invoice that has become overdue; waits for whoever settles another one at once, and thinks it the last. */
export const noteOverdue = (ctx: Context, customerId: string): Promise<unknown> =>
  ctx.sql(`update payments.billing_customer set delinquent = true, version = version + (not delinquent)::int where id = $1`, [customerId]);

/**
 * Whether a customer still owes for what is overdue, after an invoice has ceased to be. Looked at under the customer's lock: of two whose
 * last debts end at once, either would else still see the other's.
 */
export async function noteDelinquency(ctx: Context, customerId: string): Promise<void> {
  await ctx.em.flush();
  await ctx.sql('select from payments.billing_customer where id = $1 for no key update', [customerId]);
  await ctx.sql(
    `update payments.billing_customer c set delinquent = o.is, version = c.version + 1
     from (select exists (select from payments.invoice where customer_id = $1 and status = 'past_due') as is) o where c.id = $1 and c.delinquent <> o.is`,
    [customerId],
  );
}
