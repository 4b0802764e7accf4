import { actorOf, isStaff } from '../../../../runtime/request/caller.js';
import type { Context } from '../../../../runtime/request/context.js';
import { fail, invalid } from '../../../../runtime/request/errors.js';
import { after } from '../../../../runtime/time/durations.js';
import { RefundOrigin, RefundStatus, type RefundReason } from '../../entities/enums-payment.js';
import { Refund } from '../../entities/refund.js';
import { ATTEMPT_LEASE_MS } from '../../rules/payment-states.js';
import { APPROVAL_MS, splitOfObligation, splitOfPayment, STAFF_WINDOW_MS, taxShare, thresholdOf, type Parts } from '../../rules/refund.js';
import { groundOfPayment, groundOfSession, returnedOf, type Ground } from './ground.js';
import { requirePreviewed } from './preview-token.js';
import { requireGiftRefundable } from '../gift-settlement.js';

/** A refund that somebody wants; without an amount everything that is left. Minor units. */
export interface RefundWanted {
  paymentId?: string | null;
  checkoutSessionId?: string | null;
  amount?: { amount: number; currency: string } | null;
  reason: RefundReason;
  note?: string | null;
  toCash?: boolean;
  metadata?: unknown;
  /** Of a preview, which this is bound to. */
  previewToken?: string | null;
  /** Of platform's configuration; see {@link thresholdOf}. */
  thresholds?: unknown;
}

const sum = ({ card, cash, credit }: Parts): number => card + cash + credit;

/** @throws Problem conflict, reason `dispute_open`, for what a dispute holds; else `nothing_refundable`. */
function requireSomething({ payment, left }: Ground, isWhole: boolean): void {
  const most = isWhole ? sum(left) : left.card;
  if (most > 0) return;
  if (payment && payment.amountDisputedMinor > 0) fail('conflict', 'A dispute is open for the amount', { reason: 'dispute_open' });
  fail('conflict', 'Nothing is left to be refunded', { reason: 'nothing_refundable' });
}

/** @throws Problem invalid_request for more than is left; conflict where a dispute holds it. */
function requireLeft({ payment, left, currency }: Ground, { amount }: RefundWanted, most: number): number {
  if (!amount) return most;
  if (amount.currency !== currency) invalid('/input/amount/currency', `must be ${currency}`);
  const disputed = payment?.amountDisputedMinor ?? 0;
  if (amount.amount > most && amount.amount <= most + disputed)
    fail('conflict', 'A dispute is open for the amount', { reason: 'dispute_open' });
  if (amount.amount < 1 || amount.amount > most)
    invalid('/input/amount', `must be between 1 and ${most}`, { members: { refundable: left.card } });
  return amount.amount;
}

/** How an amount is split: of a session card, cash and credit in turn; of a payment the card's part, and its shares with it. */
function splitOf(ground: Ground, wanted: RefundWanted): Parts {
  const isWhole = wanted.checkoutSessionId != null;
  requireSomething(ground, isWhole);
  const amount = requireLeft(ground, wanted, isWhole ? sum(ground.left) : ground.left.card);
  return isWhole ? splitOfObligation(amount, ground.left) : splitOfPayment(amount, ground.settled, ground.left);
}

const STAFF_SO_FAR = `
select coalesce(sum(amount + cash_returned + credit_returned), 0)::float8 as amount from payments.refund
where by_staff and status not in ('failed', 'cancelled') and created_at > $3 and (payment_id = $1 or checkout_session_id = $2)`;

/** Whether a second person has to agree: all refunds of staff of this payment in 30 days count, this one included. Source: payments 3.2. */
async function needsApproval(ctx: Context, { payment, session, currency }: Ground, amount: number, thresholds: unknown): Promise<boolean> {
  if (!isStaff(ctx.caller)) return false;
  const since = after(ctx.now(), -STAFF_WINDOW_MS).toISOString();
  const [row] = await ctx.sql<{ amount: number }>(STAFF_SO_FAR, [payment?.id ?? null, session?.id ?? null, since]);
  return row!.amount + amount > thresholdOf(thresholds, currency);
}

/** @throws Problem conflict for a gift that somebody has redeemed, or is redeeming. Source: payments 3.7. */
async function requireUnredeemed(ctx: Context, { payment }: Ground): Promise<void> {
  if (payment?.giftSessionId != null) await requireGiftRefundable(ctx, payment.giftSessionId);
}

/** Keeps what goes back from going back twice. Rows of the ground are locked. Source: payments 7.3. */
function reserve({ payment, session, invoice }: Ground, { card, cash, credit }: Parts): void {
  if (payment) Object.assign(payment, { amountReservedMinor: payment.amountReservedMinor + card, version: payment.version + 1 });
  const holder = invoice ?? session;
  if (!holder) return;
  holder.cashReturnedMinor += cash;
  holder.creditReturnedMinor += credit;
}

/** What was reserved is free again: the refund came to nothing. */
export function unreserve({ payment, session, invoice }: Ground, refund: Refund): void {
  if (payment) payment.amountReservedMinor -= refund.amountMinor;
  const holder = invoice ?? session;
  if (!holder) return;
  holder.cashReturnedMinor -= refund.cashReturnedMinor;
  holder.creditReturnedMinor -= refund.creditReturnedMinor;
}

/** What of which ground would go back, its rows locked; nothing is written. @throws Problem not_found, conflict, invalid_request. */
export async function reckonRefund(
  ctx: Context,
  wanted: Pick<RefundWanted, 'paymentId' | 'checkoutSessionId' | 'amount' | 'reason'>,
): Promise<{ ground: Ground; parts: Parts; tax: number }> {
  const { paymentId, checkoutSessionId } = wanted;
  const ground = paymentId != null ? await groundOfPayment(ctx, paymentId) : await groundOfSession(ctx, checkoutSessionId!);
  await requireUnredeemed(ctx, ground);
  const parts = splitOf(ground, wanted);
  const tax = taxShare(ground.tax, sum(ground.settled), sum(parts), await returnedOf(ctx, ground));
  return { ground, parts, tax };
}

/**
 * Transaction 1 of a refund: what goes back is reserved. PENDING until the processor, or cash, has taken it; REQUIRES_APPROVAL first where
 * staff give back more than one may alone. @throws Problem not_found, conflict, invalid_request at `/amount`.
 */
export async function beginRefund(ctx: Context, wanted: RefundWanted): Promise<Refund> {
  const { ground, parts, tax } = await reckonRefund(ctx, wanted);
  if (wanted.previewToken != null) requirePreviewed(ctx, wanted.previewToken, ground, parts);
  const approval = await needsApproval(ctx, ground, sum(parts), wanted.thresholds);
  const { payment, session, invoice } = ground;
  const refund = Object.assign(new Refund(), {
    userId: ground.userId,
    paymentId: payment?.id ?? null,
    checkoutSessionId: session?.id ?? null,
    giftSessionId: payment?.giftSessionId ?? null,
    invoiceId: invoice?.id ?? null,
    orderId: session?.orderId ?? payment?.orderId ?? null,
    subscriptionId: payment?.subscriptionId ?? invoice?.subscriptionId ?? null,
    amountMinor: parts.card,
    cashReturnedMinor: parts.cash,
    creditReturnedMinor: parts.credit,
    taxMinor: tax,
    currency: ground.currency,
    status: approval ? RefundStatus.REQUIRES_APPROVAL : RefundStatus.PENDING,
    reason: wanted.reason,
    origin: isStaff(ctx.caller) ? RefundOrigin.STAFF : RefundOrigin.API,
    noteText: wanted.note ?? null,
    toCash: wanted.toCash ?? false,
    processor: payment?.processor ?? null,
    requester: actorOf(ctx.caller),
    byStaff: isStaff(ctx.caller),
    approveBefore: approval ? after(ctx.now(), APPROVAL_MS) : null,
    metadata: wanted.metadata ?? {},
    createdAt: ctx.now(),
    nextLookAt: approval ? null : after(ctx.now(), ATTEMPT_LEASE_MS),
  });
  reserve(ground, parts);
  ctx.em.persist(refund);
  const { requester: by, reason } = refund;
  ctx.audit('refund.created', refund.id, {
    payment_id: refund.paymentId,
    amount: sum(parts),
    currency: refund.currency,
    reason,
    by,
    approval,
  });
  return refund;
}
