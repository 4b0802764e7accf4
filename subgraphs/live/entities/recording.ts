import { BigIntType } from '@mikro-orm/core';
import { Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, SafeInt } from '../../../runtime/schema/scalars.js';
import { READERS } from './access.js';
import { LiveRecordingStatus } from './enums.js';

/** A recording at the vendor, known by its reports. Source: live 2. */
@Access(READERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A recording of a session.' })
@Entity({ tableName: 'live_recording' })
@Unique({ name: 'live_recording_vendor_ref', properties: ['vendorRef'] })
@Index({ name: 'live_recording_session_id', properties: ['sessionId'] })
export class LiveRecording {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @Property({ type: 'uuid' })
  sessionId: string;

  @Field(() => LiveRecordingStatus)
  @Enum({ items: () => LiveRecordingStatus })
  status: LiveRecordingStatus = LiveRecordingStatus.PROCESSING;

  @Property({ type: 'text' })
  vendorRef: string;

  @Field(() => Int, { nullable: true })
  @Property({ type: 'integer', nullable: true })
  durationSeconds: number | null = null;

  @Field(() => SafeInt, { nullable: true })
  @Property({ type: new BigIntType('number'), nullable: true })
  sizeBytes: number | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  readyAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  expiresAt: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}

export const LiveRecordingConnection = connectionOf(LiveRecording, 'LiveRecording');
