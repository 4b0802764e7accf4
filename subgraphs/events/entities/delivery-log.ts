import { Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, SafeInt } from '../../../runtime/schema/scalars.js';
import { DELIVERERS } from './enums.js';

/** An event of the log with its payload, for those who deliver it again. Erased events are not among them. */
@Access(DELIVERERS)
@ObjectType({ description: 'An event as it is delivered again.' })
export class DeliveryLogEvent {
  @Field(() => ID)
  id: string;

  @Field(() => String)
  type: string;

  @Field(() => ID, { nullable: true })
  userId: string | null;

  @Field(() => ID, { nullable: true })
  brandId: string | null;

  @Field(() => DateTime)
  occurredAt: Date;

  @Field(() => SafeInt, { description: 'Place in the log; increasing per user.' })
  sequence: number;

  @Field(() => String, { description: 'The payload as it was emitted, JSON text byte for byte.' })
  dataText: string;
}

export const DeliveryLogEventConnection = connectionOf(DeliveryLogEvent, 'DeliveryLogEvent');
