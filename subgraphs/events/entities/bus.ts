import { Field, Float, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { EventTransport, READERS } from './enums.js';

@Access(READERS)
@ObjectType({ description: 'One of the eight parts of the log; one relay process publishes it.' })
export class RelayGroup {
  @Field(() => Int, { description: '0 to 7.' })
  group: number;

  @Field(() => String, { nullable: true, description: 'The process that publishes it; null when none does.' })
  holder: string | null;

  @Field(() => Int, { description: 'Grows with every new holder.' })
  epoch: number;

  @Field(() => DateTime, { nullable: true })
  leaseExpiresAt: Date | null;

  @Field(() => Int)
  unpublished: number;

  @Field(() => Float)
  oldestUnpublishedSeconds: number;

  @Field(() => String, { nullable: true, description: 'Of the oldest unpublished event.' })
  lastError: string | null;
}

@Access(READERS)
@ObjectType({ description: 'How the event bus does.' })
export class BusHealth {
  @Field(() => EventTransport)
  transport: EventTransport;

  @Field(() => Boolean, { description: 'Whether this process reached the broker or the queue within 10 s.' })
  connected: boolean;

  @Field(() => Float, { nullable: true, description: 'Emit to handler of the probes of the last hour; null without one.' })
  roundtripP50Ms: number | null;

  @Field(() => Float, { nullable: true, description: 'As roundtripP50Ms, of 95 of 100.' })
  roundtripP95Ms: number | null;

  @Field(() => Int)
  unpublished: number;

  @Field(() => Float)
  oldestUnpublishedSeconds: number;

  @Field(() => Int, { description: 'With those parked behind them.' })
  openDeadLetters: number;

  @Field(() => [RelayGroup])
  groups: RelayGroup[];
}
