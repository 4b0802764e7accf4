import { path, type Route } from '../../route.js';

const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/users/me/sessions',
    status: [200],
    summary: 'List the own sign-ins',
    document: `query MySessions {
      me {
        result: sessions {
          id createdAt lastActiveAt expiresAt device { browser os formFactor } ipPrefix countryCode amr current clients { id name logoUrl firstParty }
        }
      }
    }`,
  },
  {
    method: 'DELETE',
    path: '/v1/users/me/sessions/{id}',
    status: [204],
    summary: 'End one of the own sign-ins',
    document: 'mutation RevokeSession($id: ID!) { result: revokeSession(id: $id) { id } }',
    variables: { id: path('id') },
  },
  {
    method: 'POST',
    path: '/v1/users/me/sessions/sign-out-others',
    status: [200],
    summary: 'End all own sign-ins but this one',
    document: 'mutation SignOutOtherSessions { result: signOutOtherSessions { revoked } }',
  },
  {
    method: 'DELETE',
    path: '/v1/users/me/connected-apps/{client_id}',
    status: [204],
    summary: 'Disconnect an app and sign it out everywhere',
    document: 'mutation DisconnectApp($clientId: ID!) { result: disconnectApp(clientId: $clientId) { id } }',
    variables: { clientId: path('client_id') },
    problems: { 403: 'An app of somebody else may disconnect itself only', 404: 'Not connected' },
  },
];

export default routes;
