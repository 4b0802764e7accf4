import type { Context } from '../../../runtime/request/context.js';
import type { ExternalRef } from '../entities/product.js';

const REFS = `select entity_id as "entityId", system, external_id as "externalId" from commerce.storefront_link
where entity_type = 'product' and entity_id = any($1) order by system`;

/** What stands for products elsewhere, in a batch. */
export const externalRefs = async (ctx: Context, id: string): Promise<ExternalRef[]> =>
  (await ctx.load('commerce.externalRefs', id, async ids => {
    const rows = await ctx.sql<ExternalRef & { entityId: string }>(REFS, [ids]);
    return ids.map(one => rows.filter(row => row.entityId === one));
  })) ?? [];

/** Of what two sides have the same: groups are a customer's, kept apart because they change by themselves. */
export type LinkedType = 'product' | 'order' | 'customer' | 'customer_group';

export interface StorefrontLink {
  entityId: string;
  externalId: string;
  contentHash: string;
}

const LINK = `select entity_id as "entityId", external_id as "externalId", content_hash as "contentHash" from commerce.storefront_link
where system = $1 and entity_type = $2`;

/** The link of an object of the storefront. */
export async function linkOf(ctx: Context, system: string, type: LinkedType, externalId: string): Promise<StorefrontLink | null> {
  const [link] = await ctx.sql<StorefrontLink>(`${LINK} and external_id = $3`, [system, type, externalId]);
  return link ?? null;
}

/** The link of something of ours. */
export async function linkOfEntity(ctx: Context, system: string, type: LinkedType, entityId: string): Promise<StorefrontLink | null> {
  const [link] = await ctx.sql<StorefrontLink>(`${LINK} and entity_id = $3`, [system, type, entityId]);
  return link ?? null;
}
