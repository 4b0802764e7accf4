import type { EntityClass } from '@mikro-orm/postgresql';
import { ruleOf } from '../../runtime/access/access.js';
import { rowReferences, stubReferences } from '../../runtime/data/references.js';
import { holdsPermission } from '../../runtime/request/caller.js';
import type { Context } from '../../runtime/request/context.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import { CHECK_IN_READERS, CheckIn } from './entities/check-in.js';
import { Consult, CONSULT_READERS } from './entities/consult.js';
import { ALERT_READERS, CriticalAlert } from './entities/critical-alert.js';
import { HealthScore, SCORE_READERS } from './entities/health-score.js';
import { Intervention, INTERVENTION_READERS } from './entities/intervention.js';
import { LabReport, REPORT_READERS } from './entities/lab-report.js';
import { BiomarkerObservation, OBSERVATION_READERS } from './entities/observation.js';
import { Protocol } from './entities/protocol.js';
import { FLAG_READERS, RedFlag, visibleAt } from './entities/red-flag.js';
import { CYCLE_READERS, RetestCycle } from './entities/retest-cycle.js';
import { heldBack, hidesCritical, visibleRows } from './entities/value-access.js';
import { Vial, VIAL_READERS } from './entities/vial.js';
import { findMarkers, IN_FORCE } from './queries/dictionary.js';
import { auditRead, type HealthKind } from './queries/read-audit.js';

/** Loads by the id with the owner in the `where`; whom the type's rule refuses finds nothing. @param audited health data whose reading leaves an audit row. */
const owned = <Row extends { id: string; patientId: string }>(
  entity: EntityClass<Row>,
  readers: { staff: string } & Parameters<typeof ruleOf>[0],
  audited?: HealthKind,
  also: (ctx: Context) => object = () => ({}),
): ReferenceLoader =>
  rowReferences<{ id: string; patientId: string }>(entity, {
    readers,
    where: ctx => ({ ...visibleRows(ctx.caller, readers.staff), ...also(ctx) }),
    onRead: async (ctx, rows) => audited && auditRead(ctx, audited, rows),
  });

async function biomarkers(ctx: Context, references: readonly { code: string }[]) {
  const codes = references.map(({ code }) => code);
  const found = await findMarkers(ctx, codes);
  return codes.map(code => found.get(code) ?? null);
}

/** Anybody's account may be pointed at by services and staff; a member sees the own one. */
async function users({ caller }: Context, references: readonly { id: string }[]) {
  const any = caller.kind !== 'user' || holdsPermission(caller, 'admin:clinical:read');
  return references.map(({ id }) => (any || id.toLowerCase() === caller.userId ? { id } : null));
}

/** A member finds the visible flags only. */
const flagsShown = (ctx: Context): object => (hidesCritical(ctx.caller) ? visibleAt(ctx.now()) : {});

/** One batch loader for each type that is resolved by key. */
export const references: Readonly<Record<string, ReferenceLoader>> = {
  Biomarker: biomarkers,
  BiomarkerObservation: owned(BiomarkerObservation, OBSERVATION_READERS, 'observations', heldBack),
  HealthScore: owned(HealthScore, SCORE_READERS, 'health_scores'),
  Intervention: owned(Intervention, INTERVENTION_READERS),
  LabReport: owned(LabReport, REPORT_READERS, 'lab_reports'),
  Protocol: rowReferences(Protocol, { key: 'key', where: () => IN_FORCE }),
  CheckIn: owned(CheckIn, CHECK_IN_READERS, 'check_ins'),
  Consult: owned(Consult, CONSULT_READERS, 'consults'),
  CriticalAlert: owned(CriticalAlert, ALERT_READERS),
  RedFlag: owned(RedFlag, FLAG_READERS, 'red_flags', flagsShown),
  RetestCycle: owned(RetestCycle, CYCLE_READERS, 'retest_cycles'),
  User: users,
  Vial: owned(Vial, VIAL_READERS),
  Patient: users,
  Encounter: stubReferences,
  LabOrder: stubReferences,
  BookingVisit: stubReferences,
};
