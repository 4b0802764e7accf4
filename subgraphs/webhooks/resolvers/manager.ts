import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { clientViolations, deleteManager, setManager } from '../commands/managers.js';
import { WebhookManager, WebhookManagerConnection } from '../entities/manager.js';
import { MANAGERS } from '../entities/subscription.js';
import { DeleteWebhookManagerInput, SetWebhookManagerInput } from '../inputs/manager.js';
import { listManagers } from '../queries/managed.js';

/** Source: section 4, webhook-managers. */
@Resolver(() => WebhookManager)
export class ManagerResolver {
  @Access(MANAGERS)
  @Query(() => WebhookManagerConnection, { description: 'Machine clients that manage some clients only, newest first.' })
  webhookManagers(@Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<WebhookManager>> {
    return listManagers(ctx, args);
  }

  @Access(MANAGERS)
  @Prepare(clientViolations)
  @Mutation(() => WebhookManager, { description: 'Binds a machine client to the clients whose webhooks it may manage, and to no others.' })
  setWebhookManager(
    @Arg('input', () => SetWebhookManagerInput) input: SetWebhookManagerInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookManager> {
    return setManager(ctx, input);
  }

  @Access(MANAGERS)
  @Mutation(() => WebhookManager, { description: 'Lifts the restriction: the machine client manages all clients again.' })
  deleteWebhookManager(
    @Arg('input', () => DeleteWebhookManagerInput) { managerClientId }: DeleteWebhookManagerInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookManager> {
    return deleteManager(ctx, managerClientId);
  }
}
