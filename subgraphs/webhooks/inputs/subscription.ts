import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { WebhookSecretActivation, WebhookSubscriptionStatus } from '../entities/enums.js';

@InputType({ description: 'A custom header of every request.' })
export class WebhookHeaderInput {
  @Rule({ minLength: 1, maxLength: 100 })
  @Field(() => String)
  name: string;

  @Rule({ maxLength: 1000 })
  @Field(() => String, { description: 'Kept sealed and never shown again.' })
  value: string;
}

/** Limits that both create and update take. */
@InputType()
class SubscriptionLimits {
  @Rule({ maxLength: 500 })
  @Field(() => String, { nullable: true })
  description?: string | null;

  @Rule({ min: 1000, max: 30_000 })
  @Field(() => Int, { nullable: true, description: 'Deadline of one attempt, ms; default 15000.' })
  timeoutMs?: number | null;

  @Rule({ min: 1, max: 64 })
  @Field(() => Int, { nullable: true, description: 'Requests in flight; default 16.' })
  maxConcurrency?: number | null;

  @Rule({ min: 1, max: 1000 })
  @Field(() => Int, { nullable: true, description: 'Null: none.' })
  rateLimitPerSecond?: number | null;

  @Rule({ min: 1, max: 16 })
  @Field(() => Int, { nullable: true, description: 'Shards over which its users are spread; default 1.' })
  spread?: number | null;

  @Rule({ maxItems: 10 })
  @Field(() => [WebhookHeaderInput], { nullable: true })
  headers?: WebhookHeaderInput[] | null;

  @Field(() => Boolean, { nullable: true, description: 'Also send the Standard Webhooks headers.' })
  standardHeaders?: boolean | null;
}

@InputType()
export class CreateWebhookSubscriptionInput extends SubscriptionLimits {
  @Rule({ minLength: 1, maxLength: 64 })
  @Field(() => String, { nullable: true, description: 'The OAuth client; required unless the caller manages exactly one.' })
  clientId?: string | null;

  @Rule({ minLength: 1, maxLength: 100 })
  @Field(() => String)
  name: string;

  @Rule({ minLength: 1, maxLength: 2048 })
  @Field(() => String, { description: 'HTTPS; a public host name; port 443 or at least 1024.' })
  url: string;

  @Rule({ minItems: 1, maxItems: 100, maxLength: 100 })
  @Field(() => [String], { description: 'Event types whose scope the client holds; no wildcards.' })
  eventTypes: string[];
}

@InputType({ description: 'A merge patch: what is left out stays.' })
export class UpdateWebhookSubscriptionInput extends SubscriptionLimits {
  @Field(() => ID)
  id: string;

  @Field(() => Int, { nullable: true, description: 'The version that the change is based on.' })
  version?: number | null;

  @Rule({ minLength: 1, maxLength: 100 })
  @Field(() => String, { nullable: true })
  name?: string | null;

  @Rule({ minLength: 1, maxLength: 2048 })
  @Field(() => String, { nullable: true })
  url?: string | null;

  @Rule({ minItems: 1, maxItems: 100, maxLength: 100 })
  @Field(() => [String], { nullable: true })
  eventTypes?: string[] | null;
}

@InputType()
export class DeleteWebhookSubscriptionInput {
  @Field(() => ID)
  id: string;
}

@InputType()
export class DisableWebhookSubscriptionInput {
  @Field(() => ID)
  id: string;

  @Rule({ minLength: 1, maxLength: 500 })
  @Field(() => String, { description: 'Why; for the record.' })
  reason: string;
}

@InputType()
export class RotateWebhookSecretInput {
  @Field(() => ID)
  id: string;

  @Rule({ min: 0, max: 168 })
  @Field(() => Int, { defaultValue: 24, description: 'Hours during which both secrets sign.' })
  overlapHours: number = 24;

  @Field(() => WebhookSecretActivation, { defaultValue: 'immediate' })
  activation: WebhookSecretActivation = 'immediate';
}

@InputType()
export class TestWebhookSubscriptionInput {
  @Field(() => ID)
  id: string;

  @Rule({ minLength: 1, maxLength: 100 })
  @Field(() => String, { description: 'One of the filter.' })
  eventType: string;
}

@InputType()
export class ExpireWebhookSecretInput {
  @Field(() => ID)
  id: string;

  @Field(() => ID)
  secretId: string;
}

@ArgsType()
export class WebhookSubscriptionsArgs extends PageArgs {
  @Field(() => String, { nullable: true })
  clientId?: string | null;

  @Field(() => WebhookSubscriptionStatus, { nullable: true })
  status?: WebhookSubscriptionStatus | null;

  @Field(() => String, { nullable: true })
  eventType?: string | null;
}
