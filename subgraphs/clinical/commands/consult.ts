import { consultCompleted } from '../../../events/catalogue/clinical.js';
import { findRow, lockRow, requireRow, requireVersion } from '../../../runtime/data/rows.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { move } from '../../../runtime/request/states.js';
import {
  Consult,
  CONSULT_READERS,
  ConsultOutcome,
  ConsultStatus as Status,
  RetainedConsult,
  type SealedConsult,
} from '../entities/consult.js';
import { Intervention } from '../entities/intervention.js';
import { RedFlagSource } from '../entities/red-flag.js';
import { visibleRows } from '../entities/value-access.js';
import { AddConsultAddendumInput, RequestConsultInput, SignConsultInput, UpdateConsultInput } from '../inputs/consult.js';
import { contraindicationsOf } from '../ports/demographics.js';
import { given } from '../queries/conditions.js';
import { lockPatient, lockUnerased, patientOf } from '../queries/patient.js';
import {
  areAnswers,
  CONSULT_STATES,
  type ConsultTrigger,
  EFFECT_ON_INTERVENTION,
  isOpenConsult,
  keepUntil,
  retentionYears,
  TRIGGER_OF_STATUS,
} from '../rules/consult.js';
import { decideIntervention } from './intervention-life.js';
import { detect } from './red-flag.js';

/** What a consult is about, and what was answered before it. */
interface NewConsult {
  patientId: string;
  type: string;
  interventionId: string | null;
  intakeAnswers?: object | null;
}

/** A consult that a patient asks for, or that an intervention waits for. */
export function newConsult(ctx: Context, { intakeAnswers = null, ...of }: NewConsult): Consult {
  const consult = Object.assign(new Consult(), { ...of, createdAt: ctx.now() });
  consult.seal(ctx, { intakeAnswers, notes: null, addenda: [] });
  ctx.em.persist(consult);
  ctx.audit('consult.requested', consult.id, { type: consult.type });
  return consult;
}

/** Moves a consult that is locked, or that nobody else can reach. @throws Problem conflict. */
function moveConsult(ctx: Context, consult: Consult, trigger: ConsultTrigger): void {
  const from = consult.status;
  consult.status = move(CONSULT_STATES, 'consult', from, trigger);
  ctx.audit(`consult.${trigger}`, consult.id, { from, to: consult.status });
}

const reseal = (ctx: Context, consult: Consult, change: Partial<SealedConsult>): void =>
  consult.seal(ctx, { ...consult.open(ctx), ...change });

/** The consult, locked, if this caller may see it. @throws Problem not_found. */
const lockConsult = (ctx: Context, id: string, permission: string = CONSULT_READERS.staff): Promise<Consult> =>
  lockRow(ctx, Consult, { id, ...visibleRows(ctx.caller, permission) });

function checkedAnswers(answers: object | null | undefined): object | null {
  if (answers != null && !areAnswers(answers)) invalid('/input/intakeAnswers', 'must be an object of at most 100 plain values');
  return answers ?? null;
}

/** Asks for a consult; red flags are judged on the answers. */
export async function requestConsult(ctx: Context, input: RequestConsultInput): Promise<Consult> {
  const patientId = patientOf(ctx, input.userId);
  await lockUnerased(ctx, patientId);
  const interventionId = input.interventionId?.toLowerCase() ?? null;
  if (interventionId) await requireRow(ctx, Intervention, { id: interventionId, patientId }, 'The intervention was not found');
  const intakeAnswers = checkedAnswers(input.intakeAnswers);
  const consult = newConsult(ctx, { patientId, type: input.type, interventionId, intakeAnswers });
  if (intakeAnswers) await detect(ctx, patientId, RedFlagSource.QUESTIONNAIRE, { answers: intakeAnswers }, [consult.id]);
  return consult;
}

function requireOpen({ status }: Consult): void {
  if (!isOpenConsult(status)) fail('conflict', `a ${status} consult cannot be changed`, { reason: `consult_${status}` });
}

function applyStatus(ctx: Context, consult: Consult, status: Status): void {
  const trigger = TRIGGER_OF_STATUS[status] ?? invalid('/input/status', 'can be set to scheduled or in_progress');
  if (trigger === 'schedule' && consult.visitId === null) invalid('/input/visitId', 'is required by a scheduled consult');
  moveConsult(ctx, consult, trigger);
}

/** Changes what is given of a consult that is not signed. */
export async function updateConsult(ctx: Context, input: UpdateConsultInput): Promise<Consult> {
  const consult = await lockConsult(ctx, input.id);
  requireOpen(consult);
  requireVersion(consult, input.version);
  consult.visitId = input.visitId?.toLowerCase() ?? consult.visitId;
  consult.clinicianId = input.clinicianId?.toLowerCase() ?? consult.clinicianId;
  if (input.status) applyStatus(ctx, consult, input.status);
  const change = given({ notes: input.notes, intakeAnswers: checkedAnswers(input.intakeAnswers) });
  if (Object.keys(change).length) reseal(ctx, consult, change);
  ctx.audit('consult.updated', consult.id, { status: consult.status });
  return consult;
}

function announce(ctx: Context, { id, visitId, type, signedAt, followUpDueOn, patientId: userId }: Consult): void {
  const data = {
    consult_id: id,
    visit_id: visitId,
    consult_type: type,
    completed_at: signedAt!.toISOString(),
    follow_up_due_on: followUpDueOn,
  };
  ctx.emit(consultCompleted, data, { userId });
}

/** Contraindications of the patient whose intervention an approval would start; null where none would, or nobody knows. */
export const signFacts = preparation(async (ctx, { input }: { input: SignConsultInput }) => {
  if (input.outcome !== ConsultOutcome.APPROVED) return null;
  const consult = await findRow(ctx, Consult, { id: input.id });
  return consult?.interventionId ? contraindicationsOf(ctx, consult.patientId) : null;
});

/** Signs a consult of the caller's own; what waits for it goes on or ends. @param codes of {@link signFacts}. */
export async function signConsult(ctx: Context, input: SignConsultInput, codes: readonly string[] | null): Promise<Consult> {
  const consult = await lockConsult(ctx, input.id);
  if (consult.clinicianId !== ctx.caller.userId) fail('forbidden', 'Only the assigned clinician signs a consult');
  requireVersion(consult, input.version);
  await lockPatient(ctx, consult.patientId);
  moveConsult(ctx, consult, 'sign');
  Object.assign(consult, { outcome: input.outcome, followUpDueOn: input.followUpDueOn ?? null, signedAt: ctx.now() });
  if (input.notes != null) reseal(ctx, consult, { notes: input.notes });
  announce(ctx, consult);
  const effect = EFFECT_ON_INTERVENTION[input.outcome];
  const { interventionId, clinicianId: prescriberId } = consult;
  if (effect && interventionId) await decideIntervention(ctx, interventionId, effect, { prescriberId, codes });
  return consult;
}

/** Adds to a signed consult, which itself never changes. */
export async function addConsultAddendum(ctx: Context, { id, text }: AddConsultAddendumInput): Promise<Consult> {
  const consult = await lockConsult(ctx, id);
  if (consult.status !== Status.SIGNED) fail('conflict', `a ${consult.status.replaceAll('_', ' ')} consult takes no addendum`);
  const addenda = [...consult.open(ctx).addenda, { at: ctx.now().toISOString(), by: actorOf(ctx.caller), text }];
  reseal(ctx, consult, { addenda });
  ctx.audit('consult.addendum_added', consult.id, { addenda: addenda.length });
  return consult;
}

/** Cancels a consult that is not signed. */
export async function cancelConsult(ctx: Context, id: string): Promise<Consult> {
  const consult = await lockConsult(ctx, id, 'admin:clinical:consults');
  moveConsult(ctx, consult, 'cancel');
  return consult;
}

/** The consult of a patient that a visit is for: asked for with the visit's type, else the only one that waits. */
async function consultFor(ctx: Context, patientId: string, type: string): Promise<Consult | null> {
  const waiting = await ctx.em.find(Consult, { patientId, status: Status.REQUESTED }, { orderBy: { createdAt: 'asc', id: 'asc' } });
  return waiting.find(one => one.type === type) ?? (waiting.length === 1 ? waiting[0]! : null);
}

/** The consult that is scheduled with a visit. */
const scheduledWith = (ctx: Context, visitId: string): Promise<Consult | null> =>
  ctx.em.findOne(Consult, { visitId, status: Status.SCHEDULED });

/** Schedules the consult that a new visit is for. */
export async function scheduleFor(ctx: Context, patientId: string, visit: { id: string; type: string }): Promise<void> {
  const consult = await consultFor(ctx, patientId, visit.type);
  if (!consult) return;
  consult.visitId = visit.id;
  moveConsult(ctx, consult, 'schedule');
}

export async function rescheduleWith(ctx: Context, visitId: string): Promise<void> {
  const consult = await scheduledWith(ctx, visitId);
  if (consult) moveConsult(ctx, consult, 'schedule');
}

/** The consult of a visit that was cancelled waits for another one. */
export async function unscheduleWith(ctx: Context, visitId: string): Promise<void> {
  const consult = await scheduledWith(ctx, visitId);
  if (!consult) return;
  consult.visitId = null;
  moveConsult(ctx, consult, 'unschedule');
}

const yearsOf = (ctx: Context): number => retentionYears(ctx.host.config.setting('CLINICAL_RETAIN_SIGNED_CONSULT_YEARS'));

/** Why signed consults outlive an erasure. */
export const basisOf = (ctx: Context): string => `medical records: signed consults are kept for ${yearsOf(ctx)} years`;

/** Keeps type and dates of a patient's signed consults where they must be kept, nobody's from then on. Answers how many. */
export async function retainConsults(ctx: Context, patientId: string): Promise<number> {
  const years = yearsOf(ctx);
  if (years === 0) return 0;
  const signed = await ctx.em.find(Consult, { patientId, status: Status.SIGNED });
  const kept = signed.map(({ id, type, createdAt, signedAt, followUpDueOn }) =>
    Object.assign(new RetainedConsult(), { id, type, createdAt, signedAt, followUpDueOn, keepUntil: keepUntil(signedAt!, years) }),
  );
  const due = kept.filter(one => one.keepUntil > ctx.now());
  if (due.length) await ctx.em.insertMany(due);
  return due.length;
}

/** What need not be kept any longer goes. */
export async function deleteRetainedConsults(ctx: Context, at: Date): Promise<void> {
  const rows = await ctx.em.nativeDelete(RetainedConsult, { keepUntil: { $lte: at } });
  ctx.audit('retained_consult.deleted', null, { rows });
}
