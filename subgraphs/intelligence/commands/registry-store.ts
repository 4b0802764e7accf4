import { LockMode } from '@mikro-orm/postgresql';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { move } from '../../../runtime/request/states.js';
import { RankingPolicy } from '../entities/policy.js';
import { RegistryVersion, type StoredTraining } from '../entities/registry.js';
import { RegistryStatus } from '../entities/enums.js';
import { artifactHash, type Bundle } from '../rules/bundle.js';
import { REGISTRY_STATES } from '../rules/states.js';

/** Parsed bundles: immutable, so they are kept for as long as their artefact exists. */
const bundles = new Map<string, Bundle>();
const KEPT_BUNDLES = 200;

/** Parameters of a version; null when its artefact was erased. */
export async function bundleOf(ctx: Context, { id, artifactErasedAt }: { id: string; artifactErasedAt: unknown }): Promise<Bundle | null> {
  if (artifactErasedAt !== null) {
    bundles.delete(id);
    return null;
  }
  const known = bundles.get(id);
  if (known) return known;
  const [row] = await ctx.sql<{ parameters: Bundle }>(`select parameters from ${ctx.schema}.registry_artifact where registry_id = $1`, [
    id,
  ]);
  if (!row) return null;
  if (bundles.size >= KEPT_BUNDLES) bundles.clear();
  bundles.set(id, row.parameters);
  return row.parameters;
}

/** What serves now: the champion of a policy. There is exactly one at every instant. */
export const championOf = (ctx: Context, policyId: string): Promise<RegistryVersion> =>
  ctx.em.findOneOrFail(RegistryVersion, { policyId, status: RegistryStatus.CHAMPION }, { refresh: true });

/** The policy with its row locked: champions change one after the other. @throws Problem not_found. */
export async function lockPolicy(ctx: Context, id: string): Promise<RankingPolicy> {
  const policy = isUuid(id) ? await ctx.em.findOne(RankingPolicy, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true }) : null;
  return policy ?? fail('not_found', 'Not found');
}

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

/** A version of a policy by number. @throws Problem not_found. */
export const versionOf = async (ctx: Context, policyId: string, number: number): Promise<RegistryVersion> =>
  (await ctx.em.findOne(RegistryVersion, { policyId, number }, { refresh: true })) ?? fail('not_found', 'This policy has no such version');
