import { LockMode } from '@mikro-orm/postgresql';
import { Arg, Ctx, FieldResolver, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { DEFINITIONS } from '../commands/definitions/definitions.js';
import { WorkflowDefinition, WorkflowSchedule, WorkflowTrigger } from '../entities/definition.js';
import { WorkflowRun } from '../entities/run.js';
import { OPERATORS, READERS, SHOWN, WorkflowTriggerKind } from '../entities/enums.js';
import { SetWorkflowEnabledInput } from '../inputs/run.js';
import type { WorkflowDefinitionCode } from '../ports/workflow.js';

const SHOWN_RUNS = 10;

const codeOf = ({ key }: WorkflowDefinition): WorkflowDefinitionCode | undefined => DEFINITIONS.get(key);

const instant = (ms: string | null): Date | null => (ms === null ? null : new Date(Math.round(Number(ms))));

interface TriggerRow {
  definition_key: string;
  cron: string;
  time_zone: string;
  next: string | null;
  last: string | null;
  misses: number;
}

const triggers = (ctx: Context, keys: readonly string[] | null): Promise<TriggerRow[]> =>
  ctx.sql<TriggerRow>(
    `select definition_key, cron, time_zone, extract(epoch from next_at) * 1000 as next, extract(epoch from last_at) * 1000 as last, misses
     from workflow.workflow_trigger where $1::text[] is null or definition_key = any($1) order by definition_key, cron`,
    [keys],
  );

const trigger = (
  definitionKey: string,
  kind: WorkflowTriggerKind,
  keyExpr: string,
  rest: Partial<WorkflowTrigger> = {},
): WorkflowTrigger => ({
  definitionKey,
  kind,
  keyExpr,
  cron: null,
  timeZone: null,
  eventType: null,
  filter: null,
  nextAt: null,
  ...rest,
});

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
    return DEFINITIONS.has(key) ? ctx.em.findOne(WorkflowDefinition, { key }) : null;
  }

  @Access(READERS)
  @Query(() => [WorkflowSchedule], { description: 'What is started by time alone.' })
  async workflowSchedules(@Ctx() ctx: Context): Promise<WorkflowSchedule[]> {
    return (await triggers(ctx, null)).map(row => ({
      definitionKey: row.definition_key,
      cron: row.cron,
      timeZone: row.time_zone,
      nextAt: instant(row.next),
      lastAt: instant(row.last),
      misses: row.misses,
    }));
  }

  @Access(OPERATORS)
  @Mutation(() => WorkflowDefinition, { description: 'Off: no new runs, open ones go on.' })
  async setWorkflowEnabled(
    @Arg('input', () => SetWorkflowEnabledInput) { key, enabled }: SetWorkflowEnabledInput,
    @Ctx() ctx: Context,
  ): Promise<WorkflowDefinition> {
    const definition = await ctx.em.findOne(WorkflowDefinition, { key }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!definition || !DEFINITIONS.has(key)) fail('not_found', 'Not found');
    ctx.audit(enabled ? 'workflow.enabled' : 'workflow.disabled', key, { was: definition.enabled });
    definition.enabled = enabled;
    return definition;
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
  async triggers(@Root() { key }: WorkflowDefinition, @Ctx() ctx: Context): Promise<WorkflowTrigger[]> {
    const found = await ctx.load('workflow.triggers', key, async keys => {
      const rows = await triggers(ctx, keys);
      return keys.map(one => rows.filter(row => row.definition_key === one));
    });
    const timed = (found ?? []).map(row =>
      trigger(key, WorkflowTriggerKind.SCHEDULE, '{occurrence}', { cron: row.cron, timeZone: row.time_zone, nextAt: instant(row.next) }),
    );
    const events = (DEFINITIONS.get(key)?.events ?? []).map(({ on, keyExpr, filter }) =>
      trigger(key, WorkflowTriggerKind.EVENT, keyExpr, { eventType: on.name, filter: filter ?? null }),
    );
    return [...timed, ...events, trigger(key, WorkflowTriggerKind.MANUAL, '{key}')];
  }

  @Access(SHOWN)
  @FieldResolver(() => [WorkflowRun], { description: 'The newest ten.' })
  async lastRuns(@Root() { key }: WorkflowDefinition, @Ctx() ctx: Context): Promise<WorkflowRun[]> {
    const found = await ctx.load('workflow.last_runs', key, async keys => {
      const rows = await ctx.sql<{ id: string }>(
        `select r.id from unnest($1::text[]) as k(key) cross join lateral (select id from workflow.workflow_run_meta m where m.definition_key = k.key
           order by created_at desc, id desc limit ${SHOWN_RUNS}) r`,
        [keys],
      );
      const runs = await ctx.em.find(WorkflowRun, { id: { $in: rows.map(row => row.id) } }, { orderBy: { createdAt: 'desc', id: 'desc' } });
      return keys.map(one => runs.filter(run => run.definitionKey === one));
    });
    return found ?? [];
  }
}
