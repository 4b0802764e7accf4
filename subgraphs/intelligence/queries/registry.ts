import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { RegistryStatus } from '../entities/enums.js';
import { RegistryVersion } from '../entities/registry.js';
import type { Bundle } from '../rules/bundle.js';

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
  const statement = `select parameters from ${ctx.schema}.registry_artifact where registry_id = $1`;
  const [row] = await ctx.sql<{ parameters: Bundle }>(statement, [id]);
  if (!row) return null;
  if (bundles.size >= KEPT_BUNDLES) bundles.clear();
  bundles.set(id, row.parameters);
  return row.parameters;
}

/** What serves now: the champion of a policy. There is exactly one at every instant. */
export const championOf = (ctx: Context, policyId: string): Promise<RegistryVersion> =>
  ctx.em.findOneOrFail(RegistryVersion, { policyId, status: RegistryStatus.CHAMPION }, { refresh: true });

/** A version of a policy by number. @throws Problem not_found. */
export const versionOf = async (ctx: Context, policyId: string, number: number): Promise<RegistryVersion> =>
  (await ctx.em.findOne(RegistryVersion, { policyId, number }, { refresh: true })) ?? fail('not_found', 'This policy has no such version');
