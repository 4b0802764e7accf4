import { findRow, requireRow } from '../../../runtime/data/rows.js';
import { isStaff } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { Consult } from '../entities/consult.js';
import { Intervention, InterventionKind, InterventionSource, InterventionStatus as Status } from '../entities/intervention.js';
import { Protocol, ProtocolStatus } from '../entities/protocol.js';
import { visibleRows } from '../entities/value-access.js';
import { ChangeInterventionInput, InterventionAction, StartInterventionInput } from '../inputs/intervention.js';
import { contraindicationsOf } from '../ports/demographics.js';
import { loadProtocolVersion } from '../queries/dictionary.js';
import { lockPatient, lockUnerased, patientOf } from '../queries/patient.js';
import { endOfPlan } from '../rules/dose-schedule.js';
import { dateIn, firstStatus, type InterventionTrigger, isEnded } from '../rules/intervention.js';
import { newConsult } from './consult.js';
import { entered, moveIntervention, requireAllowed, requireNotRunning } from './intervention-life.js';

type Codes = readonly string[] | null;

/** The protocol that a call starts; null for a stack, which content defines. */
async function definitionOf(ctx: Context, { kind, key }: StartInterventionInput): Promise<Protocol | null> {
  if (kind === InterventionKind.STACK) return null;
  const protocol = await ctx.em.findOne(Protocol, { key, supersededAt: null, status: ProtocolStatus.ACTIVE });
  return protocol ?? invalid('/input/key', 'is not an active protocol');
}

function draft(ctx: Context, input: StartInterventionInput, patientId: string, protocol: Protocol | null): Intervention {
  const { kind, key, timeZone } = input;
  const today = dateIn(timeZone, ctx.now());
  const startedOn = input.startedOn ?? today;
  if (startedOn > today) invalid('/input/startedOn', 'lies in the future');
  const byStaff = isStaff(ctx.caller) && patientId !== ctx.caller.userId;
  return Object.assign(new Intervention(), {
    patientId,
    kind,
    key,
    definitionVersion: protocol?.version ?? null,
    startedOn,
    timeZone,
    createdAt: ctx.now(),
    ...endOfPlan(startedOn, timeZone, protocol),
    status: firstStatus(byStaff, protocol?.requiresConsult ?? false),
    source: byStaff ? InterventionSource.STAFF : InterventionSource.MEMBER,
    brandId: ctx.caller.brandId,
  });
}

const consultOf = (ctx: Context, { id, patientId, key }: Intervention): Consult =>
  newConsult(ctx, { patientId, type: key, interventionId: id });

/** Contraindications of the patient of a protocol, asked of patient-graph; null where they do not count, or nobody knows. */
export const startFacts = preparation(async (ctx, { input }: { input: StartInterventionInput }): Promise<Codes> =>
  input.kind === InterventionKind.PROTOCOL ? contraindicationsOf(ctx, patientOf(ctx, input.userId)) : null,
);

/** Starts a protocol or stack; one that staff starts is a proposal, one that needs a consult waits for it. @param codes of {@link startFacts}. */
export async function startIntervention(ctx: Context, input: StartInterventionInput, codes: Codes): Promise<Intervention> {
  const patientId = patientOf(ctx, input.userId);
  await lockUnerased(ctx, patientId);
  const one = draft(ctx, input, patientId, await definitionOf(ctx, input));
  if (one.status === Status.ACTIVE) await requireAllowed(ctx, one, codes);
  else await requireNotRunning(ctx, one);
  ctx.em.persist(one);
  if (one.status === Status.PENDING_CONSULT) consultOf(ctx, one);
  await entered(ctx, one);
  ctx.audit('intervention.started', one.id, { kind: one.kind, status: one.status });
  return one;
}

/** The transition that an action asks for: activation leads by way of a consult where the protocol needs one. */
async function triggerOf(ctx: Context, action: InterventionAction, one: Intervention): Promise<InterventionTrigger> {
  if (action !== InterventionAction.ACTIVATE || one.kind === InterventionKind.STACK) return action;
  const protocol = await loadProtocolVersion(ctx, one.key, one.definitionVersion!);
  return protocol?.requiresConsult && one.status === Status.PROPOSED ? 'require_consult' : action;
}

/** Contraindications of the patient of what an action makes active; null where it makes nothing active, or nobody knows. */
export const changeFacts = preparation(async (ctx, { input }: { input: ChangeInterventionInput }): Promise<Codes> => {
  if (![InterventionAction.ACTIVATE, InterventionAction.RESUME].includes(input.action)) return null;
  const one = await findRow(ctx, Intervention, { id: input.id });
  return one && contraindicationsOf(ctx, one.patientId);
});

/** Activates, pauses, resumes, stops or completes an intervention. @param codes of {@link changeFacts}. */
export async function changeIntervention(ctx: Context, input: ChangeInterventionInput, codes: Codes): Promise<Intervention> {
  const visible = visibleRows(ctx.caller, 'admin:clinical:protocols');
  const one = await requireRow(ctx, Intervention, { id: input.id, ...visible });
  if (input.action === InterventionAction.ACTIVATE && visible.patientId !== undefined)
    fail('forbidden', 'Only the care team activates an intervention');
  await lockPatient(ctx, one.patientId);
  const trigger = await triggerOf(ctx, input.action, one);
  await moveIntervention(ctx, one, trigger, codes);
  if (isEnded(one.status)) one.stopReason = input.reason ?? null;
  if (trigger === 'require_consult') consultOf(ctx, one);
  return one;
}
