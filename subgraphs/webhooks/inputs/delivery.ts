import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import {
  WebhookAttemptError,
  WebhookAttemptTrigger,
  WebhookDeadLetterReason,
  WebhookDeliveryStatus,
  WebhookWait,
} from '../entities/enums.js';

/** Filters that all lists of deliveries take. */
@ArgsType()
class DeliveryFilter extends PageArgs {
  @Field(() => String, { nullable: true })
  clientId?: string | null;

  @Field(() => ID, { nullable: true })
  subscriptionId?: string | null;

  @Field(() => String, { nullable: true })
  eventType?: string | null;

  @Field(() => ID, { nullable: true })
  userId?: string | null;
}

@ArgsType()
export class WebhookDeliveriesArgs extends DeliveryFilter {
  @Field(() => ID, { nullable: true })
  eventId?: string | null;

  @Field(() => [WebhookDeliveryStatus], { nullable: true })
  status?: WebhookDeliveryStatus[] | null;

  @Field(() => WebhookWait, { nullable: true, description: 'Pending deliveries that wait for this.' })
  waitingFor?: WebhookWait | null;

  @Field(() => Int, { nullable: true, description: "The last attempt's status code." })
  statusCode?: number | null;

  @Field(() => DateTime, { nullable: true })
  createdFrom?: Date | null;

  @Field(() => DateTime, { nullable: true })
  createdTo?: Date | null;

  @Field(() => Boolean, { nullable: true, description: 'True: replays only; false: none.' })
  replay?: boolean | null;
}

@ArgsType()
export class WebhookDeadLettersArgs extends DeliveryFilter {
  @Field(() => WebhookDeadLetterReason, { nullable: true })
  reason?: WebhookDeadLetterReason | null;

  @Field(() => Boolean, { defaultValue: false, description: 'Whether those already replayed or discarded are shown instead.' })
  resolved: boolean = false;

  @Field(() => DateTime, { nullable: true })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true })
  to?: Date | null;
}

/** Deliveries of one event. */
@ArgsType()
export class EventDeliveriesArgs extends PageArgs {
  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true })
  clientId?: string | null;
}

@InputType()
export class RetryWebhookDeliveryInput {
  @Field(() => ID)
  id: string;
}

@InputType()
export class ReplayWebhookEventInput {
  @Field(() => ID)
  eventId: string;

  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true, description: 'Only the deliveries of this client.' })
  clientId?: string | null;

  @Field(() => ID, { nullable: true, description: 'Only the delivery of this subscription.' })
  subscriptionId?: string | null;
}

@InputType()
export class ReplayWebhookDeliveryInput {
  @Field(() => ID)
  id: string;
}

@InputType()
export class DiscardWebhookDeadLetterInput {
  @Field(() => ID)
  deliveryId: string;
}

/** The attempts log of some time. */
@ArgsType()
export class WebhookAttemptsArgs extends PageArgs {
  @Field(() => String, { nullable: true })
  clientId?: string | null;

  @Field(() => ID, { nullable: true })
  subscriptionId?: string | null;

  @Field(() => String, { nullable: true })
  eventType?: string | null;

  @Field(() => WebhookAttemptError, { nullable: true })
  error?: WebhookAttemptError | null;

  @Field(() => Int, { nullable: true })
  statusCode?: number | null;

  @Field(() => Boolean, { nullable: true, description: 'True: only those with a 2xx in time; false: only the others.' })
  succeeded?: boolean | null;

  @Field(() => WebhookAttemptTrigger, { nullable: true })
  trigger?: WebhookAttemptTrigger | null;

  @Field(() => DateTime, { nullable: true, description: 'Default: 24 hours before `to`; at most 7 days before it.' })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Default: now.' })
  to?: Date | null;
}
