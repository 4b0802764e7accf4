import { findRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { CheckoutSession } from '../entities/checkout.js';
import { PaymentProcessor } from '../entities/enums-payment.js';
import { GiftCheckoutSession } from '../entities/gift.js';
import { Invoice } from '../entities/invoice.js';
import type { Payment } from '../entities/payment.js';

/** What was settled, and what of it has gone back, lost disputes included; all null where no payment.paid was emitted. Source: payments 5.1. */
export interface ObligationFacts {
  obligation_type: 'checkout' | 'invoice' | 'order' | null;
  obligation_id: string | null;
  /** Card, cash and credit, minor units. */
  obligation_amount: number | null;
  obligation_refunded: number | null;
}

const NONE: ObligationFacts = { obligation_type: null, obligation_id: null, obligation_amount: null, obligation_refunded: null };

/** What card and account got back of the payments of an obligation, and lost by disputes. */
const BACK = `select coalesce(sum(p.amount_refunded), 0)::float8 as refunded,
    coalesce(sum((select sum(d.amount_counted) from payments.dispute d where d.payment_id = p.id and d.status = 'lost')), 0)::float8 as lost
  from payments.payment p where`;

async function goneBack(
  ctx: Context,
  column: 'id' | 'checkout_session_id' | 'gift_session_id' | 'invoice_id',
  id: string,
): Promise<number> {
  await ctx.em.flush();
  const [row] = await ctx.sql<{ refunded: number; lost: number }>(`${BACK} p.${column} = $1`, [id]);
  return row!.refunded + row!.lost;
}

/** The same of a session, also of one that no card has paid. */
export async function obligationOfSession(ctx: Context, id: string): Promise<ObligationFacts> {
  const session = await findRow(ctx, CheckoutSession, { id });
  if (!session?.paidAt) return NONE;
  const back = (await goneBack(ctx, 'checkout_session_id', id)) + session.cashReturnedMinor + session.creditReturnedMinor;
  return {
    obligation_type: session.orderId === null ? 'checkout' : 'order',
    obligation_id: session.orderId ?? id,
    obligation_amount: session.totalMinor + session.cashAppliedMinor + session.creditAppliedMinor,
    obligation_refunded: back,
  };
}

async function ofInvoice(ctx: Context, id: string): Promise<ObligationFacts> {
  const invoice = await findRow(ctx, Invoice, { id });
  if (!invoice?.paidAt) return NONE;
  const [{ lost }] = (await ctx.sql<{ lost: number }>(
    `select coalesce(sum(d.amount_counted), 0)::float8 as lost from payments.dispute d join payments.payment p on p.id = d.payment_id
     where p.invoice_id = $1 and d.status = 'lost'`,
    [id],
  )) as [{ lost: number }];
  return {
    obligation_type: 'invoice',
    obligation_id: id,
    obligation_amount: invoice.totalMinor,
    obligation_refunded: invoice.amountRefundedMinor + lost,
  };
}

async function ofGift(ctx: Context, id: string): Promise<ObligationFacts> {
  const session = await findRow(ctx, GiftCheckoutSession, { id });
  if (!session?.paidAt) return NONE;
  const amount = session.totalMinor + session.cashAppliedMinor + session.creditAppliedMinor;
  return {
    obligation_type: 'checkout',
    obligation_id: id,
    obligation_amount: amount,
    obligation_refunded: await goneBack(ctx, 'gift_session_id', id),
  };
}

/** A mirrored charge is its own obligation. */
async function ofMirror(ctx: Context, { id, amountCapturedMinor }: Payment): Promise<ObligationFacts> {
  return {
    obligation_type: 'checkout',
    obligation_id: id,
    obligation_amount: amountCapturedMinor,
    obligation_refunded: await goneBack(ctx, 'id', id),
  };
}

/** The obligation that a payment settled: the order if there is one, else the invoice, else the checkout. */
export async function obligationFacts(ctx: Context, payment: Payment): Promise<ObligationFacts> {
  await ctx.em.flush();
  if (payment.invoiceId !== null) return ofInvoice(ctx, payment.invoiceId);
  if (payment.checkoutSessionId !== null) return obligationOfSession(ctx, payment.checkoutSessionId);
  if (payment.giftSessionId !== null) return ofGift(ctx, payment.giftSessionId);
  return payment.processor === PaymentProcessor.PARTNER && payment.amountCapturedMinor > 0 ? ofMirror(ctx, payment) : NONE;
}
