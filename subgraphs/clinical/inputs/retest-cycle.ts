import { ArgsType, Field, Float, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { InterventionKind } from '../entities/intervention.js';
import { BiomarkerObservationComparator } from '../entities/result.js';
import { RetestCycleStatus } from '../entities/retest-cycle.js';
import { ValueRangeInput } from './biomarker.js';
import { KEY, MARKER, VISIBLE } from './patterns.js';

@InputType({ description: 'An observation that is stored, or a result inline: draw, time, value and unit.' })
export class RetestBaselineInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  observationId?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  drawId?: string | null;

  @Field(() => DateTime, { nullable: true })
  collectedAt?: Date | null;

  @Field(() => Float, { nullable: true })
  value?: number | null;

  @Rule({ minLength: 1, maxLength: 64 })
  @Field(() => String, { nullable: true, description: 'UCUM unit.' })
  unit?: string | null;

  @Rule({ minLength: 1, maxLength: 64, pattern: VISIBLE })
  @Field(() => String, { nullable: true, description: 'Laboratory key.' })
  performer?: string | null;

  @Field(() => BiomarkerObservationComparator, { nullable: true })
  comparator?: BiomarkerObservationComparator | null;
}

@InputType({ description: 'The intervention by id, or the running one by key.' })
export class RetestInterventionInput {
  @Field(() => InterventionKind)
  kind: InterventionKind;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  id?: string | null;

  @Rule({ pattern: KEY })
  @Field(() => String, { nullable: true })
  key?: string | null;
}

@InputType()
export class StartRetestCycleInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { description: 'The canonical user id.' })
  patientId: string;

  @Rule({ pattern: MARKER })
  @Field(() => String, { description: 'Dictionary code or LOINC.' })
  code: string;

  @Field(() => RetestBaselineInput)
  baseline: RetestBaselineInput;

  @Field(() => RetestInterventionInput)
  intervention: RetestInterventionInput;

  @Rule({ min: 14, max: 365 })
  @Field(() => Int, { nullable: true, description: "Default: the protocol's entry for the marker, else 90." })
  windowDays?: number | null;

  @Rule({ min: 0, max: 90 })
  @Field(() => Int, { nullable: true, description: 'Default 30.' })
  graceDays?: number | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: "Default: the user's brand." })
  brandId?: string | null;

  @Field(() => ValueRangeInput, { nullable: true, description: "The clinician's goal, canonical unit; replaces the dictionary's." })
  target?: ValueRangeInput | null;
}

@ArgsType()
export class MyRetestCyclesArgs extends PageArgs {
  @Field(() => [RetestCycleStatus], { nullable: true })
  status?: RetestCycleStatus[] | null;
}

@ArgsType()
export class RetestCyclesArgs extends MyRetestCyclesArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  patientId?: string | null;

  @Rule({ pattern: MARKER })
  @Field(() => String, { nullable: true, description: 'Dictionary code or LOINC.' })
  code?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Earliest due date, inclusive.' })
  dueFrom?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Latest due date, inclusive.' })
  dueTo?: Date | null;
}

@ArgsType()
export class RetestStatsArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  brandId?: string | null;

  @Rule({ pattern: MARKER })
  @Field(() => String, { nullable: true, description: 'Dictionary code or LOINC.' })
  code?: string | null;

  @Rule({ pattern: KEY })
  @Field(() => String, { nullable: true, description: 'Key of the protocol or stack.' })
  interventionKey?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Only cycles closed at or after this.' })
  closedFrom?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Only cycles closed before this.' })
  closedTo?: Date | null;
}
