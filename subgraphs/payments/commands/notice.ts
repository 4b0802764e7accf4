import { findRow, requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { BillingCustomer } from '../entities/customer.js';
import { BillingSubscriptionStatus as Status, SubscriptionChangeStatus } from '../entities/enums-billing.js';
import { BillingPrice } from '../entities/price.js';
import { SubscriptionChange, type BillingSubscription } from '../entities/subscription.js';
import type { BrandTerms } from '../ports/brand-terms.js';
import { creditFor, totalsOf } from '../rules/invoice.js';
import { periodFrom, reanchored } from '../rules/periods.js';
import { isBilled } from '../rules/subscription-states.js';
import type { Scheduled } from './billing-events.js';
import type { NewLine } from './invoice.js';
import { linesOfPeriod } from './period-invoice.js';
import { anchorOf, priceOf, recurrenceOf } from './subscription-state.js';

/** The next charge of a subscription as things stand. Minor units. */
export interface Upcoming {
  currency: string;
  total: number;
  /** After the customer's credit. */
  due: number;
  chargeAt: Date;
  lines: NewLine[];
}

/** What the next period will cost, with the change that is planned for it; null where none comes. */
export async function upcoming(
  ctx: Context,
  subscription: BillingSubscription,
  terms: Pick<BrandTerms, 'taxRates'>,
): Promise<Upcoming | null> {
  const { status, cancelAtPeriodEnd, pauseAtPeriodEnd, currentPeriodEnd } = subscription;
  if (!isBilled(status) || cancelAtPeriodEnd || pauseAtPeriodEnd) return null;
  const planned = await findRow(ctx, SubscriptionChange, { subscriptionId: subscription.id, status: SubscriptionChangeStatus.PENDING });
  const price = planned ? await requireRow(ctx, BillingPrice, { id: planned.toPriceId }) : await priceOf(ctx, subscription);
  const anchor = planned ? reanchored(anchorOf(subscription), currentPeriodEnd) : anchorOf(subscription);
  const next = Object.assign(Object.create(subscription) as BillingSubscription, { quantity: planned?.quantity ?? subscription.quantity });
  const { lines } = await linesOfPeriod(ctx, next, price, periodFrom(anchor, recurrenceOf(price), currentPeriodEnd), terms);
  const { total } = totalsOf(lines);
  const { creditBalanceMinor } = await requireRow(ctx, BillingCustomer, { id: subscription.customerId });
  return { currency: price.currency, total, due: total - creditFor(total, creditBalanceMinor), chargeAt: currentPeriodEnd, lines };
}

/** What is told of the next charge; null where nothing will be charged. */
export async function noticeOf(ctx: Context, subscription: BillingSubscription, terms: BrandTerms): Promise<Scheduled | null> {
  const next = await upcoming(ctx, subscription, terms);
  if (!next || next.due === 0) return null;
  const { userId, brandId, id, status } = subscription;
  const { due: amount, currency, chargeAt } = next;
  const kind = status === Status.TRIALING ? 'trial_end' : 'renewal';
  return { userId, brandId, subscriptionId: id, invoiceId: null, amount, currency, chargeAt, kind };
}
