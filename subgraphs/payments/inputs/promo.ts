import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { NOT_BLANK, Rule, UUID } from '../../../runtime/schema/constraints.js';
import { PriceSubjectKind } from '../../../runtime/schema/price-subjects.js';
import { DateTime, MoneyInput } from '../../../runtime/schema/scalars.js';
import { PromoDuration, PromoKind, PromoStatus } from '../entities/enums-offers.js';

/** A code that a person may have typed: what no code can be is unknown, not malformed. */
const TYPED = { minLength: 1, maxLength: 64 } as const;
const MAX_REDEMPTIONS = 100_000_000;

@ArgsType()
export class PromosArgs extends PageArgs {
  @Field(() => PromoStatus, { nullable: true })
  status?: PromoStatus | null;

  @Rule(TYPED)
  @Field(() => String, { nullable: true })
  code?: string | null;
}

@InputType({ description: 'What a promo is good for; both empty: everything.' })
export class PromoScopeInput {
  @Rule({ maxItems: 200, pattern: UUID })
  @Field(() => [ID], { defaultValue: [] })
  priceIds: string[];

  @Rule({ maxItems: 10 })
  @Field(() => [PriceSubjectKind], { defaultValue: [] })
  subjectKinds: PriceSubjectKind[];
}

@InputType()
export class CreatePromoInput {
  @Rule({ pattern: '^[A-Za-z0-9_-]{3,32}$' })
  @Field(() => String, { description: 'Unique for the brand, whatever its case.' })
  code: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: "Default: the token's brand, else the platform's default." })
  brandId?: string | null;

  @Rule({ maxLength: 200, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => PromoKind)
  kind: PromoKind;

  @Rule({ min: 1, max: 10_000 })
  @Field(() => Int, { nullable: true, description: 'Of 10000; of PERCENT.' })
  percentBps?: number | null;

  @Field(() => MoneyInput, { nullable: true, description: 'Of AMOUNT.' })
  amountOff?: MoneyInput | null;

  @Rule({ min: 1, max: 90 })
  @Field(() => Int, { nullable: true, description: 'Of TRIAL_DAYS.' })
  trialDays?: number | null;

  @Field(() => PromoDuration, { defaultValue: PromoDuration.ONCE })
  duration: PromoDuration = PromoDuration.ONCE;

  @Rule({ min: 1, max: 120 })
  @Field(() => Int, { nullable: true, description: 'Of REPEATING.' })
  durationPeriods?: number | null;

  @Field(() => DateTime, { nullable: true, description: 'Default: now.' })
  startsAt?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Default: never.' })
  endsAt?: Date | null;

  @Field(() => MoneyInput, { nullable: true })
  minSubtotal?: MoneyInput | null;

  @Rule({ min: 1, max: MAX_REDEMPTIONS })
  @Field(() => Int, { nullable: true, description: 'Default: no limit.' })
  maxRedemptions?: number | null;

  @Rule({ min: 1, max: 1000 })
  @Field(() => Int, { defaultValue: 1 })
  perUserLimit: number = 1;

  @Field(() => Boolean, { defaultValue: false })
  firstPurchaseOnly: boolean = false;

  @Field(() => PromoScopeInput, { nullable: true })
  appliesTo?: PromoScopeInput | null;

  @Rule({ maxLength: 64, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  affiliateCode?: string | null;
}

@InputType({ description: 'What is left out stays as it is; null: none.' })
export class UpdatePromoInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Field(() => PromoStatus, { nullable: true, description: 'DISABLED only, for good.' })
  status?: PromoStatus | null;

  @Field(() => DateTime, { nullable: true })
  endsAt?: Date | null;

  @Rule({ min: 1, max: MAX_REDEMPTIONS })
  @Field(() => Int, { nullable: true })
  maxRedemptions?: number | null;

  @Rule({ min: 1, max: 1000 })
  @Field(() => Int, { nullable: true })
  perUserLimit?: number | null;

  @Rule({ min: 1 })
  @Field(() => Int, { nullable: true, description: 'The version that was read; another one by now is a conflict.' })
  version?: number | null;
}

@InputType({ description: 'So many of a price.' })
export class PromoItemInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  priceId: string;

  @Rule({ min: 1, max: 100 })
  @Field(() => Int, { defaultValue: 1 })
  quantity: number = 1;
}

@InputType({ description: 'A line of an order of commerce.' })
export class PromoLineInput {
  @Field(() => PriceSubjectKind)
  subjectKind: PriceSubjectKind;

  @Rule({ pattern: UUID })
  @Field(() => ID)
  subjectId: string;

  @Rule({ min: 1, max: 100_000 })
  @Field(() => Int, { defaultValue: 1 })
  quantity: number = 1;

  @Field(() => MoneyInput, { description: 'Of the whole line.' })
  subtotal: MoneyInput;
}

@InputType({ description: 'Exactly one of items, orderId and lines; lines are for services.' })
export class ValidatePromoInput {
  @Rule(TYPED)
  @Field(() => String)
  code: string;

  @Rule({ minItems: 1, maxItems: 20 })
  @Field(() => [PromoItemInput], { nullable: true })
  items?: PromoItemInput[] | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  orderId?: string | null;

  @Rule({ minItems: 1, maxItems: 200 })
  @Field(() => [PromoLineInput], { nullable: true })
  lines?: PromoLineInput[] | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'For services; without one, nobody has used the code.' })
  userId?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Of lines.' })
  brandId?: string | null;
}

@InputType()
export class ReservePromoInput {
  @Rule(TYPED)
  @Field(() => String)
  code: string;

  @Rule({ pattern: UUID })
  @Field(() => ID)
  userId: string;

  @Rule({ pattern: UUID })
  @Field(() => ID)
  brandId: string;

  @Rule({ pattern: UUID })
  @Field(() => ID)
  orderId: string;

  @Rule({ minItems: 1, maxItems: 200 })
  @Field(() => [PromoLineInput])
  lines: PromoLineInput[];
}
