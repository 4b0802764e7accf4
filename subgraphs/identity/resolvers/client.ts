import { Arg, Ctx, FieldResolver, ID, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { isUuid } from '../../../runtime/data/ids.js';
import {
  OAuthClient,
  OAuthClientAgreement,
  OAuthClientAgreementStatus,
  OAuthClientSecret,
  OAuthClientSecretStatus,
  OAuthClientStatus,
} from '../entities/client.js';
import { Brand } from '../stubs.js';
import { agreementStatus, allowedScopes, secretStatus } from '../rules/consent.js';
import { agreementsOf } from '../queries/batches.js';

@Resolver(() => OAuthClient)
export class ClientResolver {
  @Access({ service: 'admin:identity', staff: 'admin:identity:clients', internal: 'webhooks' })
  @Query(() => OAuthClient, { nullable: true, description: 'An OAuth client by its client_id.' })
  oauthClient(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<OAuthClient | null> {
    return ctx.em.findOne(OAuthClient, id);
  }

  @FieldResolver(() => [String], {
    description: 'The registered scopes that the client may hold now; health-data scopes need an agreement unless it is first-party.',
  })
  async allowedScopes(@Root() client: OAuthClient, @Ctx() ctx: Context): Promise<string[]> {
    return allowedScopes(client, await agreementsOf(ctx, client.id), ctx.now());
  }

  @FieldResolver(() => [OAuthClientAgreement])
  agreements(@Root() client: OAuthClient, @Ctx() ctx: Context): Promise<OAuthClientAgreement[]> {
    return agreementsOf(ctx, client.id);
  }

  @Access({ service: 'admin:identity', staff: 'admin:identity:clients' })
  @FieldResolver(() => [OAuthClientSecret], { description: 'Oldest first.' })
  async secrets(@Root() client: OAuthClient, @Ctx() ctx: Context): Promise<OAuthClientSecret[]> {
    const found = await ctx.load('identity.secrets', client.id, async ids => {
      const rows = await ctx.em.find(OAuthClientSecret, { clientId: { $in: [...ids] } }, { orderBy: { createdAt: 'asc', id: 'asc' } });
      return ids.map(id => rows.filter(row => row.clientId === id));
    });
    return found ?? [];
  }

  @FieldResolver(() => Brand, { nullable: true })
  brand(@Root() client: OAuthClient): Brand | null {
    return client.brandId === null ? null : { id: client.brandId };
  }
}

@Resolver(() => Brand)
export class BrandClientsResolver {
  @Access({ service: 'admin:identity' })
  @FieldResolver(() => [OAuthClient], { description: 'Apps of the brand that are not deleted, by client_id.' })
  async oauthClients(@Root() brand: Brand, @Ctx() ctx: Context): Promise<OAuthClient[]> {
    const found = await ctx.load('identity.brand-clients', brand.id, async ids => {
      const where = { brandId: { $in: ids.filter(isUuid) }, status: { $ne: OAuthClientStatus.DELETED } };
      const rows = await ctx.em.find(OAuthClient, where, { orderBy: { id: 'asc' } });
      return ids.map(id => rows.filter(row => row.brandId === id));
    });
    return found ?? [];
  }
}

@Resolver(() => OAuthClientSecret)
export class ClientSecretResolver {
  @FieldResolver(() => OAuthClientSecretStatus)
  status(@Root() secret: OAuthClientSecret, @Ctx() ctx: Context): OAuthClientSecretStatus {
    return secretStatus(secret, ctx.now());
  }
}

@Resolver(() => OAuthClientAgreement)
export class ClientAgreementResolver {
  @FieldResolver(() => OAuthClientAgreementStatus)
  status(@Root() agreement: OAuthClientAgreement, @Ctx() ctx: Context): OAuthClientAgreementStatus {
    return agreementStatus(agreement, ctx.now());
  }
}
