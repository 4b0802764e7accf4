import { Arg, Ctx, ID, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { deliver } from '../commands/auth-delivery.js';
import { AuthDelivery } from '../entities/challenge.js';

@Resolver()
export class AuthDeliveryResolver {
  /** A query that counts, so it opens a transaction of its own. Source: identity 4.8. */
  @Access({ internal: 'comms' })
  @Query(() => AuthDelivery, {
    description: 'Address, link and code of a challenge: three times at most, before it ends, each time audited.',
  })
  authDelivery(@Arg('challengeId', () => ID) challengeId: string, @Ctx() ctx: Context): Promise<AuthDelivery> {
    return ctx.host.transaction(own => deliver(own, challengeId), ctx.request);
  }
}
