import { Field, InputType, Int } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';
import { JSONObject, QuantityInput } from '../../../runtime/schema/scalars.js';
import { ProtocolStatus } from '../entities/protocol.js';
import { ValueRangeInput } from './biomarker.js';
import { KEY, VISIBLE } from './patterns.js';

@InputType()
export class ProtocolDoseInput {
  @Rule({ pattern: '^[a-z0-9][a-z0-9_.:-]{0,63}$' })
  @Field(() => String)
  productCode: string;

  @Field(() => QuantityInput)
  quantity: QuantityInput;

  @Rule({ minLength: 1, maxLength: 40, pattern: VISIBLE })
  @Field(() => String, { description: 'Route of administration, for example oral.' })
  route: string;

  @Rule({ object: true })
  @Field(() => JSONObject, { nullable: true, description: 'FHIR Timing; `repeat.period` with `periodUnit` d is read, default every day.' })
  timing?: object | null;

  @Rule({ minItems: 1, maxItems: 12, pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' })
  @Field(() => [String], { description: 'HH:MM in the time zone of the member.' })
  timesOfDay: string[];
}

@InputType()
export class ProtocolCheckInInput {
  @Rule({ pattern: KEY })
  @Field(() => String)
  templateKey: string;

  @Rule({ min: 1, max: 365 })
  @Field(() => Int)
  everyDays: number;
}

@InputType()
export class ProtocolPhaseInput {
  @Rule({ minLength: 1, maxLength: 80 })
  @Field(() => String)
  name: string;

  @Rule({ min: 0, max: 3650 })
  @Field(() => Int)
  startDay: number;

  @Rule({ min: 1, max: 3650 })
  @Field(() => Int, { description: 'Exclusive.' })
  endDay: number;

  @Rule({ maxItems: 20 })
  @Field(() => [ProtocolDoseInput], { defaultValue: [] })
  doses: ProtocolDoseInput[];

  @Rule({ maxItems: 10 })
  @Field(() => [ProtocolCheckInInput], { defaultValue: [] })
  checkIns: ProtocolCheckInInput[];
}

@InputType()
export class ProtocolMarkerInput {
  @Rule({ pattern: KEY })
  @Field(() => String)
  code: string;

  @Rule({ min: 14, max: 365 })
  @Field(() => Int, { nullable: true })
  windowDays?: number | null;

  @Field(() => ValueRangeInput, { nullable: true })
  target?: ValueRangeInput | null;
}

@InputType({ description: 'A protocol whole; it becomes the next version.' })
export class PutProtocolInput {
  @Rule({ pattern: KEY })
  @Field(() => String)
  key: string;

  @Rule({ min: 1, max: 1_000_000 })
  @Field(() => Int, { nullable: true, description: 'The version in force; none for a new protocol.' })
  version?: number | null;

  @Rule({ minLength: 1, maxLength: 120 })
  @Field(() => String)
  title: string;

  @Field(() => ProtocolStatus, { defaultValue: ProtocolStatus.ACTIVE })
  status: ProtocolStatus;

  @Rule({ min: 1, max: 3650 })
  @Field(() => Int)
  durationDays: number;

  @Field(() => Boolean, { defaultValue: false })
  requiresConsult: boolean;

  @Rule({ minItems: 1, maxItems: 20 })
  @Field(() => [ProtocolPhaseInput])
  phases: ProtocolPhaseInput[];

  @Rule({ maxItems: 50 })
  @Field(() => [ProtocolMarkerInput], { defaultValue: [] })
  markers: ProtocolMarkerInput[];

  @Rule({ maxItems: 100, minLength: 1, maxLength: 80, pattern: VISIBLE })
  @Field(() => [String], { defaultValue: [] })
  contraindications: string[];
}
