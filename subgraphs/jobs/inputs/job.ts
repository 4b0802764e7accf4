import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID, NOT_BLANK } from '../../../runtime/schema/constraints.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { JobStatus } from '../entities/enums.js';

/** Why somebody does it, for the audit. */
export const REASON = { minLength: 1, maxLength: 500, pattern: NOT_BLANK } as const;
export const WHY = 'For the audit; staff must give one.';
const KEY = { minLength: 1, maxLength: 200, pattern: NOT_BLANK } as const;

@InputType()
export class EnqueueJobInput {
  @Rule({ minLength: 1, maxLength: 128 })
  @Field(() => String)
  queue: string;

  @Rule({ object: true })
  @Field(() => JSONObject, { description: "Ids, codes and settings only, by the queue's schema; 64 KiB at most." })
  payload: unknown;

  @Field(() => DateTime, { nullable: true, description: 'Default: now.' })
  runAt?: Date | null;

  @Rule({ min: -10, max: 10 })
  @Field(() => Int, { nullable: true, description: 'Default: 0; the highest first.' })
  priority?: number | null;

  @Rule(KEY)
  @Field(() => String, { nullable: true, description: 'One unfinished job of a queue for each.' })
  dedupeKey?: string | null;

  @Rule({ min: 0, max: 604_800 })
  @Field(() => Int, { nullable: true, description: 'How long after its end the job still stands for its key; default 0.' })
  dedupeSeconds?: number | null;

  @Rule(KEY)
  @Field(() => String, { nullable: true, description: 'What the policy of the queue counts by.' })
  groupKey?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Whom it concerns; the user sees it as own job.' })
  userId?: string | null;

  @Rule({ min: 1, max: 21 })
  @Field(() => Int, { nullable: true, description: 'Default: as the queue has it.' })
  maxAttempts?: number | null;
}

@InputType()
export class EnqueueJobsInput {
  @Rule({ minItems: 1, maxItems: 1000 })
  @Field(() => [EnqueueJobInput])
  jobs: EnqueueJobInput[];
}

@ArgsType()
export class JobsArgs extends PageArgs {
  @Rule({ maxLength: 128 })
  @Field(() => String, { nullable: true })
  queue?: string | null;

  @Field(() => [JobStatus], { nullable: true })
  status?: JobStatus[] | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  userId?: string | null;

  @Rule({ maxLength: 128 })
  @Field(() => String, { nullable: true })
  scheduleKey?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Enqueued at or after.' })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Enqueued before.' })
  to?: Date | null;
}

@ArgsType()
export class JobArgs {
  @Field(() => ID)
  id: string;

  @Rule({ min: 0, max: 20 })
  @Field(() => Int, { nullable: true })
  wait?: number | null;
}

@InputType()
export class DiscardJobInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule(REASON)
  @Field(() => String)
  reason: string;
}

@InputType()
export class OperateJobInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule(REASON)
  @Field(() => String, { nullable: true, description: WHY })
  reason?: string | null;
}
