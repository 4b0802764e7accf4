import { Directive, Field, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { ConsumerStatus, SHOWN } from './enums.js';

/** A row of `events.consumer`: a service's reaction to some types, with a queue of its own. */
@Access(SHOWN)
@Directive('@key(fields: "name")')
@ObjectType({ description: "A service's reaction to some event types, with its own place in the log." })
export class EventConsumer {
  @Field(() => String, { description: '<service>.<what>.' })
  name: string;

  @Field(() => String)
  service: string;

  @Field(() => [String])
  types: string[];

  @Field(() => Int)
  partitions: number;

  @Field(() => Int, { description: 'Grows with every change of the partitions.' })
  generation: number;

  @Field(() => ConsumerStatus)
  status: ConsumerStatus;

  @Field(() => String, { nullable: true })
  pausedReason: string | null;

  @Field(() => String, { nullable: true, description: 'Up to where it has everything, opaque; only while detached or fed from the log.' })
  position: string | null;

  @Field(() => DateTime, { description: 'When a process last had it; noted every 15 s.' })
  lastSeenAt: Date;

  @Field(() => Int)
  version: number;

  @Field(() => Int, { description: 'Order keys that wait for a dead letter.' })
  blockedKeys: number;

  @Field(() => Int, { description: 'Open dead letters, with those parked behind them.' })
  deadLetters: number;
}

export const EventConsumerConnection = connectionOf(EventConsumer, 'EventConsumer');
