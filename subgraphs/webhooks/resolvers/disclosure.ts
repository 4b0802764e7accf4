import { Args, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { isUuid } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { WebhookDisclosure, WebhookDisclosureConnection } from '../entities/disclosure.js';
import { WebhookDisclosuresArgs } from '../inputs/disclosure.js';
import { disclosuresOf } from '../queries/disclosures.js';
import { User } from '../stubs.js';

/** The member's own view: which app got which event when. Source: sections 4, 6 and 9. */
@Resolver(() => User)
export class DisclosureResolver {
  @Access({ user: 'manage:connected_apps' })
  @Query(() => WebhookDisclosureConnection, { description: 'What apps have received about oneself, newest first; no payloads.' })
  myWebhookDisclosures(
    @Args(() => WebhookDisclosuresArgs) args: WebhookDisclosuresArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<WebhookDisclosure>> {
    return disclosuresOf(ctx, ctx.caller.userId!, args);
  }

  @Access({ user: 'manage:connected_apps' })
  @FieldResolver(() => WebhookDisclosureConnection, {
    nullable: true,
    description: 'What apps have received about oneself; null for another user.',
  })
  async webhookDisclosures(
    @Root() { id }: User,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<WebhookDisclosure> | null> {
    return isUuid(id) && id.toLowerCase() === ctx.caller.userId ? disclosuresOf(ctx, id, args) : null;
  }
}
