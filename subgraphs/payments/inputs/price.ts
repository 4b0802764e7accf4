import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { PriceSubjectKind } from '../../../runtime/schema/price-subjects.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { MoneyInput } from '../../../runtime/schema/scalars.js';
import { BillingInterval } from '../entities/enums-billing.js';

@InputType()
export class PriceRecurrenceInput {
  @Field(() => BillingInterval)
  interval: BillingInterval;

  @Rule({ min: 1, max: 365 })
  @Field(() => Int, { defaultValue: 1 })
  intervalCount: number = 1;
}

@InputType()
export class CreateBillingPriceInput {
  @Rule({ pattern: '^[a-z0-9][a-z0-9_.-]{0,63}$' })
  @Field(() => String, { description: 'Never used again for another price of the brand; neutral, because invoices show it.' })
  key: string;

  @Field(() => PriceSubjectKind)
  subjectKind: PriceSubjectKind;

  @Rule({ pattern: UUID })
  @Field(() => ID)
  subjectId: string;

  @Rule({ pattern: '^[a-z0-9_.-]{1,64}$' })
  @Field(() => String, { nullable: true })
  tier?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID)
  brandId: string;

  @Field(() => MoneyInput)
  unitAmount: MoneyInput;

  @Field(() => PriceRecurrenceInput, { nullable: true, description: 'Null: charged once.' })
  recurring?: PriceRecurrenceInput | null;

  @Rule({ min: 0, max: 90 })
  @Field(() => Int, { defaultValue: 0 })
  trialDays: number = 0;

  @Field(() => Boolean, { defaultValue: false })
  taxInclusive: boolean = false;
}

@InputType({ description: 'What is left out stays as it is; amount and recurrence never change.' })
export class UpdateBillingPriceInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Field(() => Boolean, { nullable: true })
  active?: boolean | null;

  @Rule({ min: 0, max: 90 })
  @Field(() => Int, { nullable: true })
  trialDays?: number | null;
}

@ArgsType()
export class BillingPricesArgs extends PageArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  brandId?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  subjectId?: string | null;

  @Field(() => Boolean, { nullable: true })
  active?: boolean | null;
}
