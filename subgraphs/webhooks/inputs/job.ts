import { Field, ID, InputType } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { WebhookDeadLetterReason } from '../entities/enums.js';

@InputType()
export class ReplayWebhookDeadLettersInput {
  @Field(() => ID)
  subscriptionId: string;

  @Rule({ maxItems: 100, maxLength: 100 })
  @Field(() => [String], { nullable: true, description: 'Only these types; empty: all.' })
  eventTypes?: string[] | null;

  @Field(() => ID, { nullable: true })
  userId?: string | null;

  @Field(() => WebhookDeadLetterReason, { nullable: true })
  reason?: WebhookDeadLetterReason | null;

  @Field(() => DateTime, { nullable: true, description: 'Dead since then, inclusive.' })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Dead before then.' })
  to?: Date | null;

  @Field(() => Boolean, { defaultValue: false, description: 'Only counts them.' })
  dryRun: boolean = false;
}

@InputType()
export class RecoverWebhookSubscriptionInput {
  @Field(() => ID)
  id: string;

  @Field(() => DateTime, { description: 'At most 30 days ago.' })
  since: Date;

  @Field(() => DateTime, { nullable: true, description: 'Default: now.' })
  until?: Date | null;
}

@InputType()
export class CancelWebhookJobInput {
  @Field(() => ID)
  id: string;
}
