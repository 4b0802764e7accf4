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
