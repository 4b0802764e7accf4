import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { PrimaryKeyProp } from '@mikro-orm/postgresql';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { WebhookAttemptError, WebhookAttemptTrigger } from './enums.js';
import { READERS } from './subscription.js';

@Access(READERS)
@ObjectType({
  description: 'Milliseconds of the parts of an attempt; null where a kept-alive connection was used or the part was not reached.',
})
export class WebhookAttemptTimings {
  @Field(() => Int, { nullable: true })
  dnsMs: number | null;

  @Field(() => Int, { nullable: true })
  connectMs: number | null;

  @Field(() => Int, { nullable: true })
  tlsMs: number | null;

  @Field(() => Int, { nullable: true })
  firstByteMs: number | null;

  @Field(() => Int)
  totalMs: number;
}

/** One HTTP request. Partitioned by day of `started_at`. */
@Access(READERS)
@ObjectType({ description: 'One HTTP request of a delivery.' })
@Entity({ tableName: 'webhook_attempt' })
export class WebhookAttempt {
  [PrimaryKeyProp]?: ['id', 'startedAt'];

  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string;

  @Field(() => DateTime)
  @PrimaryKey({ type: 'datetime', length: 3 })
  startedAt: Date;

  @Field(() => ID, { nullable: true, description: 'Null for a test, which is no delivery.' })
  @Property({ type: 'uuid', nullable: true })
  deliveryId: string | null;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  subscriptionId: string;

  @Field(() => String)
  @Property({ type: 'text' })
  eventType: string;

  @Field(() => Int, { description: 'The X-Platform-Delivery-Attempt header.' })
  @Property({ type: 'integer' })
  number: number;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  finishedAt: Date;

  @Field(() => String)
  @Property({ type: 'text' })
  url: string;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  resolvedIp: string | null;

  @Field(() => Int, { nullable: true })
  @Property({ type: 'integer', nullable: true })
  statusCode: number | null;

  @Field(() => WebhookAttemptError, { nullable: true })
  @Property({ type: 'text', nullable: true })
  error: WebhookAttemptError | null;

  @Field(() => WebhookAttemptTimings)
  @Property({ type: 'json' })
  timings: WebhookAttemptTimings;

  @Field(() => JSONObject, { description: 'Signatures and custom values are replaced.' })
  @Property({ type: 'json' })
  requestHeaders: Record<string, string>;

  @Field(() => JSONObject, { nullable: true })
  @Property({ type: 'json', nullable: true })
  responseHeaders: Record<string, string> | null;

  /** Sealed as `webhook_attempt.response_body:<id>`; null when empty or erased. */
  @Property({ type: 'blob', nullable: true })
  responseBodySealed: Buffer | null;

  @Field(() => Boolean, { description: 'Whether the answer was longer than what is kept.' })
  @Property({ type: 'boolean' })
  responseTruncated: boolean;

  @Field(() => WebhookAttemptTrigger)
  @Property({ type: 'text' })
  trigger: WebhookAttemptTrigger;
}

export const WebhookAttemptConnection = connectionOf(WebhookAttempt, 'WebhookAttempt');
