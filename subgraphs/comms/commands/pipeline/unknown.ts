import type { Context } from '../../../../runtime/request/context.js';
import { CommsCategory, CommsMessageStatus as Status } from '../../entities/enums.js';
import type { CommsMessage } from '../../entities/message.js';
import { providersOf } from '../../ports/providers.js';
import { mayRepeatUnknown } from '../../rules/retry.js';
import { reportFinal } from '../outcome.js';

/** What may have been sent: begun once more, from `again`, where that does no harm, else given up. Source: comms 3, outcome unknown. */
export function settleUnknown(ctx: Context, message: CommsMessage, again: Date): void {
  const { isAuth, attemptCount: attempts, retaken, category, channel } = message;
  const idempotent = providersOf(ctx.host)[channel]?.idempotent ?? false;
  const repeat = mayRepeatUnknown({ idempotent, marketing: category === CommsCategory.MARKETING, retaken, isAuth, attempts });
  if (repeat) Object.assign(message, { status: Status.QUEUED, retaken: true, nextAt: again, leaseUntil: null });
  else reportFinal(ctx, message, 'failed', isAuth ? 'expired' : 'unknown_outcome');
}
