import type { FilterQuery } from '@mikro-orm/postgresql';
import type { Context } from '../../../runtime/request/context.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { PAYMENT_READERS } from '../entities/access.js';
import { Payment, PaymentAttempt } from '../entities/payment.js';
import type { PaymentsArgs } from '../inputs/payment.js';
import { ownRows } from './own-rows.js';

/** `from <= createdAt < to`. */
export const createdIn = (from: Date | null | undefined, to: Date | null | undefined): object =>
  from || to ? { createdAt: { ...(from && { $gte: from }), ...(to && { $lt: to }) } } : {};

/** Payments, newest first; of a member the own ones. */
export function pageOfPayments(
  ctx: Context,
  { userId, status, purpose, orderId, from, to, ...paging }: PaymentsArgs,
): Promise<Connection<Payment>> {
  const asked = { ...(userId && { userId: userId.toLowerCase() }), ...(status && { status }), ...(purpose && { purpose }) };
  const where: FilterQuery<Payment> = {
    $and: [asked, orderId ? { orderId: orderId.toLowerCase() } : {}, createdIn(from, to), ownRows(ctx, PAYMENT_READERS)],
  };
  return page(ctx.em, Payment, where, paging, { time: 'createdAt' });
}

/** Attempts of a payment in their order, in a batch with those of all others that are asked for. */
export async function attemptsOf(ctx: Context, paymentId: string): Promise<PaymentAttempt[]> {
  const found = await ctx.load('Payment.attempts', paymentId, async ids => {
    const all = await ctx.em.find(PaymentAttempt, { paymentId: { $in: [...ids] } }, { orderBy: { number: 'asc' } });
    return ids.map(id => all.filter(one => one.paymentId === id));
  });
  return found ?? [];
}
