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
import { handle, type Consumer, type Envelope } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { Intervention } from '../entities/intervention.js';
import { contraindicationsOf, demographicsOf } from '../ports/demographics.js';
import { treatmentsOf } from '../ports/partner.js';
import { followPartner, isNewReport, type PartnerFacts, type Treatment } from '../commands/partner-treatment.js';
import { deliverVials } from '../queries/partner-order.js';
import type { PartnerWord } from '../rules/partner.js';

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
async function factsOf(ctx: Context, event: Envelope<Reported>): Promise<PartnerFacts | null> {
  const userId = event.user_id;
  if (!userId) return null;
  const unclear = await isUnclear(ctx, event.data);
  const [treatments, codes, known] = await Promise.all([
    unclear ? treatmentsOf(ctx, userId) : [],
    contraindicationsOf(ctx, userId),
    demographicsOf(ctx, userId),
  ]);
  return { treatments, codes, timeZone: known?.timeZone ?? 'UTC' };
}

/** Takes a report of a matched member once. */
const once =
  <Data extends Reported>(take: (ctx: Context, userId: string, event: Envelope<Data>) => Promise<void>) =>
  async (ctx: Context, event: Envelope<Data>): Promise<void> => {
    if (event.user_id && (await isNewReport(ctx, event.user_id, event.data))) await take(ctx, event.user_id, event);
  };

type OfTreatment = Reported & { treatment_ref: string; started_on?: string; reason?: string };

const treatmentOf = ({ treatment_ref: ref, program, started_on: startedOn, reason, reported_at: at }: OfTreatment): Treatment => ({
  ref,
  program: program ?? null,
  startedOn: startedOn ?? null,
  reason: reason ?? null,
  reportedAt: new Date(at),
});

const follow = (word: PartnerWord) => once<OfTreatment>((ctx, userId, { data }) => followPartner(ctx, userId, word, treatmentOf(data)));

/** What changes nothing here but is part of the record. */
const note = (action: string) =>
  once<Reported>(async (ctx, userId, { data }) => ctx.audit(action, userId, { partner_event: data.partner_event_id }));

const decided = once<Reported & { outcome: string }>(async (ctx, userId, { data }) => {
  const word: PartnerWord | null = data.outcome === 'approved' ? 'approved' : data.outcome === 'denied' ? 'denied' : null;
  ctx.audit('partner_consult.decided', userId, { outcome: data.outcome });
  if (word && data.treatment_ref) await followPartner(ctx, userId, word, treatmentOf(data as OfTreatment));
});

const delivered = once<Reported & { order_ref: string; delivered_at: string }>((ctx, userId, { data }) =>
  deliverVials(ctx, userId, data.order_ref, new Date(data.delivered_at)),
);

/** Treatments of the telehealth partner are interventions here; a delivery brings vials. Source: clinical 5, consumed. */
export const partner: Consumer<Context> = {
  name: 'clinical.partner',
  prepare: factsOf,
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
