import type { FilterQuery } from '@mikro-orm/postgresql';
import { Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { auditRead } from '../commands/read-audit.js';
import { Consult, CONSULT_READERS, ConsultStatus } from '../entities/consult.js';
import { BiomarkerObservation, BiomarkerObservationStatus as Status, ObservationConnection } from '../entities/observation.js';
import { heldBack, visibleRows } from '../entities/value-access.js';
import { MyObservationsArgs } from '../inputs/observation.js';
import { BookingVisit, Encounter, LabOrder, Patient } from '../stubs.js';
import { listObservations } from './observation.js';

const READERS = { service: 'admin:clinical', staff: 'admin:clinical:read', user: 'read:biomarkers', internal: ['patient-graph'] } as const;

/** Which results belong to which thing of a neighbour: `owner` is the thing's id, `id` the result's. */
interface Belonging {
  owner: string;
  id: string;
}

/** Results of a draw that was made for the order: labs' specimens are clinical's draws. */
const OF_LAB_ORDERS = (schema: string): string => `
select d.lab_order_id as owner, o.id from ${schema}.lab_order_draw d join ${schema}.observation o on o.patient_id = d.patient_id and o.draw_id = d.draw_id
where d.lab_order_id = any($1)`;

/** Results that were drawn in the 24 h from the beginning of the encounter. */
const OF_ENCOUNTERS = (schema: string): string => `
select e.encounter_id as owner, o.id from ${schema}.encounter_period e join ${schema}.observation o on o.patient_id = e.patient_id
  and o.collected_at >= e.starts_at and o.collected_at < e.starts_at + interval '24 hours'
where e.encounter_id = any($1)`;

/** Standing results of things of neighbours that the caller may see, newest draw first; two statements, whatever their number. */
async function resultsOf(ctx: Context, name: string, ownerId: string, select: string): Promise<BiomarkerObservation[]> {
  const found = await ctx.load(`${name}.observations`, ownerId, async ids => {
    const pairs = await ctx.sql<Belonging>(select, [ids.filter(isUuid)]);
    const where = { id: { $in: pairs.map(pair => pair.id) }, supersededBy: null, status: { $ne: Status.ENTERED_IN_ERROR } };
    const visible = { ...where, ...visibleRows(ctx.caller), ...heldBack(ctx) } as FilterQuery<BiomarkerObservation>;
    const rows = await ctx.em.find(BiomarkerObservation, visible, { orderBy: { collectedAt: 'desc', id: 'desc' } });
    await auditRead(ctx, 'observations', rows);
    return ids.map(id => rows.filter(row => pairs.some(pair => pair.owner === id && pair.id === row.id)));
  });
  return found ?? [];
}

/** `Patient.observations`: the same as of the user whose id it bears. */
@Resolver(() => Patient)
export class PatientResolver {
  @Access(READERS)
  @FieldResolver(() => ObservationConnection, { nullable: true, description: 'Results, newest draw first; null for another patient.' })
  async observations(
    @Root() { id }: Patient,
    @Args(() => MyObservationsArgs) args: MyObservationsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<BiomarkerObservation> | null> {
    const { patientId = id } = visibleRows(ctx.caller);
    return patientId === id ? listObservations(ctx, id, args) : null;
  }
}

@Resolver(() => Encounter)
export class EncounterResolver {
  @Access(READERS)
  @FieldResolver(() => [BiomarkerObservation], { description: 'Results drawn in the 24 h from its beginning, newest first.' })
  observations(@Root() { id }: Encounter, @Ctx() ctx: Context): Promise<BiomarkerObservation[]> {
    return resultsOf(ctx, 'encounter', id.toLowerCase(), OF_ENCOUNTERS(ctx.schema));
  }
}

@Resolver(() => LabOrder)
export class LabOrderResolver {
  @Access(READERS)
  @FieldResolver(() => [BiomarkerObservation], { description: 'Results of the draws that were made for it, newest first.' })
  observations(@Root() { id }: LabOrder, @Ctx() ctx: Context): Promise<BiomarkerObservation[]> {
    return resultsOf(ctx, 'lab_order', id.toLowerCase(), OF_LAB_ORDERS(ctx.schema));
  }
}

@Resolver(() => BookingVisit)
export class BookingVisitResolver {
  @Access({ ...CONSULT_READERS, user: 'read:clinical' })
  @FieldResolver(() => Consult, { nullable: true, description: 'The consult that the visit is for.' })
  consult(@Root() visit: BookingVisit, @Ctx() ctx: Context): Promise<Consult | null> {
    return ctx.load('visit.consult', visit.id.toLowerCase(), async ids => {
      const where = {
        visitId: { $in: ids.filter(isUuid) },
        status: { $ne: ConsultStatus.CANCELLED },
        ...visibleRows(ctx.caller, CONSULT_READERS.staff),
      };
      const rows = await ctx.em.find(Consult, where as FilterQuery<Consult>);
      await auditRead(ctx, 'consults', rows);
      return inOrder(ids, rows, row => row.visitId!);
    });
  }
}
