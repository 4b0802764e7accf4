import { defineEvent } from '../define.js';
import { data, id, openEnum, ref, str, ts } from '../payload.js';

const owner = 'webhooks' as const;

export const webhookReceived = defineEvent('webhook.received.v1',
  data({
    receipt_id: id(), source: openEnum('storefront', 'crm_sync', 'cms'), topic: str('orders/create'), vendor_event_id: ref('evt_5531'),
    external_id: ref('41277').nullable(), received_at: ts(),
  }),
  {
    owner, when: 'The inbound receiver accepted a vendor call (signature, replay window, dedupe) and stored it; duplicates emit nothing.',
    user: 'optional', scope: null, consumers: ['commerce', 'content', 'platform'],
  },
);
