import { findRow, FOR_UPDATE } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { protocolOf } from '../commands/intervention-life.js';
import { Intervention, InterventionKind, InterventionSource, InterventionStatus as Status } from '../entities/intervention.js';
import { PartnerReport } from '../entities/neighbours.js';
import { Protocol, ProtocolStatus } from '../entities/protocol.js';
import { DEFAULT_STABILITY_DAYS, Vial } from '../entities/vial.js';
import type { PartnerTreatment } from '../ports/partner.js';
import { isErased, lockPatient } from '../queries/patient.js';
import { endOfPlan } from '../rules/dose-schedule.js';
import { dateIn, plusDays, WAITING } from '../rules/intervention.js';
import { type PartnerReportKind, productsOf, triggerOf } from '../rules/partner.js';
import { DELIVERED_KEEPS_DAYS, dosesOfDelivery } from '../rules/vial.js';
import { moveIntervention } from './intervention-life.js';
import { flagContraindication } from './red-flag.js';
import { newVial } from './vial.js';

/** What was asked of neighbours before a report is taken. */
export interface PartnerFacts {
  treatments: readonly PartnerTreatment[];
  codes: readonly string[] | null;
  timeZone: string;
}

/** A treatment as a report names it. */
export interface Treatment {
  ref: string;
  program: string | null;
  startedOn: string | null;
  reason: string | null;
  reportedAt: Date;
}

/** Whether a report was not taken before; the patient is locked from then on. Source: clinical 5, key partner_event_id. */
export async function isNewReport(
  ctx: Context,
  patientId: string,
  { partner_event_id: id, reported_at: at }: { partner_event_id: string; reported_at: string },
): Promise<boolean> {
  await lockPatient(ctx, patientId);
  if (await isErased(ctx, patientId)) return false;
  if (await ctx.em.count(PartnerReport, { partnerEventId: id })) return false;
  ctx.em.persist(Object.assign(new PartnerReport(), { partnerEventId: id, patientId, reportedAt: new Date(at) }));
  return true;
}

/** The intervention of a treatment: the one that has its reference, else one that waits for the same program. */
async function interventionOf(ctx: Context, patientId: string, ref: string, program: string | null): Promise<Intervention | null> {
  const known = await findRow(ctx, Intervention, { partnerTreatmentRef: ref, patientId }, FOR_UPDATE);
  if (known || program === null) return known;
  const status = { $in: [...WAITING] };
  const waiting = { patientId, kind: InterventionKind.PROTOCOL, key: program, partnerTreatmentRef: null, status };
  const found = await findRow(ctx, Intervention, waiting, { ...FOR_UPDATE, orderBy: { createdAt: 'asc' } });
  return found && Object.assign(found, { partnerTreatmentRef: ref });
}

/** A proposal for a treatment that is new here. A program without a protocol of that key is defined at the partner alone. */
async function propose(ctx: Context, patientId: string, program: string, treatment: Treatment, timeZone: string): Promise<Intervention> {
  const protocol = await ctx.em.findOne(Protocol, { key: program, supersededAt: null, status: ProtocolStatus.ACTIVE });
  const startedOn = treatment.startedOn ?? dateIn(timeZone, treatment.reportedAt);
  const one = Object.assign(new Intervention(), {
    patientId,
    kind: InterventionKind.PROTOCOL,
    key: program,
    definitionVersion: protocol?.version ?? null,
    status: Status.PROPOSED,
    source: InterventionSource.PARTNER,
    partnerTreatmentRef: treatment.ref,
    startedOn,
    timeZone,
    createdAt: ctx.now(),
    ...endOfPlan(startedOn, timeZone, protocol),
  });
  await ctx.em.persist(one).flush();
  ctx.audit('intervention.started', one.id, { kind: one.kind, status: one.status, source: one.source });
  return one;
}

/** A start that the rules of clinical forbid stays a proposal, and a contraindication becomes a red flag for clinicians: the partner has decided otherwise. */
async function refused(ctx: Context, one: Intervention, problem: Problem): Promise<void> {
  ctx.audit('intervention.start_refused', one.id, { reason: problem.options.reason ?? problem.code });
  if (problem.options.reason === 'contraindicated') await flagContraindication(ctx, one.patientId, [one.id]);
}

/** The rule that stood against a change; it is decided before anything is changed. */
async function attempted(change: Promise<void>): Promise<Problem | null> {
  try {
    await change;
    return null;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** The treatment's program by the report, else by partner's own list. */
const programOf = ({ treatments }: PartnerFacts, { ref, program }: Treatment): string | null =>
  program ?? treatments.find(one => one.treatmentRef === ref)?.program.key ?? null;

/** Follows what the partner reports of a treatment; what is older than the newest report changes nothing. Source: clinical 5. */
export async function followPartner(
  ctx: Context,
  patientId: string,
  kind: PartnerReportKind,
  treatment: Treatment,
  facts: PartnerFacts,
): Promise<void> {
  const program = programOf(facts, treatment);
  const known = await interventionOf(ctx, patientId, treatment.ref, program);
  if (!known && program === null) return ctx.log.warn({ kind }, 'a partner treatment is unknown here and at partner');
  const one = known ?? (await propose(ctx, patientId, program!, treatment, facts.timeZone));
  if (one.partnerReportedAt && one.partnerReportedAt > treatment.reportedAt) return;
  one.partnerReportedAt = treatment.reportedAt;
  const trigger = triggerOf(kind, one.status);
  if (trigger === null) return;
  if (kind === 'active' && treatment.startedOn) one.startedOn = treatment.startedOn;
  const problem = await attempted(moveIntervention(ctx, one, trigger, facts.codes));
  if (problem) return refused(ctx, one, problem);
  if (trigger === 'stop') one.stopReason = treatment.reason ?? kind;
}

/** The intervention that an order of the partner is for; null where partner knows none. */
async function interventionOfOrder(
  ctx: Context,
  patientId: string,
  orderRef: string,
  { treatments }: PartnerFacts,
): Promise<Intervention | null> {
  const treatment = treatments.find(one => one.orders.some(order => order.orderRef === orderRef));
  return treatment ? ctx.em.findOne(Intervention, { patientId, partnerTreatmentRef: treatment.treatmentRef }) : null;
}

/** What was delivered of a partner's order. */
interface Delivery {
  orderRef: string;
  at: Date;
}

/**
 * Registers a vial of each product of the treatment that an order was for, once per order. A treatment without doses of ours brings
 * one of the program itself. Source: clinical 5, consumed.
 */
export async function deliverVials(ctx: Context, patientId: string, { orderRef, at }: Delivery, facts: PartnerFacts): Promise<void> {
  const one = await interventionOfOrder(ctx, patientId, orderRef, facts);
  if (!one) return ctx.log.warn({ order: orderRef }, 'a delivery of the partner belongs to no treatment that is known here');
  const phases = (await protocolOf(ctx, one))?.phases ?? [];
  const products = productsOf(phases);
  const expiresOn = plusDays(dateIn(one.timeZone, at), DELIVERED_KEEPS_DAYS);
  const common = { patientId, expiresOn, stabilityDays: DEFAULT_STABILITY_DAYS, interventionId: one.id };
  for (const productCode of products.length ? products : [one.key]) {
    const sourceRef = `partner:${orderRef}:${productCode}`;
    if (await ctx.em.count(Vial, { sourceRef })) continue;
    newVial(ctx, { ...common, productCode, dosesPlanned: dosesOfDelivery(phases, productCode), sourceRef });
  }
}
