import { LockMode } from '@mikro-orm/postgresql';
import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { serviceTokenIssued } from '../../../events/catalogue/identity.js';
import { Access } from '../../../runtime/access/access.js';
import { actorOf, holdsPermission } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { OAuthClient, OAuthClientKind, OAuthClientSecret, OAuthClientStatus } from '../entities/client.js';
import { IssuedServiceToken, ServiceToken } from '../entities/service-token.js';
import { IssueServiceTokenInput } from '../inputs/service-token.js';
import { serviceClaims, signToken } from '../ports/claims.js';
import { keyringOf } from '../ports/keyring.js';
import { livingSecrets } from '../rules/client-registration.js';
import { scopeSet } from '../rules/scopes.js';
import { clientOf } from '../queries/batches.js';
import { requirePower } from '../commands/staff-power.js';
import { publishRevocations } from '../commands/token-family.js';
import { isAdmin } from '../queries/viewer.js';

const CLIENTS = { service: 'admin:identity', staff: 'admin:identity:clients' } as const;

interface Reference {
  id: string;
}

const seesTokens = ({ caller }: Context): boolean => isAdmin(caller) || holdsPermission(caller, 'admin:identity:clients');

export async function loadServiceTokens(ctx: Context, references: readonly Reference[]): Promise<(ServiceToken | null)[]> {
  const ids = references.map(one => String(one.id));
  if (!seesTokens(ctx)) return ids.map(() => null);
  return inOrder(ids, await ctx.em.find(ServiceToken, { id: { $in: ids.filter(isUuid) } }), row => row.id);
}

const withoutValue = ({ id, clientId, name, scopes, expiresAt }: ServiceToken): IssuedServiceToken =>
  Object.assign(new IssuedServiceToken(), { id, token: null, clientId, name, scopes, expiresAt });

/** An issued token as it is told again. */
export const loadIssued = async (ctx: Context, references: readonly Reference[]): Promise<(IssuedServiceToken | null)[]> =>
  (await loadServiceTokens(ctx, references)).map(row => row && withoutValue(row));

/** An active machine client, and the newest secret that lives. @throws Problem not_found or conflict. */
async function issuing(ctx: Context, clientId: string): Promise<{ client: OAuthClient; secret: OAuthClientSecret }> {
  const client = await ctx.em.findOne(OAuthClient, { id: clientId, status: { $ne: OAuthClientStatus.DELETED } }, { lockMode: 2 }); // PESSIMISTIC_READ
  if (!client) fail('not_found', 'Not found');
  if (client.kind !== OAuthClientKind.MACHINE || client.status !== OAuthClientStatus.ACTIVE)
    fail('conflict', 'Service tokens are for active machine clients');
  const secrets = await ctx.em.find(OAuthClientSecret, { clientId, expiresAt: null });
  const secret = livingSecrets(secrets, ctx.now()).at(-1);
  return { client, secret: secret ?? fail('conflict', 'The client has no active secret') };
}

@Resolver(() => ServiceToken)
export class ServiceTokenResolver {
  @Access(CLIENTS)
  @Mutation(() => IssuedServiceToken, { description: 'Issues a token for a machine client; its value is in this answer only.' })
  async issueServiceToken(
    @Arg('input', () => IssueServiceTokenInput) input: IssueServiceTokenInput,
    @Ctx() ctx: Context,
  ): Promise<IssuedServiceToken> {
    const { client, secret } = await issuing(ctx, input.clientId);
    const foreign = input.scopes.flatMap((scope, index) =>
      client.scopes.includes(scope) ? [] : [{ pointer: `/input/scopes/${index}`, message: "is not the client's" }],
    );
    requireValid(foreign);
    const scopes = scopeSet(input.scopes);
    requirePower(ctx, scopes);
    const issuedAt = Math.floor(ctx.now().getTime() / 1000);
    const facts = {
      clientId: client.id,
      scopes,
      secretId: secret.id,
      serviceSlug: client.serviceSlug,
      issuedAt,
      expiresAt: issuedAt + input.expiresIn,
    };
    const claims = serviceClaims(ctx.host.config, facts);
    const expiresAt = new Date(facts.expiresAt * 1000);
    const row = {
      id: claims.jti,
      clientId: client.id,
      secretId: secret.id,
      name: input.name,
      scopes,
      createdAt: ctx.now(),
      expiresAt,
      issuedBy: actorOf(ctx.caller),
    };
    const kept = ctx.em.create(ServiceToken, row as never, { partial: true });
    ctx.em.persist(kept);
    ctx.emit(
      serviceTokenIssued,
      { token_id: kept.id, client_id: client.id, scopes, expires_at: expiresAt.toISOString() },
      { subject: `client:${client.id}` },
    );
    ctx.audit('service_token.issued', kept.id, { client_id: client.id, name: input.name, scopes });
    ctx.status(201);
    const keyring = keyringOf(ctx.host);
    await keyring.refresh(ctx.now(), ctx);
    const key = keyring.current(ctx.now());
    await ctx.sql('update identity.signing_key set max_ttl_seconds = greatest(max_ttl_seconds, $2) where kid = $1', [
      key.kid,
      input.expiresIn,
    ]);
    return Object.assign(withoutValue(kept), { token: await signToken(key, claims) });
  }

  @Access(CLIENTS)
  @Query(() => [ServiceToken], { description: 'Tokens of a client that were asked for by name, newest first, up to 500.' })
  serviceTokens(@Arg('clientId', () => ID) clientId: string, @Ctx() ctx: Context): Promise<ServiceToken[]> {
    return ctx.em.find(ServiceToken, { clientId }, { orderBy: { createdAt: 'desc', id: 'desc' }, limit: 500 });
  }

  @Access(CLIENTS)
  @Mutation(() => ServiceToken, { description: 'Ends a service token at once, everywhere.' })
  async revokeServiceToken(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<ServiceToken> {
    const token = isUuid(id) ? await ctx.em.findOne(ServiceToken, { id, revokedAt: null }, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
    if (!token) fail('not_found', 'Not found');
    token.revokedAt = ctx.now();
    ctx.audit('service_token.revoked', id, { client_id: token.clientId });
    await ctx.em.flush();
    await publishRevocations(ctx, [{ kind: 'token', value: id, expiresAt: token.expiresAt }]);
    return token;
  }

  @FieldResolver(() => OAuthClient)
  async client(@Root() token: ServiceToken, @Ctx() ctx: Context): Promise<OAuthClient> {
    return (await clientOf(ctx, token.clientId)) ?? fail('not_found', 'Not found');
  }
}
