import { requestMessage } from '../../../runtime/request/messages.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { loggedError } from '../../../runtime/observe/log.js';
import { after, MINUTE_MS } from '../../../runtime/time/durations.js';
import { FailureAlert } from '../entities/failure-alert.js';
import type { FailureReport, ResolvedPayment } from '../entities/operations.js';
import type { MonitorPaymentFailuresInput } from '../inputs/operations.js';
import { countAttempts, countGroups, unansweredAttempts, webhookLagSeconds } from '../queries/failures.js';
import { isBreached, rateBps } from '../rules/failures.js';
import { resolveAttempt } from './attempt-resolution.js';

/** What a window is compared with. */
const BASELINE_MINUTES = 7 * 24 * 60;

type Window = FailureReport['window'];

/** One alert for a breach, however often it is looked at while it lasts. Source: payments 4.4. */
async function alertOf(
  ctx: Context,
  window: Window,
  report: Omit<FailureReport, 'alertId' | 'stuck' | 'groups' | 'webhookLagSeconds'>,
): Promise<string> {
  await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 31))', ['failure_alert']);
  const known = await ctx.em.findOne(FailureAlert, { raisedAt: { $gt: window.from } }, { orderBy: { raisedAt: 'desc' } });
  if (known) return known.id;
  const { attempts, failures, failureRateBps, baselineRateBps } = report;
  const counted = { attempts, failures, failureRateBps, baselineRateBps };
  const alert = Object.assign(new FailureAlert(), { windowFrom: window.from, windowTo: window.to, raisedAt: ctx.now(), ...counted });
  ctx.em.persist(alert);
  ctx.audit('failure_alert.raised', alert.id, counted);
  const params = { alert_id: alert.id, attempts, failures, failure_rate_bps: failureRateBps };
  requestMessage(ctx, { staffRole: 'developer' }, { template: 'payment_failures', params, dedupeKey: `payment_failures:${alert.id}` });
  return alert.id;
}

/** Asks the processor what became of one attempt; null where it still does not say. */
async function resolved(
  host: ServiceHost,
  { attemptId, paymentId, since }: { attemptId: string; paymentId: string; since: Date },
): Promise<ResolvedPayment> {
  try {
    const { status } = await host.read(ctx => resolveAttempt(ctx, attemptId));
    return { paymentId, since, resolvedTo: status === 'processing' ? null : status };
  } catch (error) {
    host.log.warn({ err: loggedError(error), attempt: attemptId }, 'an attempt could not be resolved');
    return { paymentId, since, resolvedTo: null };
  }
}

async function stuckOf(host: ServiceHost, isToBeResolved: boolean): Promise<ResolvedPayment[]> {
  const found = await host.read(unansweredAttempts);
  const list: ResolvedPayment[] = [];
  for (const one of found)
    list.push(isToBeResolved ? await resolved(host, one) : { paymentId: one.paymentId, since: one.since, resolvedTo: null });
  return list;
}

/** Counts how many attempts fail, raises an alert where more do than may, and looks after those without an answer. Outside transactions. */
export async function monitorFailures(host: ServiceHost, input: MonitorPaymentFailuresInput): Promise<FailureReport> {
  const stuck = await stuckOf(host, input.resolveStuck);
  return host.transaction(async ctx => {
    const to = after(ctx.now(), 1); // what happened just now is in it
    const window = { from: after(to, -input.windowMinutes * MINUTE_MS), to };
    const counted = await countAttempts(ctx, window);
    const before = await countAttempts(ctx, { from: after(window.from, -BASELINE_MINUTES * MINUTE_MS), to: window.from });
    const breached = isBreached(counted, input.minAttempts, input.thresholdBps);
    const report = { window, ...counted, failureRateBps: rateBps(counted), baselineRateBps: rateBps(before), breached };
    return {
      ...report,
      groups: await countGroups(ctx, window, input.groupBy),
      stuck,
      webhookLagSeconds: await webhookLagSeconds(ctx),
      alertId: breached ? await alertOf(ctx, window, report) : null,
    };
  });
}
