import { LockMode } from '@mikro-orm/postgresql';
import { randomBytes } from 'node:crypto';
import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { holdsPermission, type Caller } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { sha256 } from '../../../runtime/data/crypto.js';
import { fail, type Violation, requireValid } from '../../../runtime/request/errors.js';
import { isUuid, newId } from '../../../runtime/data/ids.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import {
  ErasureReceipt,
  ErasureRequest,
  ErasureRequestOrigin,
  ErasureRequestScope,
  ErasureRequestStatus,
  ErasureTask,
} from '../entities/erasure.js';
import { User, UserStatus } from '../entities/user.js';
import { RequestErasureInput, UpdateErasureRequestInput } from '../inputs/erasure.js';
import { CANCEL_WINDOW_MS, DUE_MS, type ErasureTrigger } from '../rules/erasure.js';
import { notice, start, step, take, tasksOf } from '../commands/erasure-steps.js';
import { guardLastOwner } from '../commands/staff-power.js';

const { SCHEDULED, ON_HOLD, IN_PROGRESS, CANCELLED, REJECTED } = ErasureRequestStatus;
const OPEN = [SCHEDULED, ON_HOLD, IN_PROGRESS];

/** S, or staff with `admin:identity:erasure`. */
const administers = (caller: Caller): boolean =>
  (caller.kind === 'service' && caller.scopes.has('admin:identity')) || holdsPermission(caller, 'admin:identity:erasure');

const refuse = (errors: readonly Violation[]): void => {
  requireValid(errors);
};

/** Whose data: the caller's own, or whom an administrator names. */
function subjectOf({ caller }: Context, userId: string | null | undefined): string {
  if (userId == null)
    return (
      caller.userId ??
      fail('invalid_request', 'The user is missing', { errors: [{ pointer: '/input/userId', message: 'is required for a service token' }] })
    );
  return administers(caller) || userId === caller.userId ? userId : fail('not_found', 'Not found');
}

function originOf({ caller }: Context, userId: string): ErasureRequestOrigin {
  if (caller.kind === 'service') return ErasureRequestOrigin.SERVICE;
  return caller.userId === userId ? ErasureRequestOrigin.USER : ErasureRequestOrigin.STAFF;
}

/** The request, if the caller may know of it: its user, administrators, and services that are to confirm. */
async function find(ctx: Context, id: string, lock: boolean): Promise<ErasureRequest | null> {
  const { caller } = ctx;
  const all = administers(caller) || (lock && caller.serviceSlug !== null);
  if (!isUuid(id) || (!all && caller.userId === null)) return null;
  return ctx.em.findOne(
    ErasureRequest,
    { id, ...(all ? {} : { userId: caller.userId! }) },
    lock ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {},
  ); // PESSIMISTIC_WRITE
}

export async function loadErasureRequests(ctx: Context, references: readonly { id: string }[]): Promise<(ErasureRequest | null)[]> {
  const { caller } = ctx;
  const ids = references.map(one => String(one.id));
  const owner = administers(caller) ? {} : { userId: caller.userId ?? [] };
  const rows = await ctx.em.find(ErasureRequest, { id: { $in: ids.filter(isUuid) }, ...owner });
  return ids.map(id => rows.find(row => row.id === id) ?? null);
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
  refuse(errors);
}

/** Who may do this step. @throws Problem forbidden. */
function allow({ caller }: Context, { status, confirmations }: UpdateErasureRequestInput): void {
  const isService = caller.kind === 'service' && caller.scopes.has('admin:identity');
  const confirmsItself = confirmations?.every(one => one.service === caller.serviceSlug) ?? false;
  const allowed = confirmations ? isService || confirmsItself : administers(caller) || (caller.userId !== null && status === CANCELLED);
  if (!allowed) fail('forbidden', 'This step is not open to this caller');
}

function schedule(ctx: Context, input: RequestErasureInput, userId: string, receiptTokenHash: Buffer): ErasureRequest {
  const { scope, reason, immediate } = input;
  const now = ctx.now();
  const at = (ms: number): Date => new Date(now.getTime() + ms);
  const dates = { createdAt: now, scheduledFor: immediate ? now : at(CANCEL_WINDOW_MS), dueBy: at(DUE_MS) };
  const values = {
    id: newId(),
    userId,
    scope,
    status: SCHEDULED,
    origin: originOf(ctx, userId),
    reason: reason ?? null,
    ...dates,
    receiptTokenHash,
  };
  ctx.audit('erasure_request.scheduled', values.id, { user_id: userId, scope, immediate: immediate ?? false });
  return ctx.em.create(ErasureRequest, values as never, { partial: true });
}

/** Does one step that is allowed. A release never begins in the past; a rejection is told to the user. */
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

@Resolver(() => ErasureRequest)
export class ErasureRequestResolver {
  @Access({ service: 'admin:identity', staff: 'admin:identity:erasure', user: 'read:account', firstParty: true, stepUp: 600 })
  @Mutation(() => ErasureRequest, { description: "Asks that a user's data be erased; a user's own request waits 72 hours." })
  async requestErasure(@Arg('input', () => RequestErasureInput) input: RequestErasureInput, @Ctx() ctx: Context): Promise<ErasureRequest> {
    const userId = subjectOf(ctx, input.userId);
    if (input.immediate && !administers(ctx.caller)) refuse([{ pointer: '/input/immediate', message: 'is for services and staff' }]);
    if (isUuid(userId) && input.scope === ErasureRequestScope.FULL) await guardLastOwner(ctx, userId); // its lock comes before the user's
    const user = isUuid(userId) ? await ctx.em.findOne(User, { id: userId }, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null; // PESSIMISTIC_WRITE
    if (!user) fail('not_found', 'There is no such user');
    if (user.status === UserStatus.ERASED) fail('conflict', 'This account is erased already');
    if ((await ctx.em.count(ErasureRequest, { userId, status: { $in: OPEN } })) > 0)
      fail('conflict', 'An erasure of this account is open', { reason: 'erasure_open' });
    const token = randomBytes(32).toString('base64url');
    const made = schedule(ctx, input, userId, sha256(token));
    await ctx.em.flush();
    notice(ctx, made);
    const request = input.immediate ? await start(ctx, made) : made;
    request.receiptUrl = `${ctx.host.config.issuer}/v1/erasure-receipts/${token}`;
    return request;
  }

  @Access({ service: 'admin:identity', staff: 'admin:identity:erasure', user: 'read:account' })
  @Query(() => ErasureRequest, { nullable: true })
  erasureRequest(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<ErasureRequest | null> {
    return find(ctx, id, false);
  }

  @Access({ service: 'admin:identity', staff: 'admin:identity:erasure', user: 'read:account', firstParty: true, internal: true })
  @Mutation(() => ErasureRequest, { description: 'One step of a request: a new status, or what services have done.' })
  async updateErasureRequest(
    @Arg('input', () => UpdateErasureRequestInput) input: UpdateErasureRequestInput,
    @Ctx() ctx: Context,
  ): Promise<ErasureRequest> {
    allow(ctx, input);
    checkStep(input);
    const request = (await find(ctx, input.id, true)) ?? fail('not_found', 'Not found');
    if (input.version != null && input.version !== request.version)
      fail('conflict', 'It was changed meanwhile', { reason: 'version_conflict' });
    return input.confirmations ? take(ctx, request, input.confirmations) : perform(ctx, request, input);
  }

  @Access({ public: true })
  @Query(() => ErasureReceipt, {
    nullable: true,
    description: 'What the holder of a receipt address may know; works after the account is gone.',
  })
  async erasureReceipt(
    @Rule({ maxLength: 64 }) @Arg('token', () => String) token: string,
    @Ctx() ctx: Context,
  ): Promise<ErasureReceipt | null> {
    return ctx.em.findOne(ErasureRequest, { receiptTokenHash: sha256(token) });
  }

  @Access({ service: 'admin:identity', user: 'read:account', staff: 'admin:identity:erasure', internal: true })
  @FieldResolver(() => User)
  user(@Root() request: ErasureRequest, @Ctx() ctx: Context): Promise<User> {
    return ctx.em.findOneOrFail(User, { id: request.userId });
  }

  @Access({ service: 'admin:identity', user: 'read:account', staff: 'admin:identity:erasure', internal: true })
  @FieldResolver(() => [ErasureTask], { description: 'One for each service that holds such data, once it has begun.' })
  tasks(@Root() request: ErasureRequest, @Ctx() ctx: Context): Promise<ErasureTask[]> {
    return tasksOf(ctx, request);
  }
}
