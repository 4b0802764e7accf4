import { Field, ID, InputType, Int } from 'type-graphql';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { BillingInterval, BillingSubscriptionSource } from '../entities/enums-billing.js';

export enum PaymentBehavior {
  DEFAULT_INCOMPLETE = 'default_incomplete',
  ERROR_IF_INCOMPLETE = 'error_if_incomplete',
}

export enum BillingEffective {
  NOW = 'now',
  PERIOD_END = 'period_end',
}

export enum BillingProration {
  CREATE = 'create',
  NONE = 'none',
}

export enum CancelReason {
  TOO_EXPENSIVE = 'too_expensive',
  NOT_USING = 'not_using',
  HEALTH = 'health',
  SWITCHING = 'switching',
  MOVING = 'moving',
  OTHER = 'other',
}

export enum CancelRefund {
  NONE = 'none',
  PRORATED = 'prorated',
  FULL_LAST = 'full_last',
}

registerEnums(
  { PaymentBehavior, BillingEffective, BillingProration, CancelReason, CancelRefund },
  {
    PaymentBehavior: 'ERROR_IF_INCOMPLETE: a declined first payment is an error, and nothing stays.',
    CancelRefund: 'FULL_LAST: all that was paid last; PRORATED: of that, what is not used.',
  },
);

/** Source: payments 4.3. */
const MAX_TRIAL_DAYS = 90;
const COMMENT = { maxLength: 500 };
const REASON = { minLength: 3, maxLength: 500, pattern: '\\S' };

@InputType({ description: 'A price that is to be charged again and again.' })
export class CreateBillingSubscriptionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  priceId: string;

  @Rule({ min: 1, max: 100 })
  @Field(() => Int, { defaultValue: 1 })
  quantity: number = 1;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Whose; of services only.' })
  userId?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Default: that of the customer.' })
  paymentMethodId?: string | null;

  @Rule({ minLength: 1, maxLength: 64 })
  @Field(() => String, { nullable: true })
  promoCode?: string | null;

  @Rule({ min: 0, max: MAX_TRIAL_DAYS })
  @Field(() => Int, { nullable: true, description: 'For services.' })
  trialDays?: number | null;

  @Field(() => DateTime, { nullable: true, description: 'Periods count from here, and the first one ends here. For services.' })
  anchorAt?: Date | null;

  @Field(() => BillingSubscriptionSource, { nullable: true, description: 'COMP: free of charge. For services.' })
  source?: BillingSubscriptionSource | null;

  @Field(() => PaymentBehavior, { defaultValue: PaymentBehavior.DEFAULT_INCOMPLETE })
  paymentBehavior: PaymentBehavior = PaymentBehavior.DEFAULT_INCOMPLETE;

  @Rule({ object: true })
  @Field(() => JSONObject, { nullable: true })
  metadata?: unknown;
}

@InputType({ description: 'What is left out stays as it is.' })
export class UpdateBillingSubscriptionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  priceId?: string | null;

  @Rule({ min: 1, max: 100 })
  @Field(() => Int, { nullable: true })
  quantity?: number | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Null: the default method of the customer.' })
  paymentMethodId?: string | null;

  @Field(() => Boolean, { nullable: true })
  cancelAtPeriodEnd?: boolean | null;

  @Rule({ object: true })
  @Field(() => JSONObject, { nullable: true })
  metadata?: unknown;

  @Field(() => BillingEffective, { nullable: true, description: 'Default: NOW of what costs more, else PERIOD_END.' })
  effective?: BillingEffective | null;

  @Field(() => BillingProration, { nullable: true, description: 'NONE: for services.' })
  proration?: BillingProration | null;

  @Rule({ maxLength: 4096 })
  @Field(() => String, { nullable: true, description: 'Token of a preview: the change is made as it was shown, or not at all.' })
  previewToken?: string | null;
}

@InputType()
export class CancelBillingSubscriptionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Field(() => BillingEffective, { defaultValue: BillingEffective.PERIOD_END })
  at: BillingEffective = BillingEffective.PERIOD_END;

  @Field(() => CancelReason, { nullable: true })
  reason?: CancelReason | null;

  @Rule(COMMENT)
  @Field(() => String, { nullable: true })
  comment?: string | null;

  @Field(() => Boolean, { defaultValue: false, description: 'One that has ended stays as it is, instead of a conflict.' })
  ifLive: boolean = false;

  @Rule({ maxLength: 4096 })
  @Field(() => String, { nullable: true, description: 'Token of a preview.' })
  previewToken?: string | null;
}

@InputType({ description: "The caller's one membership." })
export class CancelMyBillingSubscriptionInput {
  @Field(() => BillingEffective, { defaultValue: BillingEffective.PERIOD_END })
  at: BillingEffective = BillingEffective.PERIOD_END;

  @Field(() => CancelReason, { nullable: true })
  reason?: CancelReason | null;

  @Rule(COMMENT)
  @Field(() => String, { nullable: true })
  comment?: string | null;
}

@InputType()
export class AdminCancelBillingSubscriptionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Field(() => BillingEffective, { defaultValue: BillingEffective.PERIOD_END })
  at: BillingEffective = BillingEffective.PERIOD_END;

  @Rule(REASON)
  @Field(() => String)
  reason: string;

  @Field(() => CancelRefund, { defaultValue: CancelRefund.NONE, description: 'Of a cancellation NOW.' })
  refund: CancelRefund = CancelRefund.NONE;
}

@InputType()
export class PauseBillingSubscriptionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Field(() => DateTime, { nullable: true, description: '1 to 180 days ahead; null: open-ended.' })
  resumeAt?: Date | null;

  @Field(() => BillingEffective, { defaultValue: BillingEffective.NOW })
  effective: BillingEffective = BillingEffective.NOW;
}

@InputType({ description: "The caller's one membership." })
export class PauseMyBillingSubscriptionInput {
  @Field(() => DateTime, { nullable: true, description: '1 to 180 days ahead; null: open-ended.' })
  resumeAt?: Date | null;

  @Field(() => BillingEffective, { defaultValue: BillingEffective.NOW })
  effective: BillingEffective = BillingEffective.NOW;
}

@InputType()
export class AdminPauseBillingSubscriptionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Field(() => DateTime, { nullable: true, description: '1 to 365 days ahead; null: open-ended.' })
  resumeAt?: Date | null;

  @Field(() => BillingEffective, { defaultValue: BillingEffective.NOW })
  effective: BillingEffective = BillingEffective.NOW;

  @Field(() => Boolean, { defaultValue: false, description: 'Invoices that are not paid are void.' })
  voidOpen: boolean = false;

  @Rule(REASON)
  @Field(() => String)
  reason: string;
}

@InputType()
export class ResumeBillingSubscriptionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;
}

@InputType()
export class AdminResumeBillingSubscriptionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Field(() => Boolean, { defaultValue: false, description: 'Invoices that are not paid are void.' })
  waiveOverdue: boolean = false;

  @Rule(REASON)
  @Field(() => String)
  reason: string;
}

@InputType()
export class ChangeBillingCadenceInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Field(() => BillingInterval)
  interval: BillingInterval;

  @Rule({ min: 1, max: 365 })
  @Field(() => Int, { defaultValue: 1 })
  intervalCount: number = 1;

  @Field(() => BillingEffective, { defaultValue: BillingEffective.PERIOD_END })
  effective: BillingEffective = BillingEffective.PERIOD_END;
}

@InputType({ description: 'A change of plan or quantity, or an end.' })
export class PreviewSubscriptionChangeInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  priceId?: string | null;

  @Rule({ min: 1, max: 100 })
  @Field(() => Int, { nullable: true })
  quantity?: number | null;

  @Field(() => BillingEffective, { nullable: true })
  effective?: BillingEffective | null;

  @Field(() => BillingProration, { nullable: true })
  proration?: BillingProration | null;

  @Field(() => BillingEffective, { nullable: true, description: 'When it would end; null: it would not.' })
  cancelAt?: BillingEffective | null;
}
