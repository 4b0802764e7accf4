import { Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { Consult, CONSULT_READERS } from '../entities/consult.js';
import { BiomarkerObservation, ObservationConnection } from '../entities/observation.js';
import { visibleRows } from '../entities/value-access.js';
import { MyObservationsArgs } from '../inputs/observation.js';
import { consultOfVisit, resultsOfEncounter, resultsOfLabOrder } from '../queries/neighbour-fields.js';
import { listObservations } from '../queries/observation.js';
import { BookingVisit, Encounter, LabOrder, Patient } from '../stubs.js';

const READERS = { service: 'admin:clinical', staff: 'admin:clinical:read', user: 'read:biomarkers', internal: ['patient-graph'] } as const;

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
    return resultsOfEncounter(ctx, id);
  }
}

@Resolver(() => LabOrder)
export class LabOrderResolver {
  @Access(READERS)
  @FieldResolver(() => [BiomarkerObservation], { description: 'Results of the draws that were made for it, newest first.' })
  observations(@Root() { id }: LabOrder, @Ctx() ctx: Context): Promise<BiomarkerObservation[]> {
    return resultsOfLabOrder(ctx, id);
  }
}

@Resolver(() => BookingVisit)
export class BookingVisitResolver {
  @Access({ ...CONSULT_READERS, user: 'read:clinical' })
  @FieldResolver(() => Consult, { nullable: true, description: 'The consult that the visit is for.' })
  consult(@Root() visit: BookingVisit, @Ctx() ctx: Context): Promise<Consult | null> {
    return consultOfVisit(ctx, visit.id);
  }
}
