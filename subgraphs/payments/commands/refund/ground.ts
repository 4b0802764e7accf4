import { lockRow, requireRow } from '../../../../runtime/data/rows.js';
import type { Context } from '../../../../runtime/request/context.js';
import { fail } from '../../../../runtime/request/errors.js';
import { CheckoutSession } from '../../entities/checkout.js';
import { PaymentStatus } from '../../entities/enums-payment.js';
import { Invoice } from '../../entities/invoice.js';
import { Payment } from '../../entities/payment.js';
import type { Left, Settled } from '../../rules/refund.js';
import { lockObligation } from '../settlement.js';

/** What a refund is of, its rows locked: a session, an invoice, or a payment alone. */
export interface Ground {
  session: CheckoutSession | null;
  invoice: Invoice | null;
  /** Null: settled without a card. */
  payment: Payment | null;
  userId: string;
  currency: string;
  /** What settled it, minor units. */
  settled: Settled;
  /** What may still go back. */
  left: Left;
  tax: number;
}

type Holder = Pick<CheckoutSession, 'cashAppliedMinor' | 'creditAppliedMinor' | 'cashReturnedMinor' | 'creditReturnedMinor' | 'taxMinor'>;

function groundOf(payment: Payment | null, session: CheckoutSession | null, invoice: Invoice | null): Ground {
  const holder: Holder | null = invoice ?? (session?.isPaid ? session : null);
  const { userId, currency } = (payment ?? session ?? invoice)!;
  const [cash, credit] = [holder?.cashAppliedMinor ?? 0, holder?.creditAppliedMinor ?? 0];
  const left = {
    card: payment?.refundableMinor ?? 0,
    cash: cash - (holder?.cashReturnedMinor ?? 0),
    credit: credit - (holder?.creditReturnedMinor ?? 0),
  };
  const settled = { card: payment?.amountCapturedMinor ?? 0, cash, credit };
  return { session, invoice, payment, userId, currency, settled, left, tax: holder?.taxMinor ?? 0 };
}

/** What may go back of a payment, with what settled the rest of its obligation. @throws Problem not_found, conflict unless it is SUCCEEDED. */
export async function groundOfPayment(ctx: Context, id: string): Promise<Ground> {
  const found = await requireRow(ctx, Payment, { id }, 'No such payment');
  const { session, invoice } = await lockObligation(ctx, found);
  const payment = await lockRow(ctx, Payment, { id });
  if (payment.status !== PaymentStatus.SUCCEEDED)
    fail('conflict', `a payment that is ${payment.status.replaceAll('_', ' ')} cannot be refunded`);
  return groundOf(payment, session, invoice);
}

/** What may go back of a checkout session, also of one without a card. @throws Problem not_found, conflict unless it is complete. */
export async function groundOfSession(ctx: Context, id: string): Promise<Ground> {
  const session = await lockRow(ctx, CheckoutSession, { id }, 'No such checkout session');
  if (!session.isPaid) fail('conflict', `a checkout session that is ${session.status.replaceAll('_', ' ')} cannot be refunded`);
  if (session.paymentId !== null) return { ...(await groundOfPayment(ctx, session.paymentId)), session };
  const ids = { checkoutSessionId: null, giftSessionId: null, subscriptionId: session.subscriptionId, invoiceId: null };
  const { invoice } = await lockObligation(ctx, { ...ids, invoiceId: session.subscriptionId === null ? null : session.invoiceId });
  return groundOf(null, session, invoice);
}

/** What of the ground goes, or went, back already: all parts, and their tax. */
export async function returnedOf(ctx: Context, { session, invoice, payment }: Ground): Promise<{ amount: number; tax: number }> {
  const [row] = await ctx.sql<{ amount: number; tax: number }>(
    `select coalesce(sum(amount + cash_returned + credit_returned), 0)::float8 as amount, coalesce(sum(tax), 0)::float8 as tax
     from payments.refund where (payment_id = $1 or checkout_session_id = $2 or invoice_id = $3) and status not in ('failed', 'cancelled')`,
    [payment?.id ?? null, session?.id ?? null, invoice?.id ?? null],
  );
  return row!;
}
