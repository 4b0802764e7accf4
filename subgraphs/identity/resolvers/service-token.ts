import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { issueServiceToken, revokeServiceToken } from '../commands/service-token.js';
import { OAuthClient } from '../entities/client.js';
import { IssuedServiceToken, ServiceToken } from '../entities/service-token.js';
import { IssueServiceTokenInput } from '../inputs/client.js';
import { clientOf } from '../queries/batches.js';

const CLIENTS = { service: 'admin:identity', staff: 'admin:identity:clients' } as const;

@Resolver(() => ServiceToken)
export class ServiceTokenResolver {
  @Access(CLIENTS)
  @Mutation(() => IssuedServiceToken, { description: 'Issues a token for a machine client; its value is in this answer only.' })
  issueServiceToken(
    @Arg('input', () => IssueServiceTokenInput) input: IssueServiceTokenInput,
    @Ctx() ctx: Context,
  ): Promise<IssuedServiceToken> {
    return issueServiceToken(ctx, input);
  }

  @Access(CLIENTS)
  @Query(() => [ServiceToken], { description: 'Tokens of a client that were asked for by name, newest first, up to 500.' })
  serviceTokens(@Arg('clientId', () => ID) clientId: string, @Ctx() ctx: Context): Promise<ServiceToken[]> {
    return ctx.em.find(ServiceToken, { clientId }, { orderBy: { createdAt: 'desc', id: 'desc' }, limit: 500 });
  }

  @Access(CLIENTS)
  @Mutation(() => ServiceToken, { description: 'Ends a service token at once, everywhere.' })
  revokeServiceToken(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<ServiceToken> {
    return revokeServiceToken(ctx, id);
  }

  @FieldResolver(() => OAuthClient)
  async client(@Root() token: ServiceToken, @Ctx() ctx: Context): Promise<OAuthClient> {
    return (await clientOf(ctx, token.clientId)) ?? fail('not_found', 'Not found');
  }
}
