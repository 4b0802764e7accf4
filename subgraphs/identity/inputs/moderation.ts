import { Field, ID, InputType, Int } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { ModerationActionReasonCode } from '../entities/moderation.js';

@InputType({ description: 'Why an account is closed or opened.' })
export class BanUserInput {
  @Field(() => ID)
  userId: string;

  @Field(() => ModerationActionReasonCode)
  reasonCode: ModerationActionReasonCode;

  @Rule({ maxLength: 1000 })
  @Field(() => String, { nullable: true, description: 'For staff only.' })
  note?: string | null;

  @Field(() => Boolean, { defaultValue: true, description: 'Sends the user a notice.' })
  notify: boolean;
}

@InputType({ description: 'Closes an account for a while: either until or durationSeconds.' })
export class SuspendUserInput extends BanUserInput {
  @Field(() => DateTime, { nullable: true, description: 'In the future, at most 365 days ahead.' })
  until?: Date | null;

  @Rule({ min: 60, max: 31_536_000 })
  @Field(() => Int, { nullable: true })
  durationSeconds?: number | null;
}

@InputType({ description: 'Opens an account again.' })
export class ReinstateUserInput extends BanUserInput {}
