import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { lockRow, requireVersion } from '../../../runtime/data/rows.js';
import { EntitlementFeature } from '../entities/feature.js';
import type { CreateEntitlementFeatureInput, UpdateEntitlementFeatureInput } from '../inputs/feature.js';
import { BUILT_IN } from '../rules/tier.js';
import { featureViolations } from '../rules/validation.js';
import { forgetEverything } from './forgetting.js';

const productSet = (ids: readonly string[]): string[] => [...new Set(ids.map(id => id.toLowerCase()))];

/** @throws Problem invalid_request for what does not go together, conflict for a key that is taken. */
export async function createFeature(
  ctx: Context,
  { unit, defaultValue, productIds, ...given }: CreateEntitlementFeatureInput,
): Promise<EntitlementFeature> {
  const feature = Object.assign(new EntitlementFeature(), given, {
    unit: unit ?? null,
    defaultValue: defaultValue ?? null,
    productIds: productSet(productIds),
    createdAt: ctx.now(),
  });
  requireValid(featureViolations(feature));
  if (await ctx.em.findOne(EntitlementFeature, { key: given.key })) fail('conflict', 'A feature with this key exists, in use or archived');
  ctx.em.persist(feature);
  await forgetEverything(ctx);
  ctx.audit('entitlement_feature.created', feature.key, { kind: feature.kind });
  return feature;
}

/** What may be cleared by null. */
const CLEARABLE = ['unit', 'defaultValue'];

/** The fields that an input gives. @throws Problem invalid_request for one that cannot be cleared. */
function givenBy({ key: _key, version: _version, productIds, ...fields }: UpdateEntitlementFeatureInput): Partial<EntitlementFeature> {
  const all = { ...fields, productIds: productIds && productSet(productIds) };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  const cleared = given.filter(([name, value]) => value === null && !CLEARABLE.includes(name));
  requireValid(cleared.map(([name]) => ({ pointer: `/input/${name}`, message: 'cannot be cleared' })));
  return Object.fromEntries(given) as Partial<EntitlementFeature>;
}

/** @throws Problem conflict for the one that every suite has. */
function requireOwn(key: string): void {
  if (key === BUILT_IN) fail('conflict', 'A feature that is built in cannot be changed', { reason: 'built_in' });
}

/** @throws Problem not_found, conflict for an archived feature or a version that is not the current one. */
export async function updateFeature(ctx: Context, input: UpdateEntitlementFeatureInput): Promise<EntitlementFeature> {
  const given = givenBy(input);
  requireOwn(input.key);
  const feature = await lockRow(ctx, EntitlementFeature, { key: input.key });
  if (feature.archived) fail('conflict', 'A feature that is archived cannot be changed');
  requireVersion(feature, input.version);
  Object.assign(feature, given, { version: feature.version + 1 });
  requireValid(featureViolations(feature));
  await forgetEverything(ctx);
  ctx.audit('entitlement_feature.updated', feature.key, { fields: Object.keys(given) });
  return feature;
}

/** Again: nothing changes. @throws Problem not_found. */
export async function archiveFeature(ctx: Context, key: string): Promise<EntitlementFeature> {
  requireOwn(key);
  const feature = await lockRow(ctx, EntitlementFeature, { key });
  await forgetEverything(ctx);
  ctx.audit('entitlement_feature.archived', key, { was_archived: feature.archived });
  if (!feature.archived) Object.assign(feature, { archivedAt: ctx.now(), version: feature.version + 1 });
  return feature;
}
