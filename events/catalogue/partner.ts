import { defineEvent } from '../define.js';
import { code, cur, data, date, id, int, list, minor, oneOf, ref, str, ts } from '../payload.js';

const owner = 'partner' as const;

/** What every report of the telehealth partner carries. A later match sends the current state again with `:linked` behind the id. */
const reported = { partner_event_id: ref('evt_90211'), partner_ref: ref('pt_4412'), reported_at: ts() };

export const externalSyncStarted = defineEvent('external_sync.started.v1',
  data({ run_id: id(), direction: oneOf('pull', 'push'), entity: code('orders'), cursor: ref('2026-11-19').nullable(), started_at: ts() }),
  { owner, when: 'A partner sync run begins.', user: 'none', scope: null },
);

export const externalSyncCompleted = defineEvent('external_sync.completed.v1',
  data({
    run_id: id(), direction: oneOf('pull', 'push'), entity: code('orders'), status: oneOf('succeeded', 'partial', 'failed'), read: int(120),
    written: int(118), skipped: int(0), failed: int(2), duration_ms: int(8120),
  }),
  { owner, when: 'A partner sync run ends.', user: 'none', scope: null, consumers: ['platform', 'jobs'] },
);

export const partnerChargeAuthorized = defineEvent('integration.partner.charge.authorized.v1',
  data({ ...reported, charge_ref: ref('ch_8812'), amount: minor(4900), currency: cur(), expires_at: ts('2026-11-20T09:45:00.000Z').nullable() }),
  {
    owner, when: 'The partner authorised a charge.', user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['payments'],
  },
);

export const partnerChargeCaptured = defineEvent('integration.partner.charge.captured.v1',
  data({ ...reported, charge_ref: ref('ch_8812'), amount: minor(4900), currency: cur() }),
  {
    owner, when: 'The partner captured a charge.', user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['payments'],
  },
);

export const partnerChargeDisputed = defineEvent('integration.partner.charge.disputed.v1',
  data({ ...reported, charge_ref: ref('ch_8812'), amount: minor(4900), currency: cur(), reason: code('fraudulent') }),
  {
    owner, when: 'A dispute of a charge is opened at the partner.', user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['payments'],
  },
);

export const partnerChargeFailed = defineEvent('integration.partner.charge.failed.v1',
  data({ ...reported, charge_ref: ref('ch_8812'), amount: minor(4900), currency: cur(), failure_code: code('card_declined') }),
  {
    owner, when: 'A charge failed at the partner.', user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['payments', 'comms'],
  },
);

export const partnerChargeRefunded = defineEvent('integration.partner.charge.refunded.v1',
  data({ ...reported, charge_ref: ref('ch_8812'), amount: minor(4900), refunded_total: minor(4900), currency: cur() }),
  {
    owner, when: 'The partner refunded a charge, fully or partly.', user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['payments'],
  },
);

export const partnerConsultOutcome = defineEvent('integration.partner.consult_outcome.v1',
  data({
    ...reported, consult_ref: ref('cs_2001'), outcome: oneOf('approved', 'denied', 'more_info', 'referred'), treatment_ref: ref('tr_301').nullable(),
  }),
  {
    owner, when: "The partner's clinician closed the consult.", user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['clinical', 'comms', 'workflow'],
  },
);

export const partnerConsultationScheduled = defineEvent('integration.partner.consultation.scheduled.v1',
  data({ ...reported, consult_ref: ref('cs_2001'), starts_at: ts('2026-11-24T10:00:00.000Z'), mode: oneOf('async', 'video', 'phone') }),
  {
    owner, when: 'A consultation is booked at the partner.', user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['booking', 'comms'],
  },
);

export const partnerConsultationStarted = defineEvent('integration.partner.consultation.started.v1',
  data({ ...reported, consult_ref: ref('cs_2001'), started_at: ts() }),
  {
    owner, when: 'A consultation at the partner has begun.', user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['booking'],
  },
);

export const partnerConsultationCompleted = defineEvent('integration.partner.consultation.completed.v1',
  data({ ...reported, consult_ref: ref('cs_2001'), completed_at: ts() }),
  {
    owner, when: 'A consultation at the partner is finished.', user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['booking', 'clinical', 'patient-graph'],
  },
);

export const partnerConsultationCancelled = defineEvent('integration.partner.consultation.cancelled.v1',
  data({ ...reported, consult_ref: ref('cs_2001'), cancelled_by: oneOf('member', 'provider', 'partner'), reason: code('no_show') }),
  {
    owner, when: 'A consultation at the partner is cancelled.', user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['booking', 'comms'],
  },
);

export const partnerOrderCreated = defineEvent('integration.partner.order.created.v1',
  data({ ...reported, order_ref: ref('or_5120'), treatment_ref: ref('tr_301').nullable(), item_count: int(2) }),
  {
    owner, when: 'A pharmacy order is made.', user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['commerce'],
  },
);

export const partnerOrderTransmitted = defineEvent('integration.partner.order.transmitted.v1',
  data({ ...reported, order_ref: ref('or_5120'), pharmacy_ref: ref('ph_17') }),
  {
    owner, when: 'An order is sent to the pharmacy.', user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['commerce'],
  },
);

export const partnerOrderProcessing = defineEvent('integration.partner.order.processing.v1',
  data({ ...reported, order_ref: ref('or_5120') }),
  {
    owner, when: 'An order is in preparation.', user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['commerce'],
  },
);

export const partnerOrderShipped = defineEvent('integration.partner.order.shipped.v1',
  data({ ...reported, order_ref: ref('or_5120'), carrier: code('ups'), tracking_ref: ref('1Z999'), estimated_on: date('2026-11-23').nullable() }),
  {
    owner, when: 'An order is handed to the carrier.', user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['commerce', 'comms'],
  },
);

export const partnerOrderDelivered = defineEvent('integration.partner.order.delivered.v1',
  data({ ...reported, order_ref: ref('or_5120'), delivered_at: ts() }),
  {
    owner, when: 'An order is delivered.', user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['commerce', 'clinical', 'comms'],
  },
);

export const partnerOrderFailed = defineEvent('integration.partner.order.failed.v1',
  data({ ...reported, order_ref: ref('or_5120'), failure_code: code('out_of_stock') }),
  {
    owner, when: 'An order cannot be filled.', user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['commerce', 'comms'],
  },
);

export const partnerOrderCancelled = defineEvent('integration.partner.order.cancelled.v1',
  data({ ...reported, order_ref: ref('or_5120'), reason: code('address_invalid') }),
  {
    owner, when: 'An order is cancelled.', user: 'optional', about: 'the matched member; null while unmatched', scope: null, consumers: ['commerce'],
  },
);

export const partnerTreatmentCreated = defineEvent('integration.partner.treatment.created.v1',
  data({ ...reported, treatment_ref: ref('tr_301'), program: code('weight_care') }),
  {
    owner, when: 'A treatment plan is drafted.', user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['clinical'],
  },
);

export const partnerTreatmentApproved = defineEvent('integration.partner.treatment.approved.v1',
  data({ ...reported, treatment_ref: ref('tr_301'), program: code('weight_care'), valid_until: date('2027-11-20').nullable() }),
  {
    owner, when: 'The prescriber approved a treatment plan.', user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['clinical', 'patient-graph'],
  },
);

export const partnerTreatmentActive = defineEvent('integration.partner.treatment.active.v1',
  data({ ...reported, treatment_ref: ref('tr_301'), program: code('weight_care'), started_on: date() }),
  {
    owner, when: 'A treatment plan is in force.', user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['clinical', 'patient-graph'],
  },
);

export const partnerTreatmentUpdated = defineEvent('integration.partner.treatment.updated.v1',
  data({ ...reported, treatment_ref: ref('tr_301'), changed: list(code('dose_schedule')) }),
  {
    owner, when: "A treatment plan's terms changed.", user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['clinical'],
  },
);

export const partnerTreatmentPaused = defineEvent('integration.partner.treatment.paused.v1',
  data({ ...reported, treatment_ref: ref('tr_301'), resumes_on: date('2026-12-20').nullable() }),
  {
    owner, when: 'A treatment plan is paused.', user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['clinical'],
  },
);

export const partnerTreatmentResumed = defineEvent('integration.partner.treatment.resumed.v1',
  data({ ...reported, treatment_ref: ref('tr_301') }),
  {
    owner, when: 'A treatment plan is resumed.', user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['clinical'],
  },
);

export const partnerTreatmentNeedsRenewal = defineEvent('integration.partner.treatment.needs_renewal.v1',
  data({ ...reported, treatment_ref: ref('tr_301'), due_on: date('2026-12-05') }),
  {
    owner, when: 'The renewal window of a treatment plan opens.', user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['clinical', 'comms'],
  },
);

export const partnerTreatmentExpired = defineEvent('integration.partner.treatment.expired.v1',
  data({ ...reported, treatment_ref: ref('tr_301'), expired_on: date() }),
  {
    owner, when: 'A treatment plan lapsed.', user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['clinical', 'comms'],
  },
);

export const partnerTreatmentCancelled = defineEvent('integration.partner.treatment.cancelled.v1',
  data({ ...reported, treatment_ref: ref('tr_301'), cancelled_by: oneOf('member', 'provider', 'partner'), reason: code('member_request') }),
  {
    owner, when: 'A treatment plan is ended early.', user: 'optional', about: 'the matched member; null while unmatched', scope: null,
    consumers: ['clinical', 'payments'],
  },
);

export const partnerWebhookReceived = defineEvent('integration.partner.webhook.received.v1',
  data({ receipt_id: id(), vendor_event_id: ref('evt_5531'), vendor_event_type: str('charge.captured'), received_at: ts() }),
  {
    owner, when: 'An inbound call of the partner passed its signature and replay check and was stored.', user: 'optional',
    about: 'the matched member; null while unmatched', scope: null, consumers: ['partner'],
  },
);
