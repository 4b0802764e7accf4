import { LockMode } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { vialCreated, vialDiscarded } from '../../../events/catalogue/clinical.js';
import { Access } from '../../../runtime/access/access.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { type Connection, page, PageArgs } from '../../../runtime/request/paging.js';
import { move } from '../../../runtime/request/states.js';
import { Intervention } from '../entities/intervention.js';
import { visibleRows } from '../entities/value-access.js';
import { Vial, VialConnection, VialDiscardReason, VialStatus } from '../entities/vial.js';
import { CreateVialInput, DiscardVialInput, ReconstituteVialInput, VialsArgs } from '../inputs/vial.js';
import { lockPatient, patientOf, requireNotErased } from '../queries/patient.js';
import { beyondUseOn, endOf, VIAL_STATES, type VialTrigger } from '../rules/vial.js';
import type { DueWork } from '../timers/care.js';

const refuse = (field: string, message: string): never =>
  fail('invalid_request', 'The input is invalid', { errors: [{ pointer: `/input/${field}`, message }] });

export type NewVial = Pick<Vial, 'patientId' | 'productCode' | 'expiresOn' | 'stabilityDays' | 'dosesPlanned'> &
  Partial<Pick<Vial, 'lot' | 'coaId' | 'interventionId' | 'content' | 'sourceRef'>>;

/** Registers a vial and tells of it. */
export function newVial(ctx: Context, of: NewVial): Vial {
  const vial = Object.assign(new Vial(), { ...of, dosesRemaining: of.dosesPlanned, expiresAt: endOf(of.expiresOn), createdAt: ctx.now() });
  ctx.em.persist(vial);
  const { id, productCode, interventionId, expiresOn, dosesPlanned, patientId: userId } = vial;
  const data = { vial_id: id, product_code: productCode, protocol_id: interventionId, expires_on: expiresOn, doses_planned: dosesPlanned };
  ctx.emit(vialCreated, data, { userId });
  ctx.audit('vial.created', id, { product: productCode });
  return vial;
}

/** Ends a vial and tells of it. @throws Problem conflict. */
export function discard(ctx: Context, vial: Vial, reason: VialDiscardReason): void {
  const from = vial.status;
  vial.status = move(VIAL_STATES, 'vial', from, 'discard');
  Object.assign(vial, { discardReason: reason, discardedAt: ctx.now() });
  ctx.emit(vialDiscarded, { vial_id: vial.id, reason, discarded_at: ctx.now().toISOString() }, { userId: vial.patientId });
  ctx.audit('vial.discarded', vial.id, { from, reason });
}

/** Takes a dose out of a vial; the last one ends it. @throws Problem conflict for a vial that is not in use. */
export async function takeFrom(ctx: Context, vialId: string, patientId: string): Promise<void> {
  const vial = await ctx.em.findOne(Vial, { id: vialId, patientId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!vial) fail('not_found', 'The vial was not found');
  if (vial!.status !== VialStatus.IN_USE) fail('conflict', `a ${vial!.status} vial is not in use`, { reason: 'vial_not_in_use' });
  vial!.dosesRemaining -= 1;
  if (vial!.dosesRemaining <= 0) discard(ctx, vial!, VialDiscardReason.USED_UP);
}

async function locked(ctx: Context, id: string): Promise<Vial> {
  const where = { id: id.toLowerCase(), ...visibleRows(ctx.caller, 'admin:clinical:protocols') };
  const found = isUuid(id) ? await ctx.em.findOne(Vial, where, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
  return found ?? fail('not_found', 'Not found');
}

/** Vials past their last day are discarded. Source: clinical 3. */
export const vialExpiryDue: DueWork = async (ctx, at) => {
  const over = await ctx.em.find(
    Vial,
    { status: { $ne: VialStatus.DISCARDED }, expiresAt: { $lte: at } },
    { orderBy: { expiresAt: 'asc', id: 'asc' }, limit: 100, lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  for (const vial of over) discard(ctx, vial, VialDiscardReason.EXPIRED);
};

@Resolver(() => Vial)
export class VialResolver {
  @Access({ user: 'read:protocols' })
  @Query(() => VialConnection, { description: 'Own vials, newest first.' })
  myVials(@Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<Vial>> {
    return page(ctx.em, Vial, { patientId: ctx.caller.userId! }, args, { time: 'createdAt' });
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:protocols', internal: ['patient-graph'] })
  @Query(() => VialConnection, { description: "A patient's vials, newest first." })
  vials(@Args(() => VialsArgs) { userId, ...paging }: VialsArgs, @Ctx() ctx: Context): Promise<Connection<Vial>> {
    return page(ctx.em, Vial, { patientId: userId.toLowerCase() }, paging, { time: 'createdAt' });
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:protocols', user: 'write:protocols', self: true })
  @Mutation(() => Vial, { description: 'Registers a vial.' })
  async createVial(@Arg('input', () => CreateVialInput) input: CreateVialInput, @Ctx() ctx: Context): Promise<Vial> {
    const patientId = patientOf(ctx, input.userId);
    await lockPatient(ctx, patientId);
    await requireNotErased(ctx, patientId);
    if (endOf(input.expiresOn) <= ctx.now()) refuse('expiresOn', 'lies in the past');
    if (input.content && !(input.content.value > 0)) refuse('content/value', 'must be more than 0');
    const interventionId = input.interventionId?.toLowerCase() ?? null;
    if (interventionId && !(await ctx.em.findOne(Intervention, { id: interventionId, patientId })))
      fail('not_found', 'The intervention was not found');
    const { productCode, expiresOn, stabilityDays, dosesPlanned } = input;
    const optional = {
      lot: input.lot ?? null,
      coaId: input.coaId?.toLowerCase() ?? null,
      content: input.content ? { ...input.content } : null,
    };
    return newVial(ctx, { patientId, productCode, expiresOn, stabilityDays, dosesPlanned, interventionId, ...optional });
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:protocols', user: 'write:protocols' })
  @Mutation(() => Vial, { description: 'A new vial is in use from now on.' })
  async reconstituteVial(@Arg('input', () => ReconstituteVialInput) input: ReconstituteVialInput, @Ctx() ctx: Context): Promise<Vial> {
    const vial = await locked(ctx, input.id);
    const at = input.at ?? ctx.now();
    if (at > ctx.now()) refuse('at', 'lies in the future');
    vial.status = move<VialStatus, VialTrigger>(VIAL_STATES, 'vial', vial.status, 'reconstitute');
    const last = beyondUseOn(at.toISOString().slice(0, 10), vial.stabilityDays, vial.expiresOn);
    Object.assign(vial, { reconstitutedAt: at, diluentMl: input.diluentMl ?? null, beyondUseOn: last, expiresAt: endOf(last) });
    ctx.audit('vial.reconstituted', vial.id, {});
    return vial;
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:protocols', user: 'write:protocols' })
  @Mutation(() => Vial, { description: 'Discards a vial.' })
  async discardVial(@Arg('input', () => DiscardVialInput) input: DiscardVialInput, @Ctx() ctx: Context): Promise<Vial> {
    const vial = await locked(ctx, input.id);
    discard(ctx, vial, input.reason);
    return vial;
  }
}
