import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { loadRow } from '../../../runtime/data/rows.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { WorkflowRun } from '../entities/run.js';
import { WorkflowTask, WorkflowTaskConnection } from '../entities/task.js';
import { ASSIGNEES } from '../entities/enums.js';
import { CompleteWorkflowTaskInput, WorkflowTasksArgs } from '../inputs/task.js';
import { claimTask, completeTask, releaseTask } from '../commands/task.js';
import { pageOfTasks } from '../queries/task.js';

@Resolver(() => WorkflowTask)
export class TaskResolver {
  @Access(ASSIGNEES)
  @Query(() => WorkflowTaskConnection, { description: 'Tasks that the caller may decide, newest first.' })
  workflowTasks(@Args(() => WorkflowTasksArgs) args: WorkflowTasksArgs, @Ctx() ctx: Context): Promise<Connection<WorkflowTask>> {
    return pageOfTasks(ctx, args);
  }

  @Access(ASSIGNEES)
  @Mutation(() => WorkflowTask)
  claimWorkflowTask(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<WorkflowTask> {
    return claimTask(ctx, id);
  }

  @Access(ASSIGNEES)
  @Mutation(() => WorkflowTask)
  releaseWorkflowTask(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<WorkflowTask> {
    return releaseTask(ctx, id);
  }

  @Access(ASSIGNEES)
  @Mutation(() => WorkflowTask, { description: 'Decides: the run goes on with the result.' })
  completeWorkflowTask(
    @Arg('input', () => CompleteWorkflowTaskInput) input: CompleteWorkflowTaskInput,
    @Ctx() ctx: Context,
  ): Promise<WorkflowTask> {
    return completeTask(ctx, input);
  }

  @Access(ASSIGNEES)
  @FieldResolver(() => WorkflowRun)
  async run(@Root() { runId }: WorkflowTask, @Ctx() ctx: Context): Promise<WorkflowRun> {
    return (await loadRow(ctx, WorkflowRun, 'id', runId))!;
  }
}
