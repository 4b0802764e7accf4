import { Arg, Ctx, FieldResolver, ID, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { findRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { OAuthClientAgreement, OAuthClientAgreementStatus } from '../entities/client-agreement.js';
import { OAuthClientSecret, OAuthClientSecretStatus } from '../entities/client-secret.js';
import { OAuthClient } from '../entities/client.js';
import { agreementsOf, clientsOfBrand, secretsOf } from '../queries/batches.js';
import { secretStatus } from '../rules/client-secrets.js';
import { agreementStatus, allowedScopes } from '../rules/consent.js';
import { Brand } from '../stubs.js';

@Resolver(() => OAuthClient)
export class ClientResolver {
  @Access({ service: 'admin:identity', staff: 'admin:identity:clients', internal: 'webhooks' })
  @Query(() => OAuthClient, { nullable: true, description: 'An OAuth client by its client_id.' })
  oauthClient(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<OAuthClient | null> {
    return findRow(ctx, OAuthClient, { id });
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
  secrets(@Root() client: OAuthClient, @Ctx() ctx: Context): Promise<OAuthClientSecret[]> {
    return secretsOf(ctx, client.id);
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
  oauthClients(@Root() brand: Brand, @Ctx() ctx: Context): Promise<OAuthClient[]> {
    return clientsOfBrand(ctx, brand.id);
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
