import {
  partnerConsultationCompleted,
  partnerConsultOutcome,
  partnerOrderDelivered,
  partnerTreatmentActive,
  partnerTreatmentApproved,
  partnerTreatmentCancelled,
  partnerTreatmentCreated,
  partnerTreatmentExpired,
  partnerTreatmentNeedsRenewal,
  partnerTreatmentPaused,
  partnerTreatmentResumed,
  partnerTreatmentUpdated,
} from '../../../events/catalogue/partner.js';
import { type Consumer, type Envelope, handle } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { preparation } from '../../../runtime/request/operation.js';
import { deliverVials, followPartner, isNewReport, type PartnerFacts, type Treatment } from '../commands/partner.js';
import { Intervention } from '../entities/intervention.js';
import { contraindicationsOf, demographicsOf } from '../ports/demographics.js';
import { treatmentsOf } from '../ports/partner.js';
import type { PartnerReportKind } from '../rules/partner.js';

interface Reported {
  partner_event_id: string;
  reported_at: string;
  treatment_ref?: string | null;
  order_ref?: string;
  program?: string;
}

/** Whether partner has to be asked what a report is about: an order, or a treatment that is not known here and that names no program. */
async function isUnclear(ctx: Context, { treatment_ref: ref, order_ref: order, program }: Reported): Promise<boolean> {
  if (order) return true;
  return ref != null && program === undefined && (await ctx.em.count(Intervention, { partnerTreatmentRef: ref })) === 0;
}

/** What is asked of neighbours before a report is taken; one that concerns nobody asks nothing. */
const partnerFacts = preparation(async (ctx, { user_id: userId, data }: Envelope<Reported>): Promise<PartnerFacts | null> => {
  if (!userId) return null;
  const unclear = await isUnclear(ctx, data);
  const [treatments, codes, known] = await Promise.all([
    unclear ? treatmentsOf(ctx, userId) : [],
    contraindicationsOf(ctx, userId),
    demographicsOf(ctx, userId),
  ]);
  return { treatments, codes, timeZone: known?.timeZone ?? 'UTC' };
});

type Take<Data> = (ctx: Context, userId: string, data: Data, facts: PartnerFacts) => Promise<void>;

/** Takes a report of a matched member once. */
const once =
  <Data extends Reported>(take: Take<Data>) =>
  async (ctx: Context, { user_id: userId, data }: Envelope<Data>): Promise<void> => {
    if (userId && (await isNewReport(ctx, userId, data))) await take(ctx, userId, data, partnerFacts.of(ctx)!);
  };

type OfTreatment = Reported & { treatment_ref: string; started_on?: string; reason?: string };

const treatmentOf = ({ treatment_ref: ref, program, started_on: startedOn, reason, reported_at: at }: OfTreatment): Treatment => ({
  ref,
  program: program ?? null,
  startedOn: startedOn ?? null,
  reason: reason ?? null,
  reportedAt: new Date(at),
});

const follow = (kind: PartnerReportKind) =>
  once<OfTreatment>((ctx, userId, data, facts) => followPartner(ctx, userId, kind, treatmentOf(data), facts));

/** What changes nothing here but is part of the record. */
const note = (action: string) =>
  once<Reported>(async (ctx, userId, data) => ctx.audit(action, userId, { partner_event: data.partner_event_id }));

/** Outcomes of a partner's consult that move an intervention. */
const DECISIONS: readonly PartnerReportKind[] = ['approved', 'denied'];

const decided = once<Reported & { outcome: string }>(async (ctx, userId, data, facts) => {
  const kind = DECISIONS.find(one => one === data.outcome);
  ctx.audit('partner_consult.decided', userId, { outcome: data.outcome });
  if (kind && data.treatment_ref) await followPartner(ctx, userId, kind, treatmentOf(data as OfTreatment), facts);
});

const delivered = once<Reported & { order_ref: string; delivered_at: string }>((ctx, userId, data, facts) =>
  deliverVials(ctx, userId, { orderRef: data.order_ref, at: new Date(data.delivered_at) }, facts),
);

/** Treatments of the telehealth partner are interventions here; a delivery brings vials. Source: clinical 5, consumed. */
export const partner: Consumer<Context> = {
  name: 'clinical.partner',
  prepare: partnerFacts.run,
  on: [
    handle(partnerTreatmentCreated, follow('created')),
    handle(partnerTreatmentApproved, follow('approved')),
    handle(partnerTreatmentActive, follow('active')),
    handle(partnerTreatmentPaused, follow('paused')),
    handle(partnerTreatmentResumed, follow('resumed')),
    handle(partnerTreatmentCancelled, follow('cancelled')),
    handle(partnerTreatmentExpired, follow('expired')),
    handle(partnerTreatmentUpdated, note('partner_treatment.updated')),
    handle(partnerTreatmentNeedsRenewal, note('partner_treatment.needs_renewal')),
    handle(partnerConsultOutcome, decided),
    handle(partnerConsultationCompleted, note('partner_consultation.completed')),
    handle(partnerOrderDelivered, delivered),
  ],
};
