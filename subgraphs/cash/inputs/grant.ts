import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { NOT_BLANK, Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime, MoneyInput } from '../../../runtime/schema/scalars.js';
import { CashGrantStatus, CashSource, PriceSubjectKind } from '../entities/enums.js';
import { CODE } from './purchase.js';

@ArgsType()
export class CashGrantsArgs extends PageArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Default: the caller.' })
  userId?: string | null;

  @Field(() => CashGrantStatus, { nullable: true, description: 'At the instant of reading.' })
  status?: CashGrantStatus | null;
}

@InputType()
export class CashGrantReferenceInput {
  @Rule({ pattern: CODE })
  @Field(() => String)
  type: string;

  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ maxLength: 200 })
  @Field(() => String, { nullable: true, description: 'Tells grants of one reference apart; default: empty.' })
  key?: string | null;
}

@InputType()
export class CashRestrictionsInput {
  @Field(() => MoneyInput, { nullable: true, description: 'Smallest purchase for which it may be used.' })
  minSubtotal?: MoneyInput | null;

  @Rule({ maxItems: 4 })
  @Field(() => [PriceSubjectKind], { nullable: true, description: 'Default: purchases of any kind.' })
  subjectKinds?: PriceSubjectKind[] | null;

  @Rule({ min: 1, max: 10_000 })
  @Field(() => Int, { nullable: true, description: 'Part of a purchase that it may cover, basis points; default: all of it.' })
  maxShareBps?: number | null;
}

@InputType()
export class CashTermsInput {
  @Field(() => CashSource)
  source: CashSource;

  @Field(() => MoneyInput)
  amount: MoneyInput;

  @Field(() => DateTime, { nullable: true, description: 'Default: now.' })
  activatesAt?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Default: a year later; of gifts and refunds never.' })
  expiresAt?: Date | null;

  @Field(() => CashRestrictionsInput, { nullable: true })
  restrictions?: CashRestrictionsInput | null;

  @Rule({ maxLength: 500, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true, description: 'Required of staff, who alone see it.' })
  reason?: string | null;
}

@InputType()
export class GrantCashInput extends CashTermsInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  userId: string;

  @Field(() => CashGrantReferenceInput)
  reference: CashGrantReferenceInput;
}

@InputType()
export class RevokeCashGrantInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Field(() => CashGrantReferenceInput, { nullable: true, description: 'What revokes it.' })
  reference?: CashGrantReferenceInput | null;

  @Rule({ maxLength: 500, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  reason?: string | null;
}

@InputType()
export class GrantCashBulkInput extends CashTermsInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { description: 'Reference of every grant: a user gets one for each campaign.' })
  campaignId: string;

  @Rule({ pattern: UUID, minItems: 1, maxItems: 10_000 })
  @Field(() => [ID])
  userIds: string[];
}

@InputType()
export class ExpireCashInput {
  @Field(() => DateTime, { nullable: true, description: 'Default: now; not later.' })
  asOf?: Date | null;

  @Field(() => Boolean, { defaultValue: false, description: 'Only tells what would expire.' })
  dryRun: boolean = false;

  @Rule({ min: 1, max: 10_000 })
  @Field(() => Int, { defaultValue: 1_000, description: 'Grants that are looked for; the cash of a user is done as a whole.' })
  limit: number = 1_000;
}
