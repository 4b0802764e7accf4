import { OAuthClientKind, OAuthClientTokenEndpointAuthMethod } from '../entities/client.js';
import { keySetFault } from './client-keys.js';
import { originFault } from './origins.js';
import { redirectFault } from './redirects.js';
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
  allowedOrigins: readonly string[];
  firstParty: boolean;
  staffAccess: boolean;
  serviceSlug: string | null;
  accessTokenTtlSeconds: number;
  tokenExchange: boolean;
  tokenEndpointAuthMethod: OAuthClientTokenEndpointAuthMethod;
  jwks: unknown;
  jwksUri: string | null;
}

type UriFault = (uri: string, production: boolean) => string | null;

const listFaults = (field: string, uris: readonly string[], production: boolean, faultOf: UriFault = redirectFault): Fault[] =>
  uris.flatMap((uri, index) => {
    const message = faultOf(uri, production);
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
    [machine && client.allowedOrigins.length > 0, 'allowedOrigins', 'must be empty for a machine client'],
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
  ...listFaults('allowedOrigins', client.allowedOrigins, production, originFault),
];
