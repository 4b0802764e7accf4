import { ArgsType, Field, Float, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import {
  BiomarkerCategory,
  BiomarkerDirection,
  BiomarkerNoiseModel,
  BiomarkerRangeKind,
  BiomarkerRangeSex,
  BiomarkerSpecimen,
  BiomarkerStatus,
} from '../entities/biomarker.js';
import { UnitConversionMethod, UnitSystem } from '../entities/units.js';
import { KEY, VISIBLE } from './patterns.js';

const LOINC = '^[0-9]{1,7}-[0-9]$';
const TEXT = { minLength: 1, maxLength: 300 } as const;

@ArgsType()
export class BiomarkersArgs extends PageArgs {
  @Field(() => BiomarkerCategory, { nullable: true })
  category?: BiomarkerCategory | null;

  @Rule({ minLength: 1, maxLength: 100 })
  @Field(() => String, { nullable: true, description: 'Part of a code, name or LOINC.' })
  q?: string | null;
}

@InputType('BiomarkerBoundsInput', { description: 'Edges of a range; a missing edge is open.' })
export class ValueRangeInput {
  @Field(() => Float, { nullable: true })
  low?: number | null;

  @Field(() => Float, { nullable: true })
  high?: number | null;
}

@InputType('BiomarkerUnitConversionInput')
export class UnitConversionInput {
  @Rule({ minLength: 1, maxLength: 64 })
  @Field(() => String, { description: 'UCUM unit.' })
  unit: string;

  @Field(() => UnitConversionMethod)
  method: UnitConversionMethod;

  @Field(() => Float, { nullable: true })
  factor?: number | null;

  @Field(() => Float, { nullable: true })
  offset?: number | null;

  @Field(() => UnitSystem, { nullable: true })
  system?: UnitSystem | null;

  @Rule({ min: 0, max: 6 })
  @Field(() => Int)
  decimals: number;
}

@InputType()
export class BiomarkerNoiseInput {
  @Field(() => BiomarkerNoiseModel)
  model: BiomarkerNoiseModel;

  @Rule({ min: 0, max: 2 })
  @Field(() => Float, { nullable: true })
  cvWithin?: number | null;

  @Rule({ min: 0, max: 2 })
  @Field(() => Float, { nullable: true })
  cvAnalytical?: number | null;

  @Rule({ min: 0, max: 2 })
  @Field(() => Float, { nullable: true })
  cvAnalyticalBetween?: number | null;

  @Field(() => Float, { nullable: true })
  sd?: number | null;

  @Rule({ min: 0.1, max: 5 })
  @Field(() => Float, { defaultValue: 1.645 })
  z: number;

  @Rule(TEXT)
  @Field(() => String)
  source: string;

  @Rule({ min: 1950, max: 2200 })
  @Field(() => Int)
  sourceYear: number;
}

@InputType()
export class BiomarkerRangeInput {
  @Field(() => BiomarkerRangeKind)
  kind: BiomarkerRangeKind;

  @Field(() => BiomarkerRangeSex, { defaultValue: BiomarkerRangeSex.ANY })
  sex: BiomarkerRangeSex;

  @Rule({ min: 0, max: 150 })
  @Field(() => Int, { nullable: true })
  ageFrom?: number | null;

  @Rule({ min: 0, max: 150 })
  @Field(() => Int, { nullable: true })
  ageTo?: number | null;

  @Rule({ minLength: 1, maxLength: 64, pattern: VISIBLE })
  @Field(() => String, { nullable: true })
  condition?: string | null;

  @Rule({ minLength: 1, maxLength: 64, pattern: VISIBLE })
  @Field(() => String, { nullable: true })
  performer?: string | null;

  @Field(() => Float, { nullable: true })
  low?: number | null;

  @Field(() => Float, { nullable: true })
  high?: number | null;

  @Rule(TEXT)
  @Field(() => String)
  source: string;
}

@InputType({ description: 'An entry whole; it becomes the next version.' })
export class PutBiomarkerInput {
  @Rule({ pattern: KEY })
  @Field(() => String)
  code: string;

  @Rule({ min: 1, max: 1_000_000 })
  @Field(() => Int, { nullable: true, description: 'The version in force; none for a new entry.' })
  version?: number | null;

  @Rule({ pattern: LOINC })
  @Field(() => String)
  loinc: string;

  @Rule({ maxItems: 20, pattern: LOINC })
  @Field(() => [String], { defaultValue: [] })
  otherLoincs: string[];

  @Rule({ minLength: 1, maxLength: 120 })
  @Field(() => String)
  name: string;

  @Rule({ minLength: 1, maxLength: 40 })
  @Field(() => String)
  shortName: string;

  @Field(() => BiomarkerCategory)
  category: BiomarkerCategory;

  @Field(() => BiomarkerSpecimen)
  specimen: BiomarkerSpecimen;

  @Field(() => Boolean, { defaultValue: false })
  fasting: boolean;

  @Rule({ minLength: 1, maxLength: 64 })
  @Field(() => String, { description: 'Canonical UCUM unit.' })
  unit: string;

  @Rule({ maxItems: 20 })
  @Field(() => [UnitConversionInput], { defaultValue: [] })
  otherUnits: UnitConversionInput[];

  @Rule({ min: 0, max: 6 })
  @Field(() => Int)
  decimals: number;

  @Rule({ min: 0.001, max: 10_000_000 })
  @Field(() => Float, { nullable: true })
  molarMass?: number | null;

  @Field(() => BiomarkerDirection)
  direction: BiomarkerDirection;

  @Field(() => BiomarkerNoiseInput)
  noise: BiomarkerNoiseInput;

  @Field(() => ValueRangeInput)
  plausible: ValueRangeInput;

  @Rule({ maxItems: 100 })
  @Field(() => [BiomarkerRangeInput], { defaultValue: [] })
  ranges: BiomarkerRangeInput[];

  @Rule(TEXT)
  @Field(() => String)
  source: string;

  @Field(() => BiomarkerStatus, { defaultValue: BiomarkerStatus.ACTIVE })
  status: BiomarkerStatus;
}
