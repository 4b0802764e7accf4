import { Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { LiveRole } from './enums.js';

/** Whether the vendor is to have a room. */
export enum RoomWanted {
  OPEN = 'open',
  CLOSED = 'closed',
}

/** A room at the vendor: of a session's epoch or of a call. Its name is never used again. */
@Entity({ tableName: 'streaming_room' })
@Index({ name: 'streaming_room_due', properties: ['dueAt'], where: 'due_at is not null' })
@Index({ name: 'streaming_room_subject_id', properties: ['subjectId'] })
export class StreamingRoom {
  @PrimaryKey({ type: 'text' })
  name: string;

  @Property({ type: 'uuid' })
  subjectId: string;

  @Property({ type: 'boolean' })
  isCall: boolean;

  @Enum({ items: () => RoomWanted })
  wanted: RoomWanted;

  @Property({ type: 'datetime', length: 3, nullable: true })
  madeAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  closedAt: Date | null = null;

  @Property({ type: 'integer', default: 0 })
  attempts: number = 0;

  /** When the vendor is to be told next; null: it knows. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  dueAt: Date | null = null;
}

/** The pseudonym of a user in the rooms of one session or call. */
@Entity({ tableName: 'live_participant' })
@Unique({ name: 'live_participant_subject_id_user_id', properties: ['subjectId', 'userId'] })
@Index({ name: 'live_participant_user_id', properties: ['userId'] })
export class LiveParticipant {
  @PrimaryKey({ type: 'text' })
  id: string;

  @Property({ type: 'uuid' })
  subjectId: string;

  @Property({ type: 'uuid' })
  userId: string;

  @Property({ type: 'text' })
  role: LiveRole;
}

/** A removal; it stands, because the vendor cannot take a token back. */
@Entity({ tableName: 'live_kick' })
export class LiveKick {
  @PrimaryKey({ type: 'uuid' })
  subjectId: string;

  @PrimaryKey({ type: 'text' })
  participantId: string;

  @Property({ type: 'text' })
  reasonCode: string;

  /** Null: for good. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  until: Date | null = null;

  @Property({ type: 'datetime', length: 3 })
  at: Date;
}

/** One connection of a participant, by the vendor's id of it. */
@Entity({ tableName: 'live_attendance' })
@Index({ name: 'live_attendance_subject_id', properties: ['subjectId', 'participantId'] })
export class LiveAttendance {
  @PrimaryKey({ type: 'text' })
  room: string;

  @PrimaryKey({ type: 'text' })
  sid: string;

  @Property({ type: 'uuid' })
  subjectId: string;

  @Property({ type: 'text' })
  participantId: string;

  @Property({ type: 'datetime', length: 3 })
  joinedAt: Date;

  @Property({ type: 'datetime', length: 3, nullable: true })
  leftAt: Date | null = null;
}

/** Who has a stream open, seen every 15 s. */
@Entity({ tableName: 'live_presence' })
export class LivePresence {
  @PrimaryKey({ type: 'uuid' })
  sessionId: string;

  @PrimaryKey({ type: 'uuid' })
  userId: string;

  @Property({ type: 'datetime', length: 3 })
  seenAt: Date;
}

/** A connection to the embedded provider. */
@Entity({ tableName: 'streaming_connection' })
@Index({ name: 'streaming_connection_room', properties: ['room'] })
export class StreamingConnection {
  @PrimaryKey({ type: 'text' })
  sid: string;

  @Property({ type: 'text' })
  room: string;

  @Property({ type: 'text' })
  participantId: string;

  @Property({ type: 'boolean' })
  canPublish: boolean;

  @Property({ type: 'datetime', length: 3 })
  joinedAt: Date;
}

/** A report of the vendor that was taken. */
@Entity({ tableName: 'streaming_receipt' })
export class StreamingReceipt {
  @PrimaryKey({ type: 'text' })
  eventId: string;

  @Property({ type: 'text' })
  type: string;

  @Property({ type: 'datetime', length: 3 })
  receivedAt: Date;
}
