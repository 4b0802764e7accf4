import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';

const ASK = stored(`query PaymentsOrder($id: ID!) {
  order(id: $id) {
    id userId brandId status affiliateCode adjustments { kind promoCode } taxLines { jurisdiction }
    totals { subtotal { amount currency } discount { amount } shipping { amount } tax { amount } total { amount } }
    items { variantId quantity subtotal { amount } discount { amount } tax { amount } }
  }
}`);

interface Amount {
  amount: number;
}

/** An order of commerce as a checkout needs it; amounts in minor units of `currency`. */
export interface Order {
  id: string;
  userId: string | null;
  brandId: string;
  status: string;
  currency: string;
  subtotal: number;
  discount: number;
  shipping: number;
  tax: number;
  promoCode: string | null;
  affiliateCode: string | null;
  taxRegion: string | null;
  lines: readonly { subjectId: string; quantity: number; subtotal: number; discount: number; tax: number }[];
}

interface Answer {
  order:
    | (Pick<Order, 'id' | 'userId' | 'brandId' | 'status' | 'affiliateCode'> & {
        adjustments: { kind: string; promoCode: string | null }[];
        taxLines: { jurisdiction: string }[];
        totals: { subtotal: Amount & { currency: string }; discount: Amount; shipping: Amount; tax: Amount; total: Amount };
        items: { variantId: string; quantity: number; subtotal: Amount; discount: Amount; tax: Amount }[];
      })
    | null;
}

/** Whether the prices hold the tax; then the net is shown, as of any price that holds it. */
const holdsTax = ({ subtotal, discount, shipping, tax, total }: NonNullable<Answer['order']>['totals']): boolean =>
  tax.amount > 0 && subtotal.amount - discount.amount + shipping.amount === total.amount;

const orderFrom = ({ totals, items, adjustments, taxLines, ...order }: NonNullable<Answer['order']>): Order => ({
  ...order,
  promoCode: adjustments.find(({ kind }) => kind === 'PROMO')?.promoCode ?? null,
  taxRegion: taxLines[0]?.jurisdiction.toLowerCase() ?? null,
  currency: totals.subtotal.currency,
  subtotal: totals.subtotal.amount - (holdsTax(totals) ? totals.tax.amount : 0),
  discount: totals.discount.amount,
  shipping: totals.shipping.amount,
  tax: totals.tax.amount,
  lines: items.map(({ variantId, quantity, subtotal, discount, tax }) => ({
    subjectId: variantId,
    quantity,
    subtotal: subtotal.amount - (holdsTax(totals) ? tax.amount : 0),
    discount: discount.amount,
    tax: tax.amount,
  })),
});

/**
 * Amount, lines and owner of an order, asked of commerce; null for an unknown one.
 * @throws Problem unavailable while commerce cannot be reached, or is no part of the supergraph. Source: payments 4.3, 6.
 */
export async function orderOf({ federation }: Pick<ServiceHost, 'federation'>, orderId: string): Promise<Order | null> {
  const asked = federation.run<Answer>(ASK, { id: orderId });
  const { order } = await asked.catch(cause => {
    if (cause instanceof Problem && cause.code === 'not_found') return { order: null };
    throw new Problem('unavailable', 'Orders cannot be asked for right now', { retryAfter: 30, cause });
  });
  return order && orderFrom(order);
}
