import type { Context } from '../../runtime/request/context.js';
import { service } from '../../runtime/service.js';
import { checkInDue, missedCheckInDue } from './commands/check-in-plan.js';
import { retentionOver } from './commands/consult-retention.js';
import { doseDue, missedDoseDue } from './commands/dose-plan.js';
import { exportTimer } from './commands/fhir-export-work.js';
import { completionDue } from './commands/intervention-life.js';
import { reportTimer } from './commands/report-parse.js';
import { guard } from './consumers/guard.js';
import { labOrders, labOrderTimer } from './consumers/lab-orders.js';
import { partner } from './consumers/partner.js';
import { patients } from './consumers/patients.js';
import { retest } from './consumers/retest.js';
import { visits } from './consumers/visits.js';
import { wearables } from './consumers/wearables.js';
import { Biomarker, BiomarkerRange } from './entities/biomarker.js';
import { CheckIn, CheckInTemplate } from './entities/check-in.js';
import { Consult, RetainedConsult } from './entities/consult.js';
import { CriticalAlert } from './entities/critical-alert.js';
import { DoseLog } from './entities/dose.js';
import { FhirExport } from './entities/fhir-export.js';
import { HealthScore, HealthScoreDue } from './entities/health-score.js';
import { Intervention } from './entities/intervention.js';
import { LabOrderDraw, LabOrderMarker, LabOrderProgress } from './entities/lab-order.js';
import { LabDocument, LabReport } from './entities/lab-report.js';
import { EncounterPeriod, PartnerReport } from './entities/neighbours.js';
import { BiomarkerObservation } from './entities/observation.js';
import { Protocol, type ProtocolDose, type ProtocolMarker, type ProtocolPhase, ProtocolStatus } from './entities/protocol.js';
import { RedFlag, RedFlagRule } from './entities/red-flag.js';
import { ReportRow } from './entities/report-row.js';
import { RetestCycle } from './entities/retest-cycle.js';
import { RetestTally } from './entities/retest-stats.js';
import { SweepRun } from './entities/sweep-run.js';
import { Vial } from './entities/vial.js';
import { reportFilePaths, serveReportFiles } from './native/report-file.js';
import { references } from './references.js';
import { DictionaryResolver } from './resolvers/biomarker.js';
import { CheckInResolver } from './resolvers/check-in.js';
import { ConsultResolver } from './resolvers/consult.js';
import { CriticalAlertResolver, escalationDue } from './resolvers/critical-alert.js';
import { DictionaryPutResolver } from './resolvers/dictionary-put.js';
import { DoseResolver } from './resolvers/dose.js';
import { erase, ErasureResolver } from './resolvers/erasure.js';
import { FhirExportResolver } from './resolvers/fhir-export.js';
import { HealthScoreResolver, scoreDue } from './resolvers/health-score.js';
import { InterventionResolver } from './resolvers/intervention.js';
import { BookingVisitResolver, EncounterResolver, LabOrderResolver, PatientResolver } from './resolvers/neighbour-fields.js';
import { ObservationChangeResolver } from './resolvers/observation-change.js';
import { ObservationResolver } from './resolvers/observation.js';
import { RedFlagResolver } from './resolvers/red-flag.js';
import { LabReportResolver } from './resolvers/report.js';
import { RetestCycleResolver } from './resolvers/retest-cycle.js';
import { RetestStatsResolver } from './resolvers/retest-stats.js';
import { retestTimer, SweepResolver } from './resolvers/sweep.js';
import { TrendResolver } from './resolvers/trend.js';
import { ClinicalGuardResolver, UserClinicalResolver, UserResolver } from './resolvers/user-clinical.js';
import { vialExpiryDue, VialResolver } from './resolvers/vial.js';
import { BookingVisit, Encounter, LabOrder, Patient } from './stubs.js';
import { careTimer } from './timers/care.js';

const marker = (code: string): ProtocolMarker => ({ code, windowDays: null, target: null });

/** Once a week in the morning. */
const dose = (productCode: string, value: number, unit: string): ProtocolDose => ({
  productCode,
  quantity: { value, unit },
  route: 'oral',
  timing: { repeat: { frequency: 1, period: 1, periodUnit: 'wk' } },
  timesOfDay: ['08:00'],
});

const phase = (name: string, startDay: number, endDay: number, everyDays: number, doses: ProtocolDose[] = []): ProtocolPhase => ({
  name,
  startDay,
  endDay,
  doses,
  checkIns: [{ templateKey: 'well_being', everyDays }],
});

const FIBRE = dose('fibre_pack', 7, '{sachet}');

/** The development protocols. Source: clinical 2, Protocol. */
const PROTOCOLS = [
  {
    id: '0190b3a0-0000-7000-8000-0000000c0001',
    key: 'lipid_reset',
    title: 'Lipid reset',
    durationDays: 180,
    requiresConsult: false,
    markers: [marker('ldl_c'), marker('apob')],
    contraindications: ['pregnancy'],
    phases: [phase('Build-up', 0, 28, 7, [FIBRE]), phase('Maintenance', 28, 180, 28, [FIBRE])],
  },
  {
    id: '0190b3a0-0000-7000-8000-0000000c0002',
    key: 'thyroid_support',
    title: 'Thyroid support',
    durationDays: 180,
    requiresConsult: true,
    markers: [marker('tsh')],
    contraindications: ['thyrotoxicosis'],
    phases: [phase('Build-up', 0, 42, 14), phase('Maintenance', 42, 180, 28)],
  },
];

/** What is due by time, by kind. */
const WORKS = {
  escalation: escalationDue,
  completion: completionDue,
  checkIn: checkInDue,
  missedCheckIn: missedCheckInDue,
  dose: doseDue,
  missedDose: missedDoseDue,
  vialExpiry: vialExpiryDue,
  retention: retentionOver,
  score: scoreDue,
};

async function seed(ctx: Context): Promise<void> {
  const rows = PROTOCOLS.map(protocol => Object.assign(new Protocol(), protocol, { status: ProtocolStatus.ACTIVE, createdAt: ctx.now() }));
  await ctx.em.persist(rows).flush();
}

export default service({
  slug: 'clinical',
  purpose: 'Biomarkers, protocols and re-test cycles: health data of members',
  entities: [
    Biomarker,
    BiomarkerRange,
    BiomarkerObservation,
    Protocol,
    Intervention,
    RetestCycle,
    RetestTally,
    SweepRun,
    LabOrderMarker,
    LabOrderProgress,
    LabOrderDraw,
    EncounterPeriod,
    PartnerReport,
    CriticalAlert,
    RedFlagRule,
    RedFlag,
    Consult,
    RetainedConsult,
    CheckInTemplate,
    CheckIn,
    Vial,
    DoseLog,
    HealthScore,
    HealthScoreDue,
    LabReport,
    LabDocument,
    ReportRow,
    FhirExport,
  ],
  testControls: { flags: true, faults: true },
  resolvers: [
    DictionaryResolver,
    DictionaryPutResolver,
    ObservationResolver,
    ObservationChangeResolver,
    TrendResolver,
    InterventionResolver,
    CriticalAlertResolver,
    RedFlagResolver,
    ConsultResolver,
    CheckInResolver,
    VialResolver,
    DoseResolver,
    HealthScoreResolver,
    LabReportResolver,
    FhirExportResolver,
    RetestCycleResolver,
    RetestStatsResolver,
    SweepResolver,
    ErasureResolver,
    UserResolver,
    UserClinicalResolver,
    ClinicalGuardResolver,
    PatientResolver,
    EncounterResolver,
    LabOrderResolver,
    BookingVisitResolver,
  ],
  references,
  types: [Patient, Encounter, LabOrder, BookingVisit],
  consumers: [retest, visits, labOrders, patients, guard, wearables, partner],
  timers: [retestTimer, careTimer(WORKS), reportTimer, labOrderTimer, exportTimer],
  seed,
  erase,
  native: serveReportFiles,
  nativePaths: reportFilePaths,
});
