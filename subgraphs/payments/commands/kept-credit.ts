import { findRow, requireRow } from '../../../runtime/data/rows.js';
import { Problem } from '../../../runtime/request/errors.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { loggedError } from '../../../runtime/observe/log.js';
import { after, MINUTE_MS } from '../../../runtime/time/durations.js';
import { InvoiceKind, InvoiceStatus } from '../entities/enums-billing.js';
import { Invoice } from '../entities/invoice.js';
import { BillingSubscription } from '../entities/subscription.js';
import { moveDeferred, type DeferredPart } from '../ports/deferred-revenue.js';
import { restOf, shareOf } from '../rules/proration.js';

/** The books are told again after this, and then after as long as it has waited already. */
const RETRY_MS = 5 * MINUTE_MS;

interface Kept {
  invoice: Invoice;
  parts: DeferredPart[];
}

/** What still waits in the books for the period that was changed: what paid for it, the newest first; of a gift the gift. */
async function deferredOf(ctx: Context, invoice: Invoice, subscription: BillingSubscription): Promise<DeferredPart[]> {
  const where = {
    subscriptionId: subscription.id,
    status: InvoiceStatus.PAID,
    periodEnd: { $gt: invoice.createdAt },
    id: { $ne: invoice.id },
  };
  const paid = await ctx.em.find(Invoice, where, { orderBy: { createdAt: 'desc' } });
  const parts: DeferredPart[] = [];
  let rest = invoice.keptCreditMinor;
  for (const one of paid) {
    const { remaining, length } = restOf({ start: one.periodStart!, end: one.periodEnd! }, invoice.createdAt);
    const amount = length === 0 ? 0 : Math.min(rest, shareOf(BigInt(one.subtotalMinor - one.discountMinor), remaining, length));
    if (amount > 0) parts.push({ key: one.id, amount });
    rest -= Math.max(0, amount);
  }
  if (rest > 0) parts.push({ key: subscription.giftId ?? parts[0]?.key ?? invoice.id, amount: rest });
  return parts;
}

async function keptOf(ctx: Context, invoiceId: string): Promise<Kept | null> {
  const invoice = await findRow(ctx, Invoice, { id: invoiceId, kind: InvoiceKind.CHANGE });
  if (!invoice || invoice.keptCreditDueAt === null) return null;
  const subscription = await requireRow(ctx, BillingSubscription, { id: invoice.subscriptionId! });
  return { invoice, parts: await deferredOf(ctx, invoice, subscription) };
}

const settle = (ctx: Context, id: string, dueAt: Date | null): Promise<unknown> =>
  ctx.sql('update payments.invoice set kept_credit_due_at = $2 where id = $1', [id, dueAt?.toISOString() ?? null]);

/** Moves credit that a change has left from what the books defer to the customer's wallet; once, however often it is tried. Not in a transaction. */
export async function postKeptCredit(host: ServiceHost, invoiceId: string): Promise<void> {
  const kept = await host.read(ctx => keptOf(ctx, invoiceId));
  if (!kept) return;
  const { id, userId, currency, createdAt } = kept.invoice;
  try {
    await moveDeferred(host, { id, userId, currency, parts: kept.parts });
    await host.transaction(ctx => settle(ctx, id, null));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    host.log.warn({ err: loggedError(error), invoice: id }, 'the books could not be told of kept credit; they are told again');
    await host.transaction(ctx => {
      const waited = ctx.now().getTime() - createdAt.getTime();
      return settle(ctx, id, after(ctx.now(), Math.max(RETRY_MS, waited)));
    });
  }
}
