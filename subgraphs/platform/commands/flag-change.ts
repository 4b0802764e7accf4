import { isUuid } from '../../../runtime/data/ids.js';
import { FOR_UPDATE, requireRow } from '../../../runtime/data/rows.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { FlagChange } from '../entities/flag-change.js';
import { FlagChangeStatus } from '../entities/flag.js';
import type { RejectFlagChangeInput } from '../inputs/flag.js';
import { checkApprover, isApproved, moveChange, type GateAnswer } from '../rules/flag-change.js';
import type { FlagPatch } from '../rules/flag-state.js';
import { applyChange, checkForm, checkGuard, gateFor, lockFlag, readFlag, type Loaded } from './flag-writing.js';

/** The flag first and the change after it: the order in which every change of a flag locks. @throws Problem not_found. */
async function lockChange(ctx: Context, id: string): Promise<{ loaded: Loaded; change: FlagChange }> {
  const known = await requireRow(ctx, FlagChange, { id });
  const loaded = await lockFlag(ctx, known.flagKey);
  const change = await ctx.em.findOneOrFail(FlagChange, { id }, { ...FOR_UPDATE, refresh: true });
  return { loaded, change };
}

/** Asks the gate that a waiting change must pass; before the transaction. */
export async function gateOfChange(ctx: Context, id: string): Promise<GateAnswer | null> {
  const change = isUuid(id) ? await ctx.em.findOne(FlagChange, { id }) : null;
  return change && gateFor(ctx, await readFlag(ctx, change.flagKey), change.after as FlagPatch);
}

/** Checks a change against the flag as it is now. @throws Problem invalid_request, conflict. */
async function checkChange(ctx: Context, loaded: Loaded, change: FlagChange, gate: GateAnswer | null): Promise<void> {
  await checkForm(ctx, loaded, change.after as FlagPatch, '');
  checkGuard(loaded, change.after as FlagPatch, gate);
}

const isDue = (ctx: Context, { applyAt }: FlagChange): boolean => applyAt === null || applyAt <= ctx.now();

export const approvalGate = preparation((ctx, { id }: { id: string }) => gateOfChange(ctx, id));

/** Adds an approval; the one that suffices applies the change, or leaves it to its time. @throws Problem not_found, forbidden, conflict. */
export async function approveChange(ctx: Context, id: string): Promise<FlagChange> {
  const { loaded, change } = await lockChange(ctx, id);
  const by = actorOf(ctx.caller);
  const next = moveChange(change.status, isDue(ctx, change) ? 'approve' : 'schedule');
  checkApprover(by, change.requestedBy, change.approvals);
  change.approvals = [...change.approvals, { by, at: ctx.now().toISOString() }];
  ctx.audit('flag_change.approved', id, { flag: change.flagKey, approvals: change.approvals.length });
  if (!isApproved(change.requestedBy, change.approvals)) return change;
  await checkChange(ctx, loaded, change, approvalGate.of(ctx));
  change.status = next;
  change.expiresAt = null;
  if (next === FlagChangeStatus.APPLIED) await applyChange(ctx, loaded, change);
  return change;
}

/** @throws Problem not_found, conflict naming the state. */
export async function rejectChange(ctx: Context, { id, reason }: RejectFlagChangeInput): Promise<FlagChange> {
  const { change } = await lockChange(ctx, id);
  change.status = moveChange(change.status, 'reject');
  change.expiresAt = null;
  ctx.audit('flag_change.rejected', id, { flag: change.flagKey, ...(reason && { reason }) });
  return change;
}

/** @throws Problem where the change does not fit the flag any more. */
async function apply(ctx: Context, loaded: Loaded, change: FlagChange, gate: GateAnswer | null): Promise<void> {
  if (loaded.flag.revision !== change.baseRevision) throw new Problem('conflict', 'the flag changed meanwhile');
  await checkChange(ctx, loaded, change, gate);
  moveChange(change.status, 'apply');
  await applyChange(ctx, loaded, change);
  ctx.audit('flag_change.applied', change.id, { flag: change.flagKey });
}

function expire(ctx: Context, change: FlagChange, cause: string): void {
  const facts = { alarm: 'scheduled flag change expired', flag: change.flagKey, change: change.id, cause };
  if (change.status === FlagChangeStatus.SCHEDULED) ctx.log.error(facts, 'a scheduled flag change was not applied');
  change.status = moveChange(change.status, 'expire');
  ctx.audit('flag_change.expired', change.id, { flag: change.flagKey, cause });
}

/** One change that is due: applied or expired, and nothing if somebody else was faster. */
export async function settleChange(ctx: Context, id: string, gate: GateAnswer | null): Promise<void> {
  const { loaded, change } = await lockChange(ctx, id);
  if (change.status === FlagChangeStatus.PENDING) return expire(ctx, change, 'not approved in time');
  if (change.status !== FlagChangeStatus.SCHEDULED) return;
  try {
    await apply(ctx, loaded, change, gate);
  } catch (error) {
    if (!(error instanceof Problem) || error.code === 'unavailable') throw error;
    expire(ctx, change, error.options.reason ?? error.message);
  }
}
