import { SignJWT } from 'jose';
import { userErasureCompleted, userErasureRequested } from '../../../events/catalogue/identity.js';
import { FOR_UPDATE } from '../../../runtime/data/rows.js';
import { eraseUser } from '../../../runtime/erasure/erasure.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid, type Violation } from '../../../runtime/request/errors.js';
import { requestMessage } from '../../../runtime/request/messages.js';
import { move } from '../../../runtime/request/states.js';
import {
  ErasureRequest,
  ErasureRequestScope,
  type ErasureRequestStatus,
  ErasureTask,
  ErasureTaskOutcome,
  ErasureTaskStatus,
} from '../entities/erasure.js';
import { User, UserStatus } from '../entities/user.js';
import { signingKey } from '../ports/keyring.js';
import { tasksOf } from '../queries/erasure.js';
import { ALARM_AFTER, ERASURE_STATES, type ErasureState, type ErasureTrigger, holdersOf } from '../rules/erasure.js';
import { eraseHeld } from './erase-account.js';
import { endFamilies, familyRevocations, publishRevocations, userRevocation } from './token-family.js';

/** A receipt can be verified for so long: its key stays published. */
const RECEIPT_SECONDS = 10 * 365 * 86_400;

const { PENDING, CONFIRMED, FAILED } = ErasureTaskStatus;

/** Moves the state on and leaves the audit row. @throws Problem conflict. */
export function step(ctx: Context, request: ErasureRequest, trigger: ErasureTrigger): void {
  request.status = move(ERASURE_STATES, 'erasure request', `${request.status}` as ErasureState, trigger) as ErasureRequestStatus;
  ctx.audit(`erasure_request.${request.status}`, request.id, { user_id: request.userId, scope: request.scope });
}

/** Sends the user a notice of where the request stands. Source: identity 5. */
export function notice(ctx: Context, { id, userId, status }: ErasureRequest): void {
  const params = { kind: `erasure_${status}`, request_id: id };
  requestMessage(ctx, { userId }, { template: 'security_notice', params, dedupeKey: `erasure:${id}:${status}` });
}

function ask(ctx: Context, request: ErasureRequest): void {
  const { id, scope, userId, createdAt, dueBy } = request;
  const data = { request_id: id, scope: `${scope}` as const, requested_at: createdAt.toISOString(), due_at: dueBy.toISOString() };
  ctx.emit(userErasureRequested, data, { userId });
}

/** The account takes part in nothing any more: it cannot sign in, and its tokens are dead. */
async function lockOut(ctx: Context, userId: string): Promise<void> {
  const user = await ctx.em.findOne(User, { id: userId, status: { $ne: UserStatus.ERASED } }, FOR_UPDATE);
  if (!user) fail('conflict', 'This account is erased already');
  Object.assign(user, { status: UserStatus.ERASING, updatedAt: ctx.now() });
  const families = await endFamilies(ctx, 'user_id', userId, 'user_erased');
  await ctx.sql('update identity.auth_session set ended_at = $2 where user_id = $1 and ended_at is null', [
    userId,
    ctx.now().toISOString(),
  ]);
  await ctx.em.flush();
  await publishRevocations(ctx, [...familyRevocations(ctx, families), userRevocation(ctx, userId)]);
}

/** SCHEDULED → IN_PROGRESS: irreversible. Every holder is asked; identity's own task runs last. */
export async function start(ctx: Context, request: ErasureRequest): Promise<ErasureRequest> {
  step(ctx, request, 'start');
  request.startedAt = ctx.now();
  for (const service of holdersOf(request.scope)) ctx.em.create(ErasureTask, { request, service, askedAt: ctx.now() }, { partial: true });
  ask(ctx, request);
  if (request.scope === ErasureRequestScope.FULL) await lockOut(ctx, request.userId);
  await ctx.em.flush();
  return settle(ctx, request);
}

/** Erases what identity holds and confirms it. The account's rows are changed by SQL, so what was loaded is read again. */
async function runOwnTask(ctx: Context, request: ErasureRequest): Promise<ErasureRequest> {
  const { id: requestId, userId, scope } = request;
  await ctx.em.flush();
  const { outcome, records } = await eraseUser(ctx, eraseHeld, { userId, requestId, scope });
  if (scope === ErasureRequestScope.FULL)
    await ctx.sql('update identity.erasure_request set reason = null, hold_reason = null where id = $1', [requestId]);
  ctx.em.clear();
  const fresh = await ctx.em.findOneOrFail(ErasureRequest, { id: requestId });
  const own = await ctx.em.findOneOrFail(ErasureTask, { request: requestId, service: 'identity' });
  const total = Object.values(records).reduce((sum, n) => sum + n, 0);
  confirm(ctx, own, outcome as ErasureTaskOutcome, total);
  await ctx.em.flush();
  return fresh;
}

function confirm(ctx: Context, task: ErasureTask, outcome: ErasureTaskOutcome, records: number | null, basis: string | null = null): void {
  Object.assign(task, { status: CONFIRMED, outcome, records, retainedBasis: basis, confirmedAt: ctx.now() });
}

/** Signs what was done. The key stays published as long as the receipt is to be verified. */
async function signReceipt(ctx: Context, request: ErasureRequest, tasks: readonly ErasureTask[]): Promise<string> {
  const key = await signingKey(ctx, RECEIPT_SECONDS);
  const services = tasks.map(({ service, outcome, retainedBasis }) => ({
    service,
    outcome,
    ...(retainedBasis && { retained_basis: retainedBasis }),
  }));
  const dates = { requested_at: request.createdAt.toISOString(), completed_at: ctx.now().toISOString() };
  return new SignJWT({ request_id: request.id, scope: request.scope, ...dates, services })
    .setProtectedHeader({ alg: 'ES256', kid: key.kid, typ: 'erasure-receipt+jwt' })
    .setIssuer(ctx.host.config.issuer)
    .setIssuedAt(ctx.now())
    .sign(key.privateKey);
}

function announce(ctx: Context, request: ErasureRequest, status: 'completed' | 'partial', failed: string[]): void {
  const data = { request_id: request.id, completed_at: ctx.now().toISOString(), status, failed_services: failed };
  ctx.emit(userErasureCompleted, data, { userId: request.userId });
}

/** COMPLETED once all have confirmed; identity's own task runs when it alone is left. */
export async function settle(ctx: Context, request: ErasureRequest): Promise<ErasureRequest> {
  const open = (await tasksOf(ctx, request)).filter(task => task.status !== CONFIRMED);
  if (open.some(task => task.service !== 'identity')) return request;
  const last = open.length ? await runOwnTask(ctx, request) : request;
  step(ctx, last, 'complete');
  last.completedAt = ctx.now();
  last.receipt = await signReceipt(ctx, last, await tasksOf(ctx, last));
  announce(ctx, last, 'completed', []);
  return last;
}

/** The deadline has passed with open tasks: identity erases what it holds and names who has not confirmed. */
export async function lapse(ctx: Context, request: ErasureRequest): Promise<void> {
  const tasks = await tasksOf(ctx, request);
  for (const task of tasks.filter(one => one.status === PENDING && one.service !== 'identity')) task.status = FAILED;
  const failed = tasks.filter(one => one.status === FAILED).map(one => one.service);
  const isOwnOpen = tasks.some(one => one.service === 'identity' && one.status !== CONFIRMED);
  const last = isOwnOpen ? await runOwnTask(ctx, request) : request;
  step(ctx, last, 'lapse');
  announce(ctx, last, 'partial', failed);
}

/** Asks once more who has not confirmed, with the same request id; calls somebody after three tries. */
export async function askAgain(ctx: Context, request: ErasureRequest): Promise<void> {
  ask(ctx, request);
  for (const task of await tasksOf(ctx, request)) {
    if (task.status === CONFIRMED || task.service === 'identity') continue;
    if (task.attempts >= ALARM_AFTER)
      ctx.log.error({ request_id: request.id, holder: task.service, attempts: task.attempts }, 'an erasure is not confirmed');
    Object.assign(task, { attempts: task.attempts + 1, askedAt: ctx.now() });
  }
}

export interface Confirmation {
  service: string;
  outcome: ErasureTaskOutcome;
  records?: number | null;
  retainedBasis?: string | null;
}

function violationsOf(confirmations: readonly Confirmation[], asked: ReadonlySet<string>): Violation[] {
  return confirmations.flatMap(({ service, outcome, retainedBasis }, index) => {
    const at = `/input/confirmations/${index}`;
    const isAsked = asked.has(service) && service !== 'identity';
    const lacksBasis = outcome === ErasureTaskOutcome.RETAINED && !retainedBasis;
    return [
      ...(isAsked ? [] : [{ pointer: `${at}/service`, message: 'has no task here' }]),
      ...(lacksBasis ? [{ pointer: `${at}/retainedBasis`, message: 'is required for retained' }] : []),
    ];
  });
}

/** Notes what one service did. @returns whether that is new. @throws Problem conflict for another outcome than before. */
function note(ctx: Context, task: ErasureTask, { service, outcome, records = null, retainedBasis = null }: Confirmation): boolean {
  const isKnown = task.status === CONFIRMED;
  if (isKnown && task.outcome !== outcome) fail('conflict', `${service} has confirmed another outcome`);
  if (isKnown) return false;
  confirm(ctx, task, outcome, records, retainedBasis);
  ctx.audit('erasure_task.confirmed', task.request.id, { service, outcome, records });
  return true;
}

/** Notes what services did: an equal confirmation again changes nothing, another outcome is a conflict. */
export async function take(ctx: Context, request: ErasureRequest, confirmations: readonly Confirmation[]): Promise<ErasureRequest> {
  const tasks = new Map((await tasksOf(ctx, request)).map(task => [task.service, task]));
  requireValid(violationsOf(confirmations, new Set(tasks.keys())));
  const changed = confirmations.map(one => note(ctx, tasks.get(one.service)!, one));
  await ctx.em.flush();
  return changed.includes(true) ? settle(ctx, request) : request;
}
