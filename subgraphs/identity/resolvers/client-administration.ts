import { randomBytes } from 'node:crypto';
import { LockMode, type FilterQuery } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { sha256 } from '../../../runtime/data/crypto.js';
import { fail, type Violation, requireValid } from '../../../runtime/request/errors.js';
import { isUuid, newId } from '../../../runtime/data/ids.js';
import { connectionOf, decodeCursor, toConnection, type Connection } from '../../../runtime/request/paging.js';
import {
  OAuthClient,
  OAuthClientAgreement,
  OAuthClientKind,
  OAuthClientSecret,
  OAuthClientStatus,
  OAuthClientTokenEndpointAuthMethod,
} from '../entities/client.js';
import { OAuthGrant, OAuthGrantRevokedBy, OAuthGrantStatus } from '../entities/grant.js';
import { CreateOAuthClientInput, OAuthClientListArgs, UpdateOAuthClientInput, type OAuthClientFilter } from '../inputs/client.js';
import { keyIds } from '../rules/client-keys.js';
import { registrationFaults } from '../rules/client-registration.js';
import { allowedScopes } from '../rules/consent.js';
import { scopeSet } from '../rules/scopes.js';
import { OWNER } from '../rules/roles.js';
import { applyEffect, clientRevocation, LONGEST_TOKEN_MS } from '../commands/client-effects.js';
import { revokeConsent } from '../commands/consent.js';
import { requirePower } from '../commands/staff-power.js';
import { publishRevocations, type NewRevocation } from '../commands/token-family.js';

const CLIENTS = { service: 'admin:identity', staff: 'admin:identity:clients' } as const;
const OAuthClientConnection = connectionOf(OAuthClient, 'OAuthClient');
const URLS = ['logoUrl', 'homepageUrl', 'privacyUrl', 'termsUrl', 'jwksUri'] as const;

/** What only services and owners may set. Source: identity 7, rule 15. */
const RESERVED = ['firstParty', 'staffAccess', 'serviceSlug', 'ssoPartner'] as const;

const escaped = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

function whereOf(filter: OAuthClientFilter): FilterQuery<OAuthClient> {
  const { kind, status, brandId, firstParty, q } = filter;
  if (brandId && !isUuid(brandId)) return { id: [] };
  const conditions: FilterQuery<OAuthClient>[] = [{ status: status?.length ? { $in: status } : { $ne: OAuthClientStatus.DELETED } }];
  if (kind?.length) conditions.push({ kind: { $in: kind } });
  if (brandId) conditions.push({ brandId });
  if (firstParty != null) conditions.push({ firstParty });
  if (q) conditions.push({ $or: [{ id: { $like: `${escaped(q.toLowerCase())}%` } }, { name: { $ilike: `%${escaped(q)}%` } }] });
  return { $and: conditions } as FilterQuery<OAuthClient>;
}

/** A new value of 256 bits, and the row that knows its hash. */
export function makeSecret(ctx: Context, clientId: string): { secret: OAuthClientSecret; value: string } {
  const value = randomBytes(32).toString('base64url');
  const row = { clientId, hash: sha256(value), hint: value.slice(-4), createdAt: ctx.now() };
  const secret = ctx.em.create(OAuthClientSecret, row as never, { partial: true });
  ctx.em.persist(secret);
  return { secret, value };
}

/** A client that is not deleted, locked. @throws Problem not_found. */
export async function lockedClient(ctx: Context, id: string): Promise<OAuthClient> {
  const where = { id, status: { $ne: OAuthClientStatus.DELETED } };
  return (await ctx.em.findOne(OAuthClient, where, { lockMode: LockMode.PESSIMISTIC_WRITE })) ?? fail('not_found', 'Not found');
}

/** What is given, in the form of the rows: addresses as text, scopes in order, nothing where a list or a switch was cleared. */
function valuesOf(input: CreateOAuthClientInput | UpdateOAuthClientInput): Partial<OAuthClient> {
  const { clientId: _id, id: _key, version: _version, ...given } = input as UpdateOAuthClientInput & CreateOAuthClientInput;
  const values = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Record<string, unknown>;
  for (const name of URLS) if (values[name] != null) values[name] = String(values[name]);
  if (given.scopes) values.scopes = scopeSet(given.scopes);
  const lists = ['redirectUris', 'postLogoutRedirectUris', 'contacts'];
  const switches = ['firstParty', 'staffAccess', 'tokenExchange'];
  const defaults: Record<string, unknown> = {
    ...Object.fromEntries(lists.map(name => [name, []])),
    ...Object.fromEntries(switches.map(name => [name, false])),
    accessTokenTtlSeconds: 3600,
    refreshReuseLeewaySeconds: 0,
  };
  for (const [name, value] of Object.entries(defaults)) if (values[name] === null) values[name] = value;
  for (const name of ['name', 'scopes', 'status', 'tokenEndpointAuthMethod']) if (values[name] === null) delete values[name];
  return values as Partial<OAuthClient>;
}

function faultsOf(ctx: Context, client: OAuthClient, values: Partial<OAuthClient>): Violation[] {
  const proposed = { ...client, ...values };
  const faults = registrationFaults(proposed, ctx.host.config.production).map(({ field, message }) => ({
    pointer: `/input/${field}`,
    message,
  }));
  const insecure = URLS.filter(name => values[name] != null && !String(values[name]).startsWith('https://'));
  if (values.brandId && !isUuid(values.brandId)) faults.push({ pointer: '/input/brandId', message: 'must be a UUID' });
  if (values.status === OAuthClientStatus.DELETED) faults.push({ pointer: '/input/status', message: 'must be active or disabled' });
  return [...faults, ...insecure.map(name => ({ pointer: `/input/${name}`, message: 'must be https' }))];
}

/** @throws Problem invalid_request with everything that is wrong with the client as it would be. */
function checkClient(ctx: Context, client: OAuthClient, values: Partial<OAuthClient>): void {
  const errors = faultsOf(ctx, client, values);
  requireValid(errors);
}

/** @throws Problem forbidden for what staff may not give to a client. */
function checkAuthority(ctx: Context, client: Partial<OAuthClient>, values: Partial<OAuthClient>): void {
  if (ctx.caller.kind !== 'user') return;
  const reserved = RESERVED.filter(name => values[name] !== undefined && (values[name] || null) !== (client[name] || null));
  if (reserved.length && !ctx.caller.roles.includes(OWNER)) fail('forbidden', `Only owners may set ${reserved.join(', ')}`);
  const kind = client.kind ?? values.kind;
  if (kind === OAuthClientKind.MACHINE)
    requirePower(
      ctx,
      (values.scopes ?? []).filter(scope => !client.scopes?.includes(scope)),
    );
}

const demotes = (client: OAuthClient, values: Partial<OAuthClient>): boolean =>
  (values.status === OAuthClientStatus.DISABLED && client.status === OAuthClientStatus.ACTIVE) ||
  (client.firstParty && values.firstParty === false) ||
  (client.staffAccess && values.staffAccess === false);

/** What a client signs with no longer: tokens that were obtained with it die. Keys at an address are not known here, so all tokens do. */
function retiredKeys(ctx: Context, client: OAuthClient, values: Partial<OAuthClient>): NewRevocation[] {
  const { jwks = client.jwks, jwksUri = client.jwksUri, tokenEndpointAuthMethod: method = client.tokenEndpointAuthMethod } = values;
  const [signed, signs] = [client.tokenEndpointAuthMethod, method].map(one => one === OAuthClientTokenEndpointAuthMethod.PRIVATE_KEY_JWT);
  if (!signed && !signs) return [];
  if (signed !== signs || jwksUri !== client.jwksUri) return [clientRevocation(ctx, client.id, false)];
  const kept = keyIds(client.id, jwks);
  const expiresAt = new Date(ctx.now().getTime() + LONGEST_TOKEN_MS);
  return keyIds(client.id, client.jwks)
    .filter(id => !kept.includes(id))
    .map(value => ({ kind: 'secret', value, expiresAt }));
}

@Resolver()
export class ClientAdministrationResolver {
  @Access(CLIENTS)
  @Query(() => OAuthClientConnection, { description: 'OAuth clients by client_id; deleted ones only when asked for.' })
  async oauthClients(@Args(() => OAuthClientListArgs) args: OAuthClientListArgs, @Ctx() ctx: Context): Promise<Connection<OAuthClient>> {
    const where = whereOf(args.filter ?? {});
    const filter = args.after ? { $and: [where, { id: { $gt: String(decodeCursor(args.after, 1)[0]) } }] } : where;
    const rows = await ctx.em.find(OAuthClient, filter as FilterQuery<OAuthClient>, { orderBy: { id: 'asc' }, limit: args.first + 1 });
    return toConnection(rows, args.first, row => [row.id]);
  }

  @Access(CLIENTS)
  @Mutation(() => OAuthClient, { description: 'Registers a client; its secret is in this answer only.' })
  async createOAuthClient(
    @Arg('input', () => CreateOAuthClientInput) input: CreateOAuthClientInput,
    @Ctx() ctx: Context,
  ): Promise<OAuthClient> {
    const values = valuesOf(input);
    checkAuthority(ctx, {}, values);
    const method =
      input.kind === OAuthClientKind.PUBLIC
        ? OAuthClientTokenEndpointAuthMethod.NONE
        : OAuthClientTokenEndpointAuthMethod.CLIENT_SECRET_BASIC;
    const client = new OAuthClient();
    const now = ctx.now();
    Object.assign(client, { tokenEndpointAuthMethod: method, createdAt: now, updatedAt: now }, values, { id: input.clientId ?? newId() });
    checkClient(ctx, client, values);
    if (await ctx.em.findOne(OAuthClient, { id: client.id })) fail('conflict', 'This client_id is taken');
    ctx.em.persist(client);
    const signs = client.tokenEndpointAuthMethod === OAuthClientTokenEndpointAuthMethod.PRIVATE_KEY_JWT;
    client.clientSecret = client.kind === OAuthClientKind.PUBLIC || signs ? null : makeSecret(ctx, client.id).value;
    ctx.audit('oauth_client.created', client.id, { kind: client.kind, scopes: client.scopes, first_party: client.firstParty });
    ctx.status(201);
    return client;
  }

  @Access(CLIENTS)
  @Mutation(() => OAuthClient, { description: 'Changes a client; sign-ins that hold what it may no longer hold end.' })
  async updateOAuthClient(
    @Arg('input', () => UpdateOAuthClientInput) input: UpdateOAuthClientInput,
    @Ctx() ctx: Context,
  ): Promise<OAuthClient> {
    const client = await lockedClient(ctx, input.id);
    const values = valuesOf(input);
    checkAuthority(ctx, client, values);
    checkClient(ctx, client, values);
    if (input.version != null && input.version !== client.version)
      fail('conflict', 'It was changed meanwhile', { reason: 'version_conflict' });
    const [agreements, demoted] = [await ctx.em.find(OAuthClientAgreement, { clientId: client.id }), demotes(client, values)];
    const before = allowedScopes(client, agreements, ctx.now());
    const retired = retiredKeys(ctx, client, values);
    Object.assign(client, values, { updatedAt: ctx.now() });
    ctx.audit('oauth_client.changed', client.id, { fields: Object.keys(values).sort() });
    await applyEffect(ctx, client.id, { before, after: allowedScopes(client, agreements, ctx.now()), demoted, reason: 'client_removed' });
    await publishRevocations(ctx, retired);
    return client;
  }

  @Access(CLIENTS)
  @Mutation(() => OAuthClient, { description: 'Deletes a client: consents to it end, all its tokens die, the row stays for the record.' })
  async deleteOAuthClient(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<OAuthClient> {
    const client = await lockedClient(ctx, id);
    if (client.serviceSlug !== null) fail('conflict', 'The client of a service cannot be deleted');
    const where = { clientId: id, status: { $ne: OAuthGrantStatus.REVOKED } };
    const grants = await ctx.em.find(OAuthGrant, where, { orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE });
    for (const grant of grants)
      await revokeConsent(ctx, grant, { by: OAuthGrantRevokedBy.SYSTEM, reason: 'client_removed', families: 'client_removed' });
    Object.assign(client, { status: OAuthClientStatus.DELETED, updatedAt: ctx.now() });
    ctx.audit('oauth_client.deleted', id, { grants: grants.length });
    await ctx.em.flush();
    await publishRevocations(ctx, [clientRevocation(ctx, id, true)]);
    return client;
  }
}
