import { prepared } from '../../../events/prepared.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { after, HOUR_MS } from '../../../runtime/time/durations.js';
import { BillingSubscriptionStatus as Status, InvoiceKind } from '../entities/enums-billing.js';
import type { BillingPrice } from '../entities/price.js';
import { BillingSubscription } from '../entities/subscription.js';
import { brandTerms, type BrandTerms } from '../ports/brand-terms.js';
import { anchoredAt, periodFrom, type Period } from '../rules/periods.js';
import { isBilled } from '../rules/subscription-states.js';
import { emitScheduled } from './billing-events.js';
import { applyPlanned, dropAwaiting } from './change-effect.js';
import { lockCollected } from './invoice.js';
import { begunCharge, runCharge } from './charging.js';
import { collect, isInProgress, ownMethod } from './invoice-payment.js';
import { noticeOf } from './notice.js';
import { billPeriod } from './period-invoice.js';
import { abandonSubscription, endSubscription } from './subscription-end.js';
import { pauseNow, resumeBanked } from './subscription-pause.js';
import { anchorOf, endPause, lockSubscription, moveOn, plan, priceOf, recurrenceOf } from './subscription-state.js';

/** A customer is charged for missed periods at most this often. Source: payments 7.8. */
const CATCH_UP_MS = HOUR_MS;

/** An attempt that a transaction has begun, to be made after it; null: there is none. */
type Begun = string | null;

/** A subscription, and whose it is, neither of which changes. */
type Of = Pick<BillingSubscription, 'id' | 'brandId'>;

/** The brand's terms, asked once per run of the worker. */
export type TermsOf = (brandId: string) => Promise<BrandTerms>;

export function termsOnce(host: ServiceHost): TermsOf {
  const known = new Map<string, Promise<BrandTerms>>();
  return brandId => {
    if (!known.has(brandId)) known.set(brandId, brandTerms(host, brandId));
    return known.get(brandId)!;
  };
}

/** Does what `work` says with a subscription, locked, and then makes the charge that it has begun. */
async function withSubscription(
  host: ServiceHost,
  id: string,
  work: (ctx: Context, subscription: BillingSubscription) => Promise<Begun>,
): Promise<void> {
  const { ctx, attempt } = await host.transaction(async own => ({
    ctx: own,
    attempt: await work(own, await lockSubscription(own, { id })),
  }));
  if (attempt) await runCharge(host, await begunCharge(ctx, attempt));
}

/** The end of a period: what was planned for it, and the next period. Whoever comes second finds it done. Source: payments 7.8. */
export async function renew(host: ServiceHost, { id, brandId }: Of, termsOf: TermsOf): Promise<void> {
  const terms = await termsOf(brandId);
  await withSubscription(host, id, async (ctx, subscription) => {
    const isDue = subscription.nextRunAt !== null && subscription.nextRunAt <= ctx.now() && isBilled(subscription.status);
    return isDue ? endPeriod(ctx, subscription, terms) : null;
  });
}

async function endPeriod(ctx: Context, subscription: BillingSubscription, terms: BrandTerms): Promise<Begun> {
  if (subscription.cancelAtPeriodEnd) {
    const reason = subscription.cancelReason ?? 'period_end';
    await endSubscription(ctx, subscription, { reason, atPeriodEnd: true, involuntary: false });
    return null;
  }
  if (subscription.pauseAtPeriodEnd && subscription.status !== Status.PAST_DUE) return pausePlanned(ctx, subscription);
  const wait = await catchUpAt(ctx, subscription);
  if (wait) return postpone(subscription, wait);
  return beginPeriod(ctx, subscription, terms);
}

/** Where a charge of the period before is still on its way, the pause waits for it. */
async function pausePlanned(ctx: Context, subscription: BillingSubscription): Promise<null> {
  if ((await lockCollected(ctx, subscription.id)).length > 0) return postpone(subscription, after(ctx.now(), CATCH_UP_MS));
  const { resumeAt } = subscription;
  await pauseNow(ctx, subscription, { resumeAt: resumeAt && resumeAt > ctx.now() ? resumeAt : null, voidOpen: false });
  return null;
}

function postpone(subscription: BillingSubscription, until: Date): null {
  subscription.nextRunAt = until;
  return null;
}

const LAST_BILLED = `select (extract(epoch from max(created_at)) * 1000)::float8 as ms from payments.invoice
  where customer_id = $1 and kind = 'period' and created_at > $2`;

/** Of a missed period: when the customer may be charged again; null: now. */
async function catchUpAt(ctx: Context, { customerId, currentPeriodEnd }: BillingSubscription): Promise<Date | null> {
  const since = after(ctx.now(), -CATCH_UP_MS);
  if (currentPeriodEnd > since) return null;
  const [row] = await ctx.sql<{ ms: number | null }>(LAST_BILLED, [customerId, since.toISOString()]);
  return row?.ms == null ? null : after(new Date(Math.round(row.ms)), CATCH_UP_MS);
}

const CHANGES = prepared(`select
  exists (select from payments.invoice where subscription_id = $1 and kind = 'change' and status in ('open', 'past_due')) as unpaid,
  exists (select from payments.subscription_change where subscription_id = $1 and status = 'pending') as planned`);

/** Which changes a subscription has, that few have; both come and go under its lock alone. */
async function changesOf(ctx: Context, { id }: BillingSubscription): Promise<{ unpaid: boolean; planned: boolean }> {
  const [row] = await ctx.sql<{ unpaid: boolean; planned: boolean }>(CHANGES, [id]);
  return row!;
}

/** The next period, by the plan that holds then; what it costs is asked for. */
async function beginPeriod(ctx: Context, subscription: BillingSubscription, terms: BrandTerms): Promise<Begun> {
  const { unpaid, planned } = await changesOf(ctx, subscription);
  if (unpaid) await dropUnpaidChange(ctx, subscription);
  if (planned) await applyPlanned(ctx, subscription);
  const price = await priceOf(ctx, subscription);
  const period = periodFrom(anchorOf(subscription), recurrenceOf(price), subscription.currentPeriodEnd);
  return enter(ctx, subscription, price, period, terms);
}

/** The proration of a change that was not paid in time concerns a period that is over. */
async function dropUnpaidChange(ctx: Context, { id }: BillingSubscription): Promise<void> {
  for (const invoice of await lockCollected(ctx, id))
    if (invoice.kind === InvoiceKind.CHANGE) await dropAwaiting(ctx, invoice, 'not paid before the period ended');
}

async function enter(
  ctx: Context,
  subscription: BillingSubscription,
  price: BillingPrice,
  period: Period,
  terms: BrandTerms,
): Promise<Begun> {
  const invoice = await billPeriod(ctx, subscription, price, period, terms);
  plan(subscription, price);
  if (!invoice) {
    if (subscription.status === Status.TRIALING) subscription.status = Status.ACTIVE;
    return null;
  }
  const method = await ownMethod(ctx, subscription); // known since its address was read for the tax
  return (await collect(ctx, invoice, { offSession: true, method }))?.id ?? null;
}

/** Resumes now: the banked time, or a new period that is asked for first. It is locked. @returns the attempt to make. */
export async function resume(ctx: Context, subscription: BillingSubscription, terms: BrandTerms, offSession: boolean): Promise<Begun> {
  if (subscription.bankedSeconds > 0) {
    await resumeBanked(ctx, subscription);
    return null;
  }
  const price = await priceOf(ctx, subscription);
  const anchor = anchoredAt(ctx.now());
  Object.assign(subscription, { anchorAt: anchor.at, anchorDay: anchor.day, resumeAt: null });
  const invoice = await billPeriod(ctx, subscription, price, periodFrom(anchor, recurrenceOf(price), anchor.at), terms);
  await ctx.em.flush();
  if (!invoice) return freeAgain(ctx, subscription, price);
  return (await collect(ctx, invoice, { offSession }))?.id ?? null;
}

/** A new period that costs nothing. */
function freeAgain(ctx: Context, subscription: BillingSubscription, price: BillingPrice): null {
  moveOn(subscription, 'resume');
  plan(subscription, price);
  endPause(ctx, subscription);
  return null;
}

/** A pause with an end is over. */
export async function endPlannedPause(host: ServiceHost, { id, brandId }: Of, termsOf: TermsOf): Promise<void> {
  const terms = await termsOf(brandId);
  await withSubscription(host, id, async (ctx, subscription) => {
    const { status, resumeAt } = subscription;
    if (status !== Status.PAUSED || resumeAt === null || resumeAt > ctx.now()) return null;
    if ((await lockCollected(ctx, id)).length > 0) {
      subscription.resumeAt = null; // somebody has to pay or waive first
      return null;
    }
    return resume(ctx, subscription, terms, true);
  });
}

/** An unpaid purchase is over after 23 hours; one whose payment is on its way is looked at again in an hour. */
export async function expireIncomplete(host: ServiceHost, id: string): Promise<void> {
  await withSubscription(host, id, async (ctx, subscription) => {
    if (subscription.status !== Status.INCOMPLETE || subscription.incompleteUntil! > ctx.now()) return null;
    const { latestInvoiceId } = subscription;
    if (latestInvoiceId && (await isInProgress(ctx, latestInvoiceId))) {
      subscription.incompleteUntil = after(ctx.now(), HOUR_MS);
      return null;
    }
    await abandonSubscription(ctx, subscription, 'expire');
    return null;
  });
}

/** Tells of the next charge, once. */
export async function giveNotice(host: ServiceHost, { id, brandId }: Of, termsOf: TermsOf): Promise<void> {
  const terms = await termsOf(brandId);
  await withSubscription(host, id, async (ctx, subscription) => {
    if (subscription.nextNoticeAt === null || subscription.nextNoticeAt > ctx.now()) return null;
    subscription.nextNoticeAt = null;
    const notice = await noticeOf(ctx, subscription, terms);
    if (notice) emitScheduled(ctx, notice);
    ctx.audit('subscription.charge_announced', id, { amount: notice?.amount ?? 0 });
    return null;
  });
}
