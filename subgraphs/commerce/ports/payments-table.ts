import { randomUUID } from 'node:crypto';
import { Problem } from '../../../runtime/request/errors.js';
import { allocate, shareOf } from '../rules/money.js';
import type { OrderToPay, PromoCase, PromoHold, PromoJudgement, SessionAnswer } from './payments-port.js';

/** `$1`-style SQL in a transaction. */
export type DoubleSql = <Row = any>(text: string, params?: readonly unknown[]) => Promise<Row[]>;

/** A call that is never answered. */
export const SILENT = Symbol('silent');

interface Payment {
  order_id: string;
  session_id: string;
  amount: string;
  currency: string;
  status: SessionAnswer['status'];
  attempts: number;
  keys: Record<string, string>;
}

/** What a payment's total says of its outcome. Source: commerce 8. */
const ENDINGS: Readonly<Record<number, 'declines' | 'acts' | 'silent'>> = { 2: 'declines', 3: 'acts', 4: 'silent' };

const shown = ({ session_id: id, amount, currency, status }: Payment): SessionAnswer => ({
  id,
  status,
  url: status === 'OPEN' ? `http://localhost/double/${id}` : null,
  nextAction: status === 'REQUIRES_ACTION' ? { type: 'redirect_to_url', url: `https://double.example/${id}`, expiresAt: null } : null,
  settled: status === 'COMPLETE' ? { amount: Number(amount), currency } : null,
});

/** A decline is an answer here, so that what was written stays; whoever hands it on makes a problem of it. */
const DECLINE = { declined: { declineCode: 'generic_decline', category: 'issuer', retryable: true } } as const;

export interface DeclinedAnswer extends SessionAnswer {
  declined: typeof DECLINE.declined;
}

/** The double of payments: its payments are rows, so that they outlive whoever asked. Not for production. */
export class PaymentsTable {
  constructor(private readonly sql: DoubleSql) {}

  /** @throws Problem. */
  async run(operation: string, args: readonly any[]): Promise<unknown> {
    const method = (this as unknown as Record<string, (...given: any[]) => Promise<unknown>>)[operation];
    if (!method || operation === 'run' || operation.startsWith('#')) throw new Problem('not_found', 'There is no such operation');
    return method.apply(this, [...args]);
  }

  async #lock(orderId: string): Promise<Payment | null> {
    await this.sql('select pg_advisory_xact_lock(hashtextextended($1, 41))', [orderId]);
    return (await this.sql<Payment>('select * from commerce.embedded_payment where order_id = $1', [orderId]))[0] ?? null;
  }

  async #charge(payment: Payment, hasMethod: boolean): Promise<Payment | typeof SILENT> {
    const ending = ENDINGS[Number(payment.amount) % 100];
    const status = !hasMethod ? 'OPEN' : ending === 'acts' ? 'REQUIRES_ACTION' : ending === 'declines' ? 'OPEN' : 'COMPLETE';
    const text = 'update commerce.embedded_payment set status = $2, attempts = attempts + 1 where order_id = $1 returning *';
    const [after] = await this.sql<Payment>(text, [payment.order_id, status]);
    return hasMethod && ending === 'silent' ? SILENT : after!;
  }

  async createCheckout(order: OrderToPay): Promise<SessionAnswer | typeof SILENT> {
    const known = await this.#lock(order.id);
    if (known) return shown(known);
    const text = `insert into commerce.embedded_payment (order_id, session_id, user_id, amount, currency, status) values ($1, $2, $3, $4, $5, 'OPEN') returning *`;
    const [made] = await this.sql<Payment>(text, [order.id, randomUUID(), order.userId, order.total, order.currency]);
    const charged = await this.#charge(made!, order.payment.paymentMethodId != null);
    if (charged === SILENT) return SILENT;
    return order.payment.paymentMethodId != null && charged.status === 'OPEN' ? { ...shown(charged), ...DECLINE } : shown(charged);
  }

  async confirmCheckout(order: OrderToPay, _sessionId: string, key: string): Promise<SessionAnswer | typeof SILENT> {
    const known = await this.#lock(order.id);
    if (!known) throw new Problem('not_found', 'No such checkout session');
    if (known.status === 'COMPLETE') return shown(known);
    if (known.keys[key]) return { ...shown(known), ...DECLINE };
    await this.sql('update commerce.embedded_payment set keys = keys || jsonb_build_object($2::text, true) where order_id = $1', [
      order.id,
      key,
    ]);
    const charged = await this.#charge(known, true);
    if (charged === SILENT) return SILENT;
    return charged.status === 'OPEN' ? { ...shown(charged), ...DECLINE } : shown(charged);
  }

  async cancelCheckout(orderId: string): Promise<'cancelled' | 'complete'> {
    const known = await this.#lock(orderId);
    if (known?.status === 'COMPLETE') return 'complete';
    await this.sql(`update commerce.embedded_payment set status = 'CANCELLED' where order_id = $1`, [orderId]);
    return 'cancelled';
  }

  async refund(_sessionId: string, { amount, key, orderId }: { amount: number | null; key: string; orderId: string }): Promise<void> {
    await this.#lock(orderId);
    const text = `update commerce.embedded_payment set refunds = refunds || jsonb_build_object($2::text, true),
      refunded = least(amount, refunded + coalesce($3::bigint, amount - refunded)) where order_id = $1 and not refunds ? $2`;
    await this.sql(text, [orderId, key, amount]);
  }

  async #promo({ brandId, code }: Pick<PromoCase, 'brandId' | 'code'>): Promise<any> {
    return (
      await this.sql('select * from commerce.embedded_promo where brand_id = $1 and code = $2', [brandId, code.trim().toUpperCase()])
    )[0];
  }

  async #used(brandId: string, code: string): Promise<number> {
    const text = `select count(*)::int as used from commerce.embedded_promo_hold where brand_id = $1 and code = $2 and status <> 'released'`;
    return (await this.sql<{ used: number }>(text, [brandId, code]))[0]!.used;
  }

  async validatePromo(asked: PromoCase): Promise<PromoJudgement> {
    const code = asked.code.trim().toUpperCase();
    const refused = (reason: string): PromoJudgement => ({ valid: false, code, reason, kind: null, discount: 0, allocations: [] });
    const promo = await this.#promo(asked);
    if (!promo || (promo.currency !== null && promo.currency !== asked.currency)) return refused('UNKNOWN');
    if (promo.max_redemptions !== null && (await this.#used(asked.brandId, code)) >= promo.max_redemptions) return refused('EXHAUSTED');
    const subtotals = asked.lines.map(one => one.subtotal);
    const sum = subtotals.reduce((total, one) => total + one, 0);
    const discount = promo.percent_bps === null ? Math.min(sum, Number(promo.amount_off)) : shareOf(sum, promo.percent_bps);
    const kind = promo.percent_bps === null ? 'AMOUNT' : 'PERCENT';
    return {
      valid: true,
      code,
      reason: null,
      kind,
      discount,
      allocations: allocate(discount, subtotals).map((amount, line) => ({ line, amount })),
    };
  }

  async reservePromo(orderId: string, asked: PromoCase): Promise<PromoHold> {
    await this.sql('select pg_advisory_xact_lock(hashtextextended($1, 42))', [asked.brandId]);
    const [known] = await this.sql('select * from commerce.embedded_promo_hold where order_id = $1', [orderId]);
    if (known) return { id: orderId, promoId: null, code: known.code, discount: Number(known.discount) };
    const judged = await this.validatePromo(asked);
    if (!judged.valid)
      throw new Problem('invalid_request', 'The code is refused', {
        reason: judged.reason!.toLowerCase(),
        errors: [{ pointer: '/input/code', message: 'is refused' }],
      });
    await this.sql(
      `insert into commerce.embedded_promo_hold (order_id, brand_id, code, status, discount, allocations) values ($1, $2, $3, 'reserved', $4, $5)`,
      [orderId, asked.brandId, judged.code, judged.discount, JSON.stringify(judged.allocations)],
    );
    return { id: orderId, promoId: (await this.#promo(asked)).id, code: judged.code, discount: judged.discount };
  }

  async commitPromo(orderId: string): Promise<void> {
    await this.sql(`update commerce.embedded_promo_hold set status = 'redeemed' where order_id = $1`, [orderId]);
  }

  async releasePromo(orderId: string): Promise<void> {
    await this.sql(`update commerce.embedded_promo_hold set status = 'released' where order_id = $1 and status = 'reserved'`, [orderId]);
  }

  /** Every method is known but one of zeros. */
  hasMethod(_userId: string, methodId: string): Promise<boolean> {
    return Promise.resolve(!/^0{8}-/.test(methodId));
  }
}
