import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { findRow } from '../../../runtime/data/rows.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { WorkflowRun, WorkflowRunConnection, WorkflowStep, WorkflowWaiting } from '../entities/run.js';
import { OPERATORS, READERS, SERVICES_ONLY, SHOWN } from '../entities/enums.js';
import {
  ForkWorkflowRunInput,
  OperateWorkflowRunInput,
  SignalWorkflowRunInput,
  StartWorkflowInput,
  WorkflowRunsArgs,
} from '../inputs/run.js';
import { User } from '../stubs.js';
import { cancelRun, forkRun, resumeRun, signalRun, startByHand } from '../commands/run.js';
import { loadSteps, pageOfRuns } from '../queries/run.js';

@Resolver(() => WorkflowRun)
export class RunResolver {
  @Access(READERS)
  @Query(() => WorkflowRunConnection, { description: 'Runs, newest first.' })
  workflowRuns(@Args(() => WorkflowRunsArgs) args: WorkflowRunsArgs, @Ctx() ctx: Context): Promise<Connection<WorkflowRun>> {
    return pageOfRuns(ctx, args);
  }

  @Access(READERS)
  @Query(() => WorkflowRun, { nullable: true })
  workflowRun(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<WorkflowRun | null> {
    return findRow(ctx, WorkflowRun, { id });
  }

  @Access(OPERATORS)
  @Mutation(() => WorkflowRun, { description: 'Starts a run; the same key finds the run that is there.' })
  startWorkflow(@Arg('input', () => StartWorkflowInput) input: StartWorkflowInput, @Ctx() ctx: Context): Promise<WorkflowRun> {
    return startByHand(ctx, input);
  }

  @Access(OPERATORS)
  @Mutation(() => WorkflowRun, { description: 'Ends a run at its next step; what it registered is undone, last first.' })
  cancelWorkflowRun(
    @Arg('input', () => OperateWorkflowRunInput) input: OperateWorkflowRunInput,
    @Ctx() ctx: Context,
  ): Promise<WorkflowRun> {
    return cancelRun(ctx, input);
  }

  @Access(OPERATORS)
  @Mutation(() => WorkflowRun, { description: 'Goes on after the last finished step.' })
  resumeWorkflowRun(
    @Arg('input', () => OperateWorkflowRunInput) input: OperateWorkflowRunInput,
    @Ctx() ctx: Context,
  ): Promise<WorkflowRun> {
    return resumeRun(ctx, input);
  }

  @Access(OPERATORS)
  @Mutation(() => WorkflowRun, { description: 'A new run that begins at a step; the steps before it are copied.' })
  forkWorkflowRun(@Arg('input', () => ForkWorkflowRunInput) input: ForkWorkflowRunInput, @Ctx() ctx: Context): Promise<WorkflowRun> {
    return forkRun(ctx, input);
  }

  @Access(SERVICES_ONLY)
  @Mutation(() => WorkflowRun, { description: 'Sends what a run waits for; what was sent already is not sent again.' })
  signalWorkflowRun(@Arg('input', () => SignalWorkflowRunInput) input: SignalWorkflowRunInput, @Ctx() ctx: Context): Promise<WorkflowRun> {
    return signalRun(ctx, input);
  }

  @Access(SHOWN)
  @FieldResolver(() => User, { nullable: true })
  user(@Root() { userId }: WorkflowRun): User | null {
    return userId === null ? null : { id: userId };
  }

  @Access(SHOWN)
  @FieldResolver(() => WorkflowWaiting, { nullable: true })
  waitingFor(@Root() { waitingKind, waitingName, waitingUntil }: WorkflowRun): WorkflowWaiting | null {
    return waitingKind === null ? null : { kind: waitingKind, name: waitingName ?? '', until: waitingUntil };
  }

  @Access(SHOWN)
  @FieldResolver(() => [WorkflowStep], { description: 'In order.' })
  steps(@Root() { id }: WorkflowRun, @Ctx() ctx: Context): Promise<WorkflowStep[]> {
    return loadSteps(ctx, id);
  }
}
