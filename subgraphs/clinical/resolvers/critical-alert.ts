import { type FilterQuery, LockMode } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { labResultCritical } from '../../../events/catalogue/clinical.js';
import { Access } from '../../../runtime/access/access.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { actorOf } from '../../../runtime/request/caller.js';
import { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { type Connection, page } from '../../../runtime/request/paging.js';
import { move } from '../../../runtime/request/states.js';
import { scoreLater } from '../commands/health-score-due.js';
import { auditRead } from '../commands/read-audit.js';
import {
  ALERT_READERS,
  CriticalAlert,
  CriticalAlertConnection,
  CriticalAlertSeverity,
  CriticalAlertStatus as Status,
} from '../entities/critical-alert.js';
import { BiomarkerObservation } from '../entities/observation.js';
import { CloseCriticalAlertInput, CriticalAlertsArgs, RecordCriticalAlertContactInput } from '../inputs/critical-alert.js';
import { loadObservation } from '../queries/observation-chain.js';
import { acknowledgeBy, CRITICAL_ALERT_STATES, type CriticalAlertTrigger, hiddenUntil, isAlerting } from '../rules/critical-alert.js';
import type { DueWork } from '../timers/care.js';

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

async function changed(ctx: Context, id: string, trigger: CriticalAlertTrigger): Promise<CriticalAlert> {
  const found = isUuid(id) ? await ctx.em.findOne(CriticalAlert, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
  const alert = found ?? fail('not_found', 'Not found');
  const from = alert.status;
  alert.status = move(CRITICAL_ALERT_STATES, 'critical alert', from, trigger);
  ctx.audit(`critical_alert.${trigger}`, alert.id, { from, to: alert.status });
  return alert;
}

/** From now on the member may see the value, in the result and in the cycles that it measures. */
async function showValue(ctx: Context, observationId: string): Promise<void> {
  await ctx.sql(`update ${ctx.schema}.observation set hidden_until = null where id = $1`, [observationId]);
  await ctx.sql(
    `update ${ctx.schema}.retest_cycle c set values_hidden_until = null where $1 in (c.baseline_observation_id, c.follow_up_observation_id)
       and not exists (select from ${ctx.schema}.observation o where o.id in (c.baseline_observation_id, c.follow_up_observation_id) and o.hidden_until is not null)`,
    [observationId],
  );
}

/** Open alerts whose time is over are escalated, and workflow is told again. Source: clinical 3. */
export const escalationDue: DueWork = async (ctx, at) => {
  const late = await ctx.em.find(
    CriticalAlert,
    { status: Status.OPEN, acknowledgeBy: { $lte: at } },
    { orderBy: { acknowledgeBy: 'asc', id: 'asc' }, limit: 200, lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  for (const alert of late) {
    alert.status = move<Status, CriticalAlertTrigger>(CRITICAL_ALERT_STATES, 'critical alert', alert.status, 'escalate');
    announce(ctx, alert);
    ctx.audit('critical_alert.escalate', alert.id, { severity: alert.severity });
  }
};

@Resolver(() => CriticalAlert)
export class CriticalAlertResolver {
  @Access(ALERT_READERS)
  @Query(() => CriticalAlertConnection, { description: 'Critical alerts, newest first.' })
  criticalAlerts(
    @Args(() => CriticalAlertsArgs) { status, observationId, userId, ...paging }: CriticalAlertsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<CriticalAlert>> {
    const where = {
      ...(status && { status: { $in: status } }),
      ...(observationId && { observationId }),
      ...(userId && { patientId: userId }),
    };
    return page<CriticalAlert>(ctx.em, CriticalAlert, where as FilterQuery<CriticalAlert>, paging, { time: 'createdAt' });
  }

  @FieldResolver(() => BiomarkerObservation, { nullable: true })
  async observation(@Root() alert: CriticalAlert, @Ctx() ctx: Context): Promise<BiomarkerObservation | null> {
    const row = await loadObservation(ctx, alert.observationId);
    if (row) await auditRead(ctx, 'observations', [row]);
    return row;
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:alerts' })
  @Mutation(() => CriticalAlert, { description: 'A clinician has seen it; from now on the member may see the value.' })
  async acknowledgeCriticalAlert(@Arg('id', () => String) id: string, @Ctx() ctx: Context): Promise<CriticalAlert> {
    const alert = await changed(ctx, id, 'acknowledge');
    Object.assign(alert, { acknowledgedBy: actorOf(ctx.caller), acknowledgedAt: ctx.now() });
    await showValue(ctx, alert.observationId);
    await scoreLater(ctx, alert.patientId, 0);
    return alert;
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:alerts' })
  @Mutation(() => CriticalAlert, { description: 'Notes a try to reach the patient.' })
  async recordCriticalAlertContact(
    @Arg('input', () => RecordCriticalAlertContactInput) { id, outcome }: RecordCriticalAlertContactInput,
    @Ctx() ctx: Context,
  ): Promise<CriticalAlert> {
    const alert = await changed(ctx, id, 'contact');
    alert.contactLog = [...alert.contactLog, { at: ctx.now().toISOString(), by: actorOf(ctx.caller), outcome }];
    return alert;
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:alerts' })
  @Mutation(() => CriticalAlert, { description: 'Ends an acknowledged alert.' })
  async closeCriticalAlert(
    @Arg('input', () => CloseCriticalAlertInput) { id, reason }: CloseCriticalAlertInput,
    @Ctx() ctx: Context,
  ): Promise<CriticalAlert> {
    return Object.assign(await changed(ctx, id, 'close'), { closedReason: reason });
  }
}
