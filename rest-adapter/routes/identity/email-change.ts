import { body, type Route } from '../../route.js';

const routes: Route[] = [
  {
    method: 'POST',
    path: '/v1/users/me/email-change-request',
    status: [202],
    summary: 'Ask for another e-mail address',
    document:
      'mutation RequestEmailChange($input: RequestEmailChangeInput!) { result: requestEmailChange(input: $input) { challengeId sentTo expiresAt } }',
    variables: { input: body() },
    problems: { 429: 'Three times an hour' },
    example: {
      request: { new_email: 'new@example.test' },
      response: {
        challenge_id: '0190b3a0-1111-7000-8000-000000000004',
        sent_to: 'n•••@example.test',
        expires_at: '2026-01-05T10:00:00.000Z',
      },
    },
  },
  {
    method: 'POST',
    path: '/v1/users/me/email-change-confirm',
    status: [200],
    summary: 'Confirm the new e-mail address by its code',
    document:
      'mutation ConfirmEmailChange($input: ConfirmEmailChangeInput!) { result: confirmEmailChange(input: $input) { id status: accountStatus email emailVerified } }',
    variables: { input: body() },
    problems: { 409: 'The request is expired or exhausted, or the address was taken meanwhile' },
    example: {
      request: { challenge_id: '0190b3a0-1111-7000-8000-000000000004', code: '408213' },
      response: { id: '0190b3a0-0000-7000-8000-0000000000a1', status: 'active', email: 'new@example.test', email_verified: true },
    },
  },
];

export default routes;
