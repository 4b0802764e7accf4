import { createUnionType, Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, SafeInt } from '../../../runtime/schema/scalars.js';
import { EventReplayMode, EventReplayStatus, OPERATORS, SHOWN } from './enums.js';

@Access(SHOWN)
@ObjectType({ description: 'Which events a replay sends again; null lets all through.' })
export class EventReplayFilter {
  @Field(() => [String], { nullable: true })
  types: string[] | null;

  @Field(() => ID, { nullable: true })
  userId: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Inclusive.' })
  occurredFrom: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Exclusive.' })
  occurredTo: Date | null;

  @Field(() => SafeInt, { nullable: true, description: 'Inclusive.' })
  sequenceFrom: number | null;

  @Field(() => SafeInt, { nullable: true, description: 'Inclusive.' })
  sequenceTo: number | null;
}

/** A row of `events.replay`; the machinery runs it. */
@Access(SHOWN)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'Events of the log that are sent to one consumer again.' })
export class EventReplay {
  @Field(() => ID)
  id: string;

  @Field(() => String)
  consumerName: string;

  @Field(() => EventReplayMode)
  mode: EventReplayMode;

  @Field(() => EventReplayFilter)
  filter: EventReplayFilter;

  @Field(() => EventReplayStatus)
  status: EventReplayStatus;

  @Field(() => Int, { description: 'Events that the filter lets through.' })
  total: number;

  @Field(() => Int)
  sent: number;

  @Field(() => Int, { description: 'Erased, or of a type that the consumer does not take.' })
  skipped: number;

  @Field(() => String)
  requestedBy: string;

  @Field(() => String)
  reason: string;

  @Field(() => DateTime)
  createdAt: Date;

  @Field(() => DateTime, { nullable: true })
  startedAt: Date | null;

  @Field(() => DateTime, { nullable: true })
  finishedAt: Date | null;

  @Field(() => String, { nullable: true })
  error: string | null;
}

export const EventReplayConnection = connectionOf(EventReplay, 'EventReplay');

@Access(OPERATORS)
@ObjectType({ description: 'What a replay would send; nothing was created.' })
export class EventReplayPreview {
  @Field(() => Int, { description: 'Events that the filter lets through.' })
  total: number;
}

export const CreateEventReplayResult = createUnionType({
  name: 'CreateEventReplayResult',
  description: 'The replay, or with dryRun what it would be.',
  types: () => [EventReplay, EventReplayPreview] as const,
  resolveType: value => ('id' in value ? EventReplay : EventReplayPreview),
});
