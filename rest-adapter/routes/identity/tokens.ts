import { body, bodyKey, type Route } from '../../route.js';

const routes: Route[] = [
  {
    method: 'POST',
    path: '/v1/tokens',
    status: [201],
    summary: 'Issue a service token',
    document: `mutation IssueServiceToken($input: IssueServiceTokenInput!) {
      result: issueServiceToken(input: $input) { id token clientId name scopes expiresAt }
    }`,
    variables: { input: body() },
    problems: { 403: 'A scope that the caller does not hold', 409: 'Not an active machine client' },
  },
  {
    method: 'POST',
    path: '/v1/sessions/verify',
    status: [200],
    summary: 'Ask what a token is worth now',
    document: `query VerifySession($token: String) {
      result: verifySession(token: $token) {
        active reason user { id status handle displayName } session { id createdAt lastActiveAt } clientId scope expiresAt authTime amr roles permissions
        firstParty
      }
    }`,
    variables: { token: bodyKey('token') },
  },
  {
    method: 'POST',
    path: '/v1/auth/sso/partner',
    status: [200],
    summary: "Turn a partner's signed word about a person into a ticket that signs the person in",
    document: `mutation StartPartnerSso($input: StartPartnerSsoInput!) {
      result: startPartnerSso(input: $input) { ticketUrl expiresAt userId created }
    }`,
    variables: { input: body() },
    problems: {
      400: 'The assertion is not in order; reason names the failing claim',
      403: 'The client is not bound to the partner',
      409: 'There is an account with the address, which its owner has to link',
    },
  },
];

export default routes;
