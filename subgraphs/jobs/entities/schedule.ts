import { Check, Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { JobOccurrenceState, JobScheduleMisfire, JobScheduleOverlap, JobScheduleSource, JobScheduleStatus, VIEWERS } from './enums.js';

/** When a queue is given a job by time alone: exactly one of cron, every and at. Source: jobs 2. */
@Access(VIEWERS)
@Directive('@key(fields: "key")')
@ObjectType({ description: 'Sends a job to a queue when it is due.' })
@Entity({ tableName: 'schedule' })
@Check({ name: 'schedule_when_check', expression: 'num_nonnulls(cron, every, at) = 1' })
export class JobSchedule {
  @Field(() => ID)
  @PrimaryKey({ type: 'text' })
  key: string;

  @Property({ type: 'text', fieldName: 'queue' })
  queueName: string;

  @Field(() => String, { nullable: true, description: 'Five fields.' })
  @Property({ type: 'text', nullable: true })
  cron: string | null = null;

  @Field(() => String, { nullable: true, description: 'ISO 8601 duration.' })
  @Property({ type: 'text', nullable: true })
  every: string | null = null;

  @Field(() => DateTime, { nullable: true, description: 'Once.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  at: Date | null = null;

  @Field(() => String, { description: 'IANA zone on whose clocks the cron expression is due.' })
  @Property({ type: 'text' })
  timeZone: string;

  @Property({ type: 'json' })
  payload: Record<string, unknown>;

  @Field(() => JobScheduleMisfire)
  @Enum({ items: () => JobScheduleMisfire })
  misfire: JobScheduleMisfire;

  @Field(() => Int, { description: 'An occurrence noticed later than this is a misfire.' })
  @Property({ type: 'int' })
  graceSeconds: number;

  @Field(() => JobScheduleOverlap)
  @Enum({ items: () => JobScheduleOverlap })
  overlap: JobScheduleOverlap;

  @Field(() => JobScheduleStatus)
  @Enum({ items: () => JobScheduleStatus })
  status: JobScheduleStatus;

  @Field(() => JobScheduleSource, { description: 'CODE: may only be paused.' })
  @Enum({ items: () => JobScheduleSource })
  source: JobScheduleSource;

  @Property({ type: 'datetime', length: 3 })
  anchor: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  nextRunAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  lastRunAt: Date | null = null;

  @Property({ type: 'text', nullable: true })
  lastStatus: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  lastSyncRun: string | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  lastSyncAt: Date | null = null;

  @Field(() => Int)
  @Property({ type: 'int' })
  jitterSeconds: number;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Int)
  @Property({ type: 'int', version: true })
  version: number;
}

export const JobScheduleConnection = connectionOf<JobSchedule>(JobSchedule, 'JobSchedule');

/** Why did it run, or not: one row for each time that a schedule was due. Source: jobs 9.2. */
@Access(VIEWERS)
@ObjectType({ description: 'A time at which a schedule was due, and what became of it.' })
export class JobOccurrence {
  @Field(() => ID)
  scheduleKey: string;

  @Field(() => DateTime)
  dueAt: Date;

  @Field(() => JobOccurrenceState)
  state: JobOccurrenceState;

  @Field(() => ID, {
    nullable: true,
    description: 'The job that was sent, or the one on an exclusive queue for which this one was skipped.',
  })
  jobId: string | null;
}

export const JobOccurrenceConnection = connectionOf<JobOccurrence>(JobOccurrence, 'JobOccurrence');
