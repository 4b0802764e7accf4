import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, Url } from '../../../runtime/schema/scalars.js';
import { WebhookCircuitState, WebhookDisabledReason, WebhookSecretStatus, WebhookSubscriptionStatus } from './enums.js';

/** Who may read what this service shows. Source: section 4, callers (a) and (b). */
export const READERS = { service: 'admin:webhooks', staff: 'admin:webhooks:read|admin:webhooks:manage' } as const;
/** Who may change it. */
export const MANAGERS = { service: 'admin:webhooks', staff: 'admin:webhooks:manage' } as const;

@Access(READERS)
@ObjectType({ description: 'A custom header of every request; its value is never shown.' })
export class WebhookHeader {
  @Field(() => String)
  name: string;
}

@Access(READERS)
@ObjectType({ description: 'Whether first attempts are held back because the endpoint fails.' })
export class WebhookCircuit {
  @Field(() => WebhookCircuitState)
  state: WebhookCircuitState;

  @Field(() => DateTime, { nullable: true })
  since: Date | null;

  @Field(() => DateTime, { nullable: true })
  nextProbeAt: Date | null;
}

/** A signing secret: sealed, and shown once when it is made. Its value is `webhook_secret.value:<id>` to the sealer. */
@Access(READERS)
@ObjectType({ description: 'A signing secret without its value.' })
@Entity({ tableName: 'webhook_secret' })
export class WebhookSecretInfo {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  subscriptionId: string;

  @Property({ type: 'blob' })
  valueSealed: Buffer;

  @Field(() => String, { description: 'The last four characters.' })
  @Property({ type: 'text' })
  hint: string;

  @Field(() => WebhookSecretStatus)
  @Property({ type: 'text' })
  status: WebhookSecretStatus;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime, { nullable: true, description: 'When a next secret takes over.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  activatesAt: Date | null = null;

  @Field(() => DateTime, { nullable: true, description: 'When a previous secret ends.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  expiresAt: Date | null = null;

  /** An hour before its end it was looked at whether the receiver still needs it. */
  @Property({ type: 'boolean', default: false })
  endChecked: boolean = false;
}

/** What a subscription and the answer that also bears its secret have in common. */
@ObjectType()
export class SubscriptionFields {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String, { description: 'The OAuth client whose users are concerned.' })
  @Property({ type: 'text' })
  clientId: string;

  @Field(() => String)
  @Property({ type: 'text' })
  name: string;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  description: string | null = null;

  @Field(() => Url)
  @Property({ type: 'text' })
  url: string;

  @Field(() => [String], { description: 'Sorted; no wildcards.' })
  @Property({ type: 'string[]', columnType: 'text[]' })
  eventTypes: string[];

  @Field(() => WebhookSubscriptionStatus)
  @Property({ type: 'text' })
  status: WebhookSubscriptionStatus = 'active';

  @Field(() => WebhookDisabledReason, { nullable: true })
  @Property({ type: 'text', nullable: true })
  disabledReason: WebhookDisabledReason | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  statusChangedAt: Date;

  @Field(() => Int, { description: 'Deadline of one attempt, ms.' })
  @Property({ type: 'integer' })
  timeoutMs: number = 15_000;

  @Field(() => Int, { description: 'Requests in flight, over all users of the subscription.' })
  @Property({ type: 'integer' })
  maxConcurrency: number = 16;

  @Field(() => Int, { nullable: true, description: 'Null: none.' })
  @Property({ type: 'integer', nullable: true })
  rateLimitPerSecond: number | null = null;

  @Field(() => Int, { description: 'Shards over which its users are spread.' })
  @Property({ type: 'integer' })
  spread: number = 1;

  @Field(() => Boolean, { description: 'Whether the Standard Webhooks headers are sent too.' })
  @Property({ type: 'boolean' })
  standardHeaders: boolean = false;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  updatedAt: Date;

  @Field(() => Int)
  @Property({ type: 'integer', version: true })
  version: number = 1;
}

@Access(READERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'An endpoint of an OAuth client and the events that are delivered to it.' })
@Entity({ tableName: 'webhook_subscription' })
export class WebhookSubscription extends SubscriptionFields {
  /** The URL in one spelling; unique per client among those not deleted. */
  @Property({ type: 'text' })
  urlKey: string;

  /** Why staff disabled it. */
  @Property({ type: 'text', nullable: true })
  disabledNote: string | null = null;

  @Property({ type: 'string[]', columnType: 'text[]' })
  headerNames: string[] = [];

  /** JSON of the custom headers with their values, sealed as `webhook_subscription.headers:<id>`; null for none. */
  @Property({ type: 'blob', nullable: true })
  headersSealed: Buffer | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  deletedAt: Date | null = null;

  /** Configuration version at its last change; other processes load what is newer than what they know. */
  @Property({ type: 'bigint' })
  configurationVersion: string;

  @Field(() => [WebhookHeader])
  get headers(): WebhookHeader[] {
    return this.headerNames.map(name => ({ name }));
  }
}

export const WebhookSubscriptionConnection = connectionOf(WebhookSubscription, 'WebhookSubscription');

@Access(MANAGERS)
@ObjectType({ description: 'A subscription and, this once, its signing secret.' })
export class WebhookSubscriptionWithSecret extends SubscriptionFields {
  @Field(() => [WebhookHeader])
  headers: WebhookHeader[];

  @Field(() => [WebhookSecretInfo])
  secrets: WebhookSecretInfo[];

  @Field(() => WebhookCircuit)
  circuit: WebhookCircuit;

  @Field(() => DateTime, { nullable: true })
  failingSince: Date | null;

  @Field(() => String, { description: 'Verifies every delivery. Shown in this answer only.' })
  signingSecret: string;
}

/** Health of an endpoint, kept apart because the delivery worker writes it and people write the subscription. */
@Entity({ tableName: 'webhook_health' })
export class WebhookHealth {
  @PrimaryKey({ type: 'uuid' })
  subscriptionId: string;

  @Property({ type: 'datetime', length: 3, nullable: true })
  failingSince: Date | null;

  /** Failed attempts since then. */
  @Property({ type: 'integer' })
  failedAttempts: number;

  @Property({ type: 'datetime', length: 3, nullable: true })
  lastSuccessAt: Date | null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  lastFailureAt: Date | null;

  @Property({ type: 'text' })
  circuitState: WebhookCircuitState;

  @Property({ type: 'datetime', length: 3, nullable: true })
  circuitSince: Date | null;

  /** First attempts wait until then: for the next probe of an open circuit, or because the receiver asked for it. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  firstsHeldUntil: Date | null;

  /** End of the last attempt of a delivery that got status 410 to the end, with no success since it began. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  goneAt: Date | null;

  /** By the system clock: until then first attempts wait for the rate limit, unless a worker notes it again. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  limitedUntil: Date | null;

  /** Since the last success, the newest ten: `{at, userId}`. */
  @Property({ type: 'json' })
  recentFailures: unknown;
}
