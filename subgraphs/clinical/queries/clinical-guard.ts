import type { Context } from '../../../runtime/request/context.js';
import { CriticalAlert, CriticalAlertStatus } from '../entities/critical-alert.js';
import { Intervention, InterventionStatus } from '../entities/intervention.js';
import { RedFlag, RedFlagStatus } from '../entities/red-flag.js';
import { ClinicalGuard } from '../entities/user-clinical.js';

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
