import { Check, Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, Float, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { JobQueuePolicy, JobWorkerState, VIEWERS } from './enums.js';

/** A queue of a service, declared in code; operators may override its settings. Source: jobs 2. */
@Access(VIEWERS)
@Directive('@key(fields: "name")')
@ObjectType({ description: 'A queue: whose jobs, in which order, how often tried.' })
@Entity({ tableName: 'queue_definition' })
@Check({ name: 'queue_definition_retry_limit_check', expression: 'retry_limit between 0 and 20' })
export class JobQueue {
  @Field(() => String)
  @PrimaryKey({ type: 'text' })
  name: string;

  @Field(() => String, { description: 'Schema name of the service that works it.' })
  @Property({ type: 'text' })
  service: string;

  @Field(() => String)
  @Property({ type: 'text' })
  title: string;

  @Field(() => JobQueuePolicy)
  @Enum({ items: () => JobQueuePolicy })
  policy: JobQueuePolicy;

  @Field(() => Int, { description: 'Attempts after the first.' })
  @Property({ type: 'int' })
  retryLimit: number;

  @Field(() => Int)
  @Property({ type: 'int' })
  retryDelaySeconds: number;

  @Field(() => Boolean, { description: 'The delay doubles, up to an hour, with full jitter.' })
  @Property({ type: 'boolean' })
  retryBackoff: boolean;

  @Field(() => Int)
  @Property({ type: 'int' })
  timeoutSeconds: number;

  @Field(() => Int)
  @Property({ type: 'int' })
  heartbeatSeconds: number;

  @Field(() => Int, { description: 'Jobs that one process runs at once.' })
  @Property({ type: 'int' })
  concurrency: number;

  @Field(() => Int, { nullable: true, description: 'Jobs of one group key that run at once.' })
  @Property({ type: 'int', nullable: true })
  perKeyConcurrency: number | null;

  @Field(() => Int, { description: 'How long finished jobs are kept.' })
  @Property({ type: 'int' })
  retentionDays: number;

  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  paused: boolean;

  @Property({ type: 'array' })
  overridden: string[];

  @Property({ type: 'json' })
  payloadSchema: object;

  @Property({ type: 'datetime', length: 3, nullable: true })
  lastAlarmAt: Date | null;

  @Field(() => Int)
  @Property({ type: 'int', version: true })
  version: number;
}

export const JobQueueConnection = connectionOf<JobQueue>(JobQueue, 'JobQueue');

/** Of the last hour, where no other time is named. Source: jobs 4, GET /v1/overview. */
@Access(VIEWERS)
@ObjectType({ description: 'How a queue does; rates are of the last hour.' })
export class JobQueueOverview {
  @Field(() => String)
  name: string;

  @Field(() => Int, { description: 'Jobs that wait for a worker.' })
  depth: number;

  @Field(() => Int, { nullable: true, description: 'How long the oldest of them has waited.' })
  oldestReadySeconds: number | null;

  @Field(() => Int)
  deadCount: number;

  @Field(() => Float, { description: 'Finished jobs per minute.' })
  ratePerMinute: number;

  @Field(() => Float, { description: 'Part of the finished jobs that died, 0 to 1.' })
  failureRate: number;

  @Field(() => Float, { nullable: true, description: '95th percentile from due to begun, seconds.' })
  waitP95Seconds: number | null;

  @Field(() => Float, { nullable: true, description: '95th percentile from begun to finished, seconds.' })
  runP95Seconds: number | null;
}

@Access(VIEWERS)
@ObjectType()
export class JobsOverview {
  @Field(() => [JobQueueOverview])
  queues: JobQueueOverview[];
}

@Access(VIEWERS)
@ObjectType({ description: 'A process that works queues of a service.' })
export class JobWorker {
  @Field(() => String)
  service: string;

  @Field(() => String)
  instance: string;

  @Field(() => [String])
  queues: string[];

  @Field(() => DateTime)
  lastBeatAt: Date;

  @Field(() => Int, { description: 'Jobs that it runs.' })
  running: number;

  @Field(() => String)
  version: string;

  @Field(() => JobWorkerState)
  state: JobWorkerState;
}
