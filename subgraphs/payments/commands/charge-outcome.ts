import { prepared } from '../../../events/prepared.js';
import { isUuid } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { move } from '../../../runtime/request/states.js';
import { after } from '../../../runtime/time/durations.js';
import { DeclineCategory, PaymentAttemptStatus as AttemptStatus, PaymentStatus as Status } from '../entities/enums-payment.js';
import type { PaymentError } from '../entities/money.js';
import type { Payment, PaymentAttempt } from '../entities/payment.js';
import type { ProcessorCharge, ProcessorDecline, ProcessorNextAction, ProcessorResult } from '../ports/processor.js';
import { isRetryable } from '../rules/decline.js';
import {
  ACTION_WITHIN_MS,
  CAPTURE_WITHIN_MS,
  ENDED,
  SETTLES_WITHIN_MS,
  isEnded,
  nextLook,
  PAYMENT_STATES,
  type PaymentTrigger,
} from '../rules/payment-states.js';
import { attemptFailed, follow, settle, type Obligation } from './settlement.js';

/** Rows of a charge, all locked. */
export interface ChargeRows {
  payment: Payment;
  attempt: PaymentAttempt;
  obligation: Obligation;
}

type Result = ProcessorResult<ProcessorCharge>;

const DECIDED: readonly AttemptStatus[] = [AttemptStatus.SUCCEEDED, AttemptStatus.FAILED];
/** What a customer may be told about a decline. */
const MESSAGES: Readonly<Record<DeclineCategory, string>> = {
  [DeclineCategory.SOFT]: 'The payment was declined. Try again, or use another method.',
  [DeclineCategory.HARD]: 'The payment was declined. Use another method.',
  [DeclineCategory.ACTION_REQUIRED]: 'The payment has to be confirmed by the customer.',
  [DeclineCategory.PROCESSOR_ERROR]: 'The payment could not be made. Try again later.',
};

/** Why an attempt failed, as it is shown. */
export const errorOf = ({ code, category }: ProcessorDecline): PaymentError => ({
  code: 'payment_declined',
  declineCode: code,
  category,
  message: MESSAGES[category],
  retryable: isRetryable(category),
});

function moved(payment: Payment, trigger: PaymentTrigger): void {
  payment.status = move(PAYMENT_STATES, 'payment', payment.status, trigger);
}

/** A customer who has authenticated brings the payment back to PROCESSING, from where its outcome moves it on. */
function resume(payment: Payment): void {
  if (payment.status === Status.REQUIRES_ACTION) moved(payment, 'authenticate');
  Object.assign(payment, { nextActionUrl: null, nextActionExpiresAt: null });
}

/** Whether nothing that a processor says can change an attempt any more. */
export const isDecided = (attempt: PaymentAttempt, payment: Payment): boolean =>
  DECIDED.includes(attempt.status) || isEnded(payment.status);

const WAS_DECIDED = prepared(`select exists (select from payments.payment_attempt a join payments.payment p on p.id = a.payment_id
  left join payments.checkout_session s on s.id = p.checkout_session_id
  where a.id = $1 and (a.status = any($2) or p.status = any($3)) and (p.checkout_session_id is null or s.step = 'done')) as is`);

/** The same without reading their rows; not of an attempt in a checkout that is not done, which would go on with it. */
export async function wasDecided(ctx: Context, attemptId: string): Promise<boolean> {
  if (!isUuid(attemptId)) return false;
  const [row] = await ctx.sql<{ is: boolean }>(WAS_DECIDED, [attemptId, DECIDED, ENDED]);
  return row!.is;
}

/** Applies what the processor says of an attempt; again, or backwards: nothing. Source: payments 3.1, 7.5. */
export async function applyOutcome(ctx: Context, rows: ChargeRows, result: Result): Promise<void> {
  const { payment, attempt } = rows;
  if (isDecided(attempt, payment)) return;
  if (result.status !== 'unknown' && result.data) attempt.processorRef = payment.processorRef = result.data.id;
  payment.version += 1;
  switch (result.status) {
    case 'succeeded':
      return succeeded(ctx, rows, result.data);
    case 'authorized':
      return authorized(ctx, rows);
    case 'processing':
      return processing(ctx, rows);
    case 'requires_action':
      return actionRequired(ctx, rows, result.nextAction);
    case 'declined':
      return declined(ctx, rows, result.decline);
    case 'unknown':
      return unanswered(ctx, rows, result.wasAsked);
  }
}

async function succeeded(ctx: Context, { payment, attempt, obligation }: ChargeRows, charge: ProcessorCharge): Promise<void> {
  if (payment.status === Status.AUTHORIZED) moved(payment, 'capture');
  else {
    resume(payment);
    moved(payment, 'succeed');
  }
  const now = ctx.now();
  Object.assign(attempt, { status: AttemptStatus.SUCCEEDED, settledAt: now, nextLookAt: null });
  const capturedAt = charge.capturedAt ?? now;
  Object.assign(payment, {
    amountCapturedMinor: charge.amountCaptured,
    feeMinor: charge.fee,
    capturedAt,
    captureBefore: null,
    lastError: null,
  });
  await settle(ctx, payment, obligation);
}

async function authorized(ctx: Context, { payment, attempt, obligation }: ChargeRows): Promise<void> {
  if (payment.status === Status.AUTHORIZED) return;
  resume(payment);
  moved(payment, 'authorize');
  Object.assign(attempt, { status: AttemptStatus.AUTHORIZED, nextLookAt: null });
  Object.assign(payment, { captureBefore: after(ctx.now(), CAPTURE_WITHIN_MS), lastError: null });
  await follow(ctx, payment, obligation);
}

/** It has the charge and will say what became of it; where its webhook does not come, it is asked. */
async function processing(ctx: Context, { payment, attempt, obligation }: ChargeRows): Promise<void> {
  if (payment.status === Status.AUTHORIZED) return;
  resume(payment);
  Object.assign(attempt, { status: AttemptStatus.PENDING, nextLookAt: after(ctx.now(), SETTLES_WITHIN_MS) });
  await follow(ctx, payment, obligation);
}

async function actionRequired(
  ctx: Context,
  { payment, attempt, obligation }: ChargeRows,
  action: ProcessorNextAction | null,
): Promise<void> {
  if (payment.status === Status.AUTHORIZED) return;
  if (payment.status !== Status.REQUIRES_ACTION) moved(payment, 'require_action');
  const expiresAt = action?.expiresAt ?? after(ctx.now(), ACTION_WITHIN_MS);
  Object.assign(attempt, { status: AttemptStatus.REQUIRES_ACTION, nextLookAt: null });
  Object.assign(payment, { nextActionUrl: action?.url ?? null, nextActionExpiresAt: expiresAt });
  await follow(ctx, payment, obligation);
}

/** Without the customer, what would need them leaves the payment waiting for them; else another method, or another try, is needed. */
async function declined(ctx: Context, rows: ChargeRows, decline: ProcessorDecline): Promise<void> {
  const { payment, attempt, obligation } = rows;
  const waits = attempt.offSession && decline.category === DeclineCategory.ACTION_REQUIRED && payment.status === Status.PROCESSING;
  resume(payment);
  if (payment.status === Status.AUTHORIZED) moved(payment, 'cancel');
  else moved(payment, waits ? 'require_action' : 'decline');
  const { code: declineCode, category } = decline;
  Object.assign(attempt, { status: AttemptStatus.FAILED, declineCode, category, settledAt: ctx.now(), nextLookAt: null });
  payment.lastError = errorOf(decline);
  await follow(ctx, payment, obligation);
  await attemptFailed(ctx, payment, attempt, obligation);
}

/** No answer: the processor is asked by the attempt's key, and nothing else is charged meanwhile. One that was never asked did nothing. */
async function unanswered(ctx: Context, rows: ChargeRows, wasAsked: boolean): Promise<void> {
  const { payment, attempt, obligation } = rows;
  if (payment.status !== Status.PROCESSING) return;
  if (!wasAsked && attempt.status === AttemptStatus.PENDING && attempt.looks === 0) return neverAsked(ctx, rows);
  const next = nextLook(attempt.startedAt, attempt.looks, ctx.now());
  if (next === null) return declined(ctx, rows, { code: 'processor_error', category: DeclineCategory.PROCESSOR_ERROR });
  Object.assign(attempt, { status: AttemptStatus.UNKNOWN, nextLookAt: next });
  await follow(ctx, payment, obligation);
}

async function neverAsked(ctx: Context, { payment, attempt, obligation }: ChargeRows): Promise<void> {
  const decline = { code: 'processor_unreachable', category: DeclineCategory.PROCESSOR_ERROR };
  moved(payment, 'decline');
  Object.assign(attempt, {
    status: AttemptStatus.FAILED,
    declineCode: decline.code,
    category: decline.category,
    settledAt: ctx.now(),
    nextLookAt: null,
  });
  payment.lastError = errorOf(decline);
  await follow(ctx, payment, obligation);
}
