import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access, mayAccess, ruleOf } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { findRow } from '../../../runtime/data/rows.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { Job } from '../entities/job.js';
import { JobQueue } from '../entities/queue.js';
import { JobOccurrence, JobOccurrenceConnection, JobSchedule, JobScheduleConnection } from '../entities/schedule.js';
import { PAYLOAD_READERS, PLANNERS, READERS, VIEWERS } from '../entities/enums.js';
import { REASON } from '../inputs/job.js';
import {
  CreateJobScheduleInput,
  JobOccurrencesArgs,
  JobSchedulesArgs,
  OperateJobScheduleArgs,
  UpdateJobScheduleInput,
} from '../inputs/schedule.js';
import { createSchedule, deleteSchedule, pauseSchedule, resumeSchedule, runScheduleNow, updateSchedule } from '../commands/schedule.js';
import { loadQueue } from '../queries/queue.js';
import { loadLastStatus, nextRuns, pageOfOccurrences, pageOfSchedules } from '../queries/schedule.js';

@Resolver(() => JobSchedule)
export class ScheduleResolver {
  @Access(READERS)
  @Query(() => JobScheduleConnection, { description: 'Schedules by key.' })
  jobSchedules(@Args(() => JobSchedulesArgs) args: JobSchedulesArgs, @Ctx() ctx: Context): Promise<Connection<JobSchedule>> {
    return pageOfSchedules(ctx, args);
  }

  @Access(READERS)
  @Query(() => JobSchedule, { nullable: true })
  jobSchedule(@Rule({ maxLength: 128 }) @Arg('key', () => ID) key: string, @Ctx() ctx: Context): Promise<JobSchedule | null> {
    return findRow(ctx, JobSchedule, { key });
  }

  @Access(READERS)
  @Query(() => JobOccurrenceConnection, { nullable: true, description: 'Why it ran, or did not: newest first.' })
  jobOccurrences(@Args(() => JobOccurrencesArgs) args: JobOccurrencesArgs, @Ctx() ctx: Context): Promise<Connection<JobOccurrence> | null> {
    return pageOfOccurrences(ctx, args);
  }

  @Access(PLANNERS)
  @Mutation(() => JobSchedule)
  createJobSchedule(@Arg('input', () => CreateJobScheduleInput) input: CreateJobScheduleInput, @Ctx() ctx: Context): Promise<JobSchedule> {
    return createSchedule(ctx, input);
  }

  @Access(PLANNERS)
  @Mutation(() => JobSchedule)
  updateJobSchedule(@Arg('input', () => UpdateJobScheduleInput) input: UpdateJobScheduleInput, @Ctx() ctx: Context): Promise<JobSchedule> {
    return updateSchedule(ctx, input);
  }

  @Access(PLANNERS)
  @Mutation(() => JobSchedule)
  deleteJobSchedule(
    @Rule({ maxLength: 128 })
    @Arg('key', () => ID)
    key: string,
    @Rule(REASON)
    @Arg('reason', () => String, { nullable: true, description: 'For the audit.' })
    reason: string | null,
    @Ctx() ctx: Context,
  ): Promise<JobSchedule> {
    return deleteSchedule(ctx, key, reason);
  }

  @Access(PLANNERS)
  @Mutation(() => JobSchedule)
  pauseJobSchedule(@Args(() => OperateJobScheduleArgs) args: OperateJobScheduleArgs, @Ctx() ctx: Context): Promise<JobSchedule> {
    return pauseSchedule(ctx, args);
  }

  @Access(PLANNERS)
  @Mutation(() => JobSchedule, { description: 'Goes on with the next time that is due; what was missed while paused is not sent.' })
  resumeJobSchedule(@Args(() => OperateJobScheduleArgs) args: OperateJobScheduleArgs, @Ctx() ctx: Context): Promise<JobSchedule> {
    return resumeSchedule(ctx, args);
  }

  @Access(PLANNERS)
  @Mutation(() => Job, {
    description: 'Enqueues an extra job; the next run stays as planned. A queue of one job at a time answers the job that is there.',
  })
  runJobScheduleNow(@Args(() => OperateJobScheduleArgs) args: OperateJobScheduleArgs, @Ctx() ctx: Context): Promise<Job> {
    return runScheduleNow(ctx, args);
  }

  @Access(VIEWERS)
  @FieldResolver(() => JobQueue)
  async queue(@Root() { queueName }: JobSchedule, @Ctx() ctx: Context): Promise<JobQueue> {
    return (await loadQueue(ctx, queueName))!;
  }

  @Access(VIEWERS)
  @FieldResolver(() => JSONObject, { nullable: true, description: 'Null to staff without admin:jobs:payload.' })
  payload(@Root() { payload }: JobSchedule, @Ctx() ctx: Context): unknown {
    return mayAccess(ruleOf(PAYLOAD_READERS), ctx.caller) ? payload : null;
  }

  @Access(VIEWERS)
  @FieldResolver(() => String, { nullable: true, description: 'As its own run has reported, else the status of its last job.' })
  async lastStatus(@Root() { key, lastStatus }: JobSchedule, @Ctx() ctx: Context): Promise<string | null> {
    return lastStatus ?? loadLastStatus(ctx, key);
  }

  @Access(VIEWERS)
  @FieldResolver(() => [DateTime], { description: 'The next five times at which it is due.' })
  nextRuns(@Root() schedule: JobSchedule): Date[] {
    return nextRuns(schedule);
  }
}
