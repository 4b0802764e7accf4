import type { Context } from '../../../runtime/request/context.js';
import { EntitlementOverride } from '../entities/override.js';
import { EntitlementSource } from '../entities/enums.js';

const ONE_AT_A_TIME = 'select pg_advisory_xact_lock(hashtextextended($1, 0))';

/**
 * The purchase of a feature by its reference, where it was made before. Holds a lock to the end of the transaction, so that of two
 * requests for one purchase the second finds the first.
 */
export async function purchaseOf(ctx: Context, reference: string, featureKey: string): Promise<EntitlementOverride | null> {
  await ctx.sql(ONE_AT_A_TIME, [`entitlements.purchase ${featureKey} ${reference}`]);
  return ctx.em.findOne(EntitlementOverride, { source: EntitlementSource.PURCHASE, reference, featureKey });
}

/** Ends an override now; one that has not begun never begins. */
export function end(override: EntitlementOverride, now: Date): void {
  override.endsAt = override.startsAt > now ? override.startsAt : now;
}
