import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { NOT_BLANK, Rule, UUID } from '../../../runtime/schema/constraints.js';
import { LocalDate, MoneyInput, PhoneNumber, TimeZone } from '../../../runtime/schema/scalars.js';
import {
  CadenceEffective,
  OutOfStockPolicy,
  ProductSubscriptionStatus,
  SubscriptionCancelAt,
  SubscriptionCancelReason,
  SwapScope,
} from '../entities/enums.js';
import { CadenceInput } from './cart.js';
import { CommerceAddressInput } from './postal-address.js';

const METHOD = { pattern: '^[a-z0-9_-]{1,40}$' } as const;

@InputType()
export class SubscriptionLineInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  variantId: string;

  @Rule({ min: 1, max: 99 })
  @Field(() => Int, { defaultValue: 1 })
  quantity: number = 1;
}

@InputType()
export class CreateProductSubscriptionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Required for service tokens.' })
  userId?: string | null;

  @Rule({ minItems: 1, maxItems: 20 })
  @Field(() => [SubscriptionLineInput])
  items: SubscriptionLineInput[];

  @Field(() => CadenceInput)
  cadence: CadenceInput;

  @Field(() => LocalDate, { nullable: true, description: 'Today to 90 days from now; default: today.' })
  firstOrderOn?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  addressId?: string | null;

  @Field(() => CommerceAddressInput, { nullable: true })
  shippingAddress?: CommerceAddressInput | null;

  @Rule({ maxLength: 200, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  recipientName?: string | null;

  @Field(() => PhoneNumber, { nullable: true })
  phone?: string | null;

  @Rule(METHOD)
  @Field(() => String, { nullable: true, description: 'Default: the cheapest.' })
  shippingMethodCode?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID)
  paymentMethodId: string;

  @Field(() => OutOfStockPolicy, { defaultValue: OutOfStockPolicy.WAIT })
  outOfStock: OutOfStockPolicy = OutOfStockPolicy.WAIT;

  @Field(() => TimeZone, { nullable: true, description: "Default: the brand's." })
  timeZone?: string | null;
}

@ArgsType()
export class ProductSubscriptionsArgs extends PageArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  userId: string;

  @Field(() => ProductSubscriptionStatus, { nullable: true })
  status?: ProductSubscriptionStatus | null;
}

@InputType()
export class ChangeProductSubscriptionCadenceInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Field(() => CadenceInput)
  cadence: CadenceInput;

  @Field(() => CadenceEffective, { defaultValue: CadenceEffective.NEXT_CYCLE, description: 'NOW also moves the next order.' })
  effective: CadenceEffective = CadenceEffective.NEXT_CYCLE;

  @Field(() => LocalDate, { nullable: true })
  nextOrderOn?: string | null;
}

@InputType()
export class CancelProductSubscriptionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Field(() => SubscriptionCancelReason)
  reason: SubscriptionCancelReason;

  @Rule({ maxLength: 500 })
  @Field(() => String, { nullable: true })
  comment?: string | null;

  @Field(() => SubscriptionCancelAt, { defaultValue: SubscriptionCancelAt.NOW })
  at: SubscriptionCancelAt = SubscriptionCancelAt.NOW;
}

@InputType({ description: 'Until a date, for some cycles, or until it is resumed.' })
export class PauseProductSubscriptionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Field(() => LocalDate, { nullable: true, description: 'At most 180 days from now.' })
  until?: string | null;

  @Rule({ min: 1, max: 6 })
  @Field(() => Int, { nullable: true })
  cycles?: number | null;
}

@InputType()
export class ResumeProductSubscriptionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Field(() => LocalDate, { nullable: true, description: 'Tomorrow to 90 days from now; default: the next anchor after today.' })
  nextOrderOn?: string | null;
}

@InputType({ description: 'Default: the next one.' })
export class SkipScheduledOrderInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ min: 0 })
  @Field(() => Int, { nullable: true })
  cycleIndex?: number | null;

  @Field(() => LocalDate, { nullable: true })
  orderOn?: string | null;
}

@InputType()
export class UnskipScheduledOrderInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ min: 0 })
  @Field(() => Int)
  cycleIndex: number;
}

@InputType({ description: 'One of itemId and fromVariantId.' })
export class SwapProductSubscriptionItemInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  itemId?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  fromVariantId?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID)
  toVariantId: string;

  @Rule({ min: 1, max: 99 })
  @Field(() => Int, { nullable: true, description: 'Default: as before.' })
  quantity?: number | null;

  @Field(() => SwapScope, { defaultValue: SwapScope.ALL_FUTURE })
  applyTo: SwapScope = SwapScope.ALL_FUTURE;
}

@InputType({ description: 'What is left out stays as it is.' })
export class UpdateProductSubscriptionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  paymentMethodId?: string | null;

  @Field(() => CommerceAddressInput, { nullable: true })
  shippingAddress?: CommerceAddressInput | null;

  @Rule({ maxLength: 200, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  recipientName?: string | null;

  @Rule(METHOD)
  @Field(() => String, { nullable: true })
  shippingMethodCode?: string | null;

  @Field(() => OutOfStockPolicy, { nullable: true })
  outOfStock?: OutOfStockPolicy | null;

  @Rule({ min: 1 })
  @Field(() => Int, { nullable: true })
  version?: number | null;
}

@InputType()
export class SubscriptionPriceChangeInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ pattern: UUID })
  @Field(() => ID)
  itemId: string;

  @Field(() => MoneyInput)
  amount: MoneyInput;

  @Field(() => LocalDate, { description: 'At least 14 days from now.' })
  effectiveOn: string;
}
