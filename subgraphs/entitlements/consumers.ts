import { orderPlaced } from '../../events/catalogue/commerce.js';
import { paymentDisputeClosed, paymentRefunded } from '../../events/catalogue/payments.js';
import { handle, type Consumer } from '../../events/consumer.js';
import type { Context } from '../../runtime/request/context.js';
import { EntitlementFeature } from './entities/feature.js';
import { EntitlementOverride } from './entities/override.js';
import { EntitlementSource } from './entities/enums.js';
import { end, purchaseOf } from './queries/purchase.js';

const unlockedBy = (ctx: Context, productIds: readonly string[]): Promise<EntitlementFeature[]> =>
  ctx.em.find(EntitlementFeature, { productIds: { $overlap: [...productIds] }, archivedAt: null }, { orderBy: { key: 'asc' } });

function purchased(ctx: Context, feature: EntitlementFeature, userId: string, orderId: string): EntitlementOverride {
  return Object.assign(new EntitlementOverride(), {
    userId,
    featureKey: feature.key,
    allow: true,
    startsAt: ctx.now(),
    source: EntitlementSource.PURCHASE,
    reference: orderId,
    reason: 'order placed',
    createdBy: 'svc-entitlements',
    createdAt: ctx.now(),
  });
}

/** An item whose product unlocks a feature: the buyer has it, once for each order. A guest has nothing to be unlocked. */
const placed = handle(orderPlaced, async (ctx: Context, { user_id: userId, data }) => {
  if (userId === null) return;
  const products = [...new Set(data.items.map(item => item.product_id.toLowerCase()))];
  for (const feature of await unlockedBy(ctx, products)) {
    if (await purchaseOf(ctx, data.order_id, feature.key)) continue;
    const override = purchased(ctx, feature, userId, data.order_id);
    ctx.em.persist(override);
    ctx.audit('entitlement_override.created', override.id, { user_id: userId, feature: feature.key, allow: true, source: override.source });
  }
});

/** Ends what an order has unlocked and has not ended yet. */
async function endPurchases(ctx: Context, orderId: string | null | undefined, cause: object): Promise<void> {
  if (orderId == null) return;
  const lasting = { $or: [{ endsAt: null }, { endsAt: { $gt: ctx.now() } }] };
  const found = await ctx.em.find(EntitlementOverride, { source: EntitlementSource.PURCHASE, reference: orderId, ...lasting });
  for (const override of found) {
    end(override, ctx.now());
    ctx.audit('entitlement_override.ended', override.id, { ...cause });
  }
}

/** Only a full refund takes back what was bought. */
const refunded = handle(paymentRefunded, async (ctx: Context, { data }) => {
  const full = data.status === 'succeeded' && data.total_refunded >= data.payment_amount;
  if (full) await endPurchases(ctx, data.order_id, { refund_id: data.refund_id });
});

const disputed = handle(paymentDisputeClosed, async (ctx: Context, { data }) => {
  if (data.outcome === 'lost') await endPurchases(ctx, data.order_id, { dispute_id: data.dispute_id });
});

/** One queue, so that an order comes before its refund. Source: entitlements 5. */
export const consumers: readonly Consumer<Context>[] = [{ name: 'entitlements.purchases', on: [placed, refunded, disputed] }];
