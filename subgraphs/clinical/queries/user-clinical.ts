import type { Context } from '../../../runtime/request/context.js';
import { type Connection, PageArgs } from '../../../runtime/request/paging.js';
import { CheckIn } from '../entities/check-in.js';
import { Consult } from '../entities/consult.js';
import { CriticalAlert, CriticalAlertStatus } from '../entities/critical-alert.js';
import { DoseLog } from '../entities/dose.js';
import { Intervention, InterventionStatus } from '../entities/intervention.js';
import { RedFlag, RedFlagStatus, visibleAt } from '../entities/red-flag.js';
import { ClinicalGuard } from '../entities/user-clinical.js';
import { MyCheckInsArgs } from '../inputs/check-in.js';
import { MyConsultsArgs } from '../inputs/consult.js';
import { MyDosesArgs } from '../inputs/dose.js';
import { MyInterventionsArgs } from '../inputs/intervention.js';
import { among, between, given } from './conditions.js';
import { pageOfPatient } from './pages.js';
import { auditRead, readPage } from './read-audit.js';

/** A patient's protocols and stacks, newest first; in the request's batch. */
export const listInterventions = (ctx: Context, patientId: string, args: MyInterventionsArgs): Promise<Connection<Intervention>> =>
  pageOfPatient(ctx, { entity: Intervention, time: 'createdAt', where: given({ status: among(args.status) }) }, patientId, args);

/** A patient's flags, newest first; in the request's batch. @param all also those that the member may not see yet. */
export async function listRedFlags(ctx: Context, patientId: string, args: PageArgs, all: boolean): Promise<Connection<RedFlag>> {
  const where = all ? {} : visibleAt(ctx.now());
  const found = await pageOfPatient(ctx, { entity: RedFlag, time: 'detectedAt', name: `RedFlag.${all}`, where }, patientId, args);
  await auditRead(ctx, 'red_flags', found.nodes);
  return found;
}

/** Doses of patients, the latest first. */
export const listDoses = (ctx: Context, userIds: readonly string[], { from, to, ...paging }: MyDosesArgs): Promise<Connection<DoseLog>> =>
  readPage(
    ctx,
    'doses',
    DoseLog,
    { patientId: { $in: [...userIds] }, ...given({ scheduledFor: between(from, to) }) },
    paging,
    'scheduledFor',
  );

/** A patient's check-ins, newest first; in the request's batch. */
export const listCheckIns = (ctx: Context, patientId: string, args: MyCheckInsArgs): Promise<Connection<CheckIn>> =>
  pageOfPatient(ctx, { entity: CheckIn, time: 'dueAt', where: given({ status: among(args.status) }) }, patientId, args);

/** A patient's consults, newest first; in the request's batch. */
export const listConsults = (ctx: Context, patientId: string, args: MyConsultsArgs): Promise<Connection<Consult>> =>
  pageOfPatient(ctx, { entity: Consult, time: 'createdAt', where: given({ status: among(args.status) }) }, patientId, args);

/** What must stop a recommendation for a user: three statements for any number of users. */
export const loadGuard = (ctx: Context, userId: string): Promise<ClinicalGuard | null> =>
  ctx.load('clinical_guard', userId, async ids => {
    const patientId = { $in: [...ids] };
    const flags = await ctx.em.find(RedFlag, { patientId, status: RedFlagStatus.OPEN });
    const alerts = await ctx.em.find(CriticalAlert, {
      patientId,
      status: { $in: [CriticalAlertStatus.OPEN, CriticalAlertStatus.ESCALATED] },
    });
    const running = await ctx.em.find(Intervention, { patientId, status: InterventionStatus.ACTIVE });
    const of = <Row extends { patientId: string }>(rows: readonly Row[], id: string): Row[] => rows.filter(row => row.patientId === id);
    return ids.map(id => ({
      openFlagSeverities: [...new Set(of(flags, id).map(row => row.severity))],
      openCriticalAlerts: of(alerts, id).length,
      activeInterventionKeys: [...new Set(of(running, id).map(row => row.key))].sort(),
    }));
  });
