import { SLUGS } from '../../../events/slugs.js';
import { findRow, FOR_UPDATE } from '../../../runtime/data/rows.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { FlagChange } from '../entities/flag-change.js';
import { FeatureFlag, FlagChangeStatus, FlagRule, type FlagDefaultRule, type FlagRollout } from '../entities/flag.js';
import { askGate } from '../ports/stage-gate.js';
import { brandsConcerned, checkStage, type GateAnswer } from '../rules/flag-change.js';
import { flagViolations, settledViolations, type FlagSurroundings } from '../rules/flag-form.js';
import { differenceOf, stateOf, type FlagPatch, type FlagState, type RuleState } from '../rules/flag-state.js';
import { isLowering, riseOf } from '../rules/stage.js';
import { below } from '../rules/violations.js';
import { invalidateBrands } from './invalidation.js';

const STAGE_GUARD = 'stage_gate';

/** A flag with its rules as one value. */
export interface Loaded {
  flag: FeatureFlag;
  state: FlagState;
}

const rulesOf = (ctx: Context, key: string): Promise<FlagRule[]> =>
  ctx.em.find(FlagRule, { flagKey: key }, { orderBy: { position: 'asc' }, refresh: true });

/** A flag in use or archived, locked for a change. @throws Problem not_found. */
export async function lockFlag(ctx: Context, key: string): Promise<Loaded> {
  const flag = (await findRow(ctx, FeatureFlag, { key }, { ...FOR_UPDATE, refresh: true })) ?? fail('not_found', 'Not found');
  return { flag, state: stateOf(flag, await rulesOf(ctx, key)) };
}

/** A flag as it is now, for what is found out before the transaction. */
export async function readFlag(ctx: Context, key: string): Promise<Loaded | null> {
  const flag = await ctx.em.findOne(FeatureFlag, { key }, { refresh: true });
  return flag && { flag, state: stateOf(flag, await rulesOf(ctx, key)) };
}

/** The other flags in use, as a change is checked against them. */
export async function surroundingsOf(ctx: Context, { key, valueType }: Pick<FeatureFlag, 'key' | 'valueType'>): Promise<FlagSurroundings> {
  const others = await ctx.em.find(FeatureFlag, { key: { $ne: key }, archivedAt: null });
  return { key, valueType, slugs: SLUGS, others: new Map(others.map(other => [other.key, other])) };
}

/** Checks what a flag would become; `pointer` is that of the patch. @throws Problem invalid_request. */
export async function checkForm(ctx: Context, { flag, state }: Loaded, after: FlagPatch, pointer: string): Promise<void> {
  const found = flagViolations({ ...state, ...after }, await surroundingsOf(ctx, flag));
  requireValid(below(pointer, [...settledViolations(flag.key, after), ...found]));
}

/** Asks the gate of a guarded flag where a change lifts a stage by one; to be called before the transaction. */
export async function gateFor(ctx: Context, loaded: Loaded | null, patch: FlagPatch): Promise<GateAnswer | null> {
  if (loaded?.flag.guard !== STAGE_GUARD) return null;
  const rise = riseOf(loaded.state, { ...loaded.state, ...patch });
  return rise?.steps === 1 ? askGate(ctx, rise.to) : null;
}

/** @throws Problem conflict where the guard of the flag does not let the change pass. */
export function checkGuard({ flag, state }: Loaded, after: FlagPatch, gate: GateAnswer | null): void {
  if (flag.guard === STAGE_GUARD) checkStage(riseOf(state, { ...state, ...after }), gate);
}

/** A protected flag needs two of the staff, except for what only lowers a guarded one. */
export const needsApproval = ({ flag, state }: Loaded, after: FlagPatch): boolean =>
  flag.protected && !(flag.guard === STAGE_GUARD && isLowering(state, { ...state, ...after }, Object.keys(after)));

/** What a change is asked for with. */
export interface Request {
  after: FlagPatch;
  reason: string;
  applyAt?: Date | null;
}

/** The record of a change, not yet decided. */
export function changeOf(ctx: Context, { flag, state }: Loaded, { after, reason, applyAt = null }: Request): FlagChange {
  const { before } = differenceOf(state, after);
  const facts = { flagKey: flag.key, before, after, reason, applyAt, requestedBy: actorOf(ctx.caller), baseRevision: flag.revision };
  const change = Object.assign(new FlagChange(), facts, { status: FlagChangeStatus.PENDING, createdAt: ctx.now() });
  ctx.em.persist(change);
  return change;
}

/** Rows of rules in their order. */
export function rowsOf(flagKey: string, rules: readonly RuleState[]): FlagRule[] {
  return rules.map(({ conditions, variant = null, rollout = null }, position) =>
    Object.assign(new FlagRule(), { flagKey, position, conditions, variant, rollout: rollout as FlagRollout[] | null }),
  );
}

async function writeRules(ctx: Context, key: string, rules: readonly RuleState[] | undefined): Promise<void> {
  if (!rules) return;
  await ctx.em.nativeDelete(FlagRule, { flagKey: key });
  ctx.em.persist(rowsOf(key, rules));
}

/** What waits for an approval was asked for another state of the flag. */
export async function expirePending(ctx: Context, flagKeys: readonly string[]): Promise<void> {
  await ctx.em.flush(); // a change of this very transaction is decided by now
  const waiting = { flagKey: { $in: [...flagKeys] }, status: FlagChangeStatus.PENDING };
  await ctx.em.nativeUpdate(FlagChange, waiting, { status: FlagChangeStatus.EXPIRED });
}

/** Brings a change into force: the revision grows by one, other changes that wait have expired, caches are invalidated. */
export async function applyChange(ctx: Context, { flag, state }: Loaded, change: FlagChange): Promise<FeatureFlag> {
  const { rules, archived, defaultRule, ...fields } = change.after as FlagPatch;
  Object.assign(flag, fields, { revision: flag.revision + 1, changedAt: ctx.now() });
  if (defaultRule) flag.defaultRule = { ...defaultRule } as FlagDefaultRule;
  if (archived !== undefined) flag.archivedAt = archived ? ctx.now() : null;
  await writeRules(ctx, flag.key, rules);
  change.status = FlagChangeStatus.APPLIED;
  change.revision = flag.revision;
  await expirePending(ctx, [flag.key]);
  await invalidateBrands(ctx, brandsConcerned(state, change.after as FlagPatch), ['flags']);
  return flag;
}
