import type { Context } from '../../../runtime/request/context.js';
import type { Timer } from '../../../runtime/time/clock.js';
import { earliest } from '../../../runtime/time/due.js';
import { MINUTE_MS } from '../../../runtime/time/durations.js';
import { leasedRows } from '../../../runtime/time/leased-rows.js';
import { missDeadlines } from '../commands/dispute.js';
import { lookAfterPayout } from '../commands/payout-call.js';
import { handleEvent } from '../commands/processor-event.js';
import { runReconciliation } from '../commands/reconciliation.js';
import { Payout } from '../entities/payout.js';
import { ProcessorEvent } from '../entities/processor-event.js';
import { ReconciliationRun } from '../entities/reconciliation.js';
import { BODY_KEPT_MS } from '../rules/processor-event.js';

/** Calls of the processor that failed, or whose process has died. Source: payments 4.5. */
const processorEvents = leasedRows({
  name: 'payments.processor_events',
  everySeconds: 5,
  entity: ProcessorEvent,
  due: 'nextAttemptAt',
  waiting: `status in ('received', 'failed')`,
  most: 16,
  leaseMs: MINUTE_MS,
  work: async (ctx, { id }) => void (await handleEvent(ctx.host, id)),
});

/** Payouts whose money or books are not settled. Source: payments 3.7. */
const payouts = leasedRows({
  name: 'payments.payouts',
  everySeconds: 2,
  entity: Payout,
  due: 'nextLookAt',
  waiting: 'next_look_at is not null',
  most: 16,
  leaseMs: 2 * MINUTE_MS,
  work: (ctx, { id }) => lookAfterPayout(ctx.host, id),
});

/** Runs that are to begin, or whose process has died. */
const reconciliations = leasedRows({
  name: 'payments.reconciliations',
  everySeconds: 2,
  entity: ReconciliationRun,
  due: 'workAt',
  waiting: `status = 'running'`,
  most: 1,
  leaseMs: 10 * MINUTE_MS,
  work: (ctx, { id }) => runReconciliation(ctx.host, id),
});

const disputeDeadlines: Timer<Context> = {
  name: 'payments.dispute_deadlines',
  everySeconds: 60,
  next: earliest(`select evidence_due_at as at from payments.dispute where status = 'needs_response' and evidence_due_at is not null`),
  run: missDeadlines,
};

/** Raw bodies are kept for replays, and no longer. Source: payments 2. */
const oldBodies: Timer<Context> = {
  name: 'payments.old_bodies',
  everySeconds: 3_600,
  next: earliest(
    `select received_at + $1 * interval '1 millisecond' as at from payments.processor_event where body_sealed is not null`,
    () => [BODY_KEPT_MS],
  ),
  run: async (ctx, at) =>
    void (await ctx.sql('update payments.processor_event set body_sealed = null where body_sealed is not null and received_at <= $1', [
      new Date(at.getTime() - BODY_KEPT_MS).toISOString(),
    ])),
};

export const processorTimers: readonly Timer<Context>[] = [processorEvents, payouts, reconciliations, disputeDeadlines, oldBodies];
