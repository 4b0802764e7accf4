import type { EntityClass } from '@mikro-orm/postgresql';
import type { Context } from '../../runtime/request/context.js';
import type { ErasureOutcome, ErasureRequest } from '../../runtime/erasure/erasure.js';
import { forgetUsers } from './commands/forgetting.js';
import { EntitlementOverride } from './entities/override.js';
import { EntitlementSnapshot } from './entities/snapshot.js';
import { UsageCounter, UsageEvent } from './entities/usage.js';

/** Every table that is keyed by the user. */
const TABLES: Readonly<Record<string, EntityClass<{ userId: string }>>> = {
  entitlement_override: EntitlementOverride,
  entitlement_snapshot: EntitlementSnapshot,
  usage_counter: UsageCounter,
  usage_event: UsageEvent,
};

const FORGET_MEMBERSHIPS = 'delete from entitlements.membership_copy where user_id = $1 returning 1 as gone';

/** Deletes what a user had and used. Health and marketing erasures leave the account alive, and with it its rights. */
export async function erase(ctx: Context, { userId, scope }: ErasureRequest): Promise<ErasureOutcome> {
  if (scope !== 'full') return { outcome: 'nothing_held', records: {} };
  const records: Record<string, number> = {};
  for (const [table, entity] of Object.entries(TABLES))
    records[table] = await ctx.em.nativeDelete(entity, { userId: userId.toLowerCase() });
  records['membership_copy'] = (await ctx.sql(FORGET_MEMBERSHIPS, [userId.toLowerCase()])).length;
  forgetUsers(ctx, [userId.toLowerCase()]);
  const held = Object.values(records).some(count => count > 0);
  return { outcome: held ? 'erased' : 'nothing_held', records };
}
