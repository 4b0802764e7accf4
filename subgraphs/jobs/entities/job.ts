import { BigIntType } from '@mikro-orm/core';
import { Check, Entity, Enum, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { FREE_TEXT, PERSONAL } from '../../../runtime/data/safe-views.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { JobLogLineLevel, JobStatus, MEMBERS, VIEWERS } from './enums.js';

@ObjectType({ description: 'How far a job is; it never decreases.' })
export class JobProgress {
  @Field(() => Int, { nullable: true, description: '0 to 100.' })
  percent: number | null;

  @Field(() => String, { nullable: true })
  step: string | null;

  @Field(() => String, { nullable: true })
  message: string | null;

  @Field(() => DateTime, { nullable: true })
  at: Date | null;
}

/** Work after the answer, from its request to its end. Services and staff; a member sees `OwnJob`. Source: jobs 2. */
@Access(VIEWERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'Work that runs after the answer.' })
@Entity({ tableName: 'job_meta' })
@Check({ name: 'job_meta_priority_check', expression: 'priority between -10 and 10' })
@Index({ name: 'job_meta_created_at_id', properties: ['createdAt', 'id'] })
export class Job {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'text', fieldName: 'queue' })
  queueName: string;

  @Field(() => JobStatus)
  @Enum({ items: () => JobStatus })
  status: JobStatus;

  @Property({ type: 'json', nullable: true, lazy: true, comment: PERSONAL })
  payload: unknown;

  @Property({ type: 'json', nullable: true, lazy: true, comment: PERSONAL })
  output: unknown;

  @Field(() => Int, { description: '-10 to 10, the highest first.' })
  @Property({ type: 'int' })
  priority: number;

  @Field(() => Int, { description: '0: not begun.' })
  @Property({ type: 'int' })
  attempt: number;

  @Field(() => Int)
  @Property({ type: 'int' })
  maxAttempts: number;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  runAt: Date | null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Property({ type: 'datetime', length: 3, nullable: true })
  queuedAt: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Of the last attempt.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  startedAt: Date | null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  finishedAt: Date | null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  nextAttemptAt: Date | null;

  @Property({ type: 'int', nullable: true })
  progressPercent: number | null;

  @Property({ type: 'text', nullable: true, comment: FREE_TEXT })
  progressStep: string | null;

  @Property({ type: 'text', nullable: true, comment: FREE_TEXT })
  progressMessage: string | null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  progressAt: Date | null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  errorCode: string | null;

  @Field(() => String, { nullable: true, description: 'Redacted, at most 500 characters.' })
  @Property({ type: 'text', nullable: true, comment: FREE_TEXT })
  errorMessage: string | null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true, comment: PERSONAL })
  dedupeKey: string | null;

  @Property({ type: 'int' })
  dedupeSeconds: number;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true, comment: PERSONAL })
  groupKey: string | null;

  @Property({ type: 'uuid', nullable: true, comment: PERSONAL })
  userId: string | null;

  @Field(() => String, { description: '`service:<client>`, `user:<id>`, `staff:<id>` or `system:<service>`.' })
  @Property({ type: 'text', comment: PERSONAL })
  requestedBy: string;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  scheduleKey: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When the schedule was due.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  occurrenceAt: Date | null;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  parentId: string | null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  cancelRequestedAt: Date | null;

  @Property({ type: 'boolean' })
  held: boolean;

  @Property({ type: new BigIntType('number') })
  claim: number;

  @Property({ type: 'text', nullable: true })
  worker: string | null;

  @Property({ type: 'boolean' })
  alarmed: boolean;
}

export const JobConnection = connectionOf<Job>(Job, 'Job');

@Access(VIEWERS)
@ObjectType({ description: "A line of a job's log, redacted." })
export class JobLogLine {
  @Field(() => DateTime)
  at: Date;

  @Field(() => Int)
  attempt: number;

  @Field(() => JobLogLineLevel)
  level: JobLogLineLevel;

  @Field(() => String)
  message: string;
}

/** What a member sees of own work: an export, an import, an erasure. Source: jobs 4, GET /v1/jobs/me. */
@Access(MEMBERS)
@ObjectType({ description: 'Background work for oneself.' })
export class OwnJob {
  @Field(() => ID)
  id: string;

  @Field(() => String, { description: 'What it is, for people.' })
  title: string;

  @Field(() => JobStatus)
  status: JobStatus;

  @Field(() => JobProgress, { nullable: true })
  progress: JobProgress | null;

  @Field(() => DateTime)
  createdAt: Date;

  @Field(() => DateTime, { nullable: true })
  startedAt: Date | null;

  @Field(() => DateTime, { nullable: true })
  finishedAt: Date | null;
}

export const OwnJobConnection = connectionOf<OwnJob>(OwnJob, 'OwnJob');

@Access(VIEWERS)
@ObjectType({ description: 'How many were concerned.' })
export class JobCount {
  @Field(() => Int)
  count: number;
}
