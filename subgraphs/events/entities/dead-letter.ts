import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, SafeInt } from '../../../runtime/schema/scalars.js';
import { DeadLetterReason, DeadLetterStatus, SHOWN } from './enums.js';

/** A row of `events.dead_letter`; the machinery writes it, an operator may only replay or discard it. */
@Access(SHOWN)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'An event that a consumer could not handle, or that waits behind such a one.' })
export class ConsumerDeadLetter {
  @Field(() => ID)
  id: string;

  @Field(() => String)
  consumerName: string;

  @Field(() => ID)
  eventId: string;

  @Field(() => String, { description: 'u:<user> or s:<subject>; events of one key are handled in order.' })
  orderKey: string;

  @Field(() => SafeInt, { description: 'Place of the event in the log.' })
  sequence: number;

  @Field(() => String)
  type: string;

  @Field(() => DeadLetterStatus)
  status: DeadLetterStatus;

  @Field(() => DeadLetterReason)
  reason: DeadLetterReason;

  @Field(() => String, { nullable: true })
  errorClass: string | null;

  @Field(() => String, { nullable: true, description: 'At most 500 characters, without values.' })
  errorMessage: string | null;

  @Field(() => Int, { description: 'Rounds that failed; 0 while parked.' })
  attempts: number;

  @Field(() => DateTime, { nullable: true })
  nextAttemptAt: Date | null;

  @Field(() => DateTime)
  firstFailedAt: Date;

  @Field(() => DateTime)
  lastFailedAt: Date;

  @Field(() => String, { nullable: true })
  resolvedBy: string | null;

  @Field(() => DateTime, { nullable: true })
  resolvedAt: Date | null;
}

export const ConsumerDeadLetterConnection = connectionOf(ConsumerDeadLetter, 'ConsumerDeadLetter');

@Access(SHOWN)
@ObjectType({ description: 'What a replay of dead letters set going.' })
export class DeadLetterReplay {
  @Field(() => Int, { description: 'Order keys whose first letter is tried again.' })
  keys: number;

  @Field(() => Int, { description: 'Events of these keys that are tried again, one after the other.' })
  events: number;
}
