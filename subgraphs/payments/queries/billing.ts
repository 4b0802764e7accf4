import { reachesAll } from '../../../runtime/access/access.js';
import { findRow, loadRow, rowsBy } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { INVOICE_READERS } from '../entities/access.js';
import { InvoiceStatus, SubscriptionChangeStatus } from '../entities/enums-billing.js';
import { CreditNote, Invoice, InvoiceLine } from '../entities/invoice.js';
import { Payment } from '../entities/payment.js';
import { BillingPrice } from '../entities/price.js';
import { SubscriptionChange, type BillingSubscriptionChange } from '../entities/subscription.js';
import type { UserInvoicesArgs } from '../inputs/invoice.js';
import { ownRows } from './own-rows.js';

/** A user sees no drafts. */
export const shownTo = ({ caller }: Context): object =>
  reachesAll(INVOICE_READERS, caller) ? {} : { status: { $ne: InvoiceStatus.DRAFT } };

/** Invoices of one user, newest first. */
export function pageOfInvoices(ctx: Context, { userId, status, first, after }: UserInvoicesArgs): Promise<Connection<Invoice>> {
  const where = { $and: [{ userId: ctx.subject(userId).toLowerCase() }, shownTo(ctx), status ? { status } : {}] };
  return page(ctx.em, Invoice, where, { first, after }, { time: 'createdAt' });
}

export const findInvoice = (ctx: Context, id: string): Promise<Invoice | null> =>
  findRow(ctx, Invoice, { id, ...ownRows(ctx, INVOICE_READERS), ...shownTo(ctx) });

/** Groups of rows by a column, one statement for a list. */
const groupsOf =
  <Row extends object>(load: (ctx: Context, keys: readonly string[]) => Promise<Row[]>, keyOf: (row: Row) => string | null, name: string) =>
  async (ctx: Context, key: string): Promise<Row[]> =>
    (await ctx.load(name, key, async keys => {
      const rows = await load(ctx, keys);
      return keys.map(one => rows.filter(row => keyOf(row) === one));
    })) ?? [];

export const linesOfInvoice = groupsOf(
  (ctx, keys) => ctx.em.find(InvoiceLine, { invoiceId: { $in: [...keys] } }, { orderBy: { position: 'asc' } }),
  line => line.invoiceId,
  'invoice.lines',
);

export const paymentsOfInvoice = groupsOf(
  (ctx, keys) => ctx.em.find(Payment, { invoiceId: { $in: [...keys] } }, { orderBy: { createdAt: 'asc' } }),
  payment => payment.invoiceId,
  'invoice.payments',
);

export const notesOfInvoice = groupsOf(
  (ctx, keys) => ctx.em.find(CreditNote, { invoiceId: { $in: [...keys] } }, { orderBy: { number: 'asc' } }),
  note => note.invoiceId,
  'invoice.credit_notes',
);

/** The change that is planned for the end of the period. */
export const pendingChangeOf = (ctx: Context, subscriptionId: string): Promise<BillingSubscriptionChange | null> =>
  ctx.load('subscription.pending_change', subscriptionId, async keys => {
    const changes = await rowsBy(ctx, SubscriptionChange, 'subscriptionId', keys, { status: SubscriptionChangeStatus.PENDING });
    return Promise.all(changes.map(async one => one && shown(ctx, one)));
  });

async function shown(ctx: Context, { toPriceId, quantity, effectiveAt }: SubscriptionChange): Promise<BillingSubscriptionChange> {
  return { price: (await loadRow(ctx, BillingPrice, 'id', toPriceId))!, quantity, effectiveAt };
}

/** The payment of an invoice that waits for its customer. */
export const waitingPayment = (ctx: Context, invoiceId: string): Promise<Payment | null> =>
  ctx.load('invoice.waiting_payment', invoiceId, keys => rowsBy(ctx, Payment, 'invoiceId', keys, { status: 'requires_action' } as never));
