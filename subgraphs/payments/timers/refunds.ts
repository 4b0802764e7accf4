import { leasedRows } from '../../../runtime/time/leased-rows.js';
import { earliest } from '../../../runtime/time/due.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Timer } from '../../../runtime/time/clock.js';
import { MINUTE_MS } from '../../../runtime/time/durations.js';
import { rejectStale } from '../commands/refund/approval.js';
import { resolveRefund } from '../commands/refund/resolution.js';
import { Refund } from '../entities/refund.js';

const refunds = leasedRows({
  name: 'payments.refunds',
  everySeconds: 1,
  entity: Refund,
  due: 'nextLookAt',
  waiting: "status in ('pending', 'requires_action')",
  sets: 'looks = looks + 1',
  most: 20,
  leaseMs: MINUTE_MS,
  work: (ctx, refund) => resolveRefund(ctx, refund.id),
});

const NEXT_STALE = `select min(approve_before) as at from payments.refund where status = 'requires_approval'`;

const approvals: Timer<Context> = {
  name: 'payments.refund_approvals',
  everySeconds: 60,
  next: earliest(NEXT_STALE),
  run: rejectStale,
};

export const refundTimers: readonly Timer<Context>[] = [refunds, approvals];
