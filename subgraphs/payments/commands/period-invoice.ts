import { findRow, lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { BillingCustomer } from '../entities/customer.js';
import { BillingSubscriptionSource, InvoiceKind, InvoiceLineKind as Kind } from '../entities/enums-billing.js';
import { Invoice } from '../entities/invoice.js';
import type { BillingPrice } from '../entities/price.js';
import { Promo } from '../entities/promo.js';
import type { BillingSubscription } from '../entities/subscription.js';
import type { BrandTerms } from '../ports/brand-terms.js';
import { addressOf } from '../queries/billing-address.js';
import { afterOne, discountOf, isReduced } from '../rules/recurring-promo.js';
import { secondsBetween, type Period } from '../rules/periods.js';
import { shareOf, times } from '../rules/proration.js';
import { taxOf, type Tax } from '../rules/tax.js';
import { makeOut, type NewLine } from './invoice.js';

/** What is asked for a period, before tax. */
export interface PeriodCharge {
  price: BillingPrice;
  quantity: number;
  period: Period;
  /** The whole interval, where the period is only its end. */
  whole: Period;
  promo: Promo | null;
  /** Periods that the promo still reduces; null: all. */
  promoLeft: number | null;
}

const isFree = ({ source }: BillingSubscription): boolean => source === BillingSubscriptionSource.COMP;

/** A fixed amount is taken off in its own currency only. */
const fits = (promo: Promo, currency: string): boolean => promo.currency === null || promo.currency === currency;

/** Price, and what the promo takes off it; of a shorter first period the share of its seconds. */
export function chargeLines({ price, quantity, period, whole, promo, promoLeft }: PeriodCharge): NewLine[] {
  const full = times(price.unitAmountMinor, quantity);
  const amount = shareOf(full, secondsBetween(period.start, period.end), secondsBetween(whole.start, whole.end));
  const reduces = promo !== null && isReduced(promoLeft) && fits(promo, price.currency);
  const off = reduces ? discountOf({ ...promo, amountOff: promo.amountOffMinor }, BigInt(amount)) : 0;
  const line: NewLine = { kind: Kind.RECURRING, description: price.key, amount, quantity, priceId: price.id, period };
  return off === 0 ? [line] : [line, { kind: Kind.DISCOUNT, description: promo!.code, amount: -off }];
}

/** The lines with the tax on them: added, or taken out of a price that holds it. */
export function withTax(lines: readonly NewLine[], { amounts: [amount = 0], region }: Tax, inclusive: boolean): NewLine[] {
  if (amount === 0) return [...lines];
  const tax: NewLine = { kind: Kind.TAX, description: region ?? 'tax', amount };
  if (!inclusive) return [...lines, tax];
  const first = lines.findIndex(({ kind }) => kind !== Kind.DISCOUNT && kind !== Kind.PRORATION_CREDIT);
  return [...lines.map((line, at) => (at === first ? { ...line, amount: line.amount - amount } : line)), tax];
}

/** Tax on what lines come to, where the customer is. */
export async function taxOn(
  ctx: Context,
  { customerId, paymentMethodId }: Pick<BillingSubscription, 'customerId' | 'paymentMethodId'>,
  { taxRates }: Pick<BrandTerms, 'taxRates'>,
  lines: readonly NewLine[],
  inclusive: boolean,
): Promise<Tax> {
  const amount = lines.reduce((sum, line) => sum + line.amount, 0);
  return taxOf(taxRates, [{ amount, inclusive }], await addressOf(ctx, customerId, paymentMethodId));
}

/** The promo of a subscription, and whether it reduces its next period. */
export const promoOf = async (ctx: Context, { promoId }: BillingSubscription): Promise<Promo | null> =>
  promoId === null ? null : findRow(ctx, Promo, { id: promoId });

/** Lines of a period with their tax; none where the subscription is free. */
export async function linesOfPeriod(
  ctx: Context,
  subscription: BillingSubscription,
  price: BillingPrice,
  period: Period,
  terms: Pick<BrandTerms, 'taxRates'>,
  whole: Period = period,
): Promise<{ lines: NewLine[]; tax: Tax; promo: Promo | null }> {
  if (isFree(subscription)) return { lines: [], tax: { amounts: [], region: null }, promo: null };
  const promo = await promoOf(ctx, subscription);
  const lines = chargeLines({ price, quantity: subscription.quantity, period, whole, promo, promoLeft: subscription.promoPeriodsLeft });
  const tax = await taxOn(ctx, subscription, terms, lines, price.taxInclusive);
  return { lines: withTax(lines, tax, price.taxInclusive), tax, promo: lines.some(({ kind }) => kind === Kind.DISCOUNT) ? promo : null };
}

/** The code that brought the customer stays with what they pay later. */
async function affiliateOf(ctx: Context, { latestInvoiceId }: BillingSubscription): Promise<string | null> {
  return latestInvoiceId === null ? null : ((await findRow(ctx, Invoice, { id: latestInvoiceId }))?.affiliateCode ?? null);
}

/**
 * Makes the invoice of a period out and puts the subscription into the period. The subscription is locked.
 * @returns null where the period is free.
 */
export async function billPeriod(
  ctx: Context,
  subscription: BillingSubscription,
  price: BillingPrice,
  period: Period,
  brand: BrandTerms,
  whole: Period = period,
): Promise<Invoice | null> {
  const { lines, tax, promo } = await linesOfPeriod(ctx, subscription, price, period, brand, whole);
  if (isFree(subscription)) return enter(subscription, period, null);
  const customer = await lockRow(ctx, BillingCustomer, { id: subscription.customerId }); // whose credit pays first
  const invoice = await makeOut(ctx, {
    customer,
    currency: price.currency,
    kind: InvoiceKind.PERIOD,
    lines,
    seller: brand.legalName,
    dunning: brand.dunning,
    subscriptionId: subscription.id,
    period,
    taxRegion: tax.region,
    promo: promo && { id: promo.id, code: promo.code },
    affiliateCode: await affiliateOf(ctx, subscription),
  });
  if (promo) subscription.promoPeriodsLeft = afterOne(subscription.promoPeriodsLeft);
  subscription.latestInvoiceId = invoice.id;
  return enter(subscription, period, invoice);
}

/** Puts a subscription into a period, once what it costs is written down. */
function enter<Made extends Invoice | null>(subscription: BillingSubscription, period: Period, made: Made): Made {
  const { start: currentPeriodStart, end: currentPeriodEnd } = period;
  Object.assign(subscription, { currentPeriodStart, currentPeriodEnd, periodIndex: subscription.periodIndex + 1 });
  subscription.version += 1;
  return made;
}
