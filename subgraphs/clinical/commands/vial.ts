import { vialCreated, vialDiscarded } from '../../../events/catalogue/clinical.js';
import { FOR_UPDATE, lockRow, requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { move } from '../../../runtime/request/states.js';
import { Intervention } from '../entities/intervention.js';
import { visibleRows } from '../entities/value-access.js';
import { Vial, VialDiscardReason, VialStatus } from '../entities/vial.js';
import { CreateVialInput, DiscardVialInput, ReconstituteVialInput } from '../inputs/vial.js';
import { lockUnerased, patientOf } from '../queries/patient.js';
import { beyondUseOn, endOf, VIAL_STATES, type VialTrigger } from '../rules/vial.js';

export type NewVial = Pick<Vial, 'patientId' | 'productCode' | 'expiresOn' | 'stabilityDays' | 'dosesPlanned'> &
  Partial<Pick<Vial, 'lot' | 'coaId' | 'interventionId' | 'content' | 'sourceRef'>>;

/** Registers a vial and announces it. */
export function newVial(ctx: Context, of: NewVial): Vial {
  const vial = Object.assign(new Vial(), { ...of, dosesRemaining: of.dosesPlanned, expiresAt: endOf(of.expiresOn), createdAt: ctx.now() });
  ctx.em.persist(vial);
  const { id, productCode, interventionId, expiresOn, dosesPlanned, patientId: userId } = vial;
  const data = { vial_id: id, product_code: productCode, protocol_id: interventionId, expires_on: expiresOn, doses_planned: dosesPlanned };
  ctx.emit(vialCreated, data, { userId });
  ctx.audit('vial.created', id, { product: productCode });
  return vial;
}

/** Registers a vial of a patient. */
export async function createVial(ctx: Context, input: CreateVialInput): Promise<Vial> {
  const patientId = patientOf(ctx, input.userId);
  await lockUnerased(ctx, patientId);
  if (endOf(input.expiresOn) <= ctx.now()) invalid('/input/expiresOn', 'lies in the past');
  if (input.content && !(input.content.value > 0)) invalid('/input/content/value', 'must be more than 0');
  const interventionId = input.interventionId?.toLowerCase() ?? null;
  if (interventionId) await requireRow(ctx, Intervention, { id: interventionId, patientId }, 'The intervention was not found');
  const { productCode, expiresOn, stabilityDays, dosesPlanned } = input;
  return newVial(ctx, {
    patientId,
    productCode,
    expiresOn,
    stabilityDays,
    dosesPlanned,
    interventionId,
    lot: input.lot ?? null,
    coaId: input.coaId?.toLowerCase() ?? null,
    content: input.content ? { ...input.content } : null,
  });
}

/** Ends a vial and announces it. @throws Problem conflict. */
function discard(ctx: Context, vial: Vial, reason: VialDiscardReason): void {
  const from = vial.status;
  vial.status = move(VIAL_STATES, 'vial', from, 'discard');
  Object.assign(vial, { discardReason: reason, discardedAt: ctx.now() });
  ctx.emit(vialDiscarded, { vial_id: vial.id, reason, discarded_at: ctx.now().toISOString() }, { userId: vial.patientId });
  ctx.audit('vial.discarded', vial.id, { from, reason });
}

/** Takes a dose out of a vial; the last one ends it. @throws Problem conflict for a vial that is not in use. */
export async function takeFrom(ctx: Context, vialId: string, patientId: string): Promise<void> {
  const vial = await lockRow(ctx, Vial, { id: vialId, patientId }, 'The vial was not found');
  if (vial.status !== VialStatus.IN_USE) fail('conflict', `a ${vial.status} vial is not in use`, { reason: 'vial_not_in_use' });
  vial.dosesRemaining -= 1;
  if (vial.dosesRemaining <= 0) discard(ctx, vial, VialDiscardReason.USED_UP);
}

const lockVial = (ctx: Context, id: string): Promise<Vial> =>
  lockRow(ctx, Vial, { id, ...visibleRows(ctx.caller, 'admin:clinical:protocols') });

/** A new vial is in use from now on. */
export async function reconstituteVial(ctx: Context, input: ReconstituteVialInput): Promise<Vial> {
  const vial = await lockVial(ctx, input.id);
  const at = input.at ?? ctx.now();
  if (at > ctx.now()) invalid('/input/at', 'lies in the future');
  vial.status = move<VialStatus, VialTrigger>(VIAL_STATES, 'vial', vial.status, 'reconstitute');
  const last = beyondUseOn(at.toISOString().slice(0, 10), vial.stabilityDays, vial.expiresOn);
  Object.assign(vial, { reconstitutedAt: at, diluentMl: input.diluentMl ?? null, beyondUseOn: last, expiresAt: endOf(last) });
  ctx.audit('vial.reconstituted', vial.id, {});
  return vial;
}

/** Discards a vial that the caller may see. */
export async function discardVial(ctx: Context, { id, reason }: DiscardVialInput): Promise<Vial> {
  const vial = await lockVial(ctx, id);
  discard(ctx, vial, reason);
  return vial;
}

/** Vials past their last day are discarded. Source: clinical 3. */
export async function discardExpiredVials(ctx: Context, at: Date): Promise<void> {
  const over = await ctx.em.find(
    Vial,
    { status: { $ne: VialStatus.DISCARDED }, expiresAt: { $lte: at } },
    { orderBy: { expiresAt: 'asc', id: 'asc' }, limit: 100, ...FOR_UPDATE },
  );
  for (const vial of over) discard(ctx, vial, VialDiscardReason.EXPIRED);
}
