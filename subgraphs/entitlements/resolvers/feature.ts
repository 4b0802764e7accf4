import { LockMode } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { decodeCursor, toConnection, type Connection } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { EntitlementFeature, EntitlementFeatureConnection } from '../entities/feature.js';
import { FEATURE_WRITERS, READERS } from '../entities/enums.js';
import { CreateEntitlementFeatureInput, EntitlementFeaturesArgs, UpdateEntitlementFeatureInput } from '../inputs/feature.js';
import { MAX_ASKED } from '../inputs/patterns.js';
import { featureViolations } from '../rules/values.js';

const productSet = (ids: readonly string[]): string[] => [...new Set(ids.map(id => id.toLowerCase()))];

function requireSound(feature: EntitlementFeature): void {
  const errors = featureViolations(feature);
  requireValid(errors);
}

/** A feature to be changed, locked. @throws Problem not_found. */
async function lockFeature(ctx: Context, key: string): Promise<EntitlementFeature> {
  const found = await ctx.em.findOne(EntitlementFeature, { key }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  return found ?? fail('not_found', 'Not found');
}

/** What may be cleared by null. */
const CLEARABLE = ['unit', 'defaultValue'];

/** The fields that an input gives. @throws Problem invalid_request for one that cannot be cleared. */
function givenBy({ key: _key, version: _version, productIds, ...fields }: UpdateEntitlementFeatureInput): Partial<EntitlementFeature> {
  const all = { ...fields, productIds: productIds && productSet(productIds) };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  const cleared = given.filter(([name, value]) => value === null && !CLEARABLE.includes(name));
  const errors = cleared.map(([name]) => ({ pointer: `/input/${name}`, message: 'cannot be cleared' }));
  requireValid(errors);
  return Object.fromEntries(given) as Partial<EntitlementFeature>;
}

@Resolver(() => EntitlementFeature)
export class FeatureResolver {
  @Access(READERS)
  @Query(() => EntitlementFeatureConnection, { description: 'Features by key.' })
  async entitlementFeatures(
    @Args(() => EntitlementFeaturesArgs) { archived, productId, first, after }: EntitlementFeaturesArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<EntitlementFeature>> {
    const beyond = after ? { key: { $gt: String(decodeCursor(after, 1)[0]) } } : {};
    const unlocked = productId ? { productIds: { $contains: [productId.toLowerCase()] } } : {};
    const where = { ...beyond, ...unlocked, archivedAt: archived ? { $ne: null } : null };
    const rows = await ctx.em.find(EntitlementFeature, where, { orderBy: { key: 'asc' }, limit: first + 1 });
    return toConnection(rows, first, row => [row.key]);
  }

  @Access(READERS)
  @Query(() => EntitlementFeature, { nullable: true, description: 'One feature, an archived one too.' })
  entitlementFeature(
    @Rule({ maxLength: MAX_ASKED }) @Arg('key', () => String) key: string,
    @Ctx() ctx: Context,
  ): Promise<EntitlementFeature | null> {
    return ctx.em.findOne(EntitlementFeature, { key });
  }

  @Access(FEATURE_WRITERS)
  @Mutation(() => EntitlementFeature)
  async createEntitlementFeature(
    @Arg('input', () => CreateEntitlementFeatureInput) { unit, defaultValue, productIds, ...given }: CreateEntitlementFeatureInput,
    @Ctx() ctx: Context,
  ): Promise<EntitlementFeature> {
    const feature = Object.assign(new EntitlementFeature(), given, {
      unit: unit ?? null,
      defaultValue: defaultValue ?? null,
      productIds: productSet(productIds),
      createdAt: ctx.now(),
    });
    requireSound(feature);
    if (await ctx.em.findOne(EntitlementFeature, { key: given.key }))
      fail('conflict', 'A feature with this key exists, in use or archived');
    ctx.em.persist(feature);
    ctx.audit('entitlement_feature.created', feature.key, { kind: feature.kind });
    return feature;
  }

  @Access(FEATURE_WRITERS)
  @Mutation(() => EntitlementFeature, { description: 'Changes a feature for everybody at once; its kind never changes.' })
  async updateEntitlementFeature(
    @Arg('input', () => UpdateEntitlementFeatureInput) input: UpdateEntitlementFeatureInput,
    @Ctx() ctx: Context,
  ): Promise<EntitlementFeature> {
    const given = givenBy(input);
    const feature = await lockFeature(ctx, input.key);
    if (feature.archived) fail('conflict', 'A feature that is archived cannot be changed');
    if (input.version != null && input.version !== feature.version)
      fail('conflict', 'It was changed meanwhile', { reason: 'version_conflict' });
    Object.assign(feature, given, { version: feature.version + 1 });
    requireSound(feature);
    ctx.audit('entitlement_feature.updated', feature.key, { fields: Object.keys(given) });
    return feature;
  }

  @Access(FEATURE_WRITERS)
  @Mutation(() => EntitlementFeature, { description: 'Takes a feature from everybody; its key stays taken. Again: nothing changes.' })
  async archiveEntitlementFeature(
    @Rule({ maxLength: MAX_ASKED }) @Arg('key', () => String) key: string,
    @Ctx() ctx: Context,
  ): Promise<EntitlementFeature> {
    const feature = await lockFeature(ctx, key);
    ctx.audit('entitlement_feature.archived', key, { was_archived: feature.archived });
    if (!feature.archived) Object.assign(feature, { archivedAt: ctx.now(), version: feature.version + 1 });
    return feature;
  }
}
