import { Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { REGISTRATION_READERS } from './access.js';
import { LiveCancelledBy, LiveRegistrationSource, LiveRegistrationStatus } from './enums.js';

/** A user's place in a session: one row, whatever becomes of it. Source: live 2. */
@Access({ ...REGISTRATION_READERS, internal: 'comms' })
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A seat in a session, or a place in its queue.' })
@Entity({ tableName: 'live_registration' })
@Unique({ name: 'live_registration_session_id_user_id', properties: ['sessionId', 'userId'] })
@Unique({ name: 'live_registration_queue', properties: ['sessionId', 'queueNo'] })
@Index({ name: 'live_registration_waiting', properties: ['sessionId', 'queueNo'], where: "status = 'waitlisted'" })
@Index({ name: 'live_registration_offered', properties: ['confirmBy'], where: "status = 'offered'" })
@Index({ name: 'live_registration_user_id', properties: ['userId'] })
export class LiveRegistration {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @Property({ type: 'uuid' })
  sessionId: string;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  userId: string;

  @Field(() => LiveRegistrationStatus)
  @Enum({ items: () => LiveRegistrationStatus })
  status: LiveRegistrationStatus;

  @Field(() => LiveRegistrationSource)
  @Enum({ items: () => LiveRegistrationSource })
  source: LiveRegistrationSource;

  /** Place in the order of arrival, given under the session's lock: the queue key, in which clocks have no part. */
  @Property({ type: 'integer' })
  queueNo: number;

  @Field(() => DateTime, { description: 'Renewed when a cancelled one registers again.' })
  @Property({ type: 'datetime', length: 3 })
  registeredAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  confirmedAt: Date | null = null;

  @Field(() => DateTime, { nullable: true, description: 'Until when an offered seat is held.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  confirmBy: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  cancelledAt: Date | null = null;

  @Field(() => LiveCancelledBy, { nullable: true })
  @Enum({ items: () => LiveCancelledBy, nullable: true })
  cancelledBy: LiveCancelledBy | null = null;

  @Field(() => Int)
  @Property({ type: 'integer', default: 1 })
  version: number = 1;
}

export const LiveRegistrationConnection = connectionOf(LiveRegistration, 'LiveRegistration');
