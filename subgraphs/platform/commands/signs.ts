import type { Context } from '../../../runtime/request/context.js';
import { invalidateBrands } from './invalidation.js';

const SEEN = `
  update platform.service set last_seen = last_seen || jsonb_build_object($2::text, greatest(last_seen->>$2, $3::text)) where slug = $1`;

/** An event, as far as it shows that its service is alive. */
export interface Sign {
  /** Slug of the service. */
  source: string;
  type: string;
  occurred_at: string;
}

/** Keeps that a service has been heard of; a part of its health. */
export async function noteSign(ctx: Context, { source, type, occurred_at: at }: Sign): Promise<void> {
  await ctx.sql(SEEN, [source, type, at]);
}

const COUNT = `
  insert into platform.brand_user_count (brand_id, day, users) select b.id, $2::date, 1 from platform.brand b where b.id = $1
  on conflict (brand_id, day) do update set users = brand_user_count.users + 1`;

/** Counts a new account of a brand on its UTC day; a number, nobody's name. */
export async function countUser(ctx: Context, brandId: string, at: string): Promise<void> {
  await ctx.sql(COUNT, [brandId, at.slice(0, 10)]);
}

const NEXT_LEGAL = `
  update platform.brand set legal_version = legal_version + 1 where case when $1::uuid is null then status = 'active' else id = $1 end`;

/** A policy of a brand (null: of all) changed: consents that were given to another version are old. */
export async function renewPolicies(ctx: Context, brandId: string | null): Promise<void> {
  await ctx.sql(NEXT_LEGAL, [brandId]);
  await invalidateBrands(ctx, brandId === null ? null : [brandId], ['legal']);
}
