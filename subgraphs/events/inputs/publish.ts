import { Field, ID, InputType } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';

@InputType({ description: 'An event of a job, script or process without the outbox. Its id, time and sequence are given by the log.' })
export class PublishEventInput {
  @Rule({ maxLength: 100 })
  @Field(() => String, { description: 'A type of the registry that is not past its sunset.' })
  type: string;

  @Field(() => ID, { nullable: true, description: 'By the user rule of the type: required, allowed or refused.' })
  userId?: string | null;

  @Rule({ minLength: 1, maxLength: 128 })
  @Field(() => String, { nullable: true, description: 'Orders events without a user; default: the type.' })
  subject?: string | null;

  @Rule({ object: true })
  @Field(() => JSONObject, { description: 'Valid against the newest revision, without further keys; at most 64 KiB.' })
  data: unknown;

  @Rule({ maxLength: 40 })
  @Field(() => String, { nullable: true, description: 'A declared emitter; default: the owner of the type.' })
  source?: string | null;

  @Field(() => ID, { nullable: true, description: 'The event that this one follows from.' })
  causationId?: string | null;
}

@InputType()
export class PublishEventsInput {
  @Rule({ minItems: 1, maxItems: 100 })
  @Field(() => [PublishEventInput], { description: 'All of them are published in one transaction, or none.' })
  events: PublishEventInput[];
}
