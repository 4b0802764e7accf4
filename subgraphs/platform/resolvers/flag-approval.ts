import { LockMode } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { FlagChange, FlagChangeConnection } from '../entities/flag-change.js';
import { FeatureFlag, FlagChangeStatus } from '../entities/flag.js';
import { RejectFlagChangeInput } from '../inputs/flag.js';
import { FlagChangesArgs } from '../inputs/lists.js';
import { checkApprover, isApproved, moveChange, type GateAnswer } from '../rules/flag-change.js';
import type { FlagPatch } from '../rules/flag-state.js';
import { applyChange, checkForm, checkGuard, gateFor, lockFlag, readFlag, type Loaded } from '../commands/flag-writing.js';

const STAFF = { staff: 'admin:platform:flags' } as const;

/** The flag first and the change after it: the order in which every change of a flag locks. @throws Problem not_found. */
export async function lockChange(ctx: Context, id: string): Promise<{ loaded: Loaded; change: FlagChange }> {
  const known = (isUuid(id) && (await ctx.em.findOne(FlagChange, { id }))) || fail('not_found', 'Not found');
  const loaded = await lockFlag(ctx, known.flagKey);
  const change = await ctx.em.findOneOrFail(FlagChange, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  return { loaded, change };
}

/** Asks the gate that a waiting change must pass; before the transaction. */
export async function gateOfChange(ctx: Context, id: string): Promise<GateAnswer | null> {
  const change = isUuid(id) ? await ctx.em.findOne(FlagChange, { id }) : null;
  return change && gateFor(ctx, await readFlag(ctx, change.flagKey), change.after as FlagPatch);
}

const isDue = (ctx: Context, { applyAt }: FlagChange): boolean => applyAt === null || applyAt <= ctx.now();

@Resolver(() => FlagChange)
export class FlagApprovalResolver {
  @Access(STAFF)
  @Query(() => FlagChangeConnection, { nullable: true, description: 'Changes of a flag, newest first.' })
  async flagChanges(
    @Args(() => FlagChangesArgs) { key, status, ...paging }: FlagChangesArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<FlagChange> | null> {
    if (!(await ctx.em.findOne(FeatureFlag, { key }))) return null;
    return page<FlagChange>(ctx.em, FlagChange, { flagKey: key, ...(status && { status }) }, paging, { time: 'createdAt' });
  }

  @Access(STAFF)
  @Prepare((ctx: Context, { id }: { id: string }) => gateOfChange(ctx, id))
  @Mutation(() => FlagChange, {
    description:
      "Approves somebody else's change: it applies, or waits for its time. A change that a service asked for needs two approvals.",
  })
  async approveFlagChange(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<FlagChange> {
    const { loaded, change } = await lockChange(ctx, id);
    const by = actorOf(ctx.caller);
    const next = moveChange(change.status, isDue(ctx, change) ? 'approve' : 'schedule');
    checkApprover(by, change.requestedBy, change.approvals);
    change.approvals = [...change.approvals, { by, at: ctx.now().toISOString() }];
    ctx.audit('flag_change.approved', id, { flag: change.flagKey, approvals: change.approvals.length });
    if (!isApproved(change.requestedBy, change.approvals)) return change;
    await checkForm(ctx, loaded, change.after as FlagPatch, '');
    checkGuard(loaded, change.after as FlagPatch, (ctx.facts as GateAnswer | null) ?? null);
    change.status = next;
    change.expiresAt = null;
    if (next === FlagChangeStatus.APPLIED) await applyChange(ctx, loaded, change);
    return change;
  }

  @Access(STAFF)
  @Mutation(() => FlagChange)
  async rejectFlagChange(
    @Arg('input', () => RejectFlagChangeInput) { id, reason }: RejectFlagChangeInput,
    @Ctx() ctx: Context,
  ): Promise<FlagChange> {
    const { change } = await lockChange(ctx, id);
    change.status = moveChange(change.status, 'reject');
    change.expiresAt = null;
    ctx.audit('flag_change.rejected', id, { flag: change.flagKey, ...(reason && { reason }) });
    return change;
  }
}
