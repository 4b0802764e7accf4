import { Field, ID, InputType } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';
import { EmailAddress, PhoneNumber } from '../../../runtime/schema/scalars.js';

@InputType({ description: 'Where the account is to be reached.' })
export class RequestEmailChangeInput {
  @Rule({ maxLength: 254 })
  @Field(() => EmailAddress)
  newEmail: string;
}

@InputType({ description: 'The code that was sent to the new address.' })
export class ConfirmEmailChangeInput {
  @Field(() => ID)
  challengeId: string;

  @Rule({ pattern: '^[0-9]{6}$' })
  @Field(() => String)
  code: string;
}

@InputType({ description: 'Where the account is to be reached by text message.' })
export class RequestPhoneVerificationInput {
  @Field(() => PhoneNumber, { description: 'E.164: the number of the account, or one that it is to have.' })
  phone: string;
}

@InputType({ description: 'The code that was sent to the number.' })
export class ConfirmPhoneInput {
  @Field(() => ID)
  challengeId: string;

  @Rule({ pattern: '^[0-9]{6}$' })
  @Field(() => String)
  code: string;
}

@InputType({ description: 'A password of 10 to 128 characters that is hard to guess.' })
export class ChangePasswordInput {
  @Rule({ maxLength: 512 })
  @Field(() => String)
  newPassword: string;
}

@InputType({ description: 'The first code of an authenticator app.' })
export class ConfirmTotpInput {
  @Field(() => ID)
  methodId: string;

  @Rule({ pattern: '^[0-9]{6}$' })
  @Field(() => String)
  code: string;
}
