import type { RequiredEntityData } from '@mikro-orm/postgresql';
import { type Slug, SLUGS } from '../../../events/slugs.js';
import { sha256 } from '../../../runtime/data/crypto.js';
import { newId } from '../../../runtime/data/ids.js';
import { systemCaller } from '../../../runtime/request/caller.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { internalRequest } from '../../../runtime/request/request.js';
import { OAuthClientSecret, OAuthClientSecretStatus } from '../entities/client-secret.js';
import { OAuthClient, OAuthClientKind, OAuthClientTokenEndpointAuthMethod } from '../entities/client.js';
import { retire, secretStatus } from '../rules/client-secrets.js';
import { internalScopes } from '../queries/internal-scopes.js';
import { scopeSet } from '../rules/scopes.js';
import { endSecrets } from './client-secret.js';

const { CLIENT_SECRET_POST, NONE } = OAuthClientTokenEndpointAuthMethod;

type ClientSeed = Partial<OAuthClient> & Pick<OAuthClient, 'id' | 'name' | 'kind'>;

function plantSecret(ctx: Context, clientId: string, value: string): OAuthClientSecret {
  const row = { id: newId(), clientId, hash: sha256(value), hint: value.slice(-4), createdAt: ctx.now() };
  const secret = ctx.em.create(OAuthClientSecret, row, { partial: true });
  ctx.em.persist(secret);
  return secret;
}

/** A client with a secret that is known from elsewhere, or none. */
export function plantClient(ctx: Context, seed: ClientSeed, secret: string | null): void {
  const now = ctx.now();
  const tokenEndpointAuthMethod = seed.kind === OAuthClientKind.PUBLIC ? NONE : CLIENT_SECRET_POST;
  const client = { publisher: 'Main', ...seed, tokenEndpointAuthMethod, createdAt: now, updatedAt: now } as RequiredEntityData<OAuthClient>;
  ctx.em.persist(ctx.em.create(OAuthClient, client, { partial: true }));
  if (secret !== null) plantSecret(ctx, seed.id, secret);
}

/** The client as which a service calls others, with the secret of the configuration. */
export function plantInternalClient(ctx: Context, slug: Slug): void {
  const seed = {
    id: `svc-${slug}`,
    name: `Service ${slug}`,
    kind: OAuthClientKind.MACHINE,
    serviceSlug: slug,
    scopes: internalScopes(slug),
    firstParty: true,
    tokenExchange: slug === 'ai', // its tools act for users
  };
  plantClient(ctx, seed, ctx.host.config.internalSecrets[slug] ?? null);
}

/** Processes that still have the secret before go on so long, s. */
const OVERLAP_SECONDS = 3_600;

/** Takes over a secret that the client has never had; one that was ended by hand is not brought back. */
async function takeOver(ctx: Context, client: OAuthClient, value: string): Promise<void> {
  const secrets = await ctx.em.find(OAuthClientSecret, { clientId: client.id });
  const known = secrets.find(one => one.hash.equals(sha256(value)));
  if (known && secretStatus(known, ctx.now()) === OAuthClientSecretStatus.RETIRED)
    ctx.host.log.warn({ client: client.id }, 'the configured secret of an internal client was ended; its service gets no token');
  if (known) return;
  const { ends } = retire(secrets, { overlapSeconds: OVERLAP_SECONDS, force: true }, ctx.now());
  const secret = plantSecret(ctx, client.id, value);
  ctx.audit('oauth_client.secret_rotated', client.id, { secret_id: secret.id, overlap_seconds: OVERLAP_SECONDS });
  await endSecrets(ctx, ends);
}

/** A release may need a scope that the one before did not. */
function widen(ctx: Context, client: OAuthClient, slug: Slug): void {
  const missing = internalScopes(slug).filter(scope => !client.scopes.includes(scope));
  if (missing.length === 0) return;
  client.scopes = scopeSet([...client.scopes, ...missing]);
  client.updatedAt = ctx.now();
  ctx.audit('oauth_client.changed', client.id, { fields: ['scopes'] });
}

async function keep(ctx: Context, slug: Slug, value: string): Promise<void> {
  const client = await ctx.em.findOne(OAuthClient, { id: `svc-${slug}` });
  if (client) {
    widen(ctx, client, slug);
    return takeOver(ctx, client, value);
  }
  plantInternalClient(ctx, slug);
  ctx.audit('oauth_client.created', `svc-${slug}`, { kind: OAuthClientKind.MACHINE, scopes: internalScopes(slug), first_party: true });
}

const LOCK = `select pg_advisory_xact_lock(hashtextextended('identity.internal_clients', 0))`;

/**
 * Makes the internal clients of the services whose secret this process has, and takes over a secret that was changed in the configuration;
 * again it changes nothing. In production only: development plants them with its other data. Source: identity A11.
 */
export async function keepInternalClients(host: ServiceHost): Promise<void> {
  const { production, internalSecrets } = host.config;
  if (!production) return;
  const configured = SLUGS.flatMap(slug => (internalSecrets[slug] ? [[slug, internalSecrets[slug]] as const] : []));
  await host.transaction(
    async ctx => {
      await ctx.sql(LOCK);
      for (const [slug, value] of configured) await keep(ctx, slug, value);
    },
    internalRequest(systemCaller(host.slug), 'start'),
  );
}
