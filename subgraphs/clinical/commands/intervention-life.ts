import { protocolStarted } from '../../../events/catalogue/clinical.js';
import { findRow, FOR_UPDATE } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { move } from '../../../runtime/request/states.js';
import { Intervention, InterventionKind, InterventionStatus as Status } from '../entities/intervention.js';
import type { Protocol } from '../entities/protocol.js';
import { RedFlag, RedFlagSeverity, RedFlagStatus } from '../entities/red-flag.js';
import { loadProtocolVersion } from '../queries/dictionary.js';
import { contraindicated, INTERVENTION_STATES, type InterventionTrigger, isEnded, isRunning, RUNNING } from '../rules/intervention.js';
import { planCheckIns } from './check-in.js';
import { dropPlannedDoses, planDoses } from './dose.js';

/** The definition that an intervention runs; null for a stack, which content defines, and for a program that only the partner defines. */
export const protocolOf = async (ctx: Context, { kind, key, definitionVersion }: Intervention): Promise<Protocol | null> =>
  kind === InterventionKind.STACK || definitionVersion === null ? null : loadProtocolVersion(ctx, key, definitionVersion);

export async function requireNotRunning(ctx: Context, { id, patientId, kind, key }: Intervention): Promise<void> {
  const running = await ctx.em.findOne(Intervention, {
    id: { $ne: id },
    patientId,
    kind,
    key,
    status: { $in: [...RUNNING] },
  });
  if (running) fail('conflict', `this ${kind} is ${running.status} already`, { reason: 'already_running' });
}

/**
 * What forbids that an intervention becomes active. @param codes contraindication codes of the patient, null where patient-graph could
 * not be asked: its outage stops no treatment, but the audit log notes that nobody has checked.
 * @throws Problem conflict. Source: clinical 3, intervention.
 */
export async function requireAllowed(ctx: Context, one: Intervention, codes: readonly string[] | null): Promise<void> {
  await requireNotRunning(ctx, one);
  const known = (await protocolOf(ctx, one))?.contraindications ?? [];
  if (contraindicated(known, codes ?? []).length)
    fail('conflict', 'the protocol is contraindicated for this patient', { reason: 'contraindicated' });
  const urgent = await ctx.em.count(RedFlag, { patientId: one.patientId, severity: RedFlagSeverity.URGENT, status: RedFlagStatus.OPEN });
  if (urgent) fail('conflict', 'an urgent red flag of this patient is open', { reason: 'urgent_red_flag' });
  if (codes === null && known.length) ctx.audit('intervention.contraindications_not_checked', one.id, { contraindications: known.length });
}

/** Version of a program that only the partner defines. */
const DEFINED_ELSEWHERE = 0;

/** First time active: the event, once. */
function announceStart(ctx: Context, one: Intervention): void {
  if (one.activatedAt !== null) return;
  one.activatedAt = ctx.now();
  if (one.kind !== InterventionKind.PROTOCOL) return;
  const data = {
    protocol_id: one.id,
    protocol: one.key,
    version: one.definitionVersion ?? DEFINED_ELSEWHERE,
    started_on: one.startedOn,
    prescriber_id: one.prescriberId,
  };
  ctx.emit(protocolStarted, data, { userId: one.patientId, brandId: one.brandId });
}

/** What follows from a state that was just entered: event, plans of doses and check-ins, or their end. */
export async function entered(ctx: Context, one: Intervention): Promise<void> {
  if (isEnded(one.status)) one.endedAt = ctx.now();
  if (one.status !== Status.ACTIVE) {
    Object.assign(one, { nextCheckInAt: null, nextDoseAt: null });
    await dropPlannedDoses(ctx, one);
    return;
  }
  announceStart(ctx, one);
  const protocol = await protocolOf(ctx, one);
  if (!protocol) return;
  await planCheckIns(ctx, one, protocol);
  await planDoses(ctx, one, protocol, ctx.now());
}

/** Moves an intervention that is locked with its patient. @throws Problem conflict. */
export async function moveIntervention(
  ctx: Context,
  one: Intervention,
  trigger: InterventionTrigger,
  codes: readonly string[] | null,
): Promise<void> {
  const from = one.status;
  const to = move(INTERVENTION_STATES, one.kind, from, trigger);
  if (to === Status.ACTIVE) await requireAllowed(ctx, one, codes);
  else if (isRunning(to) && !isRunning(from)) await requireNotRunning(ctx, one);
  one.status = to;
  await entered(ctx, one);
  ctx.audit(`intervention.${trigger}`, one.id, { from, to });
}

/** A consult's decision on the intervention that waits for it; one that waits no more is left alone. */
export async function decideIntervention(
  ctx: Context,
  id: string,
  effect: 'approve' | 'deny',
  { prescriberId, codes }: { prescriberId: string | null; codes: readonly string[] | null },
): Promise<void> {
  const one = await findRow(ctx, Intervention, { id }, FOR_UPDATE);
  if (!one || one.status !== Status.PENDING_CONSULT) return;
  if (effect === 'approve') one.prescriberId = prescriberId;
  await moveIntervention(ctx, one, effect, codes);
}

/** Interventions whose last day is over are completed. Source: clinical 3. */
export async function completeDueInterventions(ctx: Context, at: Date): Promise<void> {
  const over = await ctx.em.find(
    Intervention,
    { status: { $in: [...RUNNING] }, endsAt: { $lte: at } },
    { orderBy: { endsAt: 'asc', id: 'asc' }, limit: 100, ...FOR_UPDATE },
  );
  for (const one of over) await moveIntervention(ctx, one, 'complete', null);
}
