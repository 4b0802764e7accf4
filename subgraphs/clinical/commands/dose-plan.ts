import { LockMode } from '@mikro-orm/postgresql';
import { doseReminderScheduled } from '../../../events/catalogue/clinical.js';
import type { Context } from '../../../runtime/request/context.js';
import { DoseLog, dosePlace, DoseLogStatus as Status, type SealedDose } from '../entities/dose.js';
import { Intervention } from '../entities/intervention.js';
import type { Protocol } from '../entities/protocol.js';
import { sealJson } from '../entities/sealed.js';
import { Vial, VialStatus } from '../entities/vial.js';
import { nextDoses, type PlannedDose } from '../rules/dose-schedule.js';
import { DAY_MS } from '../rules/retest-cycle.js';
import { loadProtocolVersion } from '../queries/dictionary.js';
import type { DueWork } from '../timers/care.js';

/** Doses can be logged so long afterwards, ms; then they are missed. Source: clinical 7.3.6. */
export const LOGGED_WITHIN_MS = 7 * DAY_MS;

/** The vial that a dose is taken from: the oldest one in use of the product. */
const vialFor = (ctx: Context, patientId: string, productCode: string): Promise<Vial | null> =>
  ctx.em.findOne(Vial, { patientId, productCode, status: VialStatus.IN_USE }, { orderBy: { reconstitutedAt: 'asc', id: 'asc' } });

async function plan(ctx: Context, one: Intervention, { dose, at }: PlannedDose): Promise<void> {
  const slot = { interventionId: one.id, productCode: dose.productCode, scheduledFor: at };
  if (await ctx.em.count(DoseLog, slot)) return;
  const vial = await vialFor(ctx, one.patientId, dose.productCode);
  const row = Object.assign(new DoseLog(), { ...slot, patientId: one.patientId, vialId: vial?.id ?? null, timeZone: one.timeZone });
  row.detailsSealed = sealJson(ctx, { quantity: dose.quantity, note: null } satisfies SealedDose, dosePlace(row.id));
  ctx.em.persist(row);
  const data = { reminder_id: row.id, protocol_id: one.id, vial_id: row.vialId, scheduled_for: at.toISOString(), time_zone: one.timeZone };
  ctx.emit(doseReminderScheduled, data, { userId: one.patientId, brandId: one.brandId });
  ctx.audit('dose.scheduled', row.id, { product: dose.productCode });
}

/** Plans the next dose of each product; the one after it is planned when its time has come. Source: clinical 5. */
export async function planDoses(ctx: Context, one: Intervention, { phases }: Protocol, after: Date): Promise<void> {
  const { startedOn, timeZone } = one;
  const next = nextDoses({ startedOn, timeZone, phases }, after);
  for (const planned of next) await plan(ctx, one, planned);
  const times = next.map(({ at }) => at.getTime());
  one.nextDoseAt = times.length ? new Date(Math.min(...times)) : null;
}

/** Doses that lie ahead of an intervention that does not run are no plan any more. */
export const dropPlannedDoses = (ctx: Context, { id }: Intervention): Promise<unknown> =>
  ctx.em.nativeDelete(DoseLog, { interventionId: id, status: Status.SCHEDULED, scheduledFor: { $gt: ctx.now() } });

export const doseDue: DueWork = async (ctx, at) => {
  const due = await ctx.em.find(
    Intervention,
    { nextDoseAt: { $lte: at } },
    { orderBy: { nextDoseAt: 'asc', id: 'asc' }, limit: 100, lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  for (const one of due) {
    const protocol = await loadProtocolVersion(ctx, one.key, one.definitionVersion!);
    await planDoses(ctx, one, protocol!, at);
  }
};

export const missedDoseDue: DueWork = async (ctx, at) => {
  const scheduledFor = { $lte: new Date(at.getTime() - LOGGED_WITHIN_MS) };
  const missed = await ctx.em.nativeUpdate(DoseLog, { status: Status.SCHEDULED, scheduledFor }, { status: Status.MISSED });
  ctx.audit('dose.missed', null, { doses: missed });
};
