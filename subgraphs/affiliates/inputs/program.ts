import { Field, ID, InputType, Int } from 'type-graphql';
import { NOT_BLANK, Rule, UUID } from '../../../runtime/schema/constraints.js';
import { MoneyInput } from '../../../runtime/schema/scalars.js';
import { AffiliateAttributionModel, CommissionKind, PriceSubjectKind } from '../entities/enums.js';

const KEY = '^[a-z0-9][a-z0-9_.-]{1,39}$';

@InputType()
export class CommissionTierInput {
  @Rule({ pattern: KEY })
  @Field(() => String)
  key: string;

  @Rule({ min: 0, max: 1_000 })
  @Field(() => Int)
  rank: number;

  @Field(() => CommissionKind)
  kind: CommissionKind;

  @Rule({ min: 0, max: 10_000 })
  @Field(() => Int, { nullable: true, description: 'Of a PERCENT tier.' })
  rateBps?: number | null;

  @Field(() => MoneyInput, { nullable: true, description: 'Of a FLAT tier.' })
  flat?: MoneyInput | null;

  @Field(() => MoneyInput, { description: 'What has to be confirmed in 90 days.' })
  threshold: MoneyInput;
}

@InputType()
export class CommissionBaseInput {
  @Field(() => Boolean, { nullable: true, description: 'Default: no.' })
  includeTax?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Default: no.' })
  includeShipping?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Default: yes.' })
  includeCash?: boolean | null;

  @Rule({ maxItems: 4 })
  @Field(() => [PriceSubjectKind], { nullable: true, description: 'Default: any.' })
  subjectKinds?: PriceSubjectKind[] | null;

  @Rule({ min: 0, max: 120 })
  @Field(() => Int, { nullable: true, description: 'Default: 12.' })
  renewalMonths?: number | null;
}

@InputType()
export class AffiliateProgramTermsInput {
  @Field(() => AffiliateAttributionModel, { nullable: true })
  model?: AffiliateAttributionModel | null;

  @Rule({ min: 1, max: 90 })
  @Field(() => Int, { nullable: true, description: 'Default: 30.' })
  windowDays?: number | null;

  @Rule({ min: 0, max: 120 })
  @Field(() => Int, { nullable: true, description: 'Default: 12.' })
  bindingMonths?: number | null;

  @Rule({ min: 0, max: 365 })
  @Field(() => Int, { nullable: true, description: 'Default: 30.' })
  holdDays?: number | null;

  @Field(() => Boolean, { nullable: true })
  selfApproval?: boolean | null;

  @Field(() => CommissionBaseInput, { nullable: true })
  base?: CommissionBaseInput | null;

  @Field(() => Boolean, { nullable: true, description: 'A click sets a cookie only with consent=1.' })
  consentRequired?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Default: yes.' })
  active?: boolean | null;
}

@InputType()
export class CreateAffiliateProgramInput extends AffiliateProgramTermsInput {
  @Rule({ pattern: KEY })
  @Field(() => String)
  key: string;

  @Rule({ maxLength: 100, pattern: NOT_BLANK })
  @Field(() => String)
  name: string;

  @Rule({ pattern: UUID })
  @Field(() => ID)
  brandId: string;

  @Field(() => MoneyInput, { description: 'Its currency is that of the program.' })
  minimumPayout: MoneyInput;

  @Rule({ minItems: 1, maxItems: 20 })
  @Field(() => [CommissionTierInput])
  tiers: CommissionTierInput[];
}

@InputType()
export class UpdateAffiliateProgramInput extends AffiliateProgramTermsInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ maxLength: 100, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => MoneyInput, { nullable: true })
  minimumPayout?: MoneyInput | null;

  @Rule({ minItems: 1, maxItems: 20 })
  @Field(() => [CommissionTierInput], { nullable: true, description: 'All of them.' })
  tiers?: CommissionTierInput[] | null;

  @Field(() => Int, { nullable: true, description: 'As it was read.' })
  version?: number | null;
}
