import { Field, Float, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { READERS } from './subscription.js';

/** Numbers of a subscription over a window that ends now. Never made from payloads. */
@Access(READERS)
@ObjectType({ description: 'How a subscription fared over a time that ends now.' })
export class WebhookStats {
  @Field(() => Int, { description: 'Deliveries that arrived.' })
  delivered: number;

  @Field(() => Int)
  failedAttempts: number;

  @Field(() => Int, { description: 'Deliveries that ended in the dead letters.' })
  deadLettered: number;

  @Field(() => Int, { description: 'Deliveries that are open now.' })
  pending: number;

  @Field(() => Int, { description: 'Users whose next delivery waits for a retry now.' })
  blockedUsers: number;

  @Field(() => Float, { nullable: true, description: 'Successful attempts of all, 0 to 1; null: none were made.' })
  successRate: number | null;

  @Field(() => Int, { nullable: true, description: 'Of successful attempts, request to answer; null: none.' })
  latencyP50Ms: number | null;

  @Field(() => Int, { nullable: true })
  latencyP95Ms: number | null;

  @Field(() => Int, { nullable: true, description: 'Age of the oldest delivery that is open now; null: none is.' })
  oldestPendingSeconds: number | null;
}

@Access(READERS)
@ObjectType({ description: 'The webhooks of one client at a glance.' })
export class WebhookClientHealth {
  @Field(() => Int, { description: 'Active subscriptions.' })
  active: number;

  @Field(() => Int, { description: 'Active subscriptions that have failed since their last success.' })
  failing: number;

  @Field(() => Int, { description: 'Disabled subscriptions.' })
  disabled: number;

  @Field(() => Int, { description: 'Dead letters that nobody has resolved.' })
  deadLetters: number;
}
