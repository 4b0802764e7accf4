import { serviceTokenIssued } from '../../../events/catalogue/identity.js';
import { findRow, FOR_SHARE, lockRow } from '../../../runtime/data/rows.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { OAuthClientSecret } from '../entities/client-secret.js';
import { OAuthClient, OAuthClientKind, OAuthClientStatus } from '../entities/client.js';
import { IssuedServiceToken, ServiceToken } from '../entities/service-token.js';
import type { IssueServiceTokenInput } from '../inputs/client.js';
import { serviceClaims, signToken, type TokenClaims } from '../ports/claims.js';
import { signingKey } from '../ports/keyring.js';
import { livingSecrets } from '../rules/client-secrets.js';
import { scopeSet } from '../rules/scopes.js';
import { requirePower } from './staff-power.js';
import { publishRevocations } from './token-family.js';

/** An active machine client, kept from being changed meanwhile, and the newest secret that lives. @throws Problem not_found or conflict. */
async function issuing(ctx: Context, clientId: string): Promise<{ client: OAuthClient; secret: OAuthClientSecret }> {
  const where = { id: clientId, status: { $ne: OAuthClientStatus.DELETED } };
  const client = (await findRow(ctx, OAuthClient, where, FOR_SHARE)) ?? fail('not_found', 'Not found');
  if (client.kind !== OAuthClientKind.MACHINE || client.status !== OAuthClientStatus.ACTIVE)
    fail('conflict', 'Service tokens are for active machine clients');
  const secrets = await ctx.em.find(OAuthClientSecret, { clientId, expiresAt: null });
  const secret = livingSecrets(secrets, ctx.now()).at(-1);
  return { client, secret: secret ?? fail('conflict', 'The client has no active secret') };
}

function requireScopesOf(client: OAuthClient, scopes: readonly string[]): void {
  const foreign = scopes.flatMap((scope, index) =>
    client.scopes.includes(scope) ? [] : [{ pointer: `/input/scopes/${index}`, message: "is not the client's" }],
  );
  requireValid(foreign);
}

/** Writes down a token that is issued, and announces it. */
function keep(ctx: Context, claims: TokenClaims, { name, scopes }: { name: string; scopes: string[] }): ServiceToken {
  const { jti: id, client_id: clientId, csi } = claims;
  const expiresAt = new Date(claims.exp * 1000);
  const row = { id, clientId, secretId: csi!, name, scopes, createdAt: ctx.now(), expiresAt, issuedBy: actorOf(ctx.caller) };
  const kept = ctx.em.create(ServiceToken, row, { partial: true });
  ctx.em.persist(kept);
  const data = { token_id: id, client_id: clientId, scopes, expires_at: expiresAt.toISOString() };
  ctx.emit(serviceTokenIssued, data, { subject: `client:${clientId}` });
  ctx.audit('service_token.issued', id, { client_id: clientId, name, scopes });
  return kept;
}

/** An issued token without its value, which is kept nowhere. */
export const withoutValue = ({ id, clientId, name, scopes, expiresAt }: ServiceToken): IssuedServiceToken =>
  Object.assign(new IssuedServiceToken(), { id, token: null, clientId, name, scopes, expiresAt });

/** Issues a token for a machine client; its value is in this answer only. @throws Problem not_found, conflict, invalid_request, forbidden. */
export async function issueServiceToken(ctx: Context, input: IssueServiceTokenInput): Promise<IssuedServiceToken> {
  const { client, secret } = await issuing(ctx, input.clientId);
  requireScopesOf(client, input.scopes);
  const scopes = scopeSet(input.scopes);
  requirePower(ctx, scopes);
  const issuedAt = Math.floor(ctx.now().getTime() / 1000);
  const life = { issuedAt, expiresAt: issuedAt + input.expiresIn };
  const { id: clientId, serviceSlug } = client;
  const claims = serviceClaims(ctx.host.config, { clientId, scopes, secretId: secret.id, serviceSlug, ...life });
  const kept = keep(ctx, claims, { name: input.name, scopes });
  ctx.status(201);
  const key = await signingKey(ctx, input.expiresIn);
  return Object.assign(withoutValue(kept), { token: await signToken(key, claims) });
}

/** Ends a service token at once, everywhere. @throws Problem not_found. */
export async function revokeServiceToken(ctx: Context, id: string): Promise<ServiceToken> {
  const token = await lockRow(ctx, ServiceToken, { id, revokedAt: null });
  token.revokedAt = ctx.now();
  ctx.audit('service_token.revoked', id, { client_id: token.clientId });
  await ctx.em.flush();
  await publishRevocations(ctx, [{ kind: 'token', value: id, expiresAt: token.expiresAt }]);
  return token;
}
