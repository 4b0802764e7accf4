import { code, data, defineEvent, id, int, list, oneOf, ref, ts } from '../define.js';

const owner = 'identity' as const;
const anId = '0190b3a0-1111-7000-8000-000000000002';

export const grantChanged = defineEvent(
  'identity.grant.changed.v1',
  data({
    grant_id: id(), client_id: ref(), status: oneOf('active', 'revoked'), scopes: list(code()),
    reason: oneOf('consented', 'scopes_changed', 'user_revoked', 'admin_revoked', 'client_removed', 'expired', 'user_erased'), version: int(),
  }),
  {
    owner, when: "A user's grant to a client is created, changed, revoked or expired; carries the whole new state.", user: 'required', scope: null,
    examples: [{ grant_id: anId, client_id: 'demo-app', status: 'active', scopes: ['read:my_outcomes'], reason: 'consented', version: 1 }],
  },
);

export const serviceTokenIssued = defineEvent(
  'identity.service_token.issued.v1',
  data({ token_id: id(), client_id: ref(), scopes: list(code()), expires_at: ts() }),
  {
    owner, when: 'A service token is issued: the first one per client, secret and scope set in each clock hour.', user: 'none', scope: null,
    examples: [{ token_id: anId, client_id: 'demo-m2m', scopes: ['admin:clinical'], expires_at: '2026-11-20T10:30:00.000Z' }],
  },
);

export const userErasureRequested = defineEvent(
  'user.erasure_requested.v1',
  data({ request_id: id(), scope: oneOf('full', 'health', 'marketing'), requested_at: ts(), due_at: ts() }),
  {
    owner, when: 'An erasure request is accepted, after its cancel window.', user: 'required', scope: null,
    examples: [{ request_id: anId, scope: 'full', requested_at: '2026-11-20T09:30:00.000Z', due_at: '2026-12-20T09:30:00.000Z' }],
  },
);

export const userCreated = defineEvent(
  'user.created.v1',
  data({ source: oneOf('signup', 'sso', 'staff_invite', 'import', 'gift'), locale: ref().nullable(), country_code: ref().nullable() }),
  {
    owner, when: 'An account first becomes ACTIVE.', user: 'required', scope: null,
    examples: [{ source: 'signup', locale: 'en', country_code: null }],
  },
);

export const userErasureCompleted = defineEvent(
  'user.erasure_completed.v1',
  data({ request_id: id(), completed_at: ts(), status: oneOf('completed', 'partial'), failed_services: list(code()) }),
  {
    owner, when: 'Every service has acknowledged an erasure, or the deadline passed with named failures.', user: 'required', scope: null,
    examples: [{ request_id: anId, completed_at: '2026-11-20T09:30:00.000Z', status: 'completed', failed_services: [] }],
  },
);

export const magicLinkRequested = defineEvent(
  'auth.magic_link.requested.v1',
  data({
    challenge_id: id(), channel: oneOf('email', 'sms'), purpose: oneOf('sign_in', 'verify', 'recover'), locale: ref().nullable(), expires_at: ts(),
  }),
  {
    owner, when: 'A sign-in link is asked for an existing account; comms fetches the link once by challenge_id.', user: 'required', scope: null,
    examples: [{ challenge_id: anId, channel: 'email', purpose: 'sign_in', locale: null, expires_at: '2026-11-20T09:45:00.000Z' }],
  },
);

export const twoFactorChallenge = defineEvent(
  'auth.two_factor.challenge.v1',
  data({ challenge_id: id(), method: oneOf('sms', 'email', 'push'), expires_at: ts() }),
  {
    owner, when: 'A one-time code must be sent; comms fetches it once by challenge_id.', user: 'required', scope: null,
    examples: [{ challenge_id: anId, method: 'email', expires_at: '2026-11-20T09:40:00.000Z' }],
  },
);
