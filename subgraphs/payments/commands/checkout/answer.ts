import { requireRow } from '../../../../runtime/data/rows.js';
import type { Context } from '../../../../runtime/request/context.js';
import { Problem } from '../../../../runtime/request/errors.js';
import { CheckoutSession } from '../../entities/checkout.js';
import { BillingSessionStatus } from '../../entities/enums-payment.js';
import type { PaymentError } from '../../entities/money.js';

/** Why a payment that somebody waits for was refused: 402 with what may be done about it. Source: payments 4. */
export function declinedProblem(error: PaymentError, ids: { paymentId: string | null; checkoutSessionId: string | null }): Problem {
  const { declineCode, category, retryable } = error;
  return new Problem('payment_declined', error.message, { members: { declineCode, category, retryable, ...ids } });
}

const UNREACHABLE = 'processor_unreachable';

/** What a request that has confirmed a session is told: the session, or why its charge was refused. */
export async function confirmed(ctx: Context, id: string): Promise<CheckoutSession | Problem> {
  const session = await requireRow(ctx, CheckoutSession, { id });
  const { lastError, paymentId, status } = session;
  if (status !== BillingSessionStatus.OPEN || lastError === null) return session;
  if (lastError.declineCode === UNREACHABLE)
    return new Problem('unavailable', 'The processor cannot be reached right now', { retryAfter: 5 });
  return declinedProblem(lastError, { paymentId, checkoutSessionId: id });
}
