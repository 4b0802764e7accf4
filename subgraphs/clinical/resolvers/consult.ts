import { type FilterQuery, LockMode } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { consultCompleted } from '../../../events/catalogue/clinical.js';
import { Access } from '../../../runtime/access/access.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { requireVersion } from '../../../runtime/data/rows.js';
import { actorOf } from '../../../runtime/request/caller.js';
import { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { type Connection, page } from '../../../runtime/request/paging.js';
import { move } from '../../../runtime/request/states.js';
import { decideIntervention } from '../commands/intervention-life.js';
import { auditRead } from '../commands/read-audit.js';
import { detect } from '../commands/red-flag-detect.js';
import {
  Consult,
  CONSULT_READERS,
  ConsultConnection,
  ConsultOutcome,
  consultPlace,
  ConsultStatus as Status,
  type SealedConsult,
} from '../entities/consult.js';
import { Intervention } from '../entities/intervention.js';
import { RedFlagSource } from '../entities/red-flag.js';
import { sealJson } from '../entities/sealed.js';
import { visibleRows } from '../entities/value-access.js';
import {
  AddConsultAddendumInput,
  ConsultsArgs,
  MyConsultsArgs,
  RequestConsultInput,
  SignConsultInput,
  UpdateConsultInput,
} from '../inputs/consult.js';
import { contraindicationsOf } from '../ports/demographics.js';
import { pageOfPatient } from '../queries/pages.js';
import { lockPatient, patientOf, requireNotErased } from '../queries/patient.js';
import { CONSULT_STATES, type ConsultTrigger, EFFECT_ON_INTERVENTION } from '../rules/consult.js';

const READERS_OF_ALL = 'admin:clinical:consults|admin:clinical:read';
const refuse = (field: string, message: string): never =>
  fail('invalid_request', 'The input is invalid', { errors: [{ pointer: `/input/${field}`, message }] });

/** Answers by key: an object of at most 100 plain values. */
function checkedAnswers(answers: object | null | undefined): object | null {
  if (answers == null) return null;
  const values = Object.values(answers);
  const plain = !Array.isArray(answers) && values.length <= 100 && values.every(one => one === null || typeof one !== 'object');
  return plain && JSON.stringify(answers).length <= 20_000
    ? answers
    : refuse('intakeAnswers', 'must be an object of at most 100 plain values');
}

const reseal = (ctx: Context, consult: Consult, change: Partial<SealedConsult>): void =>
  void (consult.detailsSealed = sealJson(ctx, { ...consult.open(ctx), ...change }, consultPlace(consult.id)));

/** A consult that a patient asks for, or that an intervention waits for. */
export function newConsult(
  ctx: Context,
  of: { patientId: string; type: string; interventionId: string | null },
  intake: object | null,
): Consult {
  const consult = Object.assign(new Consult(), { ...of, createdAt: ctx.now() });
  const details = { intakeAnswers: intake, notes: null, addenda: [] } satisfies SealedConsult;
  consult.detailsSealed = sealJson(ctx, details, consultPlace(consult.id));
  ctx.em.persist(consult);
  ctx.audit('consult.requested', consult.id, { type: consult.type });
  return consult;
}

/** The consult, locked, if this caller may see it. @throws Problem not_found. */
async function locked(ctx: Context, id: string, permission = READERS_OF_ALL): Promise<Consult> {
  const where = { id: id.toLowerCase(), ...visibleRows(ctx.caller, permission) };
  const found = isUuid(id) ? await ctx.em.findOne(Consult, where, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
  return found ?? fail('not_found', 'Not found');
}

export function moveConsult(ctx: Context, consult: Consult, trigger: ConsultTrigger): void {
  const from = consult.status;
  consult.status = move(CONSULT_STATES, 'consult', from, trigger);
  ctx.audit(`consult.${trigger}`, consult.id, { from, to: consult.status });
}

const TRIGGERS: Partial<Record<Status, ConsultTrigger>> = { [Status.SCHEDULED]: 'schedule', [Status.IN_PROGRESS]: 'begin' };

function requireOpen({ status }: Consult): void {
  if (status === Status.SIGNED || status === Status.CANCELLED)
    fail('conflict', `a ${status} consult cannot be changed`, { reason: `consult_${status}` });
}

/** Contraindications of the patient whose intervention an approval would start. */
async function factsOfSigning(ctx: Context, { input }: { input: SignConsultInput }): Promise<readonly string[] | null> {
  if (input.outcome !== ConsultOutcome.APPROVED || !isUuid(input.id)) return null;
  const consult = await ctx.em.findOne(Consult, { id: input.id.toLowerCase() });
  return consult?.interventionId ? contraindicationsOf(ctx, consult.patientId) : null;
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

@Resolver(() => Consult)
export class ConsultResolver {
  @Access({ user: 'read:clinical' })
  @Query(() => ConsultConnection, { description: 'Own consults, newest first.' })
  myConsults(@Args(() => MyConsultsArgs) args: MyConsultsArgs, @Ctx() ctx: Context): Promise<Connection<Consult>> {
    const where = async (ids: readonly string[]) =>
      ({ patientId: { $in: [...ids] }, ...(args.status && { status: { $in: args.status } }) }) as FilterQuery<Consult>;
    return pageOfPatient(ctx, { entity: Consult, time: 'createdAt', name: 'consults', where }, ctx.caller.userId!, args);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:consults' })
  @Query(() => ConsultConnection, { description: 'Consults, newest first.' })
  async consults(@Args(() => ConsultsArgs) { userId, status, ...paging }: ConsultsArgs, @Ctx() ctx: Context): Promise<Connection<Consult>> {
    const where = { ...(userId && { patientId: userId }), ...(status && { status: { $in: status } }) } as FilterQuery<Consult>;
    const found = await page<Consult>(ctx.em, Consult, where, paging, { time: 'createdAt' });
    await auditRead(ctx, 'consults', found.nodes);
    return found;
  }

  @Access({ ...CONSULT_READERS, user: 'read:clinical' })
  @Query(() => Consult, { nullable: true, description: 'One consult; payments and workflow see its state and outcome.' })
  async consult(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<Consult | null> {
    const where = { id: id.toLowerCase(), ...visibleRows(ctx.caller, READERS_OF_ALL) };
    const found = isUuid(id) ? await ctx.em.findOne(Consult, where) : null;
    if (found) await auditRead(ctx, 'consults', [found]);
    return found;
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:consults', user: 'write:clinical', self: true })
  @Mutation(() => Consult, { description: 'Asks for a consult.' })
  async requestConsult(@Arg('input', () => RequestConsultInput) input: RequestConsultInput, @Ctx() ctx: Context): Promise<Consult> {
    const patientId = patientOf(ctx, input.userId);
    await lockPatient(ctx, patientId);
    await requireNotErased(ctx, patientId);
    const interventionId = input.interventionId?.toLowerCase() ?? null;
    if (interventionId && !(await ctx.em.findOne(Intervention, { id: interventionId, patientId })))
      fail('not_found', 'The intervention was not found');
    const intake = checkedAnswers(input.intakeAnswers);
    const consult = newConsult(ctx, { patientId, type: input.type, interventionId }, intake);
    if (intake) await detect(ctx, patientId, RedFlagSource.QUESTIONNAIRE, { answers: intake }, [consult.id]);
    return consult;
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:consults' })
  @Mutation(() => Consult, { description: 'Changes a consult that is not signed.' })
  async updateConsult(@Arg('input', () => UpdateConsultInput) input: UpdateConsultInput, @Ctx() ctx: Context): Promise<Consult> {
    const consult = await locked(ctx, input.id);
    requireOpen(consult);
    requireVersion(consult, input.version);
    consult.visitId = input.visitId?.toLowerCase() ?? consult.visitId;
    consult.clinicianId = input.clinicianId?.toLowerCase() ?? consult.clinicianId;
    const trigger = input.status && (TRIGGERS[input.status] ?? refuse('status', 'can be set to scheduled or in_progress'));
    if (trigger === 'schedule' && consult.visitId === null) refuse('visitId', 'is required by a scheduled consult');
    if (trigger) moveConsult(ctx, consult, trigger);
    const intake = checkedAnswers(input.intakeAnswers);
    if (input.notes != null || intake)
      reseal(ctx, consult, { ...(input.notes != null && { notes: input.notes }), ...(intake && { intakeAnswers: intake }) });
    ctx.audit('consult.updated', consult.id, { status: consult.status });
    return consult;
  }

  @Access({ staff: 'admin:clinical:consults' })
  @Prepare(factsOfSigning)
  @Mutation(() => Consult, { description: 'Signs a consult; only its own clinician can. What waits for it goes on or ends.' })
  async signConsult(@Arg('input', () => SignConsultInput) input: SignConsultInput, @Ctx() ctx: Context): Promise<Consult> {
    const consult = await locked(ctx, input.id);
    if (consult.clinicianId !== ctx.caller.userId) fail('forbidden', 'Only the assigned clinician signs a consult');
    requireVersion(consult, input.version);
    await lockPatient(ctx, consult.patientId);
    moveConsult(ctx, consult, 'sign');
    Object.assign(consult, { outcome: input.outcome, followUpDueOn: input.followUpDueOn ?? null, signedAt: ctx.now() });
    if (input.notes != null) reseal(ctx, consult, { notes: input.notes });
    announce(ctx, consult);
    const effect = EFFECT_ON_INTERVENTION[input.outcome];
    if (effect && consult.interventionId)
      await decideIntervention(ctx, consult.interventionId, effect, {
        prescriberId: consult.clinicianId,
        codes: ctx.facts as string[] | null,
      });
    return consult;
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:consults' })
  @Mutation(() => Consult, { description: 'Adds to a signed consult, which itself never changes.' })
  async addConsultAddendum(
    @Arg('input', () => AddConsultAddendumInput) { id, text }: AddConsultAddendumInput,
    @Ctx() ctx: Context,
  ): Promise<Consult> {
    const consult = await locked(ctx, id);
    if (consult.status !== Status.SIGNED) fail('conflict', `a ${consult.status.replaceAll('_', ' ')} consult takes no addendum`);
    const addenda = [...consult.open(ctx).addenda, { at: ctx.now().toISOString(), by: actorOf(ctx.caller), text }];
    reseal(ctx, consult, { addenda });
    ctx.audit('consult.addendum_added', consult.id, { addenda: addenda.length });
    return consult;
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:consults', user: 'write:clinical' })
  @Mutation(() => Consult, { description: 'Cancels a consult that is not signed.' })
  async cancelConsult(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<Consult> {
    const consult = await locked(ctx, id, 'admin:clinical:consults');
    moveConsult(ctx, consult, 'cancel');
    return consult;
  }
}
