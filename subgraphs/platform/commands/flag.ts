import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid, requireValid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { after as later } from '../../../runtime/time/durations.js';
import type { FlagChange } from '../entities/flag-change.js';
import { FeatureFlag, FlagChangeStatus } from '../entities/flag.js';
import type {
  ArchiveFeatureFlagInput,
  ChangeFeatureFlagInput,
  CreateFeatureFlagInput,
  KillFeatureFlagInput,
  UnkillFeatureFlagInput,
} from '../inputs/flag.js';
import { PENDING_MS, SEEDED_FLAGS } from '../rules/flag-change.js';
import { flagViolations } from '../rules/flag-form.js';
import { differenceOf, stateOf, type FlagPatch } from '../rules/flag-state.js';
import { below } from '../rules/violations.js';
import { patchOf, rulesIn, serveIn } from './flag-input.js';
import {
  applyChange,
  changeOf,
  checkForm,
  checkGuard,
  gateFor,
  lockFlag,
  needsApproval,
  readFlag,
  rowsOf,
  surroundingsOf,
  type Loaded,
  type Request,
} from './flag-writing.js';
import { invalidateActiveBrands } from './invalidation.js';

type Outcome = Promise<FeatureFlag | FlagChange>;

/** @throws Problem conflict for a key that was used before, invalid_request. */
export async function createFlag(ctx: Context, { reason, salt, rules, ...input }: CreateFeatureFlagInput): Promise<FeatureFlag> {
  if (await ctx.em.findOne(FeatureFlag, { key: input.key })) fail('conflict', 'This key was used before', { reason: 'key_used' });
  const facts = { ...input, expiresOn: input.expiresOn ?? null, defaultRule: serveIn(input.defaultRule), salt: salt ?? input.key };
  const flag = Object.assign(new FeatureFlag(), facts, { changedAt: ctx.now() });
  const state = stateOf(flag, rulesIn(rules));
  requireValid(below('/input', flagViolations(state, await surroundingsOf(ctx, flag))));
  await ctx.em.persist(flag).flush();
  ctx.em.persist(rowsOf(flag.key, state.rules));
  const record = changeOf(ctx, { flag, state }, { after: state, reason });
  Object.assign(record, { before: {}, status: FlagChangeStatus.APPLIED, revision: flag.revision, baseRevision: 0 });
  ctx.audit('feature_flag.created', flag.key, { kind: flag.kind, owner: flag.owner, enabled: flag.enabled });
  await invalidateActiveBrands(ctx, ['flags']);
  return flag;
}

/** Applies a change, or lets it wait for its approval or its time; then the answer is a 202. */
async function decide(ctx: Context, loaded: Loaded, request: Request): Outcome {
  const change = changeOf(ctx, loaded, request);
  const waits = needsApproval(loaded, request.after);
  ctx.audit(waits ? 'feature_flag.change_requested' : 'feature_flag.changed', loaded.flag.key, { fields: Object.keys(request.after) });
  if (!waits && !request.applyAt) return applyChange(ctx, loaded, change);
  ctx.status(202);
  change.status = waits ? FlagChangeStatus.PENDING : FlagChangeStatus.SCHEDULED;
  change.expiresAt = waits ? later(ctx.now(), PENDING_MS) : null;
  return change;
}

function requireInUse({ flag }: Loaded): void {
  if (flag.archivedAt !== null) fail('conflict', 'an archived flag does not change', { reason: 'archived' });
}

/** The answer of the gate that a change must pass. */
export const changeGate = preparation(async (ctx, { input }: { input: ChangeFeatureFlagInput }) =>
  gateFor(ctx, await readFlag(ctx, input.key), patchOf(input.patch)),
);

/** @throws Problem not_found, invalid_request, conflict for an archived flag, another revision, or a guard that is not passed. */
export async function changeFlag(ctx: Context, { key, patch, expectedRevision, reason, applyAt }: ChangeFeatureFlagInput): Outcome {
  const loaded = await lockFlag(ctx, key);
  requireInUse(loaded);
  const { revision } = loaded.flag;
  if (revision !== expectedRevision) fail('conflict', `The flag is at revision ${revision}`, { reason: 'revision_conflict' });
  if (applyAt && applyAt <= ctx.now()) invalid('/input/applyAt', 'must lie ahead');
  const { after } = differenceOf(loaded.state, patchOf(patch));
  await checkForm(ctx, loaded, after, '/input/patch');
  if (Object.keys(after).length === 0) return loaded.flag;
  checkGuard(loaded, after, changeGate.of(ctx));
  return decide(ctx, loaded, { after, reason, applyAt });
}

/** Serves the off variant to everyone at once: no guard, no approval. Again: nothing changes. @throws Problem not_found. */
export async function killFlag(ctx: Context, { key, reason }: KillFeatureFlagInput): Promise<FeatureFlag> {
  const loaded = await lockFlag(ctx, key);
  ctx.audit('feature_flag.killed', key, { was_killed: loaded.flag.killed });
  if (loaded.flag.killed) return loaded.flag;
  return applyChange(ctx, loaded, changeOf(ctx, loaded, { after: { killed: true }, reason }));
}

/** The answer of the gate that lets the rules decide again. */
export const unkillGate = preparation(async (ctx, { input }: { input: UnkillFeatureFlagInput }) =>
  gateFor(ctx, await readFlag(ctx, input.key), { killed: false }),
);

/** A change like any other of the flag. @throws Problem not_found, conflict for an archived flag or a guard that is not passed. */
export async function unkillFlag(ctx: Context, { key, reason }: UnkillFeatureFlagInput): Outcome {
  const loaded = await lockFlag(ctx, key);
  requireInUse(loaded);
  if (!loaded.flag.killed) return loaded.flag;
  const after: FlagPatch = { killed: false };
  checkGuard(loaded, after, unkillGate.of(ctx));
  return decide(ctx, loaded, { after, reason });
}

async function requireArchivable(ctx: Context, { flag }: Loaded): Promise<void> {
  const { others } = await surroundingsOf(ctx, flag);
  const neededBy = [...others].filter(([, { prerequisites }]) => prerequisites.some(one => one.key === flag.key)).map(([key]) => key);
  if (SEEDED_FLAGS.includes(flag.key)) fail('conflict', 'This flag is part of the platform and cannot be archived', { reason: 'seeded' });
  if (neededBy.length) fail('conflict', `The flag is a prerequisite of ${neededBy.join(', ')}`, { reason: 'in_use' });
}

/** Again: nothing changes. @throws Problem not_found, conflict for a seeded flag or one that others need. */
export async function archiveFlag(ctx: Context, { key, reason }: ArchiveFeatureFlagInput): Outcome {
  const loaded = await lockFlag(ctx, key);
  if (loaded.flag.archivedAt !== null) return loaded.flag;
  await requireArchivable(ctx, loaded);
  return decide(ctx, loaded, { after: { archived: true }, reason });
}
