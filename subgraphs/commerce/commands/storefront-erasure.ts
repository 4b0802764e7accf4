import type { Context } from '../../../runtime/request/context.js';
import { newId } from '../../../runtime/data/ids.js';

const LEAVE = `insert into commerce.storefront_erasure (id, external_id, due_at, created_at) values ($1, $2, $3, $3) on conflict (external_id) do nothing`;

/** Leaves to the storefront's worker which customers it has to forget. */
export async function leaveStorefrontErasure(ctx: Context, customers: readonly { externalId: string }[]): Promise<void> {
  for (const { externalId } of customers) await ctx.sql(LEAVE, [newId(), externalId, ctx.now().toISOString()]);
}
