import { defineEvent } from '../define.js';
import { bool, code, data, id, int, list, oneOf, ref, str, ts } from '../payload.js';

const owner = 'integrations' as const;

/** What is told of a stored vendor call; its body is fetched by `receipt_id` and is never on the bus. */
const receipt = { receipt_id: id(), vendor_event_id: ref('evt_5531'), vendor_event_type: str('message.received'), received_at: ts() };

export const integrationConnected = defineEvent('integration.connected.v1',
  data({ connection_id: id(), provider: code('oura'), capabilities: list(code('activity')), reconnected: bool() }),
  { owner, when: "A connection's OAuth flow completes.", user: 'required', scope: 'read:wearables', consumers: ['patient-graph'] },
);

export const integrationDisconnected = defineEvent('integration.disconnected.v1',
  data({ connection_id: id(), provider: code('oura'), reason: oneOf('member', 'vendor', 'expired', 'staff', 'error') }),
  { owner, when: 'Revoked by the member, the vendor or staff.', user: 'required', scope: 'read:wearables', consumers: ['comms', 'patient-graph'] },
);

export const integrationSyncCompleted = defineEvent('integration.sync.completed.v1',
  data({
    connection_id: id(), provider: code('oura'), run_id: id(), status: oneOf('succeeded', 'partial', 'failed'), record_count: int(48),
    kinds: list(code('sleep')), window_start: ts('2026-11-19T00:00:00.000Z'), window_end: ts('2026-11-20T00:00:00.000Z'),
  }),
  {
    owner, when: 'One sync run of a connection ends (not a cancelled one); of runs that found nothing at most one per connection and day.',
    user: 'required', scope: 'read:wearables', consumers: ['patient-graph', 'clinical'],
  },
);

export const labsVendorOrderStatusChanged = defineEvent('integration.labs_vendor.labs.order_status_changed.v1',
  data({
    lab_order_id: id(), vendor_order_ref: ref('lab_9921'), from: code('collected').nullable(),
    to: oneOf('ordered', 'kit_shipped', 'collected', 'received', 'processing', 'partial', 'completed', 'cancelled', 'rejected'), changed_at: ts(),
  }),
  {
    owner, when: "A lab vendor call changes an order's status.", user: 'required', scope: 'read:lab_orders',
    consumers: ['labs', 'clinical', 'comms'],
  },
);

export const messagingWebhookReceived = defineEvent('integration.messaging.webhook.received.v1',
  data(receipt),
  {
    owner, when: 'A call of the messaging vendor is accepted (signature, replay window) and stored.', user: 'optional', scope: null,
    consumers: ['comms', 'messaging'],
  },
);

export const schedulingAWebhookReceived = defineEvent('integration.scheduling_a.webhook.received.v1',
  data(receipt),
  {
    owner, when: 'A call of scheduling vendor A is accepted (signature, replay window) and stored.', user: 'optional', scope: null,
    consumers: ['booking'],
  },
);

export const schedulingBWebhookReceived = defineEvent('integration.scheduling_b.webhook.received.v1',
  data(receipt),
  {
    owner, when: 'A call of scheduling vendor B is accepted (signature, replay window) and stored.', user: 'optional', scope: null,
    consumers: ['booking'],
  },
);

export const voiceWebhookReceived = defineEvent('integration.voice.webhook.received.v1',
  data(receipt),
  {
    owner, when: 'A call of the voice vendor is accepted (signature, replay window) and stored.', user: 'optional', scope: null,
    consumers: ['messaging', 'ai'],
  },
);

export const telephonyWebhookReceived = defineEvent('integration.telephony.webhook.received.v1',
  data(receipt),
  {
    owner, when: 'A call of the telephony vendor is accepted (signature, replay window) and stored.', user: 'optional', scope: null,
    consumers: ['comms', 'messaging'],
  },
);
