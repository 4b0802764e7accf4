import { Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { PERSONAL, SECRET } from '../../../runtime/data/safe-views.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { DEVICE_OWNERS, SUPPRESSORS } from './access.js';
import { CommsChannel, CommsSuppressionReason, PushPlatform, PushSubscriptionStatus } from './enums.js';

/** An address that gets nothing, or not everything; kept as a hash, also after an erasure, as the proof of an opt-out. */
@Access(SUPPRESSORS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'An address that gets nothing, or not everything. Only its hash is kept.' })
@Entity({ tableName: 'suppression' })
@Unique({ name: 'suppression_once', properties: ['channel', 'addressHash', 'scope'] })
@Index({ name: 'suppression_created_at_id', properties: ['createdAt', 'id'] })
export class CommsSuppression {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => CommsChannel)
  @Enum({ items: () => CommsChannel, type: 'text' })
  channel: CommsChannel;

  @Field(() => String)
  @Property({ type: 'text', comment: PERSONAL })
  addressHash: string;

  @Field(() => CommsSuppressionReason)
  @Enum({ items: () => CommsSuppressionReason, type: 'text' })
  reason: CommsSuppressionReason;

  @Field(() => String, { description: '`all`, `marketing` or the key of a topic.' })
  @Property({ type: 'text' })
  scope: string;

  @Field(() => String)
  @Property({ type: 'text' })
  source: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  expiresAt: Date | null = null;
}

export const CommsSuppressionConnection = connectionOf<CommsSuppression>(CommsSuppression, 'CommsSuppression');

@Access(DEVICE_OWNERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A browser or device that takes pushes.' })
@Entity({ tableName: 'push_subscription' })
@Unique({ name: 'push_subscription_endpoint', properties: ['endpointHash'] })
@Index({ name: 'push_subscription_user_id', properties: ['userId'] })
export class PushSubscription {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid', comment: PERSONAL })
  userId: string;

  @Field(() => PushPlatform)
  @Enum({ items: () => PushPlatform, type: 'text' })
  platform: PushPlatform;

  @Property({ type: 'text', comment: SECRET })
  endpointHash: string;

  /** Endpoint and keys. */
  @Property({ type: 'blob', hidden: true, comment: SECRET })
  targetSealed: Buffer;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true, comment: PERSONAL })
  label: string | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  lastSuccessAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  failingSince: Date | null = null;

  @Field(() => Int)
  @Property({ type: 'integer', default: 0 })
  failures: number = 0;

  @Field(() => PushSubscriptionStatus)
  @Enum({ items: () => PushSubscriptionStatus, type: 'text' })
  status: PushSubscriptionStatus = PushSubscriptionStatus.ACTIVE;
}

@Access({ public: true })
@ObjectType({ description: 'Public key of Web Push.' })
export class PushPublicKey {
  @Field(() => String)
  vapidPublicKey: string;
}
