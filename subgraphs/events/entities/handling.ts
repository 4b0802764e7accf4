import { Field, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { PlatformEvent } from './platform-event.js';
import { HandlingStatus, READERS } from './enums.js';

@Access(READERS)
@ObjectType({ description: 'What became of an event at a consumer.' })
export class ConsumerHandling {
  @Field(() => String)
  consumerName: string;

  @Field(() => HandlingStatus)
  status: HandlingStatus;

  @Field(() => DateTime, { nullable: true, description: 'When it was handled or last failed.' })
  at: Date | null;
}

@Access(READERS)
@ObjectType({ description: 'An event in the tree of its causes.' })
export class EventTraceNode {
  @Field(() => Int, { description: '0 for the event itself, 1 for what its handlers emitted, and so on.' })
  depth: number;

  @Field(() => PlatformEvent)
  event: PlatformEvent;
}

@Access(READERS)
@ObjectType({ description: 'What led to an event and what followed from it.' })
export class EventTrace {
  @Field(() => [PlatformEvent], { description: 'From the first cause that the log still has to the direct one; at most 10.' })
  causes: PlatformEvent[];

  @Field(() => [EventTraceNode], {
    description: 'The event and its effects, level by level; at most 200 events in 10 levels. Each names its cause by causationId.',
  })
  nodes: EventTraceNode[];

  @Field(() => Boolean, { description: 'More followed than is shown.' })
  truncated: boolean;
}
