import type { Context } from '../../../runtime/request/context.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { PolicyAcceptance } from '../entities/policy.js';
import { brandsOf, readsAllBrands } from '../ports/brands.js';
import { readersOf } from './readers.js';
import { loadItems } from './delivery.js';
import type { Item } from './present.js';
import { defaultView, viewFor } from './view.js';

/** Whether the caller may see what belongs to a user. */
const isOwn = (ctx: Context, userId: string): boolean => readersOf(ctx.caller).editor || ctx.caller.userId === userId;

export async function acceptancesOf(ctx: Context, userId: string): Promise<PolicyAcceptance[]> {
  if (!isOwn(ctx, userId) || !isUuid(userId)) return [];
  return ctx.em.find(PolicyAcceptance, { userId }, { orderBy: { acceptedAt: 'desc', id: 'desc' }, limit: 200 });
}

/** The version in force of each policy, where it needs an acceptance that the user has not given. */
const PENDING = `select c.item_id from (
    select distinct on (v.item_id) v.item_id, v.version, v.requires_acceptance from content.policy_version v
    where v.effective_at <= $2 order by v.item_id, v.version desc) c
  where c.requires_acceptance and not exists (select 1 from content.policy_acceptance a
    where a.item_id = c.item_id and a.version = c.version and a.user_id = $1 and a.withdrawn_at is null) order by c.item_id`;

export async function pendingPolicies(ctx: Context, userId: string): Promise<Item[]> {
  if (!isOwn(ctx, userId) || !isUuid(userId)) return [];
  const rows = await ctx.sql<{ item_id: string }>(PENDING, [userId, ctx.now().toISOString()]);
  return loadItems(
    ctx,
    await defaultView(ctx),
    rows.map(row => row.item_id),
  );
}

const POLICIES = "select distinct item_id from content.content_publication where collection = 'POLICIES' order by item_id limit 100";

/** As a reader of that brand sees them; of a brand that the caller may not read nothing. */
export async function policiesOfBrand(ctx: Context, brandId: string): Promise<Item[]> {
  const brands = await brandsOf(ctx);
  const brand = brands.find(one => one.id === brandId);
  const own = !readsAllBrands(ctx) ? viewFor(ctx, brands, {}).brand : brand;
  if (!brand || own?.id !== brand.id) return [];
  const rows = await ctx.load('content:policies', 'all', async keys => {
    const found = await ctx.sql<{ item_id: string }>(POLICIES);
    return keys.map(() => found.map(row => row.item_id));
  });
  return loadItems(ctx, viewFor(ctx, brands, { brand: brand.slug }), rows ?? []);
}
