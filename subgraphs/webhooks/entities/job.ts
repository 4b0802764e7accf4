import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { READERS } from './subscription.js';
import { WebhookJobKind, WebhookJobStatus } from './enums.js';

/** Which dead letters, or which time. Instants as RFC 3339 text. */
export interface JobFilter {
  eventTypes?: string[];
  userId?: string | null;
  reason?: string | null;
  from?: string | null;
  to?: string | null;
}

/** Makes many deliveries in steps: dead letters again, or events that were missed. */
@Access(READERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A bulk replay of dead letters, or a recovery of missed events.' })
@Entity({ tableName: 'webhook_job' })
export class WebhookJob {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => WebhookJobKind)
  @Property({ type: 'text' })
  kind: WebhookJobKind;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  subscriptionId: string;

  @Property({ type: 'text' })
  clientId: string;

  @Field(() => WebhookJobStatus)
  @Property({ type: 'text' })
  status: WebhookJobStatus = 'pending';

  @Field(() => Int, { description: 'Dead letters or events that it concerns; of a recovery, so far.' })
  @Property({ type: 'integer', default: 0 })
  matched: number = 0;

  @Field(() => Int, { description: 'Deliveries that it made.' })
  @Property({ type: 'integer', default: 0 })
  created: number = 0;

  @Field(() => Int, { description: 'What it did not send again: delivered or waiting already, or the grant does not cover it.' })
  @Property({ type: 'integer', default: 0 })
  skipped: number = 0;

  @Property({ type: 'json' })
  filter: JobFilter;

  /** Where the next step begins. */
  @Property({ type: 'text', nullable: true })
  position: string | null = null;

  /** Steps that failed in a row. */
  @Property({ type: 'integer', default: 0 })
  failures: number = 0;

  @Field(() => String, { description: 'user:<id>, staff:<id> or service:<client>.' })
  @Property({ type: 'text' })
  requestedBy: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  finishedAt: Date | null = null;

  /** Until when a process works on it; database time. */
  @Property({ type: 'datetime', length: 3, default: '-infinity' })
  claimedUntil: Date;
}

@Access(READERS)
@ObjectType({ description: 'What a bulk replay concerns; of a dry run the number only, else the job, field by field.' })
export class WebhookDeadLetterReplay {
  @Field(() => Int)
  matched: number;

  @Field(() => ID, { nullable: true })
  id: string | null;

  @Field(() => WebhookJobKind, { nullable: true })
  kind: WebhookJobKind | null;

  @Field(() => ID, { nullable: true })
  subscriptionId: string | null;

  @Field(() => WebhookJobStatus, { nullable: true })
  status: WebhookJobStatus | null;

  @Field(() => Int, { nullable: true })
  created: number | null;

  @Field(() => Int, { nullable: true })
  skipped: number | null;

  @Field(() => String, { nullable: true })
  requestedBy: string | null;

  @Field(() => DateTime, { nullable: true })
  createdAt: Date | null;
}
