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
