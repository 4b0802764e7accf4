import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { ask } from './neighbour.js';
import type { OrderToPay, PaymentsPort, PromoCase, PromoHold, PromoJudgement, SessionAnswer } from './payments-port.js';

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
const METHODS = stored('query CommerceMethods($userId: ID!) { userPaymentMethods(userId: $userId) { id } }');

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
export class FederatedPayments implements PaymentsPort {
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
    type Answer = { userPaymentMethods: { id: string }[] };
    const { userPaymentMethods } = await ask<Answer>(this.host, METHODS, { userId });
    return userPaymentMethods.some(({ id }) => id === methodId.toLowerCase());
  }
}
