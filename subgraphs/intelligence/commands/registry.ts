import { findRow, FOR_UPDATE, requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid, requireValid } from '../../../runtime/request/errors.js';
import { move } from '../../../runtime/request/states.js';
import { RegistryStatus } from '../entities/enums.js';
import { RankingPolicy } from '../entities/policy.js';
import { RegistryVersion, type StoredTraining } from '../entities/registry.js';
import type { PromoteRegistryVersionInput, RollbackRegistryInput } from '../inputs/governance.js';
import type { RegisterRegistryVersionInput } from '../inputs/policy.js';
import { championOf, versionOf } from '../queries/registry.js';
import { artifactHash, type Bundle } from '../rules/bundle.js';
import { bundleViolations } from '../rules/bundle-schema.js';
import { REGISTRY_STATES } from '../rules/states.js';

/** The policy with its row locked: champions change one after the other. @throws Problem not_found. */
export const lockPolicy = async (ctx: Context, id: string): Promise<RankingPolicy> =>
  (await findRow(ctx, RankingPolicy, { id }, { ...FOR_UPDATE, refresh: true })) ?? fail('not_found', 'Not found');

export interface NewVersion {
  parameters: Bundle;
  status?: RegistryStatus;
  trainingData?: StoredTraining | null;
  offline?: Record<string, unknown> | null;
  parentVersion?: number | null;
  notes?: string | null;
}

/** Adds a version with the next number. The policy's row is locked, so numbers have no gaps. */
export async function addVersion(ctx: Context, policy: RankingPolicy, { parameters, ...given }: NewVersion): Promise<RegistryVersion> {
  const [last] = await ctx.sql<{ n: number }>(
    `select coalesce(max(version), 0)::int as n from ${ctx.schema}.registry_version where policy_id = $1`,
    [policy.id],
  );
  const { policyKind, policyKey, brandId } = policy;
  const champion = given.status === RegistryStatus.CHAMPION;
  const version = Object.assign(new RegistryVersion(), {
    policyId: policy.id,
    policyKind,
    policyKey,
    brandId,
    number: last!.n + 1,
    artifactSha256: artifactHash(parameters),
    createdBy: ctx.caller.clientId,
    createdAt: ctx.now(),
    championedAt: champion ? ctx.now() : null,
    ...given,
  });
  await ctx.em.persist(version).flush();
  await ctx.sql(`insert into ${ctx.schema}.registry_artifact (registry_id, parameters) values ($1, $2)`, [
    version.id,
    JSON.stringify(parameters),
  ]);
  return version;
}

/** Who asked for a change of champion, and why. */
export interface ChampionChange {
  action: 'promote' | 'roll back to';
  actorId?: string | null;
  reason?: string | null;
}

/**
 * Makes a version the champion and retires the one before, in the running transaction; the policy's row is locked. No decision is
 * touched. @throws Problem conflict for the champion itself, an erased artefact, or a rollback to what never was champion. Source: spec 1, Registry.
 */
export async function makeChampion(
  ctx: Context,
  policy: RankingPolicy,
  version: RegistryVersion,
  change: ChampionChange,
): Promise<RegistryVersion> {
  move(REGISTRY_STATES, 'registry version', version.status, change.action);
  if (version.artifactErasedAt) fail('conflict', 'The artefact of this version was erased', { reason: 'artifact_erased' });
  if (change.action === 'roll back to' && !version.championedAt) fail('conflict', 'This version was never champion; promote it instead');
  const prior = await championOf(ctx, policy.id);
  Object.assign(prior, { status: RegistryStatus.RETIRED, retiredAt: ctx.now() });
  await ctx.em.flush(); // there may not be two champions, not even for one statement
  Object.assign(version, { status: RegistryStatus.CHAMPION, championedAt: ctx.now(), retiredAt: null });
  const verb = change.action === 'promote' ? 'promoted' : 'rolled_back';
  ctx.audit(`registry_version.${verb}`, version.id, {
    from: prior.number,
    to: version.number,
    actor_id: change.actorId ?? null,
    has_reason: change.reason != null,
  });
  return version;
}

/** Registers parameters as a candidate. @throws Problem invalid_request, not_found. */
export async function registerVersion(ctx: Context, input: RegisterRegistryVersionInput): Promise<RegistryVersion> {
  requireValid(bundleViolations(input.parameters, '/input/parameters'));
  const policy = await lockPolicy(ctx, input.policyId);
  const { parentVersion = null, notes = null } = input;
  const version = await addVersion(ctx, policy, { parameters: input.parameters as Bundle, parentVersion, notes });
  ctx.audit('registry_version.registered', version.id, { version: version.number, artifact_sha256: version.artifactSha256 });
  return version;
}

/** @throws Problem not_found, and what {@link makeChampion} throws. */
export async function promoteVersion(ctx: Context, input: PromoteRegistryVersionInput): Promise<RegistryVersion> {
  const named = await requireRow(ctx, RegistryVersion, { id: input.id });
  const policy = await lockPolicy(ctx, named.policyId);
  const version = await versionOf(ctx, policy.id, named.number); // as it is now that the lock is held
  return makeChampion(ctx, policy, version, { ...input, action: 'promote' });
}

/** Makes a prior champion the champion again. @throws Problem not_found, and what {@link makeChampion} throws. */
export async function rollBack(ctx: Context, input: RollbackRegistryInput): Promise<RegistryVersion> {
  const { policyKind, policyKey, brandId, toVersion } = input;
  if (brandId === undefined) invalid('/input/brandId', 'is required; it may be null');
  const named =
    (await ctx.em.findOne(RankingPolicy, { policyKind, policyKey, brandId: brandId?.toLowerCase() ?? null })) ??
    fail('not_found', 'There is no such policy');
  const policy = await lockPolicy(ctx, named.id);
  return makeChampion(ctx, policy, await versionOf(ctx, policy.id, toVersion), { ...input, action: 'roll back to' });
}
