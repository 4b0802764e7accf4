import { mayAccess, ruleOf } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import type { ReferenceLoader } from '../../../runtime/service.js';
import { WebhookDelivery } from '../entities/delivery.js';
import { InboundReceipt } from '../entities/inbound.js';
import { WebhookJob } from '../entities/job.js';
import { READERS, WebhookSubscription } from '../entities/subscription.js';
import { managedClients } from './managed.js';

/** Nobody else learns whether one exists. */
const mayRead = (ctx: Context): boolean => mayAccess(ruleOf(READERS), ctx.caller);

/** Without those of clients that the caller does not manage. */
async function managedRows<Row extends { clientId: string }>(ctx: Context, rows: readonly Row[]): Promise<Row[]> {
  const managed = await managedClients(ctx);
  return rows.filter(row => managed?.includes(row.clientId) ?? true);
}

/** Subscriptions by id, for the federation. */
export const subscriptionReferences: ReferenceLoader = async (ctx: Context, references) => {
  if (!mayRead(ctx)) return references.map(() => null);
  const ids = references.map(reference => String(reference.id));
  const rows = await ctx.em.find(WebhookSubscription, { id: { $in: ids.filter(isUuid) }, deletedAt: null });
  return inOrder(ids, await managedRows(ctx, rows), row => row.id);
};

/** Receipts by id; a machine client that is bound to some clients has none. */
export const receiptReferences: ReferenceLoader = async (ctx: Context, references) => {
  if (!mayRead(ctx) || (await managedClients(ctx)) !== null) return references.map(() => null);
  const ids = references.map(reference => String(reference.id));
  return inOrder(ids, await ctx.em.find(InboundReceipt, { id: { $in: ids.filter(isUuid) } }), row => row.id);
};

/** Jobs by id, for the federation and for repeated requests. */
export const jobReferences: ReferenceLoader = async (ctx: Context, references) => {
  if (!mayRead(ctx)) return references.map(() => null);
  const ids = references.map(reference => String(reference.id));
  const rows = await ctx.em.find(WebhookJob, { id: { $in: ids.filter(isUuid) } });
  return inOrder(ids, await managedRows(ctx, rows), row => row.id);
};

/** Deliveries by id, for the federation. */
export const deliveryReferences: ReferenceLoader = async (ctx: Context, references) => {
  if (!mayRead(ctx)) return references.map(() => null);
  const ids = references.map(reference => String(reference.id));
  const rows = await ctx.em.find(WebhookDelivery, { id: { $in: ids.filter(isUuid) } });
  return inOrder(ids, await managedRows(ctx, rows), row => row.id);
};

/** Anybody's account may be pointed at by services and staff; a member sees the own one. Its fields have rules of their own. */
export const userReferences: ReferenceLoader = async ({ caller }, references) =>
  references.map(({ id }) =>
    caller.kind !== 'user' || caller.permissions.length > 0 || String(id).toLowerCase() === caller.userId ? { id } : null,
  );

/** What only points at a thing of another service: its fields here have rules of their own. */
export const pointers: ReferenceLoader = async (_ctx, references) => references.map(reference => ({ ...reference }));
