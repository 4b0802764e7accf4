import { input, path, type Route } from '../../route.js';

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
    method: 'GET',
    path: '/v1/users/me/connected-apps',
    status: [200],
    summary: 'List the apps that one has let in, with what they use',
    document: `query MyConnectedApps {
      me {
        result: connectedApps {
          client { id name logoUrl homepageUrl privacyUrl firstParty } grantId scopes { name title sensitive grantedAt lastUsedAt }
          connectedAt lastUsedAt devices
        }
      }
    }`,
  },
  {
    method: 'DELETE',
    path: '/v1/users/me/connected-apps/{client_id}/scopes/{scope}',
    status: [204],
    summary: 'Take one scope back from an app',
    document: 'mutation WithdrawScope($input: WithdrawScopeInput!) { result: withdrawScope(input: $input) { id } }',
    variables: { input: input({ path: { client_id: 'clientId', scope: 'scope' } }) },
    problems: { 403: 'An app of somebody else may change its own access only', 404: 'Not connected, or without that scope' },
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
