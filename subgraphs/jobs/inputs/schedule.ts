import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { REASON, WHY } from './job.js';
import { JobOccurrenceState, JobScheduleMisfire, JobScheduleOverlap, JobScheduleStatus } from '../entities/enums.js';

const KEY = '^[a-z_]+\\.[a-z0-9_.-]+$';

@ArgsType()
export class JobSchedulesArgs extends PageArgs {
  @Rule({ maxLength: 128 })
  @Field(() => String, { nullable: true })
  queue?: string | null;

  @Field(() => JobScheduleStatus, { nullable: true })
  status?: JobScheduleStatus | null;
}

@ArgsType()
export class JobOccurrencesArgs extends PageArgs {
  @Rule({ maxLength: 128 })
  @Field(() => ID)
  key: string;

  @Field(() => JobOccurrenceState, { nullable: true })
  state?: JobOccurrenceState | null;
}

@ArgsType()
export class OperateJobScheduleArgs {
  @Rule({ maxLength: 128 })
  @Field(() => ID)
  key: string;

  @Rule(REASON)
  @Field(() => String, { nullable: true, description: WHY })
  reason?: string | null;
}

@InputType({ description: 'Exactly one of cron, every and at.' })
export class CreateJobScheduleInput {
  @Rule({ minLength: 3, maxLength: 128, pattern: KEY })
  @Field(() => ID)
  key: string;

  @Rule({ minLength: 1, maxLength: 128 })
  @Field(() => String)
  queue: string;

  @Rule({ minLength: 9, maxLength: 128 })
  @Field(() => String, { nullable: true, description: 'Five fields.' })
  cron?: string | null;

  @Rule({ minLength: 3, maxLength: 40 })
  @Field(() => String, { nullable: true, description: 'ISO 8601 duration of a minute or more.' })
  every?: string | null;

  @Field(() => DateTime, { nullable: true })
  at?: Date | null;

  @Rule({ minLength: 1, maxLength: 64 })
  @Field(() => String, { nullable: true, description: 'IANA zone; default UTC.' })
  timeZone?: string | null;

  @Rule({ object: true })
  @Field(() => JSONObject, { nullable: true, description: "By the queue's schema; default {}." })
  payload?: unknown;

  @Field(() => JobScheduleMisfire, { defaultValue: JobScheduleMisfire.SKIP })
  misfire: JobScheduleMisfire = JobScheduleMisfire.SKIP;

  @Rule({ min: 0, max: 86_400 })
  @Field(() => Int, { defaultValue: 300 })
  graceSeconds: number = 300;

  @Field(() => JobScheduleOverlap, { defaultValue: JobScheduleOverlap.ALLOW })
  overlap: JobScheduleOverlap = JobScheduleOverlap.ALLOW;

  @Rule({ min: 0, max: 3600 })
  @Field(() => Int, { defaultValue: 0, description: 'Each job begins up to so many seconds later.' })
  jitterSeconds: number = 0;

  @Rule(REASON)
  @Field(() => String, { nullable: true, description: 'For the audit.' })
  reason?: string | null;
}

@InputType({ description: 'What is left out stays. A changed time counts from now.' })
export class UpdateJobScheduleInput {
  @Rule({ maxLength: 128 })
  @Field(() => ID)
  key: string;

  @Rule({ minLength: 9, maxLength: 128 })
  @Field(() => String, { nullable: true })
  cron?: string | null;

  @Rule({ minLength: 3, maxLength: 40 })
  @Field(() => String, { nullable: true })
  every?: string | null;

  @Field(() => DateTime, { nullable: true })
  at?: Date | null;

  @Rule({ minLength: 1, maxLength: 64 })
  @Field(() => String, { nullable: true })
  timeZone?: string | null;

  @Rule({ object: true })
  @Field(() => JSONObject, { nullable: true })
  payload?: unknown;

  @Field(() => JobScheduleMisfire, { nullable: true })
  misfire?: JobScheduleMisfire | null;

  @Rule({ min: 0, max: 86_400 })
  @Field(() => Int, { nullable: true })
  graceSeconds?: number | null;

  @Field(() => JobScheduleOverlap, { nullable: true })
  overlap?: JobScheduleOverlap | null;

  @Rule({ min: 0, max: 3600 })
  @Field(() => Int, { nullable: true })
  jitterSeconds?: number | null;

  @Rule({ min: 1 })
  @Field(() => Int, { description: 'The version that was read; another one is a conflict.' })
  version: number;

  @Rule(REASON)
  @Field(() => String, { nullable: true, description: WHY })
  reason?: string | null;
}
