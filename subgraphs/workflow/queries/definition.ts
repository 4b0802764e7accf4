import type { Context } from '../../../runtime/request/context.js';
import type { WorkflowSchedule, WorkflowTrigger } from '../entities/definition.js';
import { WorkflowTriggerKind } from '../entities/enums.js';
import type { WorkflowDefinitionCode } from '../ports/workflow.js';

interface TriggerRow {
  definition_key: string;
  cron: string;
  time_zone: string;
  next_ms: number | null;
  last_ms: number | null;
  misses: number;
}

const TRIGGERS = `
select definition_key, cron, time_zone, (extract(epoch from next_at) * 1000)::float8 as next_ms, (extract(epoch from last_at) * 1000)::float8 as last_ms, misses
from workflow.workflow_trigger where $1::text[] is null or definition_key = any($1) order by definition_key, cron`;

const instant = (ms: number | null): Date | null => (ms === null ? null : new Date(Math.round(ms)));

/** What is started by time alone. */
export async function allSchedules(ctx: Context): Promise<WorkflowSchedule[]> {
  const rows = await ctx.sql<TriggerRow>(TRIGGERS, [null]);
  return rows.map(row => ({
    definitionKey: row.definition_key,
    cron: row.cron,
    timeZone: row.time_zone,
    nextAt: instant(row.next_ms),
    lastAt: instant(row.last_ms),
    misses: row.misses,
  }));
}

const NONE = { cron: null, timeZone: null, eventType: null, filter: null, nextAt: null } as const;

/** What starts a run of a definition: times, events of its code, and by hand. */
export async function loadTriggers(ctx: Context, key: string, code: WorkflowDefinitionCode | undefined): Promise<WorkflowTrigger[]> {
  const found = await ctx.load('workflow.triggers', key, async keys => {
    const rows = await ctx.sql<TriggerRow>(TRIGGERS, [keys]);
    return keys.map(one => rows.filter(row => row.definition_key === one));
  });
  const own = { ...NONE, definitionKey: key };
  const { SCHEDULE, EVENT, MANUAL } = WorkflowTriggerKind;
  return [
    ...(found ?? []).map(({ cron, time_zone: timeZone, next_ms: next }) => {
      return { ...own, kind: SCHEDULE, keyExpr: '{occurrence}', cron, timeZone, nextAt: instant(next) };
    }),
    ...(code?.events ?? []).map(({ on, keyExpr, filter = null }) => ({ ...own, kind: EVENT, keyExpr, eventType: on.name, filter })),
    { ...own, kind: MANUAL, keyExpr: '{key}' },
  ];
}
