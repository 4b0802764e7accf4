import { ArgsType, Field, InputType, Int } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { REASON, WHY } from './job.js';

@ArgsType()
export class OperateJobQueueArgs {
  @Rule({ maxLength: 128 })
  @Field(() => String)
  name: string;

  @Rule(REASON)
  @Field(() => String, { nullable: true, description: WHY })
  reason?: string | null;
}

@InputType()
export class RetryDeadJobsInput {
  @Rule({ minLength: 1, maxLength: 128 })
  @Field(() => String)
  name: string;

  @Rule({ minLength: 1, maxLength: 64 })
  @Field(() => String, { nullable: true })
  errorCode?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Died at or after.' })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Died before.' })
  to?: Date | null;

  @Rule({ min: 1, max: 10_000 })
  @Field(() => Int, { defaultValue: 1000 })
  limit: number = 1000;

  @Rule(REASON)
  @Field(() => String, { nullable: true, description: 'For the audit.' })
  reason?: string | null;
}

@InputType({ description: 'What is left out stays; null: the value in code.' })
export class UpdateJobQueueInput {
  @Rule({ minLength: 1, maxLength: 128 })
  @Field(() => String)
  name: string;

  @Rule({ min: 0, max: 20 })
  @Field(() => Int, { nullable: true })
  retryLimit?: number | null;

  @Rule({ min: 0, max: 3600 })
  @Field(() => Int, { nullable: true })
  retryDelaySeconds?: number | null;

  @Field(() => Boolean, { nullable: true })
  retryBackoff?: boolean | null;

  @Rule({ min: 1, max: 86_400 })
  @Field(() => Int, { nullable: true })
  timeoutSeconds?: number | null;

  @Rule({ min: 10, max: 3600 })
  @Field(() => Int, { nullable: true })
  heartbeatSeconds?: number | null;

  @Rule({ min: 1, max: 100 })
  @Field(() => Int, { nullable: true })
  concurrency?: number | null;

  @Rule({ min: 1, max: 100 })
  @Field(() => Int, { nullable: true })
  perKeyConcurrency?: number | null;

  @Rule({ min: 1, max: 365 })
  @Field(() => Int, { nullable: true })
  retentionDays?: number | null;

  @Rule({ min: 1 })
  @Field(() => Int, { nullable: true, description: 'The version that was read; another one is a conflict.' })
  version?: number | null;

  @Rule(REASON)
  @Field(() => String, { nullable: true, description: WHY })
  reason?: string | null;
}
