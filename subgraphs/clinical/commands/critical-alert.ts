import { labResultCritical } from '../../../events/catalogue/clinical.js';
import { FOR_UPDATE, lockRow } from '../../../runtime/data/rows.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { move } from '../../../runtime/request/states.js';
import { CriticalAlert, CriticalAlertSeverity, CriticalAlertStatus as Status } from '../entities/critical-alert.js';
import { BiomarkerObservation } from '../entities/observation.js';
import { RedFlag } from '../entities/red-flag.js';
import { CloseCriticalAlertInput, RecordCriticalAlertContactInput } from '../inputs/critical-alert.js';
import { acknowledgeBy, CRITICAL_ALERT_STATES, type CriticalAlertTrigger, hiddenUntil, isAlerting } from '../rules/critical-alert.js';
import { scoreLater } from './health-score.js';
import { releaseEventsOf } from './waiting-event.js';

function announce(ctx: Context, { id, observationId, code, severity, acknowledgeBy: by, patientId: userId }: CriticalAlert): void {
  const data = { alert_id: id, observation_id: observationId, code, severity, acknowledge_by: by.toISOString() };
  ctx.emit(labResultCritical, data, { userId });
}

/** Raises an alert for a fresh result beyond a limit, in the ingesting transaction, and keeps the value from the member. */
export function raiseAlert(ctx: Context, row: BiomarkerObservation, limit: 'critical' | 'panic' | null): void {
  const imported = ctx.caller.serviceSlug === 'patient-graph';
  if (limit === null || !isAlerting(row, imported, ctx.now())) return;
  const severity = limit === 'panic' ? CriticalAlertSeverity.PANIC : CriticalAlertSeverity.CRITICAL;
  row.hiddenUntil = hiddenUntil(ctx.now());
  const alert = Object.assign(new CriticalAlert(), {
    patientId: row.patientId,
    observationId: row.id,
    code: row.code,
    severity,
    acknowledgeBy: acknowledgeBy(severity, ctx.now()),
    createdAt: ctx.now(),
  });
  ctx.em.persist(alert);
  announce(ctx, alert);
  ctx.audit('critical_alert.raised', alert.id, { severity });
}

async function moveAlert(ctx: Context, id: string, trigger: CriticalAlertTrigger): Promise<CriticalAlert> {
  const alert = await lockRow(ctx, CriticalAlert, { id });
  const from = alert.status;
  alert.status = move(CRITICAL_ALERT_STATES, 'critical alert', from, trigger);
  ctx.audit(`critical_alert.${trigger}`, alert.id, { from, to: alert.status });
  return alert;
}

/** Flags that were raised by the value wait no longer for it; whether another result holds one back is seen in its evidence. */
async function showFlags(ctx: Context, patientId: string, observationId: string): Promise<void> {
  const flags = await ctx.em.find(RedFlag, { patientId, hiddenUntil: { $ne: null } });
  for (const flag of flags) {
    const { evidence } = flag.open(ctx);
    if (!evidence.includes(observationId)) continue;
    const [still] = await ctx.em.find(
      BiomarkerObservation,
      { id: { $in: evidence }, hiddenUntil: { $gt: ctx.now() } },
      { orderBy: { hiddenUntil: 'desc' }, limit: 1 },
    );
    flag.hiddenUntil = still?.hiddenUntil ?? null;
  }
}

/** From now on the member may see the value, in the result, in the cycles that it measures and in the flags that it raised; what waited for it is told. */
async function showValue(ctx: Context, { patientId, observationId }: CriticalAlert): Promise<void> {
  await ctx.sql(`update ${ctx.schema}.observation set hidden_until = null where id = $1`, [observationId]);
  await ctx.sql(
    `update ${ctx.schema}.retest_cycle c set values_hidden_until = null where $1 in (c.baseline_observation_id, c.follow_up_observation_id)
       and not exists (select from ${ctx.schema}.observation o where o.id in (c.baseline_observation_id, c.follow_up_observation_id) and o.hidden_until is not null)`,
    [observationId],
  );
  await showFlags(ctx, patientId, observationId);
  await releaseEventsOf(ctx, patientId);
}

/** A clinician has seen it. */
export async function acknowledgeCriticalAlert(ctx: Context, id: string): Promise<CriticalAlert> {
  const alert = await moveAlert(ctx, id, 'acknowledge');
  Object.assign(alert, { acknowledgedBy: actorOf(ctx.caller), acknowledgedAt: ctx.now() });
  await showValue(ctx, alert);
  await scoreLater(ctx, alert.patientId, 0);
  return alert;
}

/** Notes a try to reach the patient. */
export async function recordCriticalAlertContact(ctx: Context, { id, outcome }: RecordCriticalAlertContactInput): Promise<CriticalAlert> {
  const alert = await moveAlert(ctx, id, 'contact');
  alert.contactLog = [...alert.contactLog, { at: ctx.now().toISOString(), by: actorOf(ctx.caller), outcome }];
  return alert;
}

/** Ends an acknowledged alert. */
export const closeCriticalAlert = async (ctx: Context, { id, reason }: CloseCriticalAlertInput): Promise<CriticalAlert> =>
  Object.assign(await moveAlert(ctx, id, 'close'), { closedReason: reason });

/** Open alerts whose time is over are escalated, and announced to workflow again. Source: clinical 3. */
export async function escalateDueAlerts(ctx: Context, at: Date): Promise<void> {
  const late = await ctx.em.find(
    CriticalAlert,
    { status: Status.OPEN, acknowledgeBy: { $lte: at } },
    { orderBy: { acknowledgeBy: 'asc', id: 'asc' }, limit: 200, ...FOR_UPDATE },
  );
  for (const alert of late) {
    alert.status = move<Status, CriticalAlertTrigger>(CRITICAL_ALERT_STATES, 'critical alert', alert.status, 'escalate');
    announce(ctx, alert);
    ctx.audit('critical_alert.escalate', alert.id, { severity: alert.severity });
  }
}
