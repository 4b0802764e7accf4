import type { EntityClass, FilterQuery } from '@mikro-orm/postgresql';
import { findRow, loadRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { page, type Connection, type PageArgs } from '../../../runtime/request/paging.js';
import { WebhookManager } from '../entities/manager.js';

/**
 * The clients that the caller manages; null: all of them. Only a machine client that stands in `webhook_manager` is bound.
 * Source: section 4, callers.
 */
export async function managedClients(ctx: Context): Promise<readonly string[] | null> {
  if (ctx.caller.kind !== 'service') return null;
  return (await loadRow(ctx, WebhookManager, 'id', ctx.caller.clientId))?.clientIds ?? null;
}

/** Whether the caller may know of a client's webhooks. */
export async function manages(ctx: Context, clientId: string): Promise<boolean> {
  return (await managedClients(ctx))?.includes(clientId) ?? true;
}

/** What belongs to a client that the caller does not manage does not exist for it. @throws Problem not_found. */
export async function checkManages(ctx: Context, clientId: string): Promise<void> {
  if (!(await manages(ctx, clientId))) fail('not_found', 'Not found');
}

/** One row of a client that the caller manages; null for none. */
export async function findManaged<Row extends { clientId: string }>(
  ctx: Context,
  entity: EntityClass<Row>,
  where: FilterQuery<NoInfer<Row>>,
): Promise<Row | null> {
  const found = await findRow(ctx, entity, where);
  return found && (await manages(ctx, found.clientId)) ? found : null;
}

/** The same. @throws Problem not_found. */
export const requireManaged = async <Row extends { clientId: string }>(
  ctx: Context,
  entity: EntityClass<Row>,
  where: FilterQuery<NoInfer<Row>>,
): Promise<Row> => (await findManaged(ctx, entity, where)) ?? fail('not_found', 'Not found');

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

/** Machine clients that are bound to some clients, newest first. @throws Problem forbidden. */
export async function listManagers(ctx: Context, args: PageArgs): Promise<Connection<WebhookManager>> {
  await checkUnbound(ctx);
  return page(ctx.em, WebhookManager, {}, args, { time: 'createdAt' });
}
