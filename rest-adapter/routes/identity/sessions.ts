import { del, get, post, type Route } from '../../route.js';

const SESSION = `id createdAt lastActiveAt expiresAt device { browser os formFactor } ipPrefix countryCode amr current
  clients { id name logoUrl firstParty }`;
const APP = `client { id name logoUrl homepageUrl privacyUrl firstParty } grantId scopes { name title sensitive grantedAt lastUsedAt }
  connectedAt lastUsedAt devices`;
const VERIFIED = `active reason user { id status handle displayName } session { id createdAt lastActiveAt } clientId scope expiresAt
  authTime amr roles permissions firstParty`;
const TICKET = 'ticketUrl expiresAt userId created';

const sessions: Route[] = [
  get('/v1/users/me/sessions', 'me.sessions', SESSION, 'List the own sign-ins'),
  del('/v1/users/me/sessions/{id}', 'revokeSession', 'id', 'End one of the own sign-ins'),
  post('/v1/users/me/sessions/sign-out-others', 'signOutOtherSessions', 'revoked', 'End all own sign-ins but this one'),
  get('/v1/users/me/connected-apps', 'me.connectedApps', APP, 'List the apps that one has let in, with what they use'),
  del('/v1/users/me/connected-apps/{client_id}/scopes/{scope}', 'withdrawScope', 'id', 'Take one scope back from an app', {
    body: true,
    problems: { 403: 'An app of somebody else may change its own access only', 404: 'Not connected, or without that scope' },
  }),
  del('/v1/users/me/connected-apps/{client_id}', 'disconnectApp', 'id', 'Disconnect an app and sign it out everywhere', {
    problems: { 403: 'An app of somebody else may disconnect itself only', 404: 'Not connected' },
  }),
];

const tokens: Route[] = [
  post('/v1/tokens', 'issueServiceToken', 'id token clientId name scopes expiresAt', 'Issue a service token', {
    status: 201,
    problems: { 403: 'A scope that the caller does not hold', 409: 'Not an active machine client' },
  }),
  post('/v1/sessions/verify', 'verifySession', VERIFIED, 'Ask what a token is worth now'),
  post(
    '/v1/auth/sso/partner',
    'startPartnerSso',
    TICKET,
    "Turn a partner's signed word about a person into a ticket that signs the person in",
    {
      problems: {
        400: 'The assertion is not in order; reason names the failing claim',
        403: 'The client is not bound to the partner',
        409: 'There is an account with the address, which its owner has to link',
      },
    },
  ),
];

export default [...sessions, ...tokens];
