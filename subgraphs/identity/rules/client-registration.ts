import { OAuthClientKind, OAuthClientTokenEndpointAuthMethod } from '../entities/client.js';
import { keySetFault } from './client-keys.js';
import { ADMIN_SCOPES, USER_SCOPES } from './scopes.js';

/** A violation by field name of the input; null: the input itself. */
export interface Fault {
  field: string;
  message: string;
}

/** A client as it would be registered. */
export interface Proposed {
  kind: OAuthClientKind;
  scopes: readonly string[];
  redirectUris: readonly string[];
  postLogoutRedirectUris: readonly string[];
  firstParty: boolean;
  staffAccess: boolean;
  serviceSlug: string | null;
  accessTokenTtlSeconds: number;
  tokenExchange: boolean;
  tokenEndpointAuthMethod: OAuthClientTokenEndpointAuthMethod;
  jwks: unknown;
  jwksUri: string | null;
}

const LOOPBACK = ['127.0.0.1', '[::1]'];

/** What is wrong with a redirect address, null for nothing. `localhost` is for development only. Source: identity 2, OAuthClient. */
export function redirectFault(uri: string, production: boolean): string | null {
  const url = URL.parse(uri);
  if (!url || /\s/.test(uri)) return 'must be an absolute URI';
  if (uri.includes('#')) return 'must have no fragment';
  if (uri.includes('*')) return 'must have no wildcard';
  if (url.username || url.password) return 'must have no credentials';
  const scheme = url.protocol.slice(0, -1);
  if (scheme === 'https') return null;
  if (scheme === 'http') {
    if (LOOPBACK.includes(url.hostname) || (url.hostname === 'localhost' && !production)) return null;
    return 'must be https, or http on a loopback address';
  }
  return scheme.includes('.') ? null : 'must be https, http on a loopback address, or a private-use scheme with a dot';
}

const listFaults = (field: string, uris: readonly string[], production: boolean): Fault[] =>
  uris.flatMap((uri, index) => {
    const message = redirectFault(uri, production);
    return message ? [{ field: `${field}/${index}`, message }] : [];
  });

/** Machine clients hold admin scopes only, the others user scopes only. */
function scopeFaults({ kind, scopes }: Proposed): Fault[] {
  const machine = kind === OAuthClientKind.MACHINE;
  const known = (scope: string): boolean => (machine ? ADMIN_SCOPES.includes(scope) : scope in USER_SCOPES);
  const message = machine ? 'is no admin scope' : 'is no user scope';
  return scopes.flatMap((scope, index) => (known(scope) ? [] : [{ field: `scopes/${index}`, message }]));
}

const { NONE, PRIVATE_KEY_JWT } = OAuthClientTokenEndpointAuthMethod;

function keyFaults({ jwks, jwksUri }: Proposed): Fault[] {
  if (jwks !== null && jwksUri !== null) return [{ field: 'jwks', message: 'must not be given beside jwks_uri' }];
  const fault = jwks === null ? null : keySetFault(jwks);
  return fault ? [{ field: `jwks${fault.path}`, message: fault.message }] : [];
}

function authFaults({ kind, tokenEndpointAuthMethod: method, jwks, jwksUri }: Proposed): Fault[] {
  const field = 'tokenEndpointAuthMethod';
  if (kind === OAuthClientKind.PUBLIC && method !== NONE) return [{ field, message: 'must be none for a public client' }];
  if (kind !== OAuthClientKind.PUBLIC && method === NONE) return [{ field, message: 'must not be none' }];
  if (method === PRIVATE_KEY_JWT && jwks === null && jwksUri === null) return [{ field, message: 'needs jwks or jwks_uri' }];
  return [];
}

function kindFaults(client: Proposed): Fault[] {
  const machine = client.kind === OAuthClientKind.MACHINE;
  const faults: [boolean, string, string][] = [
    [machine && client.redirectUris.length > 0, 'redirectUris', 'must be empty for a machine client'],
    [!machine && client.redirectUris.length === 0, 'redirectUris', 'must not be empty'],
    [client.staffAccess && !client.firstParty, 'staffAccess', 'needs first_party'],
    [client.staffAccess && machine, 'staffAccess', 'is not for machine clients'],
    [client.serviceSlug !== null && !machine, 'serviceSlug', 'is for machine clients only'],
    [!machine && client.accessTokenTtlSeconds !== 3600, 'accessTokenTtlSeconds', 'is for machine clients only'],
    [client.tokenExchange && client.kind === OAuthClientKind.PUBLIC, 'tokenExchange', 'is not for public clients'],
  ];
  return faults.filter(([wrong]) => wrong).map(([, field, message]) => ({ field, message }));
}

/** Everything that is wrong with a client. Source: identity 2, OAuthClient. */
export const registrationFaults = (client: Proposed, production: boolean): Fault[] => [
  ...kindFaults(client),
  ...scopeFaults(client),
  ...authFaults(client),
  ...keyFaults(client),
  ...listFaults('redirectUris', client.redirectUris, production),
  ...listFaults('postLogoutRedirectUris', client.postLogoutRedirectUris, production),
];

interface LivingSecret {
  id: string;
  expiresAt: Date | null;
  createdAt: Date;
}

/** Secrets that work now, oldest first. */
export const livingSecrets = <Secret extends LivingSecret>(secrets: readonly Secret[], now: Date): Secret[] =>
  secrets
    .filter(one => one.expiresAt === null || one.expiresAt > now)
    .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1));

export interface Retirement<Secret> {
  /** Secret and when it ends. */
  ends: { secret: Secret; at: Date }[];
  /** More than two would be alive. */
  refused: boolean;
}

/** What becomes of the living secrets when a new one comes: with `force` the oldest of two ends at once. Source: identity 4.9. */
export function retire<Secret extends LivingSecret>(
  secrets: readonly Secret[],
  { overlapSeconds, force }: { overlapSeconds: number; force: boolean },
  now: Date,
): Retirement<Secret> {
  const living = livingSecrets(secrets, now);
  if (living.length > 1 && !force) return { ends: [], refused: true };
  const [newest, ...older] = living.toReversed();
  if (!newest) return { ends: [], refused: false };
  const end = new Date(now.getTime() + overlapSeconds * 1000);
  const last = newest.expiresAt !== null && newest.expiresAt < end ? newest.expiresAt : end;
  return { ends: [...older.map(secret => ({ secret, at: now })), { secret: newest, at: last }], refused: false };
}
