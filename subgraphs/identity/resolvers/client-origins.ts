import { Ctx, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { ClientOrigins } from '../entities/client-origins.js';
import { activeOrigins } from '../queries/client.js';

@Resolver()
export class ClientOriginsResolver {
  @Access({ internal: true })
  @Query(() => [ClientOrigins], { description: 'Web origins of the active clients that have any, for CORS.' })
  clientOrigins(@Ctx() ctx: Context): Promise<ClientOrigins[]> {
    return activeOrigins(ctx);
  }
}
