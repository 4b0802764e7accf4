import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, type Violation, requireValid } from '../../../runtime/request/errors.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { PageArgs, page, type Connection } from '../../../runtime/request/paging.js';
import { WebhookManager, WebhookManagerConnection } from '../entities/manager.js';
import { MANAGERS } from '../entities/subscription.js';
import { DeleteWebhookManagerInput, SetWebhookManagerInput } from '../inputs/manager.js';
import { askClient } from '../ports/grant-source.js';
import { clientViolation, managerViolation } from '../rules/filter.js';
import { checkUnbound } from '../queries/managed.js';

/** What is wrong with each named client, by identity. */
async function violationsOf(ctx: Context, { managerClientId, clientIds }: SetWebhookManagerInput): Promise<Violation[]> {
  await checkUnbound(ctx);
  const [manager, ...clients] = await Promise.all([managerClientId, ...clientIds].map(id => askClient(ctx.federation, id)));
  const wrong = [managerViolation(manager!), ...clients.map(clientViolation)];
  return wrong.flatMap((message, index) =>
    message ? [{ pointer: index === 0 ? '/input/managerClientId' : `/input/clientIds/${index - 1}`, message }] : [],
  );
}

/** Source: section 4, webhook-managers. */
@Resolver(() => WebhookManager)
export class ManagerResolver {
  @Access(MANAGERS)
  @Query(() => WebhookManagerConnection, { description: 'Machine clients that manage some clients only, newest first.' })
  async webhookManagers(@Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<WebhookManager>> {
    await checkUnbound(ctx);
    return page(ctx.em, WebhookManager, {}, args, { time: 'createdAt' });
  }

  @Access(MANAGERS)
  @Prepare((ctx, { input }: { input: SetWebhookManagerInput }) => violationsOf(ctx, input))
  @Mutation(() => WebhookManager, { description: 'Binds a machine client to the clients whose webhooks it may manage, and to no others.' })
  async setWebhookManager(
    @Arg('input', () => SetWebhookManagerInput) { managerClientId, clientIds }: SetWebhookManagerInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookManager> {
    const errors = ctx.facts as Violation[];
    requireValid(errors);
    const known = await ctx.em.findOne(WebhookManager, { id: managerClientId });
    const manager = known ?? Object.assign(new WebhookManager(), { id: managerClientId, createdAt: ctx.now() });
    Object.assign(manager, { clientIds: [...new Set(clientIds)].sort(), updatedAt: ctx.now() });
    ctx.em.persist(manager);
    ctx.audit('webhook_manager.set', managerClientId, { client_ids: manager.clientIds });
    return manager;
  }

  @Access(MANAGERS)
  @Mutation(() => WebhookManager, { description: 'Lifts the restriction: the machine client manages all clients again.' })
  async deleteWebhookManager(
    @Arg('input', () => DeleteWebhookManagerInput) { managerClientId }: DeleteWebhookManagerInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookManager> {
    await checkUnbound(ctx);
    const manager = (await ctx.em.findOne(WebhookManager, { id: managerClientId })) ?? fail('not_found', 'Not found');
    ctx.em.remove(manager);
    ctx.audit('webhook_manager.deleted', managerClientId, { client_ids: manager.clientIds });
    return manager;
  }
}
