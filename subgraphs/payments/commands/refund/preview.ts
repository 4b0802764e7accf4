import type { Context } from '../../../../runtime/request/context.js';
import { invalid } from '../../../../runtime/request/errors.js';
import { after } from '../../../../runtime/time/durations.js';
import { RefundReason } from '../../entities/enums-payment.js';
import type { RefundPreview } from '../../entities/refund-preview.js';
import type { PreviewRefundInput } from '../../inputs/refund.js';
import type { Parts } from '../../rules/refund.js';
import { PREVIEW_MS } from '../preview-token.js';
import { reckonRefund } from './create.js';
import { refundToken } from './preview-token.js';

const sum = ({ card, cash, credit }: Parts): number => card + cash + credit;

/** What a refund would do, to the cent. @throws Problem as the refund itself. */
export async function previewRefund(ctx: Context, input: PreviewRefundInput): Promise<RefundPreview> {
  if ((input.paymentId == null) === (input.checkoutSessionId == null))
    invalid('/input', 'exactly one of paymentId and checkoutSessionId is required');
  const { ground, parts, tax } = await reckonRefund(ctx, { ...input, reason: RefundReason.OTHER });
  const money = (amount: number) => ({ amount, currency: ground.currency });
  return {
    amount: money(parts.card),
    cashReturned: money(parts.cash),
    creditReturned: money(parts.credit),
    tax: money(tax),
    isFull: sum(parts) === sum(ground.left) && sum(ground.left) === sum(ground.settled),
    subscriptionId: ground.payment?.subscriptionId ?? ground.invoice?.subscriptionId ?? null,
    token: refundToken(ctx, ground, parts),
    expiresAt: after(ctx.now(), PREVIEW_MS),
  };
}
