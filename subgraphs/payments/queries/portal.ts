import type { Context } from '../../../runtime/request/context.js';
import { BillingSubscriptionStatus as Status, InvoiceStatus } from '../entities/enums-billing.js';
import { Invoice } from '../entities/invoice.js';
import { BillingPrice } from '../entities/price.js';
import { BillingSubscription } from '../entities/subscription.js';
import { amountText } from '../rules/minor-units.js';
import { methodSummary } from '../rules/payment-method.js';
import { methodsOfCustomer } from './payment-method.js';

/** What the billing pages show of a customer. */
export interface PortalContent {
  methods: { id: string; label: string; isDefault: boolean }[];
  subscriptions: { id: string; label: string; status: string; until: string; isEnding: boolean; canEnd: boolean }[];
  invoices: { id: string; label: string; total: string; status: string }[];
}

/** Invoices that are shown, the newest. */
const SHOWN = 24;
const LIVE: readonly Status[] = [Status.TRIALING, Status.ACTIVE, Status.PAST_DUE, Status.PAUSED];
const dayOf = (at: Date): string => at.toISOString().slice(0, 10);
const words = (status: string): string => status.replaceAll('_', ' ');

const methodItems = async (ctx: Context, customerId: string): Promise<PortalContent['methods']> =>
  (await methodsOfCustomer(ctx, customerId)).map(method => ({
    id: method.id,
    label: methodSummary(method) ?? 'A method',
    isDefault: method.isDefault,
  }));

async function subscriptionItems(ctx: Context, customerId: string): Promise<PortalContent['subscriptions']> {
  const found = await ctx.em.find(BillingSubscription, { customerId, status: { $in: [...LIVE] } }, { orderBy: { createdAt: 'desc' } });
  const prices = await ctx.em.find(BillingPrice, { id: { $in: found.map(({ priceId }) => priceId) } });
  return found.map(one => ({
    id: one.id,
    label: prices.find(({ id }) => id === one.priceId)?.key ?? 'A subscription',
    status: words(one.status),
    until: dayOf(one.currentPeriodEnd),
    isEnding: one.cancelAtPeriodEnd,
    canEnd: !one.cancelAtPeriodEnd && one.status !== Status.PAUSED,
  }));
}

async function invoiceItems(ctx: Context, customerId: string): Promise<PortalContent['invoices']> {
  const where = { customerId, status: { $ne: InvoiceStatus.DRAFT } };
  const found = await ctx.em.find(Invoice, where, { orderBy: { createdAt: 'desc', id: 'desc' }, limit: SHOWN });
  return found.map(one => ({
    id: one.id,
    label: `${one.number ?? 'Invoice'} of ${dayOf(one.createdAt)}`,
    total: amountText(one.totalMinor, one.currency),
    status: words(one.status),
  }));
}

/** Methods, live subscriptions and the newest invoices of a customer. */
export const portalContent = async (ctx: Context, customerId: string): Promise<PortalContent> => ({
  methods: await methodItems(ctx, customerId),
  subscriptions: await subscriptionItems(ctx, customerId),
  invoices: await invoiceItems(ctx, customerId),
});
