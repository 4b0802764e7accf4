import type { EntityClass } from '@mikro-orm/postgresql';
import type { Context } from '../../runtime/request/context.js';
import type { ErasureOutcome, ErasureRequest } from '../../runtime/erasure/erasure.js';
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

/** Deletes what a user had and used. Health and marketing erasures leave the account alive, and with it its rights. */
export async function erase(ctx: Context, { userId, scope }: ErasureRequest): Promise<ErasureOutcome> {
  if (scope !== 'full') return { outcome: 'nothing_held', records: {} };
  const records: Record<string, number> = {};
  for (const [table, entity] of Object.entries(TABLES))
    records[table] = await ctx.em.nativeDelete(entity, { userId: userId.toLowerCase() });
  const held = Object.values(records).some(count => count > 0);
  return { outcome: held ? 'erased' : 'nothing_held', records };
}
