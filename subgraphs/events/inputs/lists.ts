import { ArgsType, Field, ID, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { ConsumerStatus, DeadLetterReason, DeadLetterStatus, PlatformEventOrder } from '../entities/enums.js';

@ArgsType()
export class EventTypesArgs extends PageArgs {
  @Field(() => String, { nullable: true, description: 'Slug of the owning service.' })
  owner?: string | null;

  @Field(() => String, { nullable: true })
  scope?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'True: types with a scope; false: those without.' })
  subscribable?: boolean | null;

  @Field(() => Boolean, { nullable: true })
  deprecated?: boolean | null;

  @Rule({ maxLength: 100 })
  @Field(() => String, { nullable: true, description: 'Part of the name or description.' })
  q?: string | null;
}

@ArgsType()
export class EventConsumersArgs extends PageArgs {
  @Field(() => String, { nullable: true, description: 'Slug.' })
  service?: string | null;

  @Field(() => ConsumerStatus, { nullable: true })
  status?: ConsumerStatus | null;
}

@ArgsType()
export class ConsumerDeadLettersArgs extends PageArgs {
  @Field(() => String, { nullable: true })
  consumer?: string | null;

  @Field(() => [DeadLetterStatus], { nullable: true, description: 'Default: the open ones.' })
  status?: DeadLetterStatus[] | null;

  @Field(() => DeadLetterReason, { nullable: true })
  reason?: DeadLetterReason | null;

  @Field(() => String, { nullable: true, description: 'Event type.' })
  type?: string | null;

  @Field(() => ID, { nullable: true })
  userId?: string | null;
}

@ArgsType()
export class MyEventsArgs extends PageArgs {
  @Rule({ maxItems: 100 })
  @Field(() => [String], { nullable: true })
  types?: string[] | null;
}

/** Filters of the log. */
@ArgsType()
export class LogFilterArgs extends MyEventsArgs {
  @Field(() => String, { nullable: true })
  type?: string | null;

  @Field(() => ID, { nullable: true })
  userId?: string | null;

  @Rule({ maxLength: 128 })
  @Field(() => String, { nullable: true })
  subject?: string | null;

  @Field(() => String, { nullable: true, description: 'Emitting service.' })
  source?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Inclusive.' })
  occurredFrom?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Exclusive.' })
  occurredTo?: Date | null;
}

@ArgsType()
export class PlatformEventsArgs extends LogFilterArgs {
  @Field(() => PlatformEventOrder, {
    nullable: true,
    description: 'Default: newest. In log order there is always a next page, and the cursor `now` is the end.',
  })
  order?: PlatformEventOrder | null;

  @Rule({ min: 0, max: 20 })
  @Field(() => Int, { nullable: true, description: 'In log order: seconds to wait for an event where none is there yet; default 0.' })
  wait?: number | null;
}

@ArgsType()
export class DeliveryLogArgs extends MyEventsArgs {
  @Rule({ maxItems: 1000 })
  @Field(() => [ID], { nullable: true })
  userIds?: string[] | null;

  @Field(() => DateTime, { nullable: true, description: 'Inclusive.' })
  occurredFrom?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Exclusive.' })
  occurredTo?: Date | null;
}
