import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { NOT_BLANK, Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime, JSONObject, MoneyInput } from '../../../runtime/schema/scalars.js';
import { RefundReason, RefundStatus } from '../entities/enums-payment.js';

@InputType({ description: 'Exactly one of paymentId and checkoutSessionId.' })
export class CreateRefundInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Cash and credit that settled the rest go back in proportion.' })
  paymentId?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'The amount counts card, cash and credit, and is taken in this order.' })
  checkoutSessionId?: string | null;

  @Field(() => MoneyInput, { nullable: true, description: 'Default: all that is refundable.' })
  amount?: MoneyInput | null;

  @Field(() => RefundReason)
  reason: RefundReason;

  @Rule({ minLength: 3, maxLength: 500, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  note?: string | null;

  @Field(() => Boolean, { defaultValue: false, description: "The card's part becomes cash." })
  toCash: boolean = false;

  @Rule({ maxLength: 1000 })
  @Field(() => String, { nullable: true, description: 'Of a preview of the last ten minutes: a conflict where the world has moved.' })
  previewToken?: string | null;

  @Rule({ object: true })
  @Field(() => JSONObject, { nullable: true })
  metadata?: Record<string, unknown> | null;
}

@InputType({ description: 'Exactly one of paymentId and checkoutSessionId.' })
export class PreviewRefundInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  paymentId?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  checkoutSessionId?: string | null;

  @Field(() => MoneyInput, { nullable: true, description: 'Default: all that is refundable.' })
  amount?: MoneyInput | null;
}

@InputType({ description: 'As CreateRefundInput, with a note.' })
export class CreateStaffRefundInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  paymentId?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  checkoutSessionId?: string | null;

  @Field(() => MoneyInput, { nullable: true, description: 'Default: all that is refundable.' })
  amount?: MoneyInput | null;

  @Field(() => RefundReason)
  reason: RefundReason;

  @Rule({ minLength: 3, maxLength: 500, pattern: NOT_BLANK })
  @Field(() => String)
  note: string;

  @Field(() => Boolean, { defaultValue: false })
  toCash: boolean = false;

  @Rule({ object: true })
  @Field(() => JSONObject, { nullable: true })
  metadata?: Record<string, unknown> | null;
}

@ArgsType()
export class RefundsArgs extends PageArgs {
  @Field(() => RefundStatus, { nullable: true })
  status?: RefundStatus | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  paymentId?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  userId?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Created then or later.' })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Created before.' })
  to?: Date | null;
}
