import type { EntityClass, FilterQuery } from '@mikro-orm/postgresql';
import { mayAccess, ruleOf } from '../../runtime/access/access.js';
import { holdsPermission } from '../../runtime/request/caller.js';
import type { Context } from '../../runtime/request/context.js';
import { isUuid } from '../../runtime/data/ids.js';
import { inOrder } from '../../runtime/data/loaders.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import { CHECK_IN_READERS, CheckIn } from './entities/check-in.js';
import { Consult, CONSULT_READERS } from './entities/consult.js';
import { ALERT_READERS, CriticalAlert } from './entities/critical-alert.js';
import { HealthScore, SCORE_READERS } from './entities/health-score.js';
import { LabReport, REPORT_READERS } from './entities/lab-report.js';
import { FLAG_READERS, RedFlag, visibleAt } from './entities/red-flag.js';
import { Vial, VIAL_READERS } from './entities/vial.js';
import { BiomarkerObservation, OBSERVATION_READERS } from './entities/observation.js';
import { Intervention, INTERVENTION_READERS } from './entities/intervention.js';
import { Protocol, ProtocolStatus } from './entities/protocol.js';
import { CYCLE_READERS, RetestCycle } from './entities/retest-cycle.js';
import { heldBack, hidesCritical, visibleRows } from './entities/value-access.js';
import { findMarkers } from './queries/dictionary.js';
import { auditRead, type HealthKind } from './commands/read-audit.js';

type Readers = Parameters<typeof ruleOf>[0];

interface Owned {
  id: string;
  patientId: string;
}

/**
 * Rows by id with the owner in the `where`, in one statement; a caller whom the type's rule refuses finds nothing.
 * @param audited health data whose reading leaves a trace.
 */
const owned =
  <Row extends Owned>(
    entity: EntityClass<Row>,
    readers: Readers,
    audited?: HealthKind,
    also: (ctx: Context) => object = () => ({}),
  ): ReferenceLoader =>
  async (ctx: Context, keys: readonly { id: string }[]) => {
    const ids = keys.map(({ id }) => id.toLowerCase());
    const where = { id: { $in: ids.filter(isUuid) }, ...visibleRows(ctx.caller, readers.staff), ...also(ctx) } as FilterQuery<Row>;
    const rows = mayAccess(ruleOf(readers), ctx.caller) ? ((await ctx.em.find(entity, where)) as Row[]) : [];
    if (audited) await auditRead(ctx, audited, rows);
    return inOrder(ids, rows, row => row.id);
  };

async function biomarkers(ctx: Context, keys: readonly { code: string }[]) {
  const found = await findMarkers(
    ctx,
    keys.map(({ code }) => code),
  );
  return keys.map(({ code }) => found.get(code) ?? null);
}

async function protocols(ctx: Context, keys: readonly { key: string }[]) {
  const rows = await ctx.em.find(Protocol, {
    key: { $in: keys.map(({ key }) => key) },
    supersededAt: null,
    status: { $ne: ProtocolStatus.DRAFT },
  });
  return keys.map(({ key }) => rows.find(row => row.key === key) ?? null);
}

/** Anybody's account may be pointed at by services and staff; a member sees the own one. */
async function users({ caller }: Context, keys: readonly { id: string }[]) {
  const any = caller.kind !== 'user' || holdsPermission(caller, 'admin:clinical:read');
  return keys.map(({ id }) => (any || id.toLowerCase() === caller.userId ? { id } : null));
}

/** What neighbours own is pointed at; the field that is added decides what its caller sees. */
const pointed: ReferenceLoader = async (_ctx: Context, keys: readonly { id: string }[]) => keys.map(({ id }) => ({ id }));

/** A member finds the visible flags only. */
const flagsShown = (ctx: Context): object => (hidesCritical(ctx.caller) ? visibleAt(ctx.now()) : {});

/** One batch loader for each type that is resolved by key. */
export const references: Readonly<Record<string, ReferenceLoader>> = {
  Biomarker: biomarkers,
  BiomarkerObservation: owned(BiomarkerObservation, OBSERVATION_READERS, 'observations', heldBack),
  HealthScore: owned(HealthScore, SCORE_READERS, 'health_scores'),
  Intervention: owned(Intervention, INTERVENTION_READERS),
  LabReport: owned(LabReport, REPORT_READERS, 'lab_reports'),
  Protocol: protocols,
  CheckIn: owned(CheckIn, CHECK_IN_READERS, 'check_ins'),
  Consult: owned(Consult, CONSULT_READERS, 'consults'),
  CriticalAlert: owned(CriticalAlert, ALERT_READERS),
  RedFlag: owned(RedFlag, FLAG_READERS, 'red_flags', flagsShown),
  RetestCycle: owned(RetestCycle, CYCLE_READERS, 'retest_cycles'),
  User: users,
  Vial: owned(Vial, VIAL_READERS),
  Patient: users,
  Encounter: pointed,
  LabOrder: pointed,
  BookingVisit: pointed,
};
