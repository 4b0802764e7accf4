import { body, input, path, type Route } from '../../route.js';

const CLIENT = `id name description logoUrl homepageUrl privacyUrl termsUrl kind status firstParty staffAccess brandId serviceSlug ssoPartner redirectUris
  postLogoutRedirectUris scopes accessTokenTtlSeconds refreshReuseLeewaySeconds tokenExchange tokenEndpointAuthMethod jwks jwksUri
  secrets { id hint createdAt lastUsedAt expiresAt status }
  agreements { id kind documentVersion scopes signedBy signedAt expiresAt status } contacts createdAt updatedAt lastUsedAt version`;

const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/admin/oauth-clients',
    status: [200],
    summary: 'List OAuth clients',
    document: `query OAuthClients($filter: OAuthClientFilter, $first: Int, $after: String) {
      result: oauthClients(filter: $filter, first: $first, after: $after) { nodes { ${CLIENT} } pageInfo { endCursor hasNextPage } }
    }`,
    variables: { filter: input({ body: false, query: ['kind', 'status', 'brand_id', 'first_party', 'q'] }) },
  },
  {
    method: 'POST',
    path: '/v1/admin/oauth-clients',
    status: [201],
    location: '/v1/admin/oauth-clients/{id}',
    summary: 'Register an OAuth client',
    document: `mutation CreateOAuthClient($input: CreateOAuthClientInput!) { result: createOAuthClient(input: $input) { ${CLIENT} clientSecret } }`,
    variables: { input: body() },
    problems: { 403: 'A scope that the caller does not hold, or something that only owners may set', 409: 'The client_id is taken' },
  },
  {
    method: 'PATCH',
    path: '/v1/admin/oauth-clients/{client_id}',
    status: [200],
    summary: 'Change an OAuth client',
    document: `mutation UpdateOAuthClient($input: UpdateOAuthClientInput!) { result: updateOAuthClient(input: $input) { ${CLIENT} } }`,
    variables: { input: input({ path: { client_id: 'id' } }) },
    problems: { 409: 'Another change came between' },
  },
  {
    method: 'DELETE',
    path: '/v1/admin/oauth-clients/{client_id}',
    status: [204],
    summary: 'Delete an OAuth client',
    document: 'mutation DeleteOAuthClient($id: ID!) { result: deleteOAuthClient(id: $id) { id } }',
    variables: { id: path('client_id') },
    problems: { 409: 'The client of a service' },
  },
  {
    method: 'POST',
    path: '/v1/admin/oauth-clients/{client_id}/rotate-secret',
    status: [200],
    summary: 'Give an OAuth client a new secret',
    document: `mutation RotateOAuthClientSecret($input: RotateOAuthClientSecretInput!) {
      result: rotateOAuthClientSecret(input: $input) { clientId clientSecret secretId previous { id expiresAt lastUsedAt } }
    }`,
    variables: { input: input({ path: ['client_id'] }) },
    problems: { 409: 'A client without secrets, or two are alive' },
  },
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
