import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { WebhookManager } from '../entities/manager.js';

/**
 * The clients that the caller manages; null: all of them. Only a machine client that stands in `webhook_manager` is bound.
 * Source: section 4, callers.
 */
export async function managedClients(ctx: Context): Promise<readonly string[] | null> {
  if (ctx.caller.kind !== 'service') return null;
  return ctx.load('webhooks.managed', ctx.caller.clientId, async ids => {
    const rows = await ctx.em.find(WebhookManager, { id: { $in: [...ids] } });
    return ids.map(id => rows.find(row => row.id === id)?.clientIds ?? null);
  });
}

/** Whether the caller may know of a client's webhooks. */
export async function manages(ctx: Context, clientId: string): Promise<boolean> {
  return (await managedClients(ctx))?.includes(clientId) ?? true;
}

/** What belongs to a client that the caller does not manage is not there. @throws Problem not_found. */
export async function checkManages(ctx: Context, clientId: string): Promise<void> {
  if (!(await manages(ctx, clientId))) fail('not_found', 'Not found');
}

/** The clients that a list covers: the named one, else all that the caller manages; null: no bound. @throws Problem not_found. */
export async function listedClients(ctx: Context, clientId: string | null | undefined): Promise<readonly string[] | null> {
  if (clientId == null) return managedClients(ctx);
  await checkManages(ctx, clientId);
  return [clientId];
}

/** For what is left to staff and to services that are not bound to some clients. @throws Problem forbidden. */
export async function checkUnbound(ctx: Context): Promise<void> {
  if ((await managedClients(ctx)) !== null) fail('forbidden', 'A machine client that manages some clients only may not do this');
}
