import { Field, ID, InputType, Int } from 'type-graphql';
import { NOT_BLANK, Rule, UUID } from '../../../runtime/schema/constraints.js';
import { DateTime, EmailAddress, MoneyInput } from '../../../runtime/schema/scalars.js';
import { GiftKind } from '../entities/enums-offers.js';

@InputType({ description: 'Who gets a gift.' })
export class GiftRecipientInput {
  @Rule({ maxLength: 200, pattern: NOT_BLANK })
  @Field(() => String)
  name: string;

  @Rule({ maxLength: 254 })
  @Field(() => EmailAddress)
  email: string;
}

@InputType({ description: 'Of MEMBERSHIP: priceId and periods; of CREDIT: value.' })
export class CreateGiftCheckoutSessionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Required for service tokens.' })
  userId?: string | null;

  @Field(() => GiftKind)
  kind: GiftKind;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'A price of a membership plan.' })
  priceId?: string | null;

  @Rule({ min: 1, max: 36 })
  @Field(() => Int, { nullable: true })
  periods?: number | null;

  @Field(() => MoneyInput, { nullable: true, description: '500 to 100000 minor units.' })
  value?: MoneyInput | null;

  @Field(() => GiftRecipientInput)
  recipient: GiftRecipientInput;

  @Rule({ maxLength: 500, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  message?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'At most a year ahead; default: as soon as it is paid.' })
  deliverAt?: Date | null;

  @Rule({ maxLength: 2048 })
  @Field(() => String)
  returnUrl: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Charges at once; without one, the page of the address does.' })
  paymentMethodId?: string | null;
}

@InputType()
export class RedeemGiftInput {
  @Rule({ minLength: 1, maxLength: 64 })
  @Field(() => String, { description: 'Case and dashes do not matter.' })
  code: string;

  @Field(() => Boolean, { defaultValue: false, description: 'Go on paying after a membership that was given has ended.' })
  autoRenew: boolean = false;
}
