import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { DateTime, SafeInt } from '../../../runtime/schema/scalars.js';
import { EventReplayMode, EventReplayStatus } from '../entities/enums.js';

@InputType({ description: 'At least one of them; all that are given must hold.' })
export class EventReplayFilterInput {
  @Rule({ minItems: 1, maxItems: 100 })
  @Field(() => [String], { nullable: true })
  types?: string[] | null;

  @Field(() => ID, { nullable: true })
  userId?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Inclusive.' })
  occurredFrom?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Exclusive.' })
  occurredTo?: Date | null;

  @Rule({ min: 0 })
  @Field(() => SafeInt, { nullable: true, description: 'Inclusive.' })
  sequenceFrom?: number | null;

  @Rule({ min: 0 })
  @Field(() => SafeInt, { nullable: true, description: 'Inclusive.' })
  sequenceTo?: number | null;
}

@InputType()
export class CreateEventReplayInput {
  @Rule({ maxLength: 100 })
  @Field(() => String)
  consumer: string;

  @Field(() => EventReplayMode, { nullable: true, description: 'Default: dedupe.' })
  mode?: EventReplayMode | null;

  @Field(() => EventReplayFilterInput)
  filter: EventReplayFilterInput;

  @Rule({ minLength: 3, maxLength: 500 })
  @Field(() => String, { description: 'Why; kept in the audit log.' })
  reason: string;

  @Field(() => Boolean, { nullable: true, description: 'Only counts; default: false.' })
  dryRun?: boolean | null;
}

@InputType()
export class CancelEventReplayInput {
  @Field(() => ID)
  id: string;

  @Rule({ minLength: 3, maxLength: 500 })
  @Field(() => String, { nullable: true, description: 'Why; kept in the audit log.' })
  reason?: string | null;
}

@ArgsType()
export class EventReplaysArgs extends PageArgs {
  @Field(() => String, { nullable: true })
  consumer?: string | null;

  @Field(() => [EventReplayStatus], { nullable: true })
  status?: EventReplayStatus[] | null;
}
