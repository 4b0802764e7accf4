import { Check, Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, Locale, TimeZone, Url } from '../../../runtime/schema/scalars.js';
import { READERS } from './access.js';
import {
  LiveHostRole,
  LiveModeration,
  LivePromotionMode,
  LiveSessionEndReason,
  LiveSessionKind,
  LiveSessionStatus,
  LiveVisibility,
} from './enums.js';
import { LiveCounts } from './values.js';

/** A broadcast, group class or appointment; its row is the lock of its seats. Source: live 2. */
@Access({ ...READERS, internal: 'comms' })
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A live session.' })
@Entity({ tableName: 'live_session' })
@Check({
  name: 'live_session_length_check',
  expression: "ends_at >= starts_at + interval '5 minutes' and ends_at <= starts_at + interval '12 hours'",
})
@Check({ name: 'live_session_capacity_check', expression: 'capacity between 1 and 100000' })
@Check({ name: 'live_session_counts_check', expression: 'least(confirmed, offered, waitlisted, exceeded) >= 0' })
@Check({ name: 'live_session_seats_check', expression: 'confirmed + offered <= capacity + exceeded' })
@Index({ name: 'live_session_starts_at_id', properties: ['startsAt', 'id'], where: 'hidden_at is null' })
@Index({ name: 'live_session_open', properties: ['startsAt'], where: "status in ('scheduled', 'live')" })
@Index({ name: 'live_session_dirty', properties: ['id'], where: 'counts_dirty' })
export class LiveSession {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @Property({ type: 'uuid' })
  brandId: string;

  @Field(() => LiveSessionKind)
  @Enum({ items: () => LiveSessionKind })
  kind: LiveSessionKind;

  @Field(() => LiveSessionStatus)
  @Enum({ items: () => LiveSessionStatus })
  status: LiveSessionStatus;

  @Field(() => String)
  @Property({ type: 'text' })
  title: string;

  @Field(() => String, { description: 'Markdown.' })
  @Property({ type: 'text', default: '' })
  description: string = '';

  @Field(() => Url, { nullable: true })
  @Property({ type: 'text', nullable: true })
  coverImageUrl: string | null = null;

  @Field(() => [String])
  @Property({ type: 'text[]', default: [] })
  tags: string[] = [];

  @Field(() => Locale)
  @Property({ type: 'text', default: 'en' })
  locale: string = 'en';

  @Field(() => LiveVisibility)
  @Enum({ items: () => LiveVisibility })
  visibility: LiveVisibility = LiveVisibility.PUBLIC;

  @Field(() => String, { nullable: true, description: 'Entitlement that a viewer needs.' })
  @Property({ type: 'text', nullable: true })
  requiredFeature: string | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  startsAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  endsAt: Date;

  @Field(() => TimeZone)
  @Property({ type: 'text' })
  timeZone: string;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  startedAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  endedAt: Date | null = null;

  @Field(() => LiveSessionEndReason, { nullable: true })
  @Enum({ items: () => LiveSessionEndReason, nullable: true })
  endReason: LiveSessionEndReason | null = null;

  @Field(() => Int, { nullable: true, description: 'Null: not limited.' })
  @Property({ type: 'integer', nullable: true })
  capacity: number | null = null;

  @Field(() => Boolean)
  @Property({ type: 'boolean', default: true })
  waitlistEnabled: boolean = true;

  @Field(() => Int, { nullable: true })
  @Property({ type: 'integer', nullable: true })
  waitlistLimit: number | null = null;

  @Field(() => LivePromotionMode)
  @Enum({ items: () => LivePromotionMode })
  promotionMode: LivePromotionMode = LivePromotionMode.AUTO;

  @Field(() => Boolean)
  @Property({ type: 'boolean', default: true })
  registrationRequired: boolean = true;

  @Field(() => DateTime, { nullable: true, description: 'Null: at once.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  registrationOpensAt: Date | null = null;

  @Field(() => DateTime, { nullable: true, description: 'Null: at the end of the session.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  registrationClosesAt: Date | null = null;

  @Field(() => Boolean)
  @Property({ type: 'boolean', default: true })
  questionsEnabled: boolean = true;

  @Field(() => LiveModeration)
  @Enum({ items: () => LiveModeration })
  questionModeration: LiveModeration = LiveModeration.PRE;

  @Field(() => Boolean)
  @Property({ type: 'boolean', default: true })
  anonymousQuestions: boolean = true;

  @Field(() => DateTime, { nullable: true, description: 'Null: as soon as it is scheduled.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  questionsOpenAt: Date | null = null;

  @Field(() => Boolean)
  @Property({ type: 'boolean', default: true })
  chatEnabled: boolean = true;

  @Field(() => Boolean)
  @Property({ type: 'boolean', default: false })
  recordingEnabled: boolean = false;

  @Field(() => String, { nullable: true, description: 'A code.' })
  @Property({ type: 'text', nullable: true })
  cancelReason: string | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  cancelledAt: Date | null = null;

  @Property({ type: 'uuid', nullable: true })
  seriesId: string | null = null;

  /** Of its room; each start makes another. */
  @Property({ type: 'integer', default: 0 })
  roomEpoch: number = 0;

  @Property({ type: 'integer', default: 0 })
  calendarSequence: number = 0;

  @Property({ type: 'integer', default: 0 })
  confirmed: number = 0;

  @Property({ type: 'integer', default: 0 })
  offered: number = 0;

  @Property({ type: 'integer', default: 0 })
  waitlisted: number = 0;

  @Property({ type: 'integer', default: 0 })
  attended: number = 0;

  @Property({ type: 'integer', default: 0 })
  viewersNow: number = 0;

  @Property({ type: 'integer', default: 0 })
  peakViewers: number = 0;

  /** The next registration's place in the order of arrival. */
  @Property({ type: 'integer', default: 1 })
  nextQueueNo: number = 1;

  /** Seats that staff gave beyond the capacity. */
  @Property({ type: 'integer', default: 0 })
  exceeded: number = 0;

  /** Counts have changed since the stream was told. */
  @Property({ type: 'boolean', default: false })
  countsDirty: boolean = false;

  /** Version that people are being told of because its beginning was moved; null: nobody is owed a notice. */
  @Property({ type: 'integer', nullable: true })
  noticesVersion: number | null = null;

  /** Queue numbers of those who are owed one, from this on… */
  @Property({ type: 'integer', nullable: true })
  noticesFrom: number | null = null;

  /** … and below this: who came later knows the new beginning. */
  @Property({ type: 'integer', nullable: true })
  noticesUntil: number | null = null;

  /** Since when nobody of the host team is in the room. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  hostAbsentSince: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  hiddenAt: Date | null = null;

  @Field(() => String, { description: 'Who made it: a kind of caller and an id.' })
  @Access({ service: 'admin:live', staff: 'admin:live:read' })
  @Property({ type: 'text' })
  createdBy: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  updatedAt: Date;

  @Field(() => Int)
  @Property({ type: 'integer', default: 1 })
  version: number = 1;

  @Field(() => LiveCounts)
  get counts(): LiveCounts {
    const { confirmed, offered, waitlisted, capacity, attended, viewersNow, peakViewers } = this;
    const remaining = capacity === null ? null : Math.max(0, capacity - confirmed - offered);
    return { confirmed, offered, waitlisted, capacity, attended, remaining, viewersNow, peakViewers };
  }
}

export const LiveSessionConnection = connectionOf(LiveSession, 'LiveSession');

@Entity({ tableName: 'live_session_host' })
@Unique({ name: 'live_session_host_one', properties: ['sessionId'], where: "role = 'host'" })
@Index({ name: 'live_session_host_user_id', properties: ['userId'] })
export class LiveSessionHost {
  @PrimaryKey({ type: 'uuid' })
  sessionId: string;

  @PrimaryKey({ type: 'uuid' })
  userId: string;

  @Enum({ items: () => LiveHostRole })
  role: LiveHostRole;
}

/** Sessions that were made by one rule. */
@Entity({ tableName: 'live_series' })
export class LiveSeries {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  brandId: string;

  @Property({ type: 'text' })
  rrule: string;

  @Property({ type: 'text' })
  timeZone: string;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}
