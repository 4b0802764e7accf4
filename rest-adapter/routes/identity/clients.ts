import { del, get, patch, post, type Route } from '../../route.js';

const GRANT = `id client { id name logoUrl homepageUrl privacyUrl firstParty } scopes declinedScopes effectiveScopes status authorizations
  grantedAt createdAt updatedAt lastUsedAt revokedAt revokedBy version`;
const CLIENT = `id name description logoUrl homepageUrl privacyUrl termsUrl kind status firstParty staffAccess brandId serviceSlug
  ssoPartner redirectUris postLogoutRedirectUris allowedOrigins scopes accessTokenTtlSeconds refreshReuseLeewaySeconds tokenExchange
  tokenEndpointAuthMethod jwks jwksUri secrets { id hint createdAt lastUsedAt expiresAt status }
  agreements { id kind documentVersion scopes signedBy signedAt expiresAt status } contacts createdAt updatedAt lastUsedAt version`;
const SECRET = 'clientId clientSecret secretId previous { id expiresAt lastUsedAt }';

const grants: Route[] = [
  get('/v1/me/grants', 'me.grants', GRANT, 'List the apps that one has let in'),
  del('/v1/me/grants/{id}', 'revokeGrant', 'id', 'Disconnect an app and sign it out everywhere', {
    problems: { 403: 'An app of somebody else may disconnect itself only', 404: 'No such grant, or revoked already' },
  }),
];

const clients: Route[] = [
  get('/v1/admin/oauth-clients', 'oauthClients', CLIENT, 'List OAuth clients', { as: 'oAuthClients' }),
  post('/v1/admin/oauth-clients', 'createOAuthClient', `${CLIENT} clientSecret`, 'Register an OAuth client', {
    status: 201,
    problems: { 403: 'A scope that the caller does not hold, or something that only owners may set', 409: 'The client_id is taken' },
  }),
  patch('/v1/admin/oauth-clients/{client_id}', 'updateOAuthClient', CLIENT, 'Change an OAuth client', {
    path: { client_id: 'id' },
    problems: { 409: 'Another change came between' },
  }),
  del('/v1/admin/oauth-clients/{client_id}', 'deleteOAuthClient', 'id', 'Delete an OAuth client', {
    path: { client_id: 'id' },
    problems: { 409: 'The client of a service' },
  }),
  post('/v1/admin/oauth-clients/{client_id}/rotate-secret', 'rotateOAuthClientSecret', SECRET, 'Give an OAuth client a new secret', {
    problems: { 409: 'A client without secrets, or two are alive' },
  }),
  get('/v1/admin/oauth-clients/{client_id}', 'oauthClient', CLIENT, 'Read an OAuth client', {
    as: 'oAuthClient',
    path: { client_id: 'id' },
  }),
];

export default [...grants, ...clients];
