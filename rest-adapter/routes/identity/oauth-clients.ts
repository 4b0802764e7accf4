import { path, type Route } from '../../route.js';

const CLIENT = `id name description logoUrl homepageUrl privacyUrl termsUrl kind status firstParty staffAccess brandId serviceSlug ssoPartner redirectUris
  postLogoutRedirectUris scopes accessTokenTtlSeconds refreshReuseLeewaySeconds tokenExchange tokenEndpointAuthMethod
  secrets { id hint createdAt lastUsedAt expiresAt status }
  agreements { id kind documentVersion scopes signedBy signedAt expiresAt status } contacts createdAt updatedAt lastUsedAt version`;

const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/admin/oauth-clients/{client_id}',
    status: [200],
    summary: 'Read an OAuth client',
    document: `query OAuthClient($id: ID!) { result: oauthClient(id: $id) { ${CLIENT} } }`,
    variables: { id: path('client_id') },
  },
];

export default routes;
