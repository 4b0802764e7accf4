import { z } from 'zod';
import { bool, code, data, defineEvent, id, int, list, oneOf, ref, str, ts } from '../define.js';
import { SLUGS } from '../slugs.js';

const requestId = '0190b3a0-1111-7000-8000-000000000003';

export const messageSendRequested = defineEvent(
  'comms.message.send_requested.v1',
  data({
    request_id: id(),
    template: code(),
    channels: list(oneOf('email', 'sms', 'push', 'in_app')),
    recipient_type: oneOf('user', 'staff', 'staff_role', 'client_owner', 'gift'),
    recipient_id: ref().nullable(),
    params: z.record(code(), z.union([ts(), str(), int(), bool()])),
    dedupe_key: str(),
    send_after: ts().nullable(),
    category: oneOf('transactional', 'clinical', 'marketing'),
  }),
  {
    owner: 'comms',
    emitters: SLUGS,
    when: 'A service asks for a message to the user, or to recipient_type and recipient_id where the user is null.',
    user: 'optional',
    scope: null,
    examples: [
      {
        request_id: requestId,
        template: 'security_notice',
        channels: ['email'],
        recipient_type: 'user',
        recipient_id: null,
        params: { kind: 'new_device' },
        dedupe_key: 'security_notice:1',
        send_after: null,
        category: 'transactional',
      },
    ],
  },
);
