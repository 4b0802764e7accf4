import type { FilterQuery } from '@mikro-orm/postgresql';
import type { Context } from '../../../runtime/request/context.js';
import { page, toConnection, type Connection, type PageArgs } from '../../../runtime/request/paging.js';
import { PAYMENT_READERS } from '../entities/access.js';
import { Payment, PaymentAttempt } from '../entities/payment.js';
import { Dispute } from '../entities/dispute.js';
import { Refund } from '../entities/refund.js';
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

/** The newest refunds of each payment, one more than is shown. */
const NEWEST = `select newest.id from unnest($1::uuid[]) as of(id)
cross join lateral (select id from payments.refund where payment_id = of.id order by created_at desc, id desc limit $2) newest`;

/** The first page of refunds of many payments: two statements for all. */
async function firstRefunds(ctx: Context, paymentIds: readonly string[], first: number): Promise<Connection<Refund>[]> {
  const newest = await ctx.sql<{ id: string }>(NEWEST, [paymentIds, first + 1]);
  const rows = await ctx.em.find(Refund, { id: { $in: newest.map(one => one.id) } }, { orderBy: { createdAt: 'desc', id: 'desc' } });
  const of = Map.groupBy(rows, one => one.paymentId);
  return paymentIds.map(id => toConnection(of.get(id) ?? [], first, one => [one.createdAt.toISOString(), one.id]));
}

/** Refunds of a payment, newest first. First pages come in a batch with those of all others that are asked for; a later page is one payment's. */
export function refundsOf(ctx: Context, paymentId: string, args: PageArgs): Promise<Connection<Refund> | null> {
  if (args.after) return page(ctx.em, Refund, { paymentId }, args, { time: 'createdAt' });
  return ctx.load(`Payment.refunds ${args.first}`, paymentId, ids => firstRefunds(ctx, ids, args.first));
}

/** Disputes of a payment in the order in which they were opened, in a batch with those of all others that are asked for. */
export async function disputesOf(ctx: Context, paymentId: string): Promise<Dispute[]> {
  const found = await ctx.load('Payment.disputes', paymentId, async ids => {
    const all = await ctx.em.find(Dispute, { paymentId: { $in: [...ids] } }, { orderBy: { openedAt: 'asc', id: 'asc' } });
    return ids.map(id => all.filter(one => one.paymentId === id));
  });
  return found ?? [];
}
