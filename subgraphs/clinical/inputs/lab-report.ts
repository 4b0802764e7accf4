import { ArgsType, Field, Float, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { LabReportStatus } from '../entities/lab-report.js';
import { BiomarkerObservationComparator } from '../entities/result.js';
import { MARKER, VISIBLE } from './patterns.js';

export enum ReportRowDecision {
  ACCEPT = 'accept',
  REJECT = 'reject',
}
registerEnums({ ReportRowDecision });

@ArgsType()
export class MyLabReportsArgs extends PageArgs {
  @Field(() => [LabReportStatus], { nullable: true })
  status?: LabReportStatus[] | null;
}

@InputType()
export class UploadLabReportInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Required for service and staff tokens.' })
  userId?: string | null;

  /**
   * Base64 of 21 MiB: what is a little too large is to be a 413, as anything larger, and no violation of a length. No pattern: over so
   * long a text a regular expression may run out of its stack.
   */
  @Rule({ minLength: 4, maxLength: 29_360_128 })
  @Field(() => String, { description: 'Base64 of a PDF, JPEG, PNG, HEIC, HL7 v2 or FHIR Bundle, at most 20 MiB and 30 pages.' })
  file: string;

  @Rule({ minLength: 1, maxLength: 64, pattern: VISIBLE })
  @Field(() => String, { nullable: true, description: 'Laboratory key.' })
  performer?: string | null;
}

@InputType({ description: 'What a person says about a row; what is given replaces what was read.' })
export class ReviewReportRowInput {
  @Rule({ min: 0, max: 10_000 })
  @Field(() => Int)
  position: number;

  @Field(() => ReportRowDecision)
  decision: ReportRowDecision;

  @Rule({ pattern: MARKER })
  @Field(() => String, { nullable: true, description: 'Dictionary code or LOINC.' })
  code?: string | null;

  @Field(() => Float, { nullable: true })
  value?: number | null;

  @Rule({ minLength: 1, maxLength: 64 })
  @Field(() => String, { nullable: true, description: 'UCUM unit.' })
  unit?: string | null;

  @Field(() => BiomarkerObservationComparator, { nullable: true })
  comparator?: BiomarkerObservationComparator | null;

  @Field(() => Boolean, { defaultValue: false, description: 'An implausible value is right.' })
  confirmed: boolean;
}

@InputType({ description: 'A result that nobody could read but a person.' })
export class AddReportRowInput {
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

  @Field(() => Boolean, { defaultValue: false })
  confirmed: boolean;
}

@InputType()
export class ReviewLabReportInput {
  @Field(() => ID)
  id: string;

  @Field(() => DateTime, { nullable: true, description: 'Time of the draw; required where the report does not say.' })
  collectedAt?: Date | null;

  @Rule({ maxItems: 500 })
  @Field(() => [ReviewReportRowInput], { defaultValue: [] })
  rows: ReviewReportRowInput[];

  @Rule({ maxItems: 200 })
  @Field(() => [AddReportRowInput], { defaultValue: [] })
  added: AddReportRowInput[];
}
