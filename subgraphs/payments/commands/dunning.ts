import { lockRow, requireRow } from '../../../runtime/data/rows.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { after, DAY_MS, MINUTE_MS } from '../../../runtime/time/durations.js';
import { BillingSubscriptionStatus, InvoiceStatus } from '../entities/enums-billing.js';
import { Invoice } from '../entities/invoice.js';
import type { Payment } from '../entities/payment.js';
import { CEILING, DUNNING, skipReason, type Collection, type SkipReason } from '../rules/dunning.js';
import { isCollected } from '../rules/invoice-states.js';
import { begunCharge, runCharge } from './charging.js';
import { noteDelinquency, writeOff } from './invoice.js';
import { collect, endPayment, isInProgress, methodFor } from './invoice-payment.js';
import { endSubscription } from './subscription-end.js';
import { pauseUnpaid } from './subscription-pause.js';
import { lockSubscription } from './subscription-state.js';

/** A charge that the processor was never asked for is begun anew soon; it was no failure of the customer. */
const UNREACHED_MS = 15 * MINUTE_MS;

const ATTEMPTS = `select (extract(epoch from a.started_at) * 1000)::float8 as ms from payments.payment_attempt a join payments.payment p on p.id = a.payment_id
  where p.invoice_id = $1 and a.started_at > $2 and coalesce(a.decline_code, '') <> 'processor_unreachable'`;

/** Attempts at an invoice that count against the networks' ceiling. */
async function attemptsAt(ctx: Context, invoiceId: string): Promise<Date[]> {
  const since = after(ctx.now(), -CEILING.days * DAY_MS).toISOString();
  const rows = await ctx.sql<{ ms: number }>(ATTEMPTS, [invoiceId, since]);
  return rows.map(({ ms }) => new Date(Math.round(ms)));
}

async function collectionOf(ctx: Context, invoice: Invoice): Promise<Collection> {
  return {
    isPaid: !isCollected(invoice.status),
    isInProgress: await isInProgress(ctx, invoice.id),
    isHardDeclined: (await methodFor(ctx, invoice)) === null,
    attempts: await attemptsAt(ctx, invoice.id),
    nextAttemptAt: invoice.nextAttemptAt,
  };
}

/** Why an invoice would not be tried now; null: it would be. */
export const skipOf = async (ctx: Context, invoice: Invoice, ignoreSchedule: boolean): Promise<SkipReason | null> =>
  skipReason(await collectionOf(ctx, invoice), ctx.now(), ignoreSchedule);

/** An invoice with its subscription, locked in the order of all. */
export async function lockInvoice(ctx: Context, id: string): Promise<Invoice> {
  const { subscriptionId } = await requireRow(ctx, Invoice, { id });
  if (subscriptionId) await lockSubscription(ctx, { id: subscriptionId });
  return lockRow(ctx, Invoice, { id });
}

export type Tried = { skipped: SkipReason } | { payment: Payment | null };

/** Tries to collect an invoice, in two transactions. */
export async function tryInvoice(host: ServiceHost, id: string, ignoreSchedule: boolean): Promise<Tried> {
  const begun = await host.transaction(async ctx => {
    const invoice = await lockInvoice(ctx, id);
    const skipped = await skipOf(ctx, invoice, ignoreSchedule);
    if (skipped) return putOff(ctx, invoice, skipped);
    return { ctx, attemptId: (await collect(ctx, invoice, { offSession: true }))?.id ?? null };
  });
  if ('skipped' in begun) return begun;
  const payment = begun.attemptId ? (await runCharge(host, await begunCharge(begun.ctx, begun.attemptId))).payment : null;
  if (payment?.lastError?.declineCode === 'processor_unreachable') await host.transaction(ctx => again(ctx, id));
  return { payment };
}

/** What is due and cannot be tried is no longer due: another method or the customer makes it so. */
function putOff(ctx: Context, invoice: Invoice, skipped: SkipReason): { skipped: SkipReason } {
  const isDue = invoice.nextAttemptAt !== null && invoice.nextAttemptAt <= ctx.now();
  if (isDue) invoice.nextAttemptAt = skipped === 'ceiling' ? after(ctx.now(), DAY_MS) : null;
  return { skipped };
}

/** The processor could not be reached: soon again, and no step of the schedule. */
export async function again(ctx: Context, id: string): Promise<void> {
  const invoice = await lockInvoice(ctx, id);
  if (isCollected(invoice.status)) invoice.nextAttemptAt = after(ctx.now(), UNREACHED_MS);
}

/** Dunning is exhausted: the invoice is written off, and its subscription ends or pauses as the brand decides. Source: payments 3.5. */
export async function giveUp(host: ServiceHost, id: string): Promise<void> {
  await host.transaction(async ctx => {
    const invoice = await lockInvoice(ctx, id);
    if (invoice.status !== InvoiceStatus.PAST_DUE || invoice.giveUpAt === null || invoice.giveUpAt > ctx.now()) return;
    if (await isInProgress(ctx, id)) return void (invoice.giveUpAt = after(ctx.now(), DAY_MS));
    await endPayment(ctx, id);
    writeOff(ctx, invoice, 'payment_failed');
    await ctx.em.flush();
    if (invoice.subscriptionId) await endUnpaid(ctx, invoice, invoice.subscriptionId);
    await noteDelinquency(ctx, invoice.customerId);
  });
}

async function endUnpaid(ctx: Context, { dunning }: Invoice, subscriptionId: string): Promise<void> {
  const subscription = await lockSubscription(ctx, { id: subscriptionId });
  if (subscription.status !== BillingSubscriptionStatus.PAST_DUE) return;
  if ((dunning ?? DUNNING).finalAction === 'pause') return pauseUnpaid(ctx, subscription);
  await endSubscription(ctx, subscription, { reason: 'payment_failed', atPeriodEnd: false, involuntary: true }, 'give_up');
}
