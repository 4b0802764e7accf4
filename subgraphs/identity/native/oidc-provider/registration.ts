import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ClientMetadata } from 'oidc-provider';
import type { Sql } from '../../../../events/outbox.js';
import { sha256 } from '../../../../runtime/data/crypto.js';
import type { OAuthClientKind } from '../../entities/client.js';
import { allowedScopes } from '../../rules/consent.js';
import { BELIEVED_MS } from '../../rules/lifetimes.js';
import { isNativeRedirect } from '../../rules/redirects.js';
import { PROTOCOL_SCOPES } from '../../rules/scopes.js';

/** A client as the engine needs it. Times are epoch ms, so that equal rows have equal JSON: the engine caches clients by it. */
export interface Registration {
  id: string;
  name: string;
  kind: `${OAuthClientKind}`;
  scopes: string[];
  firstParty: boolean;
  staffAccess: boolean;
  brandId: string | null;
  privacyUrl: string | null;
  homepageUrl: string | null;
  /** Who publishes the app. */
  publisher: string;
  serviceSlug: string | null;
  redirectUris: string[];
  ttl: number;
  tokenExchange: boolean;
  authMethod: string;
  /** Public keys of a client that signs, or where they are. */
  jwks: { keys: object[] } | null;
  jwksUri: string | null;
  /** Hex SHA-256 of each secret that is not retired. */
  secrets: { id: string; hash: string; expiresAt: number | null }[];
  /** Agreements over health data that have not been ended. */
  agreements: { scopes: string[]; expiresAt: number | null }[];
}

/** What the client may be given now: its own scopes, of class PHI only as first party or under an agreement; for an app of people also `openid`. */
export function allowedNow({ kind, scopes, firstParty, agreements }: Registration, now: Date): string[] {
  if (kind === 'machine') return scopes;
  const inForce = agreements.map(one => ({ ...one, endedAt: null, expiresAt: one.expiresAt === null ? null : new Date(one.expiresAt) }));
  return [...PROTOCOL_SCOPES, ...allowedScopes({ scopes, firstParty }, inForce, now)];
}

/** What the engine asks when a client names itself: the client, if it is active, and how often it failed lately from there. */
export interface Found {
  registration: Registration | null;
  failures: number;
  /** Epoch ms. */
  windowEndsAt: number;
}

/** A minute begins with its first failure. */
const COUNT = `
insert into identity.failed_client_auth as f (key, failures, window_ends_at) values ($1, 1, $3)
on conflict (key) do update set failures = case when f.window_ends_at <= $2 then 1 else f.failures + 1 end,
  window_ends_at = case when f.window_ends_at <= $2 then excluded.window_ends_at else f.window_ends_at end`;

/** One statement per token: client, secrets and failures together. */
const FIND = `
select c.id, c.name, c.kind, c.scopes, c.first_party as "firstParty", c.staff_access as "staffAccess",
  c.brand_id as "brandId", c.privacy_url as "privacyUrl", c.homepage_url as "homepageUrl", c.publisher, c.service_slug as "serviceSlug", c.redirect_uris as "redirectUris",
  c.access_token_ttl_seconds as ttl, c.token_exchange as "tokenExchange", c.token_endpoint_auth_method as "authMethod",
  c.jwks, c.jwks_uri as "jwksUri",
  coalesce((select json_agg(json_build_object('id', s.id, 'hash', encode(s.hash, 'hex'), 'expiresAt', floor(extract(epoch from s.expires_at) * 1000)) order by s.id)
    from identity.oauth_client_secret s where s.client_id = c.id), '[]') as secrets,
  coalesce((select json_agg(json_build_object('scopes', a.scopes, 'expiresAt', floor(extract(epoch from a.expires_at) * 1000)) order by a.id)
    from identity.oauth_client_agreement a where a.client_id = c.id and a.ended_at is null), '[]') as agreements,
  coalesce(f.failures, 0) as failures, coalesce(extract(epoch from f.window_ends_at)::float8 * 1000, 0) as "windowEndsAt"
from (values ($1::text, $2::bytea)) as asked(id, key)
left join identity.oauth_client c on c.id = asked.id and c.status = 'active'
left join identity.failed_client_auth f on f.key = asked.key`;

type FoundRow = { [Key in keyof Registration]: Registration[Key] | null } & Omit<Found, 'registration'>;

async function find(sql: Sql, clientId: string, key: Buffer | null): Promise<Found> {
  const [row] = await sql<FoundRow>(FIND, [clientId, key]);
  const { failures, windowEndsAt, ...client } = row!;
  return { failures, windowEndsAt, registration: client.id === null ? null : (client as Registration) };
}

/** Who authenticates: a client at an address. What is stored of it is a keyed hash, because addresses are personal data. */
export class Attempt {
  /** In this process's memory only. */
  readonly id: string;
  #key: Buffer | null = null;

  constructor(
    private readonly kek: string,
    readonly clientId: string,
    address: string,
  ) {
    this.id = `${clientId}\n${address}`;
  }

  get key(): Buffer {
    return (this.#key ??= createHmac('sha256', this.kek).update(this.id).digest());
  }
}

const REMEMBERED = 1_000;

/**
 * Registrations as a process knows them, by client and address; only where none of the two has failed lately. Those of machine clients:
 * what an app of people may hold is asked at every issue and refresh, because an agreement over health data may have ended.
 */
export class Registrations {
  readonly #known = new Map<string, { registration: Registration; until: number }>();

  constructor(private readonly sql: Sql) {}

  /** Null: not known for certain right now. */
  recent({ id }: Attempt): Registration | null {
    const known = this.#known.get(id);
    return known && known.until > performance.now() ? known.registration : null;
  }

  /** Asks the database. `attempt`: whose failures to count in; null for a client that does not authenticate. */
  async read(clientId: string, attempt: Attempt | null): Promise<Found> {
    const until = performance.now() + BELIEVED_MS; // from before it is read, so that whoever waits so long after a commit has outlived it
    const found = await find(this.sql, clientId, attempt?.key ?? null);
    if (attempt) this.#remember(attempt.id, found, until);
    return found;
  }

  #remember(id: string, { registration, failures, windowEndsAt }: Found, until: number): void {
    this.#known.delete(id);
    if (registration?.kind !== 'machine' || (failures > 0 && windowEndsAt > Date.now())) return;
    if (this.#known.size >= REMEMBERED) this.#known.delete(this.#known.keys().next().value!);
    this.#known.set(id, { registration, until });
  }

  /** Counts a failed authentication in the running minute, or begins one. */
  async fail({ id, key }: Attempt, now: number): Promise<void> {
    this.#known.delete(id);
    await this.sql(COUNT, [key, new Date(now).toISOString(), new Date(now + WINDOW_MS).toISOString()]);
  }
}

/** Source: RFC 8693. */
export const EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** Grant types that are offered: clients, endpoints and discovery follow from it. */
export const GRANT_TYPES: readonly string[] = ['client_credentials', 'authorization_code', 'refresh_token', EXCHANGE_GRANT];

/** Grants that each kind of client may use, as far as the engine offers them. */
const GRANTS: Readonly<Record<Registration['kind'], readonly string[]>> = {
  machine: ['client_credentials'],
  confidential: ['authorization_code', 'refresh_token'],
  public: ['authorization_code', 'refresh_token'],
};

/** The engine wants a secret in clear; it never compares with this one, see `matchSecret`. */
const PLACEHOLDER = 'kept as a hash';

function credentialsOf({ authMethod, jwks, jwksUri }: Registration): object {
  if (authMethod === 'none') return {};
  if (authMethod !== 'private_key_jwt') return { client_secret: PLACEHOLDER };
  return jwks ? { jwks } : { jwks_uri: jwksUri };
}

/** A registration as the engine's metadata. `offered`: grant types of the engine. */
export function clientMetadata(registration: Registration, offered: readonly string[]): ClientMetadata {
  const exchange = registration.tokenExchange && registration.kind !== 'public' ? [EXCHANGE_GRANT] : [];
  const grants = [...GRANTS[registration.kind], ...exchange].filter(grant => offered.includes(grant));
  const code = grants.includes('authorization_code');
  return {
    client_id: registration.id,
    client_name: registration.name,
    grant_types: grants,
    response_types: code ? ['code'] : [],
    redirect_uris: code ? registration.redirectUris : [],
    application_type: registration.redirectUris.some(isNativeRedirect) ? 'native' : 'web',
    token_endpoint_auth_method: registration.authMethod as 'client_secret_post',
    ...credentialsOf(registration),
    registration,
  };
}

/** Id of the living secret that was presented. Every secret is compared, in constant time. */
export function matchSecret({ secrets }: Registration, presented: string, now: number): string | null {
  const hash = sha256(presented);
  const matching = secrets.filter(
    one => timingSafeEqual(Buffer.from(one.hash, 'hex'), hash) && (one.expiresAt === null || one.expiresAt > now),
  );
  return matching[0]?.id ?? null;
}

/** After so many failures in a minute, per client and address, the client must wait. Source: identity 4.16. */
const MAX_FAILURES = 20;
const WINDOW_MS = 60_000;

/** Seconds to wait; null: may try. */
export const waitSeconds = ({ failures, windowEndsAt }: Pick<Found, 'failures' | 'windowEndsAt'>, now: number): number | null =>
  failures >= MAX_FAILURES && windowEndsAt > now ? Math.ceil((windowEndsAt - now) / 1000) : null;
