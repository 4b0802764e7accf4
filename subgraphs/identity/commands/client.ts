import { isUuid, newId } from '../../../runtime/data/ids.js';
import { requireVersion } from '../../../runtime/data/rows.js';
import { addressFault } from '../../../runtime/http/outside-url.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid, type Violation } from '../../../runtime/request/errors.js';
import { after } from '../../../runtime/time/durations.js';
import { OAuthClientAgreement } from '../entities/client-agreement.js';
import { OAuthClient, OAuthClientKind, OAuthClientStatus, OAuthClientTokenEndpointAuthMethod } from '../entities/client.js';
import type { CreateOAuthClientInput, UpdateOAuthClientInput } from '../inputs/client.js';
import { egressNetworks } from '../ports/egress.js';
import { lockedClient } from '../queries/client.js';
import { given } from '../rules/changes.js';
import { keyIds } from '../rules/client-keys.js';
import { registrationFaults } from '../rules/client-registration.js';
import { hasSecret } from '../rules/client-secrets.js';
import { allowedScopes } from '../rules/consent.js';
import { LONGEST_TOKEN_MS } from '../rules/lifetimes.js';
import { OWNER } from '../rules/roles.js';
import { scopeSet } from '../rules/scopes.js';
import { applyEffect, applyRemoval, clientRevocation } from './client-effects.js';
import { makeSecret } from './client-secret.js';
import { requirePower } from './staff-power.js';
import { type NewRevocation, publishRevocations } from './token-family.js';

/** What people may follow; nothing of ours fetches them. */
const LINKS = ['logoUrl', 'homepageUrl', 'privacyUrl', 'termsUrl'] as const;

/** What only services and owners may set. Source: identity 7, rule 15. */
const RESERVED = ['firstParty', 'staffAccess', 'serviceSlug', 'ssoPartner'] as const;

/** What null makes of a list, a switch or a number. */
const CLEARED: Readonly<Record<string, unknown>> = {
  redirectUris: [],
  postLogoutRedirectUris: [],
  allowedOrigins: [],
  contacts: [],
  firstParty: false,
  staffAccess: false,
  tokenExchange: false,
  accessTokenTtlSeconds: 3600,
  refreshReuseLeewaySeconds: 0,
};

/** What null does not clear. */
const KEPT = ['name', 'publisher', 'scopes', 'status', 'tokenEndpointAuthMethod'];

/** What is given, in the form of the rows: addresses as text, scopes in order, nothing where a list or a switch was cleared. */
function valuesOf(input: CreateOAuthClientInput | UpdateOAuthClientInput): Partial<OAuthClient> {
  const { clientId: _id, id: _key, version: _version, ...fields } = input as UpdateOAuthClientInput & CreateOAuthClientInput;
  const values = given(fields) as Record<string, unknown>;
  for (const name of [...LINKS, 'jwksUri']) if (values[name] != null) values[name] = String(values[name]);
  if (fields.scopes) values.scopes = scopeSet(fields.scopes);
  for (const [name, value] of Object.entries(CLEARED)) if (values[name] === null) values[name] = value;
  for (const name of KEPT) if (values[name] === null) delete values[name];
  return values as Partial<OAuthClient>;
}

function violationsOf(ctx: Context, client: OAuthClient, values: Partial<OAuthClient>): Violation[] {
  const faults = registrationFaults({ ...client, ...values }, ctx.host.config.production);
  const violations = faults.map(({ field, message }) => ({ pointer: `/input/${field}`, message }));
  const insecure = LINKS.filter(name => values[name] != null && !String(values[name]).startsWith('https://'));
  const unreachable = values.jwksUri == null ? null : addressFault(values.jwksUri, egressNetworks(ctx.host.config));
  if (unreachable) violations.push({ pointer: '/input/jwksUri', message: unreachable });
  if (values.brandId && !isUuid(values.brandId)) violations.push({ pointer: '/input/brandId', message: 'must be a UUID' });
  if (values.status === OAuthClientStatus.DELETED) violations.push({ pointer: '/input/status', message: 'must be active or disabled' });
  return [...violations, ...insecure.map(name => ({ pointer: `/input/${name}`, message: 'must be https' }))];
}

/** @throws Problem forbidden for what staff may not give to a client. */
function requireAuthority(ctx: Context, client: Partial<OAuthClient>, values: Partial<OAuthClient>): void {
  if (ctx.caller.kind !== 'user') return;
  const reserved = RESERVED.filter(name => values[name] !== undefined && (values[name] || null) !== (client[name] || null));
  if (reserved.length && !ctx.caller.roles.includes(OWNER)) fail('forbidden', `Only owners may set ${reserved.join(', ')}`);
  if ((client.kind ?? values.kind) !== OAuthClientKind.MACHINE) return;
  const added = (values.scopes ?? []).filter(scope => !client.scopes?.includes(scope));
  requirePower(ctx, added);
}

const methodFor = (kind: OAuthClientKind): OAuthClientTokenEndpointAuthMethod =>
  kind === OAuthClientKind.PUBLIC ? OAuthClientTokenEndpointAuthMethod.NONE : OAuthClientTokenEndpointAuthMethod.CLIENT_SECRET_BASIC;

/** Registers a client; its secret is in this answer only. @throws Problem invalid_request, forbidden, conflict. */
export async function createClient(ctx: Context, input: CreateOAuthClientInput): Promise<OAuthClient> {
  const values = valuesOf(input);
  requireAuthority(ctx, {}, values);
  const client = new OAuthClient();
  const [id, now] = [input.clientId ?? newId(), ctx.now()];
  const defaults = { publisher: input.name, tokenEndpointAuthMethod: methodFor(input.kind), createdAt: now, updatedAt: now };
  Object.assign(client, defaults, values, { id });
  requireValid(violationsOf(ctx, client, values));
  if (await ctx.em.findOne(OAuthClient, { id })) fail('conflict', 'This client_id is taken');
  ctx.em.persist(client);
  client.clientSecret = hasSecret(client) ? makeSecret(ctx, id).value : null;
  ctx.audit('oauth_client.created', id, { kind: client.kind, scopes: client.scopes, first_party: client.firstParty });
  ctx.status(201);
  return client;
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
  const gone = keyIds(client.id, client.jwks).filter(id => !kept.includes(id));
  return gone.map(value => ({ kind: 'secret', value, expiresAt: after(ctx.now(), LONGEST_TOKEN_MS) }));
}

/** Changes a client; sign-ins that hold what it may no longer hold end. @throws Problem not_found, invalid_request, forbidden, conflict. */
export async function updateClient(ctx: Context, input: UpdateOAuthClientInput): Promise<OAuthClient> {
  const client = await lockedClient(ctx, input.id);
  const values = valuesOf(input);
  requireAuthority(ctx, client, values);
  requireValid(violationsOf(ctx, client, values));
  requireVersion(client, input.version);
  const [agreements, demoted] = [await ctx.em.find(OAuthClientAgreement, { clientId: client.id }), demotes(client, values)];
  const before = allowedScopes(client, agreements, ctx.now());
  const retired = retiredKeys(ctx, client, values);
  Object.assign(client, values, { updatedAt: ctx.now() });
  ctx.audit('oauth_client.changed', client.id, { fields: Object.keys(values).sort() });
  await applyEffect(ctx, client.id, { before, after: allowedScopes(client, agreements, ctx.now()), demoted, reason: 'client_removed' });
  await publishRevocations(ctx, retired);
  return client;
}

/** Deletes a client: consents to it end, all its tokens die, the row stays for the record. @throws Problem not_found, conflict. */
export async function deleteClient(ctx: Context, id: string): Promise<OAuthClient> {
  const client = await lockedClient(ctx, id);
  if (client.serviceSlug !== null) fail('conflict', 'The client of a service cannot be deleted');
  Object.assign(client, { status: OAuthClientStatus.DELETED, updatedAt: ctx.now() });
  ctx.audit('oauth_client.deleted', id, await applyRemoval(ctx, id));
  return client;
}
