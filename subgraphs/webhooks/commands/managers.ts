import { requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { requireValid, type Violation } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { WebhookManager } from '../entities/manager.js';
import type { SetWebhookManagerInput } from '../inputs/manager.js';
import { askClient } from '../ports/grant-source.js';
import { checkUnbound } from '../queries/managed.js';
import { clientViolation, managerViolation } from '../rules/filter.js';

/** What is wrong with each named client, by identity. @throws Problem forbidden, unavailable. */
export const clientViolations = preparation(async (ctx, { input }: { input: SetWebhookManagerInput }): Promise<Violation[]> => {
  await checkUnbound(ctx);
  const { managerClientId, clientIds } = input;
  const [manager, ...clients] = await Promise.all([managerClientId, ...clientIds].map(id => askClient(ctx.federation, id)));
  const messages = [managerViolation(manager!), ...clients.map(clientViolation)];
  const pointerTo = (index: number): string => (index === 0 ? '/input/managerClientId' : `/input/clientIds/${index - 1}`);
  return messages.flatMap((message, index) => (message ? [{ pointer: pointerTo(index), message }] : []));
});

/** Binds a machine client to the clients whose webhooks it may manage. @throws Problem invalid_request. */
export async function setManager(ctx: Context, { managerClientId, clientIds }: SetWebhookManagerInput): Promise<WebhookManager> {
  requireValid(clientViolations.of(ctx));
  const known = await ctx.em.findOne(WebhookManager, { id: managerClientId });
  const manager = known ?? Object.assign(new WebhookManager(), { id: managerClientId, createdAt: ctx.now() });
  Object.assign(manager, { clientIds: [...new Set(clientIds)].sort(), updatedAt: ctx.now() });
  ctx.em.persist(manager);
  ctx.audit('webhook_manager.set', managerClientId, { client_ids: manager.clientIds });
  return manager;
}

/** Lifts the restriction of a machine client. @throws Problem forbidden, not_found. */
export async function deleteManager(ctx: Context, managerClientId: string): Promise<WebhookManager> {
  await checkUnbound(ctx);
  const manager = await requireRow(ctx, WebhookManager, { id: managerClientId });
  ctx.em.remove(manager);
  ctx.audit('webhook_manager.deleted', managerClientId, { client_ids: manager.clientIds });
  return manager;
}
