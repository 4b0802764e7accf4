import { randomBytes } from 'node:crypto';
import { sha256 } from '../../../runtime/data/crypto.js';
import { isUuid, newId } from '../../../runtime/data/ids.js';
import { lockRow, requireVersion } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid, requireValid, type Violation } from '../../../runtime/request/errors.js';
import { after } from '../../../runtime/time/durations.js';
import { ErasureRequest, ErasureRequestOrigin, ErasureRequestScope, ErasureRequestStatus } from '../entities/erasure.js';
import { User, UserStatus } from '../entities/user.js';
import type { RequestErasureInput, UpdateErasureRequestInput } from '../inputs/erasure.js';
import { administersErasure, lockedErasureRequest } from '../queries/erasure.js';
import { CANCEL_WINDOW_MS, DUE_MS, type ErasureTrigger } from '../rules/erasure.js';
import { notice, start, step, take } from './erasure-steps.js';
import { guardLastOwner } from './staff-power.js';

const { SCHEDULED, ON_HOLD, IN_PROGRESS, CANCELLED, REJECTED } = ErasureRequestStatus;
const OPEN = [SCHEDULED, ON_HOLD, IN_PROGRESS];

/** Whose data: the caller's own, or whom an administrator names. */
function subjectOf({ caller }: Context, userId: string | null | undefined): string {
  if (userId == null)
    return (
      caller.userId ??
      fail('invalid_request', 'The user is missing', { errors: [{ pointer: '/input/userId', message: 'is required for a service token' }] })
    );
  return administersErasure(caller) || userId === caller.userId ? userId : fail('not_found', 'Not found');
}

function originOf({ caller }: Context, userId: string): ErasureRequestOrigin {
  if (caller.kind === 'service') return ErasureRequestOrigin.SERVICE;
  return caller.userId === userId ? ErasureRequestOrigin.USER : ErasureRequestOrigin.STAFF;
}

/** What each wanted status is as a step. */
const TRIGGERS: Partial<Record<ErasureRequestStatus, ErasureTrigger>> = {
  [CANCELLED]: 'cancel',
  [REJECTED]: 'reject',
  [ON_HOLD]: 'hold',
  [SCHEDULED]: 'release',
  [IN_PROGRESS]: 'start',
};

function checkStep({ status, holdReason, reason, confirmations }: UpdateErasureRequestInput): void {
  const errors: Violation[] = [];
  if ((status != null) === (confirmations != null)) errors.push({ pointer: '/input', message: 'needs either a status or confirmations' });
  if (status != null && !TRIGGERS[status]) errors.push({ pointer: '/input/status', message: 'cannot be asked for' });
  if (status === ON_HOLD && !holdReason) errors.push({ pointer: '/input/holdReason', message: 'is required' });
  if (status === REJECTED && !reason) errors.push({ pointer: '/input/reason', message: 'is required' });
  requireValid(errors);
}

/** Who may do this step. @throws Problem forbidden. */
function allow({ caller }: Context, { status, confirmations }: UpdateErasureRequestInput): void {
  const isService = caller.kind === 'service' && caller.scopes.has('admin:identity');
  const confirmsItself = confirmations?.every(one => one.service === caller.serviceSlug) ?? false;
  const allowed = confirmations
    ? isService || confirmsItself
    : administersErasure(caller) || (caller.userId !== null && status === CANCELLED);
  if (!allowed) fail('forbidden', 'This step is not open to this caller');
}

function schedule(ctx: Context, input: RequestErasureInput, userId: string, receiptTokenHash: Buffer): ErasureRequest {
  const { scope, reason, immediate } = input;
  const now = ctx.now();
  const dates = { createdAt: now, scheduledFor: immediate ? now : after(now, CANCEL_WINDOW_MS), dueBy: after(now, DUE_MS) };
  const values = { id: newId(), userId, scope, status: SCHEDULED, origin: originOf(ctx, userId), reason: reason ?? null };
  ctx.audit('erasure_request.scheduled', values.id, { user_id: userId, scope, immediate: immediate ?? false });
  return ctx.em.create(ErasureRequest, { ...values, ...dates, receiptTokenHash }, { partial: true });
}

/** Does one step that is allowed. A release never begins in the past; a rejection or cancellation is announced to the user. */
async function perform(
  ctx: Context,
  request: ErasureRequest,
  { status, holdReason, reason }: UpdateErasureRequestInput,
): Promise<ErasureRequest> {
  const trigger = TRIGGERS[status!]!;
  if (trigger === 'start') return start(ctx, request);
  step(ctx, request, trigger);
  if (trigger === 'hold') request.holdReason = holdReason!;
  if (trigger === 'release') request.scheduledFor = new Date(Math.max(ctx.now().getTime(), request.scheduledFor.getTime()));
  if (trigger === 'reject') request.reason = reason!;
  if (trigger === 'reject' || trigger === 'cancel') notice(ctx, request);
  return request;
}

/** The account that may be erased, locked. @throws Problem not_found, conflict (`last_owner`, `erasure_open`). */
async function requireErasable(ctx: Context, userId: string, scope: ErasureRequestScope): Promise<void> {
  if (isUuid(userId) && scope === ErasureRequestScope.FULL) await guardLastOwner(ctx, userId); // its lock comes before the user's
  const user = await lockRow(ctx, User, { id: userId }, 'There is no such user');
  if (user.status === UserStatus.ERASED) fail('conflict', 'This account is erased already');
  if ((await ctx.em.count(ErasureRequest, { userId, status: { $in: OPEN } })) > 0)
    fail('conflict', 'An erasure of this account is open', { reason: 'erasure_open' });
}

/** Asks that a user's data be erased; a user's own request waits 72 hours. @throws Problem invalid_request, not_found, conflict. */
export async function requestErasure(ctx: Context, input: RequestErasureInput): Promise<ErasureRequest> {
  const userId = subjectOf(ctx, input.userId);
  if (input.immediate && !administersErasure(ctx.caller)) invalid('/input/immediate', 'is for services and staff');
  await requireErasable(ctx, userId, input.scope);
  const token = randomBytes(32).toString('base64url');
  const made = schedule(ctx, input, userId, sha256(token));
  await ctx.em.flush();
  notice(ctx, made);
  const request = input.immediate ? await start(ctx, made) : made;
  request.receiptUrl = `${ctx.host.config.issuer}/v1/erasure-receipts/${token}`;
  return request;
}

/** One step of a request: a new status, or what services have done. @throws Problem forbidden, invalid_request, not_found, conflict. */
export async function updateErasureRequest(ctx: Context, input: UpdateErasureRequestInput): Promise<ErasureRequest> {
  allow(ctx, input);
  checkStep(input);
  const request = (await lockedErasureRequest(ctx, input.id)) ?? fail('not_found', 'Not found');
  requireVersion(request, input.version);
  return input.confirmations ? take(ctx, request, input.confirmations) : perform(ctx, request, input);
}
