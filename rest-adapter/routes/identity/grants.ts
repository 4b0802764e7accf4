import { path, query, type Route } from '../../route.js';

const GRANT = `id client { id name logoUrl homepageUrl privacyUrl firstParty } scopes declinedScopes effectiveScopes status authorizations
  grantedAt createdAt updatedAt lastUsedAt revokedAt revokedBy version`;

const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/me/grants',
    status: [200],
    summary: 'List the apps that one has let in',
    document: `query MyGrants($include: [OAuthGrantInclude!]) { me { result: grants(include: $include) { ${GRANT} } } }`,
    variables: { include: query('include') },
  },
  {
    method: 'DELETE',
    path: '/v1/me/grants/{id}',
    status: [204],
    summary: 'Disconnect an app and sign it out everywhere',
    document: 'mutation RevokeGrant($id: ID!) { result: revokeGrant(id: $id) { id } }',
    variables: { id: path('id') },
    problems: { 403: 'An app of somebody else may disconnect itself only', 404: 'No such grant, or revoked already' },
  },
];

export default routes;
