import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import type { LinkedType, StorefrontLink } from '../queries/storefront-link.js';

const WRITE = `insert into commerce.storefront_link (id, entity_type, entity_id, system, external_id, content_hash, synced_at) values ($1, $2, $3, $4, $5, $6, $7)
on conflict (system, entity_type, external_id) do update set content_hash = excluded.content_hash, synced_at = excluded.synced_at`;

/** Notes that two sides have the same content. */
export async function writeLink(
  ctx: Context,
  system: string,
  type: LinkedType,
  { entityId, externalId, contentHash }: StorefrontLink,
): Promise<void> {
  await ctx.em.flush();
  await ctx.sql(WRITE, [newId(), type, entityId, system, externalId, contentHash, ctx.now().toISOString()]);
}
