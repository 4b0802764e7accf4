import { ArgsType, Field, Float, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime, LocalDate, QuantityInput } from '../../../runtime/schema/scalars.js';
import { DEFAULT_STABILITY_DAYS, VialDiscardReason } from '../entities/vial.js';
import { VISIBLE } from './patterns.js';

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

  @Rule({ minLength: 1, maxLength: 64, pattern: VISIBLE })
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
