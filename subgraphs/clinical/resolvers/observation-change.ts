import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { correctFacts, correctObservation, retractObservation } from '../commands/observation.js';
import { BiomarkerObservation } from '../entities/observation.js';
import { CorrectObservationInput, RetractObservationInput } from '../inputs/observation.js';

@Resolver()
export class ObservationChangeResolver {
  @Access({ service: 'admin:clinical', staff: 'admin:clinical:results' })
  @Prepare(correctFacts)
  @Mutation(() => BiomarkerObservation, {
    description: 'Replaces a result by a corrected one. Open re-test cycles take it; closed ones keep what was published.',
  })
  correctObservation(
    @Arg('input', () => CorrectObservationInput) input: CorrectObservationInput,
    @Ctx() ctx: Context,
  ): Promise<BiomarkerObservation> {
    return correctObservation(ctx, input, correctFacts.of(ctx));
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:results' })
  @Mutation(() => BiomarkerObservation, { description: 'Withdraws a result that was entered in error; its row stays, marked.' })
  retractObservation(
    @Arg('input', () => RetractObservationInput) input: RetractObservationInput,
    @Ctx() ctx: Context,
  ): Promise<BiomarkerObservation> {
    return retractObservation(ctx, input.id);
  }
}
