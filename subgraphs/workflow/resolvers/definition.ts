import { Arg, Ctx, FieldResolver, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { findRow } from '../../../runtime/data/rows.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { WorkflowDefinition, WorkflowSchedule, WorkflowTrigger } from '../entities/definition.js';
import { WorkflowRun } from '../entities/run.js';
import { OPERATORS, READERS, SHOWN } from '../entities/enums.js';
import { SetWorkflowEnabledInput } from '../inputs/definition.js';
import type { WorkflowDefinitionCode } from '../ports/workflow.js';
import { setEnabled } from '../commands/definition.js';
import { DEFINITIONS } from '../commands/definitions/definitions.js';
import { allSchedules, loadTriggers } from '../queries/definition.js';
import { loadRunsOfDefinition } from '../queries/run.js';

const codeOf = ({ key }: WorkflowDefinition): WorkflowDefinitionCode | undefined => DEFINITIONS.get(key);

@Resolver(() => WorkflowDefinition)
export class DefinitionResolver {
  @Access(READERS)
  @Query(() => [WorkflowDefinition], { description: 'Workflows that the code knows, by key.' })
  workflowDefinitions(@Ctx() ctx: Context): Promise<WorkflowDefinition[]> {
    return ctx.em.find(WorkflowDefinition, { key: { $in: [...DEFINITIONS.keys()] } }, { orderBy: { key: 'asc' } });
  }

  @Access(READERS)
  @Query(() => WorkflowDefinition, { nullable: true })
  async workflowDefinition(
    @Rule({ maxLength: 64 }) @Arg('key', () => String) key: string,
    @Ctx() ctx: Context,
  ): Promise<WorkflowDefinition | null> {
    return DEFINITIONS.has(key) ? findRow(ctx, WorkflowDefinition, { key }) : null;
  }

  @Access(READERS)
  @Query(() => [WorkflowSchedule], { description: 'What is started by time alone.' })
  workflowSchedules(@Ctx() ctx: Context): Promise<WorkflowSchedule[]> {
    return allSchedules(ctx);
  }

  @Access(OPERATORS)
  @Mutation(() => WorkflowDefinition, { description: 'Off: no new runs, open ones go on.' })
  setWorkflowEnabled(
    @Arg('input', () => SetWorkflowEnabledInput) input: SetWorkflowEnabledInput,
    @Ctx() ctx: Context,
  ): Promise<WorkflowDefinition> {
    return setEnabled(ctx, input);
  }

  @Access(SHOWN)
  @FieldResolver(() => String)
  title(@Root() definition: WorkflowDefinition): string {
    return codeOf(definition)?.title ?? definition.key;
  }

  @Access(SHOWN)
  @FieldResolver(() => String, { description: 'The service whose process it is.' })
  owner(@Root() definition: WorkflowDefinition): string {
    return codeOf(definition)?.owner ?? 'workflow';
  }

  @Access(SHOWN)
  @FieldResolver(() => [String])
  steps(@Root() definition: WorkflowDefinition): readonly string[] {
    return codeOf(definition)?.steps ?? [];
  }

  @Access(SHOWN)
  @FieldResolver(() => Int)
  maxConcurrent(@Root() definition: WorkflowDefinition): number {
    return codeOf(definition)?.maxConcurrent ?? 1;
  }

  @Access(SHOWN)
  @FieldResolver(() => Int)
  timeoutDays(@Root() definition: WorkflowDefinition): number {
    return codeOf(definition)?.timeoutDays ?? 1;
  }

  @Access(SHOWN)
  @FieldResolver(() => [WorkflowTrigger])
  triggers(@Root() definition: WorkflowDefinition, @Ctx() ctx: Context): Promise<WorkflowTrigger[]> {
    return loadTriggers(ctx, definition.key, codeOf(definition));
  }

  @Access(SHOWN)
  @FieldResolver(() => [WorkflowRun], { description: 'The newest ten.' })
  lastRuns(@Root() { key }: WorkflowDefinition, @Ctx() ctx: Context): Promise<WorkflowRun[]> {
    return loadRunsOfDefinition(ctx, key);
  }
}
