import { ArgsType, Field, Float, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { BiomarkerObservationSource, BiomarkerObservationStatus } from '../entities/observation.js';
import { BiomarkerObservationComparator } from '../entities/result.js';
import { UnitSystem } from '../entities/units.js';
import { ValueRangeInput } from './biomarker.js';
import { MARKER, VISIBLE } from './patterns.js';

@InputType('BiomarkerObservationInput', { description: 'One result as reported.' })
export class ObservationInput {
  @Rule({ pattern: MARKER })
  @Field(() => String, { description: 'Dictionary code or LOINC.' })
  code: string;

  @Field(() => Float, { nullable: true })
  value?: number | null;

  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true, description: 'UCUM unit; required with a value.' })
  unit?: string | null;

  @Field(() => BiomarkerObservationComparator, { nullable: true })
  comparator?: BiomarkerObservationComparator | null;

  @Rule({ minLength: 1, maxLength: 2000 })
  @Field(() => String, { nullable: true, description: 'A coded or narrative result instead of a value.' })
  textValue?: string | null;

  @Field(() => DateTime, { description: 'Time of the draw.' })
  collectedAt: Date;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Required for LAB and PARTNER.' })
  drawId?: string | null;

  @Field(() => BiomarkerObservationSource)
  source: BiomarkerObservationSource;

  @Rule({ minLength: 1, maxLength: 64, pattern: VISIBLE })
  @Field(() => String, { nullable: true, description: 'Laboratory key.' })
  performer?: string | null;

  @Rule({ minLength: 1, maxLength: 200 })
  @Field(() => String, { nullable: true })
  method?: string | null;

  @Rule({ minLength: 1, maxLength: 128, pattern: VISIBLE })
  @Field(() => String, { nullable: true, description: 'Unique per source: a repetition is answered with the stored row.' })
  sourceRef?: string | null;

  @Field(() => ValueRangeInput, { nullable: true, description: "The laboratory's own range, in the reported unit." })
  referenceRange?: ValueRangeInput | null;

  @Field(() => BiomarkerObservationStatus, { defaultValue: BiomarkerObservationStatus.FINAL })
  status: BiomarkerObservationStatus;

  @Field(() => Boolean, { defaultValue: false, description: 'A person has looked at a value that is not plausible.' })
  confirmed: boolean = false;
}

@InputType()
export class RecordObservationsInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  userId: string;

  @Rule({ minItems: 1, maxItems: 200 })
  @Field(() => [ObservationInput])
  observations: ObservationInput[];
}

@InputType()
export class RecordMyObservationInput {
  @Rule({ pattern: MARKER })
  @Field(() => String, { description: 'Dictionary code or LOINC.' })
  code: string;

  @Field(() => Float)
  value: number;

  @Rule({ minLength: 1, maxLength: 64 })
  @Field(() => String, { description: 'UCUM unit.' })
  unit: string;

  @Field(() => BiomarkerObservationComparator, { nullable: true })
  comparator?: BiomarkerObservationComparator | null;

  @Field(() => DateTime)
  collectedAt: Date;

  @Field(() => Boolean, { defaultValue: false, description: 'The member has looked at a value that is not plausible.' })
  confirmed: boolean = false;
}

@ArgsType()
export class MyObservationsArgs extends PageArgs {
  @Rule({ maxItems: 100, pattern: MARKER })
  @Field(() => [String], { nullable: true, description: 'Dictionary codes or LOINC.' })
  codes?: string[] | null;

  @Field(() => DateTime, { nullable: true, description: 'Earliest draw, inclusive.' })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Latest draw, inclusive.' })
  to?: Date | null;

  @Field(() => BiomarkerObservationSource, { nullable: true })
  source?: BiomarkerObservationSource | null;

  @Rule({ maxItems: 200 })
  @Field(() => [String], { nullable: true })
  sourceRefs?: string[] | null;

  @Field(() => Boolean, { defaultValue: false, description: 'Only the newest of each code.' })
  latest: boolean = false;

  @Field(() => UnitSystem, { nullable: true, description: 'Shows values in this system where the dictionary names a unit of it.' })
  unitSystem?: UnitSystem | null;
}

@ArgsType()
export class ObservationsArgs extends MyObservationsArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  userId: string;
}

@InputType({ description: 'The corrected result; draw, time, source and laboratory stay.' })
export class CorrectObservationInput {
  @Field(() => ID)
  id: string;

  @Field(() => Float, { nullable: true })
  value?: number | null;

  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true, description: 'UCUM unit; required with a value.' })
  unit?: string | null;

  @Field(() => BiomarkerObservationComparator, { nullable: true })
  comparator?: BiomarkerObservationComparator | null;

  @Rule({ minLength: 1, maxLength: 2000 })
  @Field(() => String, { nullable: true })
  textValue?: string | null;

  @Rule({ minLength: 1, maxLength: 128, pattern: VISIBLE })
  @Field(() => String, { nullable: true, description: "The correction's own reference, unique per source." })
  sourceRef?: string | null;

  @Field(() => Boolean, { defaultValue: false, description: 'A person has looked at a value that is not plausible.' })
  confirmed: boolean = false;
}

@InputType()
export class RetractObservationInput {
  @Field(() => ID)
  id: string;
}

@ArgsType()
export class BiomarkerTrendArgs {
  @Rule({ pattern: MARKER })
  @Field(() => String, { description: 'Dictionary code or LOINC.' })
  code: string;

  @Field(() => DateTime, { nullable: true, description: 'Earliest draw, inclusive.' })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Latest draw, inclusive.' })
  to?: Date | null;
}
