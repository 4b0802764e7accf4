import { ArgsType, Field, Float, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime, JSONObject, LocalDate, QuantityInput } from '../../../runtime/schema/scalars.js';
import { CheckInStatus } from '../entities/check-in.js';
import { VialDiscardReason } from '../entities/vial.js';
import { DEFAULT_STABILITY_DAYS } from '../rules/vial.js';
import { WORD } from './patterns.js';
import { registerEnums } from '../../../runtime/schema/enums.js';

export enum DoseResult {
  TAKEN = 'taken',
  SKIPPED = 'skipped',
}
registerEnums({ DoseResult });

@ArgsType()
export class MyCheckInsArgs extends PageArgs {
  @Field(() => [CheckInStatus], { nullable: true })
  status?: CheckInStatus[] | null;
}

@InputType()
export class SubmitCheckInInput {
  @Field(() => ID)
  id: string;

  @Field(() => JSONObject, { nullable: true, description: 'By the key of the question; required unless it is skipped.' })
  answers?: object | null;

  @Field(() => Boolean, { defaultValue: false, description: 'The member does not want to answer.' })
  skip: boolean;
}

@ArgsType()
export class MyDosesArgs extends PageArgs {
  @Field(() => DateTime, { nullable: true, description: 'Earliest time, inclusive.' })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Latest time, inclusive.' })
  to?: Date | null;
}

@ArgsType()
export class DosesArgs extends MyDosesArgs {
  @Rule({ minItems: 1, maxItems: 100, pattern: UUID })
  @Field(() => [ID])
  userIds: string[];
}

@InputType()
export class LogDoseInput {
  @Field(() => ID)
  id: string;

  @Field(() => DoseResult, { defaultValue: DoseResult.TAKEN })
  status: DoseResult;

  @Field(() => DateTime, { nullable: true, description: 'Default now; at most 7 days back.' })
  takenAt?: Date | null;

  @Field(() => QuantityInput, { nullable: true, description: 'Default: as planned.' })
  quantity?: QuantityInput | null;

  @Rule({ minLength: 1, maxLength: 64, pattern: WORD })
  @Field(() => String, { nullable: true, description: 'Where it was given, a code.' })
  site?: string | null;

  @Rule({ minLength: 1, maxLength: 2000 })
  @Field(() => String, { nullable: true })
  note?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Default: the one that was planned.' })
  vialId?: string | null;
}

@ArgsType()
export class VialsArgs extends PageArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  userId: string;
}

@InputType()
export class CreateVialInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Required for service and staff tokens.' })
  userId?: string | null;

  @Rule({ pattern: '^[a-z0-9][a-z0-9_.:-]{0,63}$' })
  @Field(() => String)
  productCode: string;

  @Rule({ minLength: 1, maxLength: 64, pattern: WORD })
  @Field(() => String, { nullable: true })
  lot?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  coaId?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  interventionId?: string | null;

  @Field(() => QuantityInput, { nullable: true })
  content?: QuantityInput | null;

  @Field(() => LocalDate)
  expiresOn: string;

  @Rule({ min: 1, max: 3650 })
  @Field(() => Int, { defaultValue: DEFAULT_STABILITY_DAYS, description: 'Days that it keeps once it is in use.' })
  stabilityDays: number;

  @Rule({ min: 1, max: 1000 })
  @Field(() => Int)
  dosesPlanned: number;
}

@InputType()
export class ReconstituteVialInput {
  @Field(() => ID)
  id: string;

  @Rule({ min: 0, max: 1000 })
  @Field(() => Float, { nullable: true })
  diluentMl?: number | null;

  @Field(() => DateTime, { nullable: true, description: 'Default now; not in the future.' })
  at?: Date | null;
}

@InputType()
export class DiscardVialInput {
  @Field(() => ID)
  id: string;

  @Field(() => VialDiscardReason)
  reason: VialDiscardReason;
}
