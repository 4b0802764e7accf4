import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { MoneyInput, SafeInt } from '../../../runtime/schema/scalars.js';
import { CashMovementKind } from '../entities/enums.js';
import { CashPurchaseInput, CashReferenceInput } from './purchase.js';

@InputType()
export class ReserveCashInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  userId: string;

  @Field(() => MoneyInput)
  maxAmount: MoneyInput;

  @Field(() => CashPurchaseInput)
  purchase: CashPurchaseInput;

  @Field(() => CashReferenceInput)
  reference: CashReferenceInput;

  @Field(() => Boolean, { defaultValue: false, description: 'All of the amount or nothing.' })
  exact: boolean = false;
}

@InputType()
export class CommitCashInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ min: 0 })
  @Field(() => SafeInt, { nullable: true, description: 'Minor units, at most what is held; default: all of it. The rest goes back.' })
  amount?: number | null;
}

@InputType()
export class SpendCashInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Default: the caller.' })
  userId?: string | null;

  @Field(() => MoneyInput)
  amount: MoneyInput;

  @Field(() => CashPurchaseInput, { nullable: true, description: 'Without it restricted cash is not used.' })
  purchase?: CashPurchaseInput | null;

  @Field(() => CashReferenceInput)
  reference: CashReferenceInput;
}

@InputType()
export class ReturnCashInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { description: 'Of the spend.' })
  id: string;

  @Field(() => MoneyInput)
  amount: MoneyInput;

  @Field(() => CashReferenceInput, { description: 'The refund; it returns once.' })
  reference: CashReferenceInput;
}

@InputType()
export class PreviewCashUseInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Default: the caller.' })
  userId?: string | null;

  @Field(() => CashPurchaseInput)
  purchase: CashPurchaseInput;
}

@ArgsType()
export class CashMovementsArgs extends PageArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Default: the caller.' })
  userId?: string | null;

  @Field(() => CashMovementKind, { nullable: true })
  kind?: CashMovementKind | null;
}
