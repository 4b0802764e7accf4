import { doseReminderScheduled } from '../../../events/catalogue/clinical.js';
import { FOR_UPDATE, lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { after } from '../../../runtime/time/durations.js';
import { DoseLog, DoseLogStatus as Status } from '../entities/dose.js';
import { Intervention } from '../entities/intervention.js';
import { Protocol } from '../entities/protocol.js';
import { visibleRows } from '../entities/value-access.js';
import { Vial, VialStatus } from '../entities/vial.js';
import { DoseResult, LogDoseInput } from '../inputs/dose.js';
import { loadProtocolVersion } from '../queries/dictionary.js';
import { nextDoses, type PlannedDose } from '../rules/dose-schedule.js';
import { logDecision, LOGGED_WITHIN_MS } from '../rules/dose.js';
import { takeFrom } from './vial.js';

/** The vial that a dose is taken from: the oldest one in use of the product. */
const vialFor = (ctx: Context, patientId: string, productCode: string): Promise<Vial | null> =>
  ctx.em.findOne(Vial, { patientId, productCode, status: VialStatus.IN_USE }, { orderBy: { reconstitutedAt: 'asc', id: 'asc' } });

async function plan(ctx: Context, one: Intervention, { dose, at }: PlannedDose): Promise<void> {
  const slot = { interventionId: one.id, productCode: dose.productCode, scheduledFor: at };
  if (await ctx.em.count(DoseLog, slot)) return;
  const vial = await vialFor(ctx, one.patientId, dose.productCode);
  const row = Object.assign(new DoseLog(), { ...slot, patientId: one.patientId, vialId: vial?.id ?? null, timeZone: one.timeZone });
  row.seal(ctx, { quantity: dose.quantity, note: null });
  ctx.em.persist(row);
  const data = { reminder_id: row.id, protocol_id: one.id, vial_id: row.vialId, scheduled_for: at.toISOString(), time_zone: one.timeZone };
  ctx.emit(doseReminderScheduled, data, { userId: one.patientId, brandId: one.brandId });
  ctx.audit('dose.scheduled', row.id, { product: dose.productCode });
}

/** Plans the next dose of each product; the one after it is planned when its time has come. Source: clinical 5. */
export async function planDoses(ctx: Context, one: Intervention, { phases }: Protocol, from: Date): Promise<void> {
  const { startedOn, timeZone } = one;
  const next = nextDoses({ startedOn, timeZone, phases }, from);
  for (const planned of next) await plan(ctx, one, planned);
  const times = next.map(({ at }) => at.getTime());
  one.nextDoseAt = times.length ? new Date(Math.min(...times)) : null;
}

/** Doses that lie ahead of an intervention that does not run are no plan any more. */
export const dropPlannedDoses = (ctx: Context, { id }: Intervention): Promise<unknown> =>
  ctx.em.nativeDelete(DoseLog, { interventionId: id, status: Status.SCHEDULED, scheduledFor: { $gt: ctx.now() } });

/** Plans the doses that follow those whose time has come. */
export async function planDueDoses(ctx: Context, at: Date): Promise<void> {
  const due = await ctx.em.find(
    Intervention,
    { nextDoseAt: { $lte: at } },
    { orderBy: { nextDoseAt: 'asc', id: 'asc' }, limit: 100, ...FOR_UPDATE },
  );
  for (const one of due) {
    const protocol = await loadProtocolVersion(ctx, one.key, one.definitionVersion!);
    await planDoses(ctx, one, protocol!, at);
  }
}

/** Doses that nobody logged in time are missed. Source: clinical 7.3.6. */
export async function missDueDoses(ctx: Context, at: Date): Promise<void> {
  const late = { status: Status.SCHEDULED, scheduledFor: { $lte: after(at, -LOGGED_WITHIN_MS) } };
  const missed = await ctx.em.nativeUpdate(DoseLog, late, { status: Status.MISSED });
  ctx.audit('dose.missed', null, { doses: missed });
}

/** A dose was taken or skipped; logged twice alike it is the same one. */
export async function logDose(ctx: Context, input: LogDoseInput): Promise<DoseLog> {
  const row = await lockRow(ctx, DoseLog, { id: input.id, ...visibleRows(ctx.caller) });
  const takenAt = input.takenAt ?? ctx.now();
  const { refusal, repeated, errors } = logDecision(row, { status: input.status, takenAt, quantity: input.quantity ?? null }, ctx.now());
  if (repeated) return row;
  requireValid(errors);
  if (refusal) fail('conflict', refusal);
  const taken = input.status === DoseResult.TAKEN;
  row.vialId = input.vialId?.toLowerCase() ?? row.vialId;
  if (taken && row.vialId) await takeFrom(ctx, row.vialId, row.patientId);
  const { quantity, note } = row.open(ctx);
  row.seal(ctx, { quantity: input.quantity ? { ...input.quantity } : quantity, note: input.note ?? note });
  const status = taken ? Status.TAKEN : Status.SKIPPED;
  Object.assign(row, { status, takenAt: taken ? takenAt : null, site: input.site ?? null });
  ctx.audit('dose.logged', row.id, { status });
  return row;
}
