import { Counter } from 'prom-client';
import type { Context } from '../../../runtime/request/context.js';

/** The three alarms, spelled as operators search for them. Source: spec 1, Alarms. */
export const ALARMS = {
  liveness: {
    alarm: 'loop liveness alarm',
    counter: 'intelligence_loop_liveness_alarm_total',
    action: 'check the workflow and intelligence logs; run a tick by hand',
  },
  join: {
    alarm: 'join-completeness below floor',
    counter: 'intelligence_join_completeness_below_floor_total',
    action: 'check the bus subscriptions of intelligence',
  },
  guardrail: {
    alarm: 'intelligence_guardrail_blocked',
    counter: 'intelligence_guardrail_blocked_total',
    action: 'review the violation types; expected for unsafe content; investigate spikes',
  },
} as const;

export type AlarmName = keyof typeof ALARMS;

function counterOf(ctx: Context, name: string, help: string): Counter {
  const { registry } = ctx.host.metrics;
  return (registry.getSingleMetric(name) as Counter | undefined) ?? new Counter({ name, help, registers: [registry] });
}

/** Raises an alarm: a record at `warn` and its counter. `cause` and `more` hold names and numbers only, never an entity. */
export function raiseAlarm(ctx: Context, name: AlarmName, cause: string, more: object = {}): void {
  const { alarm, counter, action } = ALARMS[name];
  counterOf(ctx, counter, alarm).inc();
  ctx.log.warn({ alarm, cause, action, ...more }, alarm);
}

/** Counts what was refused without telling whose it was. */
export function countRefused(ctx: Context, why: string): void {
  counterOf(ctx, `intelligence_outcome_${why}_total`, `outcomes that were ${why.replaceAll('_', ' ')}`).inc();
}
