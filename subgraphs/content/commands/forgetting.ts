import { randomUUID } from 'node:crypto';
import type { Context } from '../../../runtime/request/context.js';
import { requireItem } from '../queries/editors.js';
import { tellChanges } from './changes.js';
import { unpublish } from './publish.js';

const BY_USER = `select distinct item_id from content.content_revision r join content.content_item i on i.id = r.item_id
  where i.collection = 'TESTIMONIALS' and r.data->'shared'->>'user' = $1`;
/** Of every revision, because none may tell who it was. */
const FORGET = `update content.content_revision set data = data #- '{shared,user}' #- '{shared,displayName}' #- '{shared,avatar}' where item_id = $1`;
const ACCEPTANCES = 'update content.policy_acceptance set user_id = $2, client_id = $3 where user_id = $1 returning 1';
const AUTHORS = [
  'update content.content_item set created_by = null where created_by = $1',
  'update content.content_item set updated_by = null where updated_by = $1',
  'update content.content_revision set created_by = null where created_by = $1',
  'update content.content_comment set author_id = null where author_id = $1',
  'update content.policy_version set published_by = null where published_by = $1',
];

/** Testimonials lose their person and are taken down; acceptances stay under a pseudonym, as evidence for claims. Source: content, rule 18. */
export async function forgetUser(ctx: Context, userId: string): Promise<Record<string, number>> {
  const testimonials = await ctx.sql<{ item_id: string }>(BY_USER, [userId]);
  for (const { item_id: id } of testimonials) {
    const state = await requireItem(ctx, id, { lock: true });
    if (state.status === 'PUBLISHED') await unpublish(ctx, state, null);
    await ctx.sql(FORGET, [id]);
  }
  const acceptances = await ctx.sql(ACCEPTANCES, [userId, randomUUID(), 'erased']);
  for (const statement of AUTHORS) await ctx.sql(statement, [userId]);
  await tellChanges(ctx);
  return { testimonial: testimonials.length, policy_acceptance: acceptances.length };
}
