import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { recordFacts, recordMyObservation, recordObservations, recordOwnFacts } from '../commands/observation.js';
import { Biomarker } from '../entities/biomarker.js';
import { BiomarkerObservation, ObservationConnection } from '../entities/observation.js';
import { heldBack, visibleRows } from '../entities/value-access.js';
import { MyObservationsArgs, ObservationsArgs, RecordMyObservationInput, RecordObservationsInput } from '../inputs/observation.js';
import { loadMarker } from '../queries/dictionary.js';
import { listObservations, loadHistory } from '../queries/observation.js';
import { readRow } from '../queries/read-audit.js';

@Resolver(() => BiomarkerObservation)
export class ObservationResolver {
  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read', internal: ['patient-graph'] })
  @Query(() => ObservationConnection, { description: "A patient's results, newest draw first." })
  observations(
    @Args(() => ObservationsArgs) { userId, ...args }: ObservationsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<BiomarkerObservation>> {
    return listObservations(ctx, userId.toLowerCase(), args);
  }

  @Access({ user: 'read:biomarkers' })
  @Query(() => ObservationConnection, { description: 'Own results, newest draw first.' })
  myObservations(@Args(() => MyObservationsArgs) args: MyObservationsArgs, @Ctx() ctx: Context): Promise<Connection<BiomarkerObservation>> {
    return listObservations(ctx, ctx.caller.userId!, args);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read', user: 'read:biomarkers' })
  @Query(() => BiomarkerObservation, { nullable: true, description: 'One result.' })
  observation(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<BiomarkerObservation | null> {
    return readRow(ctx, 'observations', BiomarkerObservation, { id, ...visibleRows(ctx.caller), ...heldBack(ctx) });
  }

  @FieldResolver(() => Biomarker, { nullable: true, description: 'Its entry of the dictionary, in the version in force.' })
  biomarker(@Root() observation: BiomarkerObservation, @Ctx() ctx: Context): Promise<Biomarker | null> {
    return loadMarker(ctx, observation.code);
  }

  @FieldResolver(() => [BiomarkerObservation], { description: 'Rows that it corrects, newest first.' })
  history(@Root() observation: BiomarkerObservation, @Ctx() ctx: Context): Promise<BiomarkerObservation[]> {
    return loadHistory(ctx, observation.id);
  }

  @Access({ service: 'admin:clinical', internal: ['patient-graph'] })
  @Prepare(recordFacts)
  @Mutation(() => [BiomarkerObservation], {
    description:
      'Stores 1 to 200 results of a patient, all or none. A repeated source reference with the same content gives the stored row.',
  })
  recordObservations(
    @Arg('input', () => RecordObservationsInput) input: RecordObservationsInput,
    @Ctx() ctx: Context,
  ): Promise<BiomarkerObservation[]> {
    return recordObservations(ctx, input, recordFacts.of(ctx));
  }

  @Access({ user: 'write:biomarkers' })
  @Prepare(recordOwnFacts)
  @Mutation(() => BiomarkerObservation, { description: 'Stores an own result, of source MANUAL.' })
  recordMyObservation(
    @Arg('input', () => RecordMyObservationInput) input: RecordMyObservationInput,
    @Ctx() ctx: Context,
  ): Promise<BiomarkerObservation> {
    return recordMyObservation(ctx, input, recordOwnFacts.of(ctx));
  }
}
