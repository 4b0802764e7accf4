import type { Context } from '../../../../runtime/request/context.js';
import { FOR_UPDATE } from '../../../../runtime/data/rows.js';
import { CommsMessageStatus as Status, CommsSuppressionReason as Reason, PushSubscriptionStatus } from '../../entities/enums.js';
import { CommsMessage, MessageAttempt } from '../../entities/message.js';
import { PushSubscription } from '../../entities/suppression.js';
import type { Outcome } from '../../ports/provider.js';
import { waitAfter } from '../../rules/retry.js';
import { afterBounce, reportFinal, reportSent, suppress } from '../outcome.js';
import type { Done } from './call.js';
import { settleUnknown } from './unknown.js';

/** A device that fails so often, for so long, is gone. Source: comms 3, push subscription. */
const FAILURES = 5;
const FAILING_MS = 3 * 86_400_000;

function retry(ctx: Context, message: CommsMessage, outcome: Outcome & { kind: 'transient' }): void {
  const wait = waitAfter(message.attemptCount, message.isAuth);
  const at = wait === null ? null : new Date(ctx.now().getTime() + Math.max(wait, outcome.retryAfterMs ?? 0));
  if (at === null || (message.expiresAt !== null && at >= message.expiresAt)) {
    reportFinal(ctx, message, 'failed', message.isAuth || (at !== null && message.expiresAt !== null) ? 'expired' : 'provider_rejected');
    return;
  }
  Object.assign(message, { status: Status.QUEUED, nextAt: at, leaseUntil: null });
}

async function refuse(ctx: Context, message: CommsMessage, outcome: Outcome & { kind: 'permanent' }, provider: string): Promise<void> {
  const reason = outcome.invalid ? 'invalid_address' : outcome.code === 'recipient_gone' ? 'recipient_gone' : 'provider_rejected';
  reportFinal(ctx, message, outcome.bounced ? 'bounced' : 'failed', reason);
  if (outcome.bounced && outcome.invalid) await afterBounce(ctx, message, true, provider);
  else if (outcome.bounced) await afterBounce(ctx, message, false, provider);
  else if (outcome.invalid && message.addressHash)
    await suppress(ctx, { channel: message.channel, addressHash: message.addressHash, reason: Reason.INVALID, source: provider });
}

async function settleOne(ctx: Context, message: CommsMessage, outcome: Outcome): Promise<void> {
  message.leaseUntil = null;
  if (outcome.kind === 'accepted') {
    Object.assign(message, { status: Status.SENT, providerRef: outcome.ref });
    reportSent(ctx, message);
  } else if (outcome.kind === 'transient') retry(ctx, message, outcome);
  else if (outcome.kind === 'unknown')
    settleUnknown(ctx, message, new Date(ctx.now().getTime() + (waitAfter(message.attemptCount, message.isAuth) ?? 0)));
  else await refuse(ctx, message, outcome, message.channel);
}

function settleDevice(ctx: Context, device: PushSubscription, outcome: Outcome): void {
  const now = ctx.now();
  if (outcome.kind === 'accepted') return void Object.assign(device, { lastSuccessAt: now, failures: 0, failingSince: null });
  if (outcome.kind === 'permanent' && outcome.invalid) return void (device.status = PushSubscriptionStatus.GONE);
  device.failures++;
  device.failingSince ??= now;
  if (device.failures >= FAILURES && now.getTime() - device.failingSince.getTime() >= FAILING_MS)
    device.status = PushSubscriptionStatus.GONE;
}

const codeOf = (outcome: Outcome): string | null => (outcome.kind === 'accepted' ? null : outcome.code);

/** Stores what the providers said of a claim. What was taken over meanwhile is left alone. */
export async function settle(ctx: Context, done: readonly Done[]): Promise<void> {
  const ids = done.map(({ call }) => call.rendered.messageId);
  const messages = await ctx.em.find(CommsMessage, { id: { $in: ids } }, { ...FOR_UPDATE, orderBy: { id: 'asc' } });
  const attempts = await ctx.em.find(MessageAttempt, { messageId: { $in: ids }, outcome: null });
  const devices = await ctx.em.find(PushSubscription, { id: { $in: done.flatMap(one => one.devices.map(({ device }) => device.id)) } });
  for (const message of messages) {
    const one = done.find(({ call }) => call.rendered.messageId === message.id)!;
    const attempt = attempts.find(row => row.messageId === message.id && row.number === one.call.attempt);
    if (attempt) Object.assign(attempt, { outcome: one.outcome.kind, providerCode: codeOf(one.outcome) });
    if (message.status === Status.SENDING && message.attemptCount === one.call.attempt) await settleOne(ctx, message, one.outcome);
    for (const { device, outcome } of one.devices) {
      const row = devices.find(({ id }) => id === device.id);
      if (row) settleDevice(ctx, row, outcome);
    }
  }
}
