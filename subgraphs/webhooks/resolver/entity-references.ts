import { mayAccess, ruleOf } from '../../../runtime/access.js';
import type { Context } from '../../../runtime/context.js';
import { isUuid } from '../../../runtime/ids.js';
import { inOrder } from '../../../runtime/loaders.js';
import type { ReferenceLoader } from '../../../runtime/service.js';
import { WebhookDelivery } from '../entities/delivery.js';
import { READERS, WebhookSubscription } from '../entities/subscription.js';

/** Nobody else learns whether one exists. */
const mayRead = (ctx: Context): boolean => mayAccess(ruleOf(READERS), ctx.caller);

/** Subscriptions by id, for the federation. */
export const subscriptionReferences: ReferenceLoader = async (ctx: Context, references) => {
  if (!mayRead(ctx)) return references.map(() => null);
  const ids = references.map(reference => String(reference.id));
  const rows = await ctx.em.find(WebhookSubscription, { id: { $in: ids.filter(isUuid) }, deletedAt: null });
  return inOrder(ids, rows, row => row.id);
};

/** Deliveries by id, for the federation. */
export const deliveryReferences: ReferenceLoader = async (ctx: Context, references) => {
  if (!mayRead(ctx)) return references.map(() => null);
  const ids = references.map(reference => String(reference.id));
  const rows = await ctx.em.find(WebhookDelivery, { id: { $in: ids.filter(isUuid) } });
  return inOrder(ids, rows, row => row.id);
};
