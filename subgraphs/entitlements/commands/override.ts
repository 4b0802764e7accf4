import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { EntitlementOverrideState, EntitlementSource } from '../entities/enums.js';
import { EntitlementFeature } from '../entities/feature.js';
import { EntitlementOverride } from '../entities/override.js';
import type { CreateEntitlementOverrideInput } from '../inputs/override.js';
import { endOf, stateOf } from '../rules/override.js';
import { overrideViolations } from '../rules/validation.js';
import { forgetUsers } from './forgetting.js';

const ONE_AT_A_TIME = 'select pg_advisory_xact_lock(hashtextextended($1, 0))';

/**
 * The purchase of a feature by its reference, where it was made before. Holds a lock to the end of the transaction, so that of two
 * requests for one purchase the second finds the first.
 */
async function purchaseOf(ctx: Context, reference: string, featureKey: string): Promise<EntitlementOverride | null> {
  await ctx.sql(ONE_AT_A_TIME, [`entitlements.purchase ${featureKey} ${reference}`]);
  return ctx.em.findOne(EntitlementOverride, { source: EntitlementSource.PURCHASE, reference, featureKey });
}

function add(ctx: Context, override: EntitlementOverride): EntitlementOverride {
  const { id, userId, featureKey, allow, source } = override;
  ctx.em.persist(override);
  forgetUsers(ctx, [userId]);
  ctx.audit('entitlement_override.created', id, { user_id: userId, feature: featureKey, allow, source });
  return override;
}

function draft(ctx: Context, { userId, startsAt, ...given }: CreateEntitlementOverrideInput): EntitlementOverride {
  return Object.assign(new EntitlementOverride(), {
    ...given,
    userId: userId.toLowerCase(),
    value: given.value ?? null,
    limit: given.limit ?? null,
    endsAt: given.endsAt ?? null,
    reference: given.reference ?? null,
    startsAt: startsAt ?? ctx.now(),
    createdBy: ctx.caller.userId ?? ctx.caller.clientId,
    createdAt: ctx.now(),
  });
}

/** A purchase that was made before is answered again, with status 200. */
function repeated(ctx: Context, before: EntitlementOverride, userId: string): EntitlementOverride {
  if (before.userId !== userId) fail('conflict', 'This purchase is of another user');
  ctx.audit('entitlement_override.repeated', before.id);
  ctx.status(200);
  return before;
}

/** @throws Problem invalid_request naming everything that is wrong, forbidden for a purchase by a person. */
export async function createOverride(ctx: Context, input: CreateEntitlementOverrideInput): Promise<EntitlementOverride> {
  const override = draft(ctx, input);
  const { source, reference, featureKey, userId } = override;
  const purchase = source === EntitlementSource.PURCHASE;
  if (purchase && ctx.caller.kind !== 'service') fail('forbidden', 'A purchase is told by a service');
  const feature = await ctx.em.findOne(EntitlementFeature, { key: featureKey, archivedAt: null });
  requireValid(overrideViolations(override, feature?.kind ?? null, ctx.now()));
  const before = purchase ? await purchaseOf(ctx, reference!, featureKey) : null;
  return before ? repeated(ctx, before, userId) : add(ctx, override);
}

/** Ends an override now; one that has ended stays as it is. @throws Problem not_found. */
export async function revokeOverride(ctx: Context, id: string): Promise<EntitlementOverride> {
  const override = await lockRow(ctx, EntitlementOverride, { id });
  const state = stateOf(override, ctx.now());
  forgetUsers(ctx, [override.userId]);
  ctx.audit('entitlement_override.revoked', id, { was: state, ends_at: override.endsAt });
  if (state !== EntitlementOverrideState.ENDED) override.endsAt = endOf(override, ctx.now());
  return override;
}

interface Order {
  orderId: string;
  userId: string;
  productIds: readonly string[];
}

const unlockedBy = (ctx: Context, productIds: readonly string[]): Promise<EntitlementFeature[]> => {
  const products = [...new Set(productIds.map(id => id.toLowerCase()))];
  return ctx.em.find(EntitlementFeature, { productIds: { $overlap: products }, archivedAt: null }, { orderBy: { key: 'asc' } });
};

/** Gives the buyer every feature that the products of an order unlock, once for each order. */
export async function unlockPurchases(ctx: Context, { orderId, userId, productIds }: Order): Promise<void> {
  const common = { userId, allow: true, source: EntitlementSource.PURCHASE, reference: orderId, reason: 'order placed' };
  const times = { startsAt: ctx.now(), createdAt: ctx.now(), createdBy: ctx.caller.clientId };
  for (const { key: featureKey } of await unlockedBy(ctx, productIds))
    if (!(await purchaseOf(ctx, orderId, featureKey)))
      add(ctx, Object.assign(new EntitlementOverride(), { featureKey, ...common, ...times }));
}

/** Ends what an order has unlocked and has not ended yet. `cause` names the refund or dispute in the audit log. */
export async function endPurchases(ctx: Context, orderId: string, cause: Readonly<Record<string, string>>): Promise<void> {
  const lasting = { $or: [{ endsAt: null }, { endsAt: { $gt: ctx.now() } }] };
  const found = await ctx.em.find(EntitlementOverride, { source: EntitlementSource.PURCHASE, reference: orderId, ...lasting });
  forgetUsers(
    ctx,
    found.map(override => override.userId),
  );
  for (const override of found) {
    override.endsAt = endOf(override, ctx.now());
    ctx.audit('entitlement_override.ended', override.id, cause);
  }
}
