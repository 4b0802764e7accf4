import type { Context } from '../../runtime/request/context.js';
import type { ErasureOutcome, ErasureRequest } from '../../runtime/erasure/erasure.js';
import { FlagChange } from './entities/flag-change.js';
import { FeatureFlag, FlagRule } from './entities/flag.js';
import { forgetTier } from './ports/tier.js';
import { expirePending } from './commands/flag-writing.js';
import { invalidateActiveBrands } from './commands/invalidation.js';
import { blotted, ERASED, withoutUser } from './rules/erasure.js';

/** Flags whose rules name a user, locked in the order of keys. */
const TARGETING = `
  select key from platform.flag f where exists (select 1 from platform.flag_rule r where r.flag_key = f.key and r.conditions @> $1::jsonb)
  order by key for update`;

const MENTIONING = `
  select id from platform.flag_change where strpos(concat(before, after, approvals, requested_by), $1) > 0 order by id for update`;

async function eraseFromRules(ctx: Context, userId: string): Promise<number> {
  const mention = JSON.stringify([{ attribute: 'USER', values: [userId] }]);
  const keys = (await ctx.sql<{ key: string }>(TARGETING, [mention])).map(({ key }) => key);
  const [flags, rules] = [await ctx.em.find(FeatureFlag, { key: { $in: keys } }), await ctx.em.find(FlagRule, { flagKey: { $in: keys } })];
  for (const flag of flags) flag.revision++;
  const named = rules.filter(({ conditions }) => conditions.some(({ values }) => values.includes(userId)));
  for (const rule of named) rule.conditions = withoutUser(rule.conditions, userId);
  await expirePending(ctx, keys);
  if (keys.length) await invalidateActiveBrands(ctx, ['flags']);
  return named.length;
}

async function eraseFromChanges(ctx: Context, userId: string): Promise<number> {
  const ids = (await ctx.sql<{ id: string }>(MENTIONING, [userId])).map(({ id }) => id);
  const changes = await ctx.em.find(FlagChange, { id: { $in: ids } });
  for (const change of changes) {
    const { before, after, approvals, requestedBy } = change;
    Object.assign(change, blotted({ before, after, approvals, requestedBy }, userId));
  }
  return changes.length;
}

/** Values stay as they are; only who set them is blotted out. */
async function eraseFromConfig(ctx: Context, userId: string): Promise<number> {
  const rows = await ctx.sql(`update platform.config_value set set_by = $2 where set_by = $1 returning id`, [
    `staff:${userId}`,
    `staff:${ERASED}`,
  ]);
  return rows.length;
}

/**
 * A user disappears from all flag rules and change records. Health and marketing erasures leave the account alive, and with it
 * what is switched on for it. Source: platform 5.
 */
export async function erase(ctx: Context, { userId, scope }: ErasureRequest): Promise<ErasureOutcome> {
  if (scope !== 'full') return { outcome: 'nothing_held', records: {} };
  const records = {
    flag_rule: await eraseFromRules(ctx, userId),
    flag_change: await eraseFromChanges(ctx, userId),
    config_value: await eraseFromConfig(ctx, userId),
  };
  ctx.afterCommit(() => forgetTier(ctx.host, userId));
  return { outcome: 'erased', records };
}
