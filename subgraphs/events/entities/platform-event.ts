import { Directive, Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, SafeInt } from '../../../runtime/schema/scalars.js';
import { CONCERNED, READERS } from './enums.js';

/** A row of the log. */
@Access(READERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'An event of the log.' })
export class PlatformEvent {
  @Field(() => ID, { description: 'UUIDv7; the dedupe key.' })
  id: string;

  @Access(CONCERNED)
  @Field(() => String)
  type: string;

  @Field(() => ID, { nullable: true, description: 'User concerned.' })
  userId: string | null;

  @Field(() => ID, { nullable: true })
  brandId: string | null;

  @Field(() => String, { nullable: true, description: 'Orders events without a user.' })
  subject: string | null;

  @Access(CONCERNED)
  @Field(() => DateTime)
  occurredAt: Date;

  @Field(() => SafeInt, { description: 'Place in the log; increasing per user.' })
  sequence: number;

  @Field(() => String, { description: 'Emitting service.' })
  source: string;

  @Field(() => DateTime, { nullable: true, description: 'When its payload was removed.' })
  erasedAt: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Null: not yet relayed.' })
  publishedAt: Date | null;

  @Field(() => String, { nullable: true })
  requestId: string | null;

  @Field(() => String, { description: 'user:<id>, staff:<id>, service:<client> or system:<client>.' })
  actor: string;

  @Field(() => String, { nullable: true })
  traceId: string | null;

  @Field(() => ID, { nullable: true, description: 'The event whose handler emitted this one.' })
  causationId: string | null;
}

export const PlatformEventConnection = connectionOf(PlatformEvent, 'PlatformEvent');

@Access({ user: 'read:account' })
@ObjectType({ description: 'An event about oneself, without its data.' })
export class OwnEvent {
  @Field(() => ID)
  id: string;

  @Field(() => String)
  type: string;

  @Field(() => DateTime)
  occurredAt: Date;
}

export const OwnEventConnection = connectionOf(OwnEvent, 'OwnEvent');
