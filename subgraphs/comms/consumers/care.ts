import {
  biomarkerParsed,
  checkInDue,
  consultCompleted,
  doseReminderScheduled,
  healthScoreComputed,
  labResultCritical,
  protocolStarted,
  redFlagDetected,
  retestPrompted,
  vialCreated,
} from '../../../events/catalogue/clinical.js';
import { labsVendorOrderStatusChanged } from '../../../events/catalogue/integrations.js';
import { screeningStatusChanged } from '../../../events/catalogue/messaging.js';
import {
  partnerChargeFailed,
  partnerConsultationCancelled,
  partnerConsultationScheduled,
  partnerConsultOutcome,
  partnerOrderDelivered,
  partnerOrderFailed,
  partnerOrderShipped,
  partnerTreatmentExpired,
  partnerTreatmentNeedsRenewal,
} from '../../../events/catalogue/partner.js';
import { sharpsReminderRequested } from '../../../events/catalogue/patient-graph.js';
import { handle, type Handler } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { retestPrompted as bundle } from '../commands/retest.js';
import { tell } from '../commands/tell.js';
import { hintZone } from '../commands/withdraw.js';

const HOUR_MS = 3_600_000;
/** A dose that was not told of within two hours is not told of. */
const DOSE_FOR_MS = 2 * HOUR_MS;
const ROLE = (role: string) => ({ recipientType: 'staff_role' as const, userId: null, recipientId: role });

/** What clinical, laboratories and the partner tell of a member. Health facts stay out of what leaves; see the templates. */
export const care: readonly Handler<Context>[] = [
  handle(retestPrompted, (ctx: Context, { id, user_id, brand_id, data }) =>
    bundle(ctx, { eventId: id, userId: user_id!, brandId: brand_id, code: data.code }),
  ),
  handle(biomarkerParsed, (ctx: Context, event) =>
    tell(ctx, event, {
      template: 'labs_parsed',
      params: { report_id: event.data.report_id, count: event.data.count },
      entity: { type: 'lab_report', id: event.data.report_id },
    }),
  ),
  handle(redFlagDetected, async (ctx: Context, event) => {
    const { flag_id, severity } = event.data;
    if (severity === 'info') return;
    await tell(ctx, event, {
      template: severity === 'urgent' ? 'red_flag_urgent' : 'red_flag',
      params: { flag_id },
      entity: { type: 'red_flag', id: flag_id },
    });
  }),
  handle(labResultCritical, (ctx: Context, event) =>
    tell(ctx, event, { template: 'critical_result', params: { alert_id: event.data.alert_id }, to: ROLE('clinician') }),
  ),
  handle(consultCompleted, (ctx: Context, event) =>
    tell(ctx, event, {
      template: 'consult_done',
      params: { consult_id: event.data.consult_id },
      entity: { type: 'consult', id: event.data.consult_id },
    }),
  ),
  handle(healthScoreComputed, (ctx: Context, event) =>
    tell(
      ctx,
      event,
      event.data.trend === 'flat'
        ? null
        : {
            template: 'health_score',
            params: { score_id: event.data.score_id },
            entity: { type: 'health_score', id: event.data.score_id },
          },
    ),
  ),
  handle(vialCreated, (ctx: Context, event) =>
    tell(ctx, event, {
      template: 'vial_added',
      params: { vial_id: event.data.vial_id },
      entity: { type: 'vial', id: event.data.vial_id },
      channels: ['in_app' as never],
    }),
  ),
  handle(protocolStarted, (ctx: Context, event) =>
    tell(ctx, event, {
      template: 'protocol_started',
      params: { protocol_id: event.data.protocol_id },
      entity: { type: 'protocol', id: event.data.protocol_id },
    }),
  ),
  handle(checkInDue, (ctx: Context, event) =>
    tell(ctx, event, {
      template: 'check_in',
      params: { check_in_id: event.data.check_in_id },
      entity: { type: 'check_in', id: event.data.check_in_id },
    }),
  ),
  handle(doseReminderScheduled, async (ctx: Context, event) => {
    const { reminder_id, scheduled_for, time_zone } = event.data;
    await hintZone(ctx, event.user_id!, time_zone);
    const at = new Date(scheduled_for);
    await tell(ctx, event, {
      template: 'dose',
      params: { reminder_id, scheduled_for },
      sendAfter: at,
      expiresAt: new Date(at.getTime() + DOSE_FOR_MS),
      entity: { type: 'dose_reminder', id: reminder_id },
    });
  }),
  handle(sharpsReminderRequested, (ctx: Context, event) =>
    tell(ctx, event, { template: 'sharps', params: { reminder_id: event.data.reminder_id, due_on: event.data.due_on } }),
  ),
  handle(labsVendorOrderStatusChanged, (ctx: Context, event) => {
    const { lab_order_id, to } = event.data;
    const told = { template: 'lab_status', params: { lab_order_id, to }, entity: { type: 'lab_order', id: lab_order_id } };
    return tell(ctx, event, ['kit_shipped', 'received'].includes(to) ? told : null);
  }),
  handle(screeningStatusChanged, (ctx: Context, event) => {
    const data = event.data as typeof event.data & { priority?: string };
    return tell(
      ctx,
      event,
      data.to === 'cleared' && data.priority === 'urgent'
        ? { template: 'care_inbox', params: { conversation_id: data.conversation_id }, to: ROLE('clinician') }
        : null,
    );
  }),
  handle(partnerOrderShipped, (ctx: Context, event) =>
    tell(ctx, event, {
      template: 'order_shipped',
      key: event.data.order_ref,
      params: { reference: event.data.order_ref, carrier: event.data.carrier },
      entity: { type: 'partner_order', id: event.data.order_ref },
    }),
  ),
  handle(partnerOrderDelivered, (ctx: Context, event) =>
    tell(ctx, event, {
      template: 'order_delivered',
      key: event.data.order_ref,
      params: { reference: event.data.order_ref },
      entity: { type: 'partner_order', id: event.data.order_ref },
    }),
  ),
  handle(partnerOrderFailed, (ctx: Context, event) =>
    tell(ctx, event, {
      template: 'order_failed',
      key: event.data.order_ref,
      params: { reference: event.data.order_ref },
      entity: { type: 'partner_order', id: event.data.order_ref },
    }),
  ),
  handle(partnerConsultOutcome, (ctx: Context, event) =>
    tell(ctx, event, {
      template: 'consult_outcome',
      params: { reference: event.data.consult_ref },
      entity: { type: 'partner_consult', id: event.data.consult_ref },
    }),
  ),
  handle(partnerConsultationScheduled, (ctx: Context, event) => {
    const { consult_ref: reference, starts_at } = event.data;
    const told = {
      template: 'partner_visit_booked',
      key: `${reference}:${starts_at}`,
      params: { reference, starts_at: starts_at! },
      entity: { type: 'partner_consult', id: reference },
    };
    return tell(ctx, event, starts_at === null ? null : told);
  }),
  handle(partnerConsultationCancelled, (ctx: Context, event) =>
    tell(ctx, event, {
      template: 'partner_visit_cancelled',
      key: event.data.consult_ref,
      params: { reference: event.data.consult_ref },
      entity: { type: 'partner_consult', id: event.data.consult_ref },
    }),
  ),
  handle(partnerTreatmentNeedsRenewal, (ctx: Context, event) =>
    tell(ctx, event, {
      template: 'treatment_renewal',
      params: { reference: event.data.treatment_ref, due_on: event.data.due_on },
      entity: { type: 'treatment', id: event.data.treatment_ref },
    }),
  ),
  handle(partnerTreatmentExpired, (ctx: Context, event) =>
    tell(ctx, event, {
      template: 'treatment_expired',
      params: { reference: event.data.treatment_ref },
      entity: { type: 'treatment', id: event.data.treatment_ref },
    }),
  ),
  handle(partnerChargeFailed, (ctx: Context, event) =>
    tell(ctx, event, {
      template: 'payment_failed',
      key: event.data.charge_ref,
      params: { amount: event.data.amount, currency: event.data.currency, category: event.data.failure_code },
    }),
  ),
];
