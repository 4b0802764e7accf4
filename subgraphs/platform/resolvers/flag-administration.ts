import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { FlagOutcome, type FlagChange } from '../entities/flag-change.js';
import { FeatureFlag, FlagChangeStatus } from '../entities/flag.js';
import {
  ArchiveFeatureFlagInput,
  ChangeFeatureFlagInput,
  CreateFeatureFlagInput,
  KillFeatureFlagInput,
  UnkillFeatureFlagInput,
} from '../inputs/flag.js';
import { FLAG_OPERATORS } from '../references.js';
import { SEEDED_FLAGS, type GateAnswer } from '../rules/flag-change.js';
import { flagViolations } from '../rules/flag-form.js';
import { differenceOf, stateOf, type FlagPatch } from '../rules/flag-state.js';
import { patchOf, rulesIn, serveIn } from '../queries/flag-input.js';
import {
  applyChange,
  changeOf,
  checkForm,
  checkGuard,
  gateFor,
  lockFlag,
  needsApproval,
  pendingUntil,
  readFlag,
  refuse,
  rowsOf,
  surroundingsOf,
  type Loaded,
  type Request,
} from '../commands/flag-writing.js';
import { invalidateActiveBrands } from '../commands/invalidation.js';

/** Applies a change, or lets it wait for its approval or its time; then the answer is a 202. */
async function decide(ctx: Context, loaded: Loaded, request: Request): Promise<FeatureFlag | FlagChange> {
  const change = changeOf(ctx, loaded, request);
  const waits = needsApproval(loaded, request.after);
  ctx.audit(waits ? 'feature_flag.change_requested' : 'feature_flag.changed', loaded.flag.key, { fields: Object.keys(request.after) });
  if (!waits && !request.applyAt) return applyChange(ctx, loaded, change);
  ctx.status(202);
  change.status = waits ? FlagChangeStatus.PENDING : FlagChangeStatus.SCHEDULED;
  change.expiresAt = waits ? pendingUntil(ctx) : null;
  return change;
}

/** @throws Problem conflict for a flag that is archived. */
function inUse({ flag }: Loaded): void {
  if (flag.archivedAt !== null) fail('conflict', 'an archived flag does not change', { reason: 'archived' });
}

const gateOf = (ctx: Context): GateAnswer | null => (ctx.facts as GateAnswer | null) ?? null;

const prepareChange = async (ctx: Context, { input }: { input: ChangeFeatureFlagInput }): Promise<GateAnswer | null> =>
  gateFor(ctx, await readFlag(ctx, input.key), patchOf(input.patch));

const prepareUnkill = async (ctx: Context, { input }: { input: UnkillFeatureFlagInput }): Promise<GateAnswer | null> =>
  gateFor(ctx, await readFlag(ctx, input.key), { killed: false });

function checkTime(ctx: Context, applyAt: Date | null | undefined): void {
  if (applyAt && applyAt <= ctx.now()) refuse([{ pointer: '/applyAt', message: 'must lie ahead' }], '/input');
}

function checkArchivable({ flag }: Loaded, neededBy: readonly string[]): void {
  if (SEEDED_FLAGS.includes(flag.key)) fail('conflict', 'This flag is part of the platform and cannot be archived', { reason: 'seeded' });
  if (neededBy.length) fail('conflict', `The flag is a prerequisite of ${neededBy.join(', ')}`, { reason: 'in_use' });
}

@Resolver(() => FeatureFlag)
export class FlagAdministrationResolver {
  @Access(FLAG_OPERATORS)
  @Mutation(() => FeatureFlag)
  async createFeatureFlag(
    @Arg('input', () => CreateFeatureFlagInput) { reason, salt, rules, ...input }: CreateFeatureFlagInput,
    @Ctx() ctx: Context,
  ): Promise<FeatureFlag> {
    if (await ctx.em.findOne(FeatureFlag, { key: input.key })) fail('conflict', 'This key was used before', { reason: 'key_used' });
    const facts = { ...input, expiresOn: input.expiresOn ?? null, defaultRule: serveIn(input.defaultRule), salt: salt ?? input.key };
    const flag = Object.assign(new FeatureFlag(), facts, { changedAt: ctx.now() });
    const state = stateOf(flag, rulesIn(rules));
    refuse(flagViolations(state, await surroundingsOf(ctx, flag)), '/input');
    await ctx.em.persist(flag).flush();
    ctx.em.persist(rowsOf(flag.key, state.rules));
    const record = changeOf(ctx, { flag, state }, { after: state, reason });
    Object.assign(record, { before: {}, status: FlagChangeStatus.APPLIED, revision: flag.revision, baseRevision: 0 });
    ctx.audit('feature_flag.created', flag.key, { kind: flag.kind, owner: flag.owner, enabled: flag.enabled });
    await invalidateActiveBrands(ctx, ['flags']);
    return flag;
  }

  @Access(FLAG_OPERATORS)
  @Prepare(prepareChange)
  @Mutation(() => FlagOutcome, {
    description: 'Changes a flag. A protected one waits for an approval, lowering a stage excepted; applyAt schedules it.',
  })
  async changeFeatureFlag(
    @Arg('input', () => ChangeFeatureFlagInput) { key, patch, expectedRevision, reason, applyAt }: ChangeFeatureFlagInput,
    @Ctx() ctx: Context,
  ): Promise<FeatureFlag | FlagChange> {
    const loaded = await lockFlag(ctx, key);
    inUse(loaded);
    if (loaded.flag.revision !== expectedRevision)
      fail('conflict', `The flag is at revision ${loaded.flag.revision}`, { reason: 'revision_conflict' });
    checkTime(ctx, applyAt);
    const { after } = differenceOf(loaded.state, patchOf(patch));
    await checkForm(ctx, loaded, after, '/input/patch');
    if (Object.keys(after).length === 0) return loaded.flag;
    checkGuard(loaded, after, gateOf(ctx));
    return decide(ctx, loaded, { after, reason, applyAt });
  }

  @Access(FLAG_OPERATORS)
  @Mutation(() => FeatureFlag, {
    description: 'Serves the off variant to everyone at once: no guard, no approval. Killing again changes nothing.',
  })
  async killFeatureFlag(
    @Arg('input', () => KillFeatureFlagInput) { key, reason }: KillFeatureFlagInput,
    @Ctx() ctx: Context,
  ): Promise<FeatureFlag> {
    const loaded = await lockFlag(ctx, key);
    ctx.audit('feature_flag.killed', key, { was_killed: loaded.flag.killed });
    if (loaded.flag.killed) return loaded.flag;
    return applyChange(ctx, loaded, changeOf(ctx, loaded, { after: { killed: true }, reason }));
  }

  @Access(FLAG_OPERATORS)
  @Prepare(prepareUnkill)
  @Mutation(() => FlagOutcome, { description: 'Lets the rules decide again: a change like any other of the flag.' })
  async unkillFeatureFlag(
    @Arg('input', () => UnkillFeatureFlagInput) { key, reason }: UnkillFeatureFlagInput,
    @Ctx() ctx: Context,
  ): Promise<FeatureFlag | FlagChange> {
    const loaded = await lockFlag(ctx, key);
    inUse(loaded);
    if (!loaded.flag.killed) return loaded.flag;
    const after: FlagPatch = { killed: false };
    checkGuard(loaded, after, gateOf(ctx));
    return decide(ctx, loaded, { after, reason });
  }

  @Access(FLAG_OPERATORS)
  @Mutation(() => FlagOutcome, { description: 'Takes a flag out of use; its key is never used again.' })
  async archiveFeatureFlag(
    @Arg('input', () => ArchiveFeatureFlagInput) { key, reason }: ArchiveFeatureFlagInput,
    @Ctx() ctx: Context,
  ): Promise<FeatureFlag | FlagChange> {
    const loaded = await lockFlag(ctx, key);
    if (loaded.flag.archivedAt !== null) return loaded.flag;
    const { others } = await surroundingsOf(ctx, loaded.flag);
    checkArchivable(
      loaded,
      [...others].filter(([, { prerequisites }]) => prerequisites.some(one => one.key === key)).map(([name]) => name),
    );
    return decide(ctx, loaded, { after: { archived: true }, reason });
  }
}
