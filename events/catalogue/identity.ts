import { defineEvent } from '../define.js';
import { code, data, id, int, list, oneOf, ref, ts } from '../payload.js';
import { SLUGS } from '../slugs.js';

const owner = 'identity' as const;

export const magicLinkRequested = defineEvent('auth.magic_link.requested.v1',
  data({
    challenge_id: id(), channel: oneOf('email', 'sms'), purpose: oneOf('sign_in', 'verify', 'recover'), locale: ref('en').nullable(),
    expires_at: ts('2026-11-20T09:45:00.000Z'),
  }),
  {
    owner, when: 'A sign-in link is asked for an existing account; comms fetches the link once by challenge_id.', user: 'required', scope: null,
    consumers: ['comms'],
  },
);

export const twoFactorChallenge = defineEvent('auth.two_factor.challenge.v1',
  data({ challenge_id: id(), method: oneOf('sms', 'email', 'push'), expires_at: ts('2026-11-20T09:45:00.000Z') }),
  { owner, when: 'A one-time code must be sent; comms fetches it once by challenge_id.', user: 'required', scope: null, consumers: ['comms'] },
);

export const serviceTokenIssued = defineEvent('identity.service_token.issued.v1',
  data({ token_id: id(), client_id: ref('demo-m2m'), scopes: list(code('admin:clinical')), expires_at: ts('2026-11-20T09:45:00.000Z') }),
  { owner, when: 'A service token is issued: the first one per client, secret and scope set in each clock hour.', user: 'none', scope: null },
);

export const grantChanged = defineEvent('identity.grant.changed.v1',
  data({
    grant_id: id(), client_id: ref('demo-app'), status: oneOf('active', 'revoked'), scopes: list(code('read:my_outcomes')),
    reason: oneOf('consented', 'scopes_changed', 'user_revoked', 'admin_revoked', 'client_removed', 'expired', 'user_erased'), version: int(),
  }),
  {
    owner, when: "A user's grant to a client is created, changed, revoked or expired; carries the whole new state.", user: 'required', scope: null,
    consumers: ['webhooks', 'integrations'],
  },
);

export const userCreated = defineEvent('user.created.v1',
  data({ source: oneOf('signup', 'sso', 'staff_invite', 'import', 'gift'), locale: ref('en').nullable(), country_code: ref('US').nullable() }),
  { owner, when: 'An account first becomes ACTIVE.', user: 'required', scope: null, consumers: ['affiliates', 'comms', 'patient-graph', 'platform'] },
);

export const userErasureRequested = defineEvent('user.erasure_requested.v1',
  data({ request_id: id(), scope: oneOf('full', 'health', 'marketing'), requested_at: ts(), due_at: ts('2026-12-20T09:30:00.000Z') }),
  { owner, when: 'An erasure request is accepted, after its cancel window.', user: 'required', scope: null, consumers: SLUGS },
);

export const userErasureCompleted = defineEvent('user.erasure_completed.v1',
  data({ request_id: id(), completed_at: ts(), status: oneOf('completed', 'partial'), failed_services: list(code('comms')) }),
  {
    owner, when: 'Every service has acknowledged an erasure, or the deadline passed with named failures.', user: 'required', scope: null,
    consumers: ['comms'],
  },
);
