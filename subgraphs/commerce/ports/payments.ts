import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import type { PaymentIntent } from '../entities/order.js';
import { ask } from './neighbour.js';
import { doubleOf } from './payments-double.js';

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

const SESSION =
  'id status url nextAction { type url expiresAt } amounts { total { amount currency } cashApplied { amount } creditApplied { amount } }';
const CREATE = stored(`mutation CommerceCheckout($input: CreateCheckoutInput!) { createCheckout(input: $input) { ${SESSION} } }`);
const CONFIRM = stored(`mutation CommerceConfirm($input: ConfirmCheckoutInput!) { confirmCheckout(input: $input) { ${SESSION} } }`);
const CANCEL = stored('mutation CommerceCancel($id: ID!) { cancelCheckout(id: $id) { id status } }');
const REFUND = stored('mutation CommerceRefund($input: CreateRefundInput!) { createRefund(input: $input) { id status } }');
const VALIDATE = stored(`mutation CommerceValidatePromo($input: ValidatePromoInput!) { validatePromo(input: $input) {
  valid code reason promo { kind } amounts { discount { amount } } allocations { line amount { amount } } } }`);
const RESERVE = stored(
  'mutation CommerceReservePromo($input: ReservePromoInput!) { reservePromo(input: $input) { id code discount { amount } } }',
);
const COMMIT = stored('mutation CommerceCommitPromo($orderId: ID!) { commitPromoRedemption(orderId: $orderId) { id } }');
const RELEASE = stored('mutation CommerceReleasePromo($orderId: ID!) { releasePromoRedemption(orderId: $orderId) { id } }');
const METHODS = stored('query CommerceMethods($userId: ID!) { paymentMethods(userId: $userId, first: 100) { nodes { id } } }');

interface Session {
  id: string;
  status: SessionAnswer['status'];
  url: string | null;
  nextAction: { type: string; url: string | null; expiresAt: string | null } | null;
  amounts: { total: { amount: number; currency: string }; cashApplied: { amount: number }; creditApplied: { amount: number } };
}

function sessionFrom({ amounts, nextAction, ...session }: Session): SessionAnswer {
  const { total, cashApplied, creditApplied } = amounts;
  return {
    ...session,
    nextAction: nextAction?.url
      ? {
          type: nextAction.type.toLowerCase(),
          url: nextAction.url,
          expiresAt: nextAction.expiresAt ? new Date(nextAction.expiresAt) : null,
        }
      : null,
    settled:
      session.status === 'COMPLETE' ? { amount: total.amount + cashApplied.amount + creditApplied.amount, currency: total.currency } : null,
  };
}

const linesOf = ({ lines, currency }: PromoCase): object[] =>
  lines.map(({ variantId, quantity, subtotal }) => ({
    subjectKind: 'PRODUCT_VARIANT',
    subjectId: variantId,
    quantity,
    subtotal: { amount: subtotal, currency },
  }));

const isCode = (error: unknown, ...codes: string[]): boolean => error instanceof Problem && codes.includes(error.code);

/** Payments through the federation. The order is its key: it has one session for each. */
class FederatedPayments implements PaymentsPort {
  constructor(private readonly host: Pick<ServiceHost, 'federation'>) {}

  async createCheckout({ id, userId, payment }: OrderToPay): Promise<SessionAnswer> {
    const { paymentMethodId, useCash, returnUrl, cancelUrl, offSession } = payment;
    const input = {
      mode: 'PAYMENT',
      orderId: id,
      userId,
      paymentMethodId,
      useCash: useCash ?? false,
      returnUrl,
      cancelUrl,
      offSession: offSession ?? false,
    };
    const { createCheckout } = await ask<{ createCheckout: Session }>(this.host, CREATE, { input }, { idempotencyKey: `order:${id}` });
    return sessionFrom(createCheckout);
  }

  async confirmCheckout({ payment }: OrderToPay, sessionId: string, key: string): Promise<SessionAnswer> {
    const input = { id: sessionId, paymentMethodId: payment.paymentMethodId };
    const { confirmCheckout } = await ask<{ confirmCheckout: Session }>(this.host, CONFIRM, { input }, { idempotencyKey: key });
    return sessionFrom(confirmCheckout);
  }

  async cancelCheckout(_orderId: string, sessionId: string): Promise<'cancelled' | 'complete'> {
    try {
      await ask(this.host, CANCEL, { id: sessionId });
      return 'cancelled';
    } catch (error) {
      if (isCode(error, 'conflict')) return /complete|processing/.test((error as Problem).message) ? 'complete' : 'cancelled';
      if (isCode(error, 'not_found')) return 'cancelled';
      throw error;
    }
  }

  async refund(sessionId: string, { amount, currency, reason, key }: Parameters<PaymentsPort['refund']>[1]): Promise<void> {
    const input = { checkoutSessionId: sessionId, amount: amount === null ? null : { amount, currency }, reason };
    await ask(this.host, REFUND, { input }, { idempotencyKey: key });
  }

  async validatePromo(promo: PromoCase): Promise<PromoJudgement> {
    const input = { code: promo.code, lines: linesOf(promo), userId: promo.userId, brandId: promo.brandId };
    type Answer = {
      valid: boolean;
      code: string;
      reason: string | null;
      promo: { kind: string } | null;
      amounts: { discount: { amount: number } } | null;
      allocations: { line: number; amount: { amount: number } }[];
    };
    const { validatePromo: found } = await ask<{ validatePromo: Answer }>(this.host, VALIDATE, { input });
    const kind = found.promo?.kind === 'PERCENT' || found.promo?.kind === 'AMOUNT' ? found.promo.kind : null;
    const isGood = found.valid && kind !== null;
    return {
      valid: isGood,
      code: found.code,
      reason: isGood ? null : (found.reason ?? 'NOT_APPLICABLE'),
      kind,
      discount: isGood ? (found.amounts?.discount.amount ?? 0) : 0,
      allocations: isGood ? found.allocations.map(({ line, amount }) => ({ line, amount: amount.amount })) : [],
    };
  }

  async reservePromo(orderId: string, promo: PromoCase): Promise<PromoHold> {
    const input = { code: promo.code, userId: promo.userId, brandId: promo.brandId, orderId, lines: linesOf(promo) };
    const { reservePromo: hold } = await ask<{ reservePromo: { id: string; code: string; discount: { amount: number } } }>(
      this.host,
      RESERVE,
      { input },
    );
    return { id: hold.id, promoId: null, code: hold.code, discount: hold.discount.amount };
  }

  async commitPromo(orderId: string): Promise<void> {
    await this.#quietly(ask(this.host, COMMIT, { orderId }));
  }

  async releasePromo(orderId: string): Promise<void> {
    await this.#quietly(ask(this.host, RELEASE, { orderId }));
  }

  /** What has no hold, or is redeemed, needs nothing more. */
  async #quietly(asked: Promise<unknown>): Promise<void> {
    await asked.catch(error => {
      if (!isCode(error, 'not_found', 'conflict')) throw error;
    });
  }

  async hasMethod(userId: string, methodId: string): Promise<boolean> {
    type Answer = { paymentMethods: { nodes: { id: string }[] } };
    const { paymentMethods } = await ask<Answer>(this.host, METHODS, { userId });
    return paymentMethods.nodes.some(({ id }) => id === methodId.toLowerCase());
  }
}

const ports = new WeakMap<object, PaymentsPort>();

/** The port that is configured: payments, or with `COMMERCE_PAYMENTS=double` a table, or a process of its own. @throws Error. */
export function paymentsOf(host: ServiceHost): PaymentsPort {
  const found = ports.get(host);
  if (found) return found;
  const kind = host.config.setting('COMMERCE_PAYMENTS') ?? 'federation';
  if (kind !== 'federation' && kind !== 'double') throw new Error('COMMERCE_PAYMENTS must be one of federation, double');
  if (kind === 'double' && host.config.production) throw new Error('COMMERCE_PAYMENTS=double is for development and tests');
  const made = kind === 'double' ? doubleOf(host) : new FederatedPayments(host);
  ports.set(host, made);
  return made;
}
