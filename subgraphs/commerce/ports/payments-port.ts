import type { PaymentIntent } from '../entities/order.js';

/** A line as a promo sees it; minor units. */
export interface PromoLine {
  variantId: string;
  quantity: number;
  subtotal: number;
}

export interface PromoCase {
  code: string;
  brandId: string;
  userId: string | null;
  currency: string;
  lines: readonly PromoLine[];
}

/** What a code does to lines, by their index. */
export interface PromoJudgement {
  valid: boolean;
  code: string;
  /** In capitals, as payments names it; null where it is valid. */
  reason: string | null;
  kind: 'PERCENT' | 'AMOUNT' | null;
  discount: number;
  allocations: readonly { line: number; amount: number }[];
}

export interface PromoHold {
  id: string;
  promoId: string | null;
  code: string;
  discount: number;
}

/** What an order is paid with. */
export interface OrderToPay {
  id: string;
  userId: string;
  currency: string;
  total: number;
  payment: PaymentIntent;
}

/** A checkout session of payments. `settled`: card, cash and credit, once it is complete; minor units. */
export interface SessionAnswer {
  id: string;
  status: 'OPEN' | 'REQUIRES_ACTION' | 'PROCESSING' | 'COMPLETE' | 'EXPIRED' | 'CANCELLED';
  url: string | null;
  nextAction: { type: string; url: string; expiresAt: Date | null } | null;
  settled: { amount: number; currency: string } | null;
}

/** What payments does for an order. Every call can be repeated. Source: commerce 8. */
export interface PaymentsPort {
  /** @throws Problem payment_declined, invalid_request, unavailable. */
  createCheckout(order: OrderToPay): Promise<SessionAnswer>;
  /** Charges an open session again. @throws Problem payment_declined, unavailable. */
  confirmCheckout(order: OrderToPay, sessionId: string, key: string): Promise<SessionAnswer>;
  /** Gives it up. `complete`: too late, it is paid. */
  cancelCheckout(orderId: string, sessionId: string): Promise<'cancelled' | 'complete'>;
  /** @param amount null: all of it. */
  refund(
    sessionId: string,
    refund: { amount: number | null; currency: string; reason: string; key: string; orderId: string },
  ): Promise<void>;
  validatePromo(promo: PromoCase): Promise<PromoJudgement>;
  /** @throws Problem invalid_request for a code that is refused. */
  reservePromo(orderId: string, promo: PromoCase): Promise<PromoHold>;
  commitPromo(orderId: string): Promise<void>;
  releasePromo(orderId: string): Promise<void>;
  /** Whether a user has the payment method. */
  hasMethod(userId: string, methodId: string): Promise<boolean>;
}
