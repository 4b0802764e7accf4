import { Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { PERSONAL, SECRET } from '../../../runtime/data/safe-views.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { ADMIN_READERS, BULK_SENDERS, MESSAGE_SHOWN, REQUEST_SHOWN } from './access.js';
import { CommsCategory, CommsChannel, CommsMessageStatus, CommsSendRequestStatus } from './enums.js';

@ObjectType({ description: 'What a message is about, in its service.' })
export class CommsEntity {
  @Field(() => String)
  type: string;

  @Field(() => String)
  id: string;
}

@ObjectType({ description: 'One try to send.' })
export class CommsMessageAttempt {
  @Field(() => Int)
  number: number;

  @Field(() => DateTime)
  at: Date;

  @Field(() => String, { nullable: true, description: 'Null while it is under way, and where nobody knows.' })
  outcome: string | null;

  @Field(() => String, { nullable: true })
  providerCode: string | null;
}

/** Committed before the provider is called, so that a crash leaves a trace. Source: comms 3. */
@Entity({ tableName: 'message_attempt' })
@Unique({ name: 'message_attempt_number', properties: ['messageId', 'number'] })
export class MessageAttempt {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  messageId: string;

  @Property({ type: 'integer' })
  number: number;

  @Property({ type: 'datetime', length: 3 })
  at: Date;

  @Property({ type: 'text', nullable: true })
  outcome: string | null = null;

  @Property({ type: 'text', nullable: true })
  providerCode: string | null = null;
}

@Access(MESSAGE_SHOWN)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'One message to one person by one channel, sent or not.' })
@Entity({ tableName: 'message' })
@Unique({ name: 'message_once', properties: ['requestId', 'channel', 'recipientKey'] })
@Index({ name: 'message_due', properties: ['lane', 'nextAt', 'id'], where: "status in ('pending', 'scheduled', 'queued')" })
@Index({ name: 'message_sending', properties: ['lane'], where: "status = 'sending'" })
@Index({ name: 'message_user_id_created_at', properties: ['userId', 'createdAt', 'id'] })
@Index({ name: 'message_entity', properties: ['entityType', 'entityId'], where: 'entity_id is not null' })
@Index({ name: 'message_created_at_id', properties: ['createdAt', 'id'] })
@Index({ name: 'message_provider_ref', properties: ['providerRef'], where: 'provider_ref is not null' })
@Index({ name: 'message_address_hash', properties: ['addressHash', 'createdAt'], where: 'address_hash is not null' })
@Index({ name: 'message_content', properties: ['createdAt'], where: 'content_sealed is not null' })
export class CommsMessage {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  requestId: string | null = null;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true, comment: PERSONAL })
  userId: string | null = null;

  @Property({ type: 'text' })
  recipientType: string;

  /** Which of a request's recipients: an id, never an address. */
  @Property({ type: 'text' })
  recipientKey: string;

  @Property({ type: 'uuid', nullable: true })
  brandId: string | null = null;

  @Field(() => CommsChannel)
  @Enum({ items: () => CommsChannel, type: 'text' })
  channel: CommsChannel;

  @Field(() => String)
  @Property({ type: 'text' })
  topic: string;

  @Property({ type: 'text' })
  template: string;

  @Field(() => Int, { nullable: true })
  @Property({ type: 'integer', nullable: true })
  templateVersion: number | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  locale: string | null = null;

  @Field(() => CommsCategory)
  @Enum({ items: () => CommsCategory, type: 'text' })
  category: CommsCategory;

  @Field(() => CommsMessageStatus)
  @Enum({ items: () => CommsMessageStatus, type: 'text' })
  status: CommsMessageStatus = CommsMessageStatus.PENDING;

  @Field(() => String, { nullable: true, description: 'Why it was not sent, or what became of it.' })
  @Property({ type: 'text', nullable: true })
  statusReason: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true, comment: PERSONAL })
  recipientMasked: string | null = null;

  @Property({ type: 'text', nullable: true, comment: PERSONAL })
  addressHash: string | null = null;

  @Property({ type: 'text', nullable: true })
  entityType: string | null = null;

  @Property({ type: 'text', nullable: true })
  entityId: string | null = null;

  /** 0: security, before everything else; 1: what concerns the person; 2: adverts. */
  @Property({ type: 'integer' })
  lane: number;

  @Property({ type: 'boolean', default: false })
  isAuth: boolean = false;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  scheduledFor: Date | null = null;

  @Property({ type: 'datetime', length: 3 })
  nextAt: Date;

  /** Database time: who works on it keeps it until then. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  leaseUntil: Date | null = null;

  @Property({ type: 'integer', default: 0 })
  attemptCount: number = 0;

  /** A sending whose outcome nobody knows was begun once more. */
  @Property({ type: 'boolean', default: false })
  retaken: boolean = false;

  @Property({ type: 'datetime', length: 3, nullable: true })
  expiresAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  sentAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  deliveredAt: Date | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  providerRef: string | null = null;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  digestId: string | null = null;

  @Property({ type: 'blob', nullable: true, hidden: true, comment: SECRET })
  contentSealed: Buffer | null = null;

  /** What the last look found, for `explain`. */
  @Property({ type: 'json' })
  checks: { check: string; passed: boolean; fact: string | null }[] = [];

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Int)
  @Property({ type: 'integer', version: true, default: 1 })
  version: number = 1;
}

export const CommsMessageConnection = connectionOf<CommsMessage>(CommsMessage, 'CommsMessage');

@Access(REQUEST_SHOWN)
@ObjectType({ description: 'Something that a service asked to be sent.' })
@Entity({ tableName: 'send_request' })
@Unique({ name: 'send_request_once', properties: ['source', 'dedupeKey'] })
@Index({ name: 'send_request_waiting', properties: ['nextAt'], where: "status = 'accepted'" })
@Index({ name: 'send_request_user_id', properties: ['userId'] })
@Index({ name: 'send_request_digest_id', properties: ['digestId'], where: 'digest_id is not null' })
export class CommsSendRequest {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String)
  @Property({ type: 'text' })
  source: string;

  @Field(() => String)
  @Property({ type: 'text' })
  dedupeKey: string;

  @Property({ type: 'blob' })
  bodyHash: Buffer;

  @Field(() => String)
  @Property({ type: 'text' })
  template: string;

  @Property({ type: 'uuid', nullable: true, comment: PERSONAL })
  userId: string | null = null;

  @Property({ type: 'text' })
  recipientType: string;

  @Property({ type: 'text', nullable: true })
  recipientId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  brandId: string | null = null;

  @Property({ type: 'array' })
  channels: CommsChannel[];

  @Field(() => CommsCategory)
  @Enum({ items: () => CommsCategory, type: 'text' })
  category: CommsCategory;

  @Property({ type: 'text', nullable: true })
  entityType: string | null = null;

  @Property({ type: 'text', nullable: true })
  entityId: string | null = null;

  @Property({ type: 'text', nullable: true })
  groupKey: string | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  sendAfter: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  expiresAt: Date | null = null;

  @Property({ type: 'blob', nullable: true, hidden: true, comment: SECRET })
  paramsSealed: Buffer | null = null;

  @Property({ type: 'uuid', nullable: true })
  digestId: string | null = null;

  @Field(() => CommsSendRequestStatus)
  @Enum({ items: () => CommsSendRequestStatus, type: 'text' })
  status: CommsSendRequestStatus;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  rejectReason: string | null = null;

  /** Page of an audience that comes next. */
  @Property({ type: 'text', nullable: true })
  cursor: string | null = null;

  @Property({ type: 'datetime', length: 3 })
  nextAt: Date;

  @Property({ type: 'datetime', length: 3, nullable: true })
  leaseUntil: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}

@Access(BULK_SENDERS)
@ObjectType({ description: 'What became of one of many.' })
export class CommsBatchResult {
  @Field(() => ID)
  userId: string;

  @Field(() => CommsSendRequest, { nullable: true })
  request: CommsSendRequest | null;

  @Field(() => String, { nullable: true, description: 'Why it was not taken.' })
  error: string | null;
}

@Access(BULK_SENDERS)
@ObjectType({ description: 'What became of many.' })
export class CommsBatch {
  @Field(() => [CommsBatchResult])
  results: CommsBatchResult[];
}

@Access(ADMIN_READERS)
@ObjectType({ description: 'One check of a message.' })
export class CommsCheck {
  @Field(() => String)
  check: string;

  @Field(() => Boolean)
  passed: boolean;

  @Field(() => String, { nullable: true })
  fact: string | null;
}

@Access(ADMIN_READERS)
@ObjectType({ description: 'Why a message was sent, waits, or was not sent.' })
export class CommsExplanation {
  @Field(() => CommsMessage)
  message: CommsMessage;

  @Field(() => [CommsCheck])
  checks: CommsCheck[];

  @Field(() => DateTime, { nullable: true, description: 'When it is looked at next.' })
  nextAt: Date | null;
}

@Access(BULK_SENDERS)
@ObjectType({ description: 'A message that the capture provider holds; development and tests only.' })
export class CapturedCommsMessage {
  @Field(() => ID)
  id: string;

  @Field(() => ID)
  messageId: string;

  @Field(() => CommsChannel)
  channel: CommsChannel;

  @Field(() => String)
  to: string;

  @Field(() => JSONObject)
  content: Record<string, unknown>;

  @Field(() => DateTime)
  createdAt: Date;
}

@Access(ADMIN_READERS)
@ObjectType({ description: 'Counts of one group; no person among them.' })
export class CommsStats {
  @Field(() => String)
  group: string;

  @Field(() => Int)
  sent: number;

  @Field(() => Int)
  delivered: number;

  @Field(() => Int)
  bounced: number;

  @Field(() => Int)
  complained: number;

  @Field(() => Int)
  failed: number;

  @Field(() => JSONObject, { description: 'Skipped, by reason.' })
  skipped: Record<string, number>;

  @Field(() => Int, { nullable: true, description: 'Half were accepted by a provider within so many ms.' })
  latencyP50Ms: number | null;

  @Field(() => Int, { nullable: true })
  latencyP95Ms: number | null;
}
