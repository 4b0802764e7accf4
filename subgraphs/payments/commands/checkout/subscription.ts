import { lockRow, requireRow } from '../../../../runtime/data/rows.js';
import type { Context } from '../../../../runtime/request/context.js';
import type { CheckoutSession } from '../../entities/checkout.js';
import { BillingCustomer } from '../../entities/customer.js';
import { PromoKind } from '../../entities/enums-offers.js';
import { Invoice } from '../../entities/invoice.js';
import { BillingPrice } from '../../entities/price.js';
import { Promo } from '../../entities/promo.js';
import { BillingSubscription } from '../../entities/subscription.js';
import type { BrandTerms } from '../../ports/brand-terms.js';
import { abandonSubscription } from '../subscription-end.js';
import { openSubscription } from '../subscription-opening.js';

interface Subscribed {
  price: BillingPrice;
  promo: Promo | null;
  trialDays: number;
}

/** What a session subscribes to, and for how many days that is tried: one that is tried costs nothing now. */
async function subscribed(ctx: Context, session: CheckoutSession): Promise<Subscribed> {
  const price = await requireRow(ctx, BillingPrice, { id: session.lines[0]!.priceId! });
  const promo = session.promoId === null ? null : await requireRow(ctx, Promo, { id: session.promoId });
  const isTried = session.subtotalMinor === 0 && price.unitAmountMinor > 0;
  const offered = promo?.kind === PromoKind.TRIAL_DAYS ? (promo.trialDays ?? 0) : price.trialDays;
  return { price, promo, trialDays: isTried ? offered : 0 };
}

/** The subscription of a session, opened once, with the invoice that is to be settled; null while it is tried. The session is locked. */
export async function openForCheckout(ctx: Context, session: CheckoutSession, brand: BrandTerms): Promise<Invoice | null> {
  if (session.subscriptionId !== null) {
    await lockRow(ctx, BillingSubscription, { id: session.subscriptionId });
    return session.invoiceId === null ? null : lockRow(ctx, Invoice, { id: session.invoiceId });
  }
  const { price, promo, trialDays } = await subscribed(ctx, session);
  const { subscription, invoice } = await openSubscription(ctx, {
    customer: await lockRow(ctx, BillingCustomer, { id: session.customerId }),
    price,
    promo,
    trialDays,
    brand,
    quantity: session.lines[0]!.quantity,
    paymentMethodId: session.paymentMethodId,
    metadata: session.metadata,
    checkoutSessionId: session.id,
    affiliateCode: session.affiliateCode,
    totals: session,
    invoiceId: session.invoiceId,
  });
  Object.assign(session, { subscriptionId: subscription.id, invoiceId: invoice?.id ?? null });
  return invoice;
}

/** A purchase that came to nothing takes its subscription with it. */
export async function abandonForCheckout(ctx: Context, session: CheckoutSession): Promise<void> {
  if (session.subscriptionId === null) return;
  await abandonSubscription(ctx, await lockRow(ctx, BillingSubscription, { id: session.subscriptionId }), 'cancel');
}
