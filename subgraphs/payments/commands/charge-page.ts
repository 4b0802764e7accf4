import { findRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { CheckoutSession } from '../entities/checkout.js';
import { GiftCheckoutSession } from '../entities/gift.js';
import { hostedUrl } from '../entities/hosted.js';
import type { Payment } from '../entities/payment.js';

interface Page {
  /** Where the customer comes back to. */
  returnUrl: string | null;
  /** Where the customer authenticates a charge. */
  authenticationUrl: string | null;
}

/** The page that belongs to a payment: its session's, else its own. */
export async function chargePage(ctx: Context, payment: Payment): Promise<Page> {
  const session =
    (await findRow(ctx, CheckoutSession, { id: payment.checkoutSessionId ?? '' })) ??
    (await findRow(ctx, GiftCheckoutSession, { id: payment.giftSessionId ?? '' }));
  return { returnUrl: session?.returnUrl ?? null, authenticationUrl: hostedUrl(ctx, session ?? payment) };
}
