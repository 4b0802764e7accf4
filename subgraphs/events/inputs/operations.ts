import { Field, ID, InputType } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';
import { DeadLetterReason } from '../entities/enums.js';

/** What operators name when they change a consumer. */
@InputType()
class ConsumerChange {
  @Rule({ maxLength: 100 })
  @Field(() => String)
  name: string;

  @Rule({ minLength: 3, maxLength: 500 })
  @Field(() => String, { nullable: true, description: 'Why; kept in the audit log.' })
  reason?: string | null;
}

@InputType()
export class PauseEventConsumerInput extends ConsumerChange {}

@InputType()
export class ResumeEventConsumerInput extends ConsumerChange {}

@InputType()
export class DetachEventConsumerInput extends ConsumerChange {}

@InputType()
export class AttachEventConsumerInput extends ConsumerChange {}

@InputType()
export class ReplayConsumerDeadLetterInput {
  @Field(() => ID)
  id: string;

  @Rule({ minLength: 3, maxLength: 500 })
  @Field(() => String, { nullable: true, description: 'Why; kept in the audit log.' })
  reason?: string | null;
}

@InputType()
export class DiscardConsumerDeadLetterInput {
  @Field(() => ID)
  id: string;

  @Rule({ minLength: 3, maxLength: 500 })
  @Field(() => String, { description: 'Why the event is given up; kept in the audit log.' })
  reason: string;
}

@InputType()
export class ReplayConsumerDeadLettersInput {
  @Rule({ maxLength: 100 })
  @Field(() => String)
  consumer: string;

  @Field(() => DeadLetterReason, { nullable: true })
  reason?: DeadLetterReason | null;

  @Rule({ maxLength: 100 })
  @Field(() => String, { nullable: true, description: 'Event type.' })
  type?: string | null;

  @Rule({ minLength: 3, maxLength: 500 })
  @Field(() => String, { nullable: true, description: 'Why it is done; kept in the audit log. `reason` chooses.' })
  note?: string | null;
}
