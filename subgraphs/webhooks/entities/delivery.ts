import { Entity, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { PrimaryKeyProp } from '@mikro-orm/postgresql';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, SafeInt } from '../../../runtime/schema/scalars.js';
import { READERS } from './subscription.js';
import {
  WebhookAttemptError,
  WebhookAttemptTrigger,
  WebhookCancelReason,
  WebhookDeadLetterReason,
  WebhookDeliveryStatus,
  WebhookReplayAction,
  WebhookReplayRefusal,
} from './enums.js';

/** One event for one subscription and replay number: the source of truth for its state and retry time. Partitioned by event id, that is by week. */
@Access(READERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'One event for one subscription.' })
@Unique({ properties: ['subscriptionId', 'eventId', 'replayNo'] })
@Entity({ tableName: 'webhook_delivery' })
export class WebhookDelivery {
  [PrimaryKeyProp]?: ['id', 'eventId'];

  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string;

  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  eventId: string;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  subscriptionId: string;

  @Field(() => String)
  @Property({ type: 'text' })
  clientId: string;

  @Field(() => ID, { description: 'After an erasure a random id, the same for all deliveries of that user.' })
  @Property({ type: 'uuid' })
  userId: string;

  @Field(() => String)
  @Property({ type: 'text' })
  eventType: string;

  @Property({ type: 'bigint' })
  sequence: string;

  /** 0: the first time; 1, 2, …: replays. */
  @Property({ type: 'integer' })
  replayNo: number;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  replayOfId: string | null;

  @Field(() => WebhookDeliveryStatus)
  @Property({ type: 'text' })
  status: WebhookDeliveryStatus;

  @Field(() => Int)
  @Property({ type: 'integer' })
  attemptCount: number;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  nextAttemptAt: Date | null;

  /** Someone asked for the next attempt; null: the schedule did. */
  @Property({ type: 'text', nullable: true })
  pendingTrigger: WebhookAttemptTrigger | null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  firstAttemptAt: Date | null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  deliveredAt: Date | null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  finishedAt: Date | null;

  @Field(() => Int, { nullable: true })
  @Property({ type: 'integer', nullable: true })
  lastStatusCode: number | null;

  @Field(() => WebhookAttemptError, { nullable: true })
  @Property({ type: 'text', nullable: true })
  lastError: WebhookAttemptError | null;

  @Field(() => WebhookDeadLetterReason, { nullable: true })
  @Property({ type: 'text', nullable: true })
  deadLetterReason: WebhookDeadLetterReason | null;

  @Field(() => WebhookCancelReason, { nullable: true })
  @Property({ type: 'text', nullable: true })
  cancelReason: WebhookCancelReason | null;

  @Field(() => DateTime, { nullable: true, description: 'When a replay of this dead letter was delivered, or it was discarded.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  resolvedAt: Date | null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => SafeInt, { name: 'sequence', description: 'Place in the order of its user.' })
  get order(): number {
    return Number(this.sequence);
  }
}

export const WebhookDeliveryConnection = connectionOf(WebhookDelivery, 'WebhookDelivery');

@Access(READERS)
@ObjectType({ description: 'What a replay did for one subscription.' })
export class WebhookReplay {
  @Field(() => ID)
  id: string;

  @Field(() => ID)
  subscriptionId: string;

  @Field(() => WebhookReplayAction)
  action: WebhookReplayAction;

  @Field(() => WebhookDeliveryStatus)
  status: WebhookDeliveryStatus;

  @Field(() => ID, { nullable: true })
  replayOf: string | null;

  @Field(() => WebhookReplayRefusal, { nullable: true })
  reason: WebhookReplayRefusal | null;
}

@Access(READERS)
@ObjectType({ description: 'What a replay of one event did.' })
export class WebhookReplayResult {
  @Field(() => ID)
  eventId: string;

  @Field(() => [WebhookReplay])
  deliveries: WebhookReplay[];
}
