import { z } from 'zod';
import { defineEvent } from '../define.js';
import { absent, bool, code, data, id, int, list, oneOf, ref, sample, str, ts } from '../payload.js';
import { SLUGS } from '../slugs.js';

const owner = 'comms' as const;

/** Values that a template is filled with. */
const MAX_PARAMS = 30;
const params = z
  .record(code('kind'), z.union([ts(), str(''), int(), bool()]))
  .refine(all => Object.keys(all).length <= MAX_PARAMS, `has more than ${MAX_PARAMS} keys`)
  .meta({ maxProperties: MAX_PARAMS });

export const messageSendRequested = defineEvent('comms.message.send_requested.v1',
  data({
    request_id: id(), template: code('security_notice'), channels: list(oneOf('email', 'sms', 'push', 'in_app')),
    recipient_type: oneOf('user', 'staff', 'staff_role', 'client_owner', 'gift'), recipient_id: absent(ref('')),
    params: sample(params, { kind: 'new_device' }), dedupe_key: str('security_notice:1'), send_after: absent(ts()),
    category: oneOf('transactional', 'clinical', 'marketing'),
  }),
  {
    owner, emitters: SLUGS, when: 'A service asks for a message to the user, or to recipient_type and recipient_id where the user is null.',
    user: 'optional', scope: null, consumers: ['comms'],
  },
);

export const messageSent = defineEvent('comms.message.sent.v1',
  data({
    message_id: id(), request_id: id().nullable(), channel: oneOf('email', 'sms', 'push', 'in_app'), template: code('order_shipped').nullable(),
    category: oneOf('transactional', 'clinical', 'marketing'), sent_at: ts(),
  }),
  { owner, when: 'The channel provider accepted the message.', user: 'required', scope: 'read:inbox' },
);

export const messageDelivered = defineEvent('comms.message.delivered.v1',
  data({
    message_id: id(), channel: oneOf('email', 'sms', 'push', 'in_app'), status: oneOf('delivered', 'bounced', 'failed', 'complained'),
    reason: code('mailbox_full').nullable(), reported_at: ts(),
  }),
  { owner, when: 'Final delivery report.', user: 'required', scope: 'read:inbox' },
);

export const notificationCreated = defineEvent('comms.notification.created.v1',
  data({ notification_id: id(), kind: code('order_shipped'), entity_type: code('order').nullable(), entity_id: id().nullable(), created_at: ts() }),
  { owner, when: 'An in-app notification exists.', user: 'required', scope: 'read:inbox' },
);

export const commsStreamEvent = defineEvent('comms.stream.event.v1',
  data({
    stream_event_id: ref('se_3301'), channel_id: ref('messaging:care-42'),
    kind: oneOf('message_new', 'message_deleted', 'message_read', 'member_added', 'member_removed'), message_id: ref('msg_771').nullable(), at: ts(),
  }),
  { owner, when: 'The in-app chat provider reports an event, verified and normalised.', user: 'optional', scope: null, consumers: ['messaging'] },
);
