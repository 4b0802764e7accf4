import { requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { INVOICE_READERS } from '../entities/access.js';
import { PaymentStatus } from '../entities/enums-payment.js';
import { CreditNote, Invoice } from '../entities/invoice.js';
import type { BillingDocument } from '../ports/billing-document.js';
import { amountText } from '../rules/minor-units.js';
import { linesOfInvoice, paymentsOfInvoice } from './billing.js';
import { ownRows } from './own-rows.js';

const dayOf = (at: Date | null): string => at?.toISOString().slice(0, 10) ?? '';
const shown = (facts: readonly (readonly [string, string])[]): (readonly [string, string])[] => facts.filter(([, text]) => text !== '');

function sumsOf(invoice: Invoice): [string, string][] {
  const { subtotalMinor, discountMinor, taxMinor, totalMinor, cashAppliedMinor, creditAppliedMinor, amountPaidMinor, currency } = invoice;
  const text = (minor: number): string => amountText(minor, currency);
  const optional: [string, number][] = [
    ['Discount', 0 - discountMinor],
    [`Tax ${invoice.taxRegion ?? ''}`.trim(), taxMinor],
  ];
  const reductions: [string, number][] = [
    ['Cash', 0 - cashAppliedMinor],
    ['Credit', 0 - creditAppliedMinor],
    ['Paid', 0 - amountPaidMinor],
  ];
  const nonZero = (rows: [string, number][]): [string, string][] => rows.flatMap(([label, minor]) => (minor ? [[label, text(minor)]] : []));
  return [
    ['Subtotal', text(subtotalMinor)],
    ...nonZero(optional),
    ['Total', text(totalMinor)],
    ...nonZero(reductions),
    ['Due', text(invoice.amountDueMinor)],
  ];
}

/** What an invoice says, for whom may see it. @throws Problem not_found, also for one without a number. */
export async function invoiceDocument(ctx: Context, id: string): Promise<BillingDocument> {
  const invoice = await requireRow(ctx, Invoice, { id, ...ownRows(ctx, INVOICE_READERS), number: { $ne: null } });
  const [lines, payments] = [await linesOfInvoice(ctx, id), await paymentsOfInvoice(ctx, id)];
  const { currency } = invoice;
  return {
    title: 'Invoice',
    seller: invoice.sellerName,
    issuedAt: invoice.finalizedAt ?? invoice.createdAt,
    facts: shown([
      ['Number', invoice.number!],
      ['Issued', dayOf(invoice.finalizedAt)],
      ['Due', dayOf(invoice.dueAt)],
      ['Paid', dayOf(invoice.paidAt)],
      ['Period', invoice.periodStart ? `${dayOf(invoice.periodStart)} to ${dayOf(invoice.periodEnd)}` : ''],
    ]),
    lines: lines.map(line => ({
      description: line.description,
      quantity: String(line.quantity),
      amount: amountText(line.amountMinor, currency),
    })),
    sums: sumsOf(invoice),
    payments: payments
      .filter(({ status }) => status === PaymentStatus.SUCCEEDED)
      .map(one => `Paid by ${one.methodSummary ?? 'card'} on ${dayOf(one.capturedAt)}: ${amountText(one.amountCapturedMinor, currency)}`),
  };
}

/** What a credit note says, for whom may see it. @throws Problem not_found. */
export async function creditNoteDocument(ctx: Context, id: string): Promise<BillingDocument> {
  const note = await requireRow(ctx, CreditNote, { id, ...ownRows(ctx, INVOICE_READERS) });
  const invoice = await requireRow(ctx, Invoice, { id: note.invoiceId });
  const text = (minor: number): string => amountText(minor, note.currency);
  return {
    title: 'Credit note',
    seller: note.sellerName,
    issuedAt: note.createdAt,
    facts: [
      ['Number', note.number],
      ['Issued', dayOf(note.createdAt)],
      ['Invoice', invoice.number ?? ''],
    ],
    lines: [{ description: `Credit for invoice ${invoice.number ?? ''}`, quantity: '1', amount: text(note.amountMinor) }],
    sums: [
      [`Of that tax ${invoice.taxRegion ?? ''}`.trim(), text(note.taxMinor)],
      ['Total', text(note.amountMinor)],
    ],
    payments: [],
  };
}
