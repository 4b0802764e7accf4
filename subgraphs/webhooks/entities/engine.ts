import { Entity, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { PrimaryKeyProp } from '@mikro-orm/postgresql';

/** One row: grows with every change of a subscription or secret, so that every process knows when to load what changed. */
@Entity({ tableName: 'webhook_configuration' })
export class WebhookConfiguration {
  @PrimaryKey({ type: 'boolean' })
  onlyRow: boolean;

  @Property({ type: 'bigint' })
  version: string;
}

/** What of a matched event is sent, kept once. Partitioned by id, that is by week. */
@Entity({ tableName: 'webhook_event' })
@Index({ properties: ['userId'] })
export class WebhookEvent {
  @PrimaryKey({ type: 'uuid' })
  id: string;

  @Property({ type: 'bigint' })
  sequence: string;

  @Property({ type: 'text' })
  type: string;

  @Property({ type: 'uuid' })
  userId: string;

  @Property({ type: 'datetime', length: 3 })
  occurredAt: Date;

  /** JSON text of `data`, sealed as `webhook_event.data:<id>`; null after an erasure. */
  @Property({ type: 'blob', nullable: true })
  dataSealed: Buffer | null;

  /** W3C trace context in which it came. */
  @Property({ type: 'text', nullable: true })
  traceparent: string | null;
}

/** The queue of one (subscription, user) while it has open deliveries. Locked by whoever changes which of them is the head. */
@Entity({ tableName: 'webhook_lane' })
export class WebhookLane {
  [PrimaryKeyProp]?: ['subscriptionId', 'userId'];

  @PrimaryKey({ type: 'uuid' })
  subscriptionId: string;

  @PrimaryKey({ type: 'uuid' })
  userId: string;

  @Property({ type: 'smallint' })
  shard: number;

  @Property({ type: 'uuid' })
  headId: string;

  @Property({ type: 'uuid' })
  headEventId: string;

  @Property({ type: 'bigint' })
  headSequence: string;

  @Property({ type: 'integer' })
  headReplayNo: number;

  /** 0: the next is its first attempt, which a circuit or a rate limit can hold back. */
  @Property({ type: 'integer' })
  headAttemptCount: number;

  /** When the head may be sent; null while its subscription is paused. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  nextAttemptAt: Date | null;

  @Property({ type: 'integer' })
  openCount: number;
}

/** One user's grant to one client; revoked ones stay, without scopes, so that a revocation is never a miss. */
@Entity({ tableName: 'grant_projection' })
export class GrantProjection {
  [PrimaryKeyProp]?: ['userId', 'clientId'];

  @PrimaryKey({ type: 'uuid' })
  userId: string;

  @PrimaryKey({ type: 'text' })
  clientId: string;

  @Property({ type: 'uuid' })
  grantId: string;

  @Property({ type: 'integer' })
  version: number;

  /** Scope -> `{ at, seq }`: since when, ms, and sequence in the log. */
  @Property({ type: 'json' })
  scopes: Record<string, { at: number; seq: number | null }>;
}

/** Users who were erased, as digests: nothing that still arrives about them is delivered. */
@Entity({ tableName: 'erased_user' })
export class ErasedUser {
  @PrimaryKey({ type: 'blob' })
  userDigest: Buffer;

  @Property({ type: 'datetime', length: 3 })
  erasedAt: Date;
}

/** Lease of one of 64 shards of lanes; the epoch grows with every new holder. Database time. */
@Entity({ tableName: 'webhook_shard' })
export class WebhookShard {
  @PrimaryKey({ autoincrement: false, type: 'smallint' })
  shard: number;

  @Property({ type: 'uuid', nullable: true })
  holder: string | null;

  @Property({ type: 'bigint' })
  epoch: string;

  @Property({ type: 'datetime', length: 3 })
  expiresAt: Date;
}

/** Delivery workers that are alive, so that each knows its fair number of shards. Database time. */
@Entity({ tableName: 'webhook_worker' })
export class WebhookWorker {
  @PrimaryKey({ type: 'uuid' })
  id: string;

  @Property({ type: 'datetime', length: 3 })
  seenAt: Date;
}
