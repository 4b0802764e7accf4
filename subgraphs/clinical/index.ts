import type { Context } from '../../runtime/context.js';
import { service } from '../../runtime/service.js';
import { clockControl, faultControl, flagControl } from '../../runtime/test-controls.js';
import { guard } from './consumers/guard.js';
import { labOrders, labOrderTimer } from './consumers/lab-orders.js';
import { partner } from './consumers/partner.js';
import { patients } from './consumers/patients.js';
import { retest } from './consumers/retest.js';
import { visits } from './consumers/visits.js';
import { wearables } from './consumers/wearables.js';
import { Biomarker, BiomarkerRange } from './entities/biomarker.js';
import { CheckIn, CheckInTemplate } from './entities/check-in.js';
import { Consult } from './entities/consult.js';
import { RetainedConsult } from './entities/retained-consult.js';
import { CriticalAlert } from './entities/critical-alert.js';
import { DoseLog } from './entities/dose.js';
import { FhirExport } from './entities/fhir-export.js';
import { HealthScore, HealthScoreDue } from './entities/health-score.js';
import { LabDocument, LabReport, ReportRow } from './entities/lab-report.js';
import { Intervention } from './entities/intervention.js';
import { LabOrderMarker } from './entities/lab-order-marker.js';
import { LabOrderDraw, LabOrderProgress } from './entities/lab-order.js';
import { EncounterPeriod, PartnerReport } from './entities/neighbours.js';
import { BiomarkerObservation } from './entities/observation.js';
import { Protocol, ProtocolStatus, type ProtocolDose, type ProtocolMarker, type ProtocolPhase } from './entities/protocol.js';
import { RedFlag, RedFlagRule } from './entities/red-flag.js';
import { RetestCycle } from './entities/retest-cycle.js';
import { RetestTally } from './entities/retest-tally.js';
import { SweepRun } from './entities/sweep-run.js';
import { Vial } from './entities/vial.js';
import { reportFilePaths, serveReportFiles } from './native/report-file.js';
import { references } from './references/loaders.js';
import { BookingVisit, Encounter, LabOrder, Patient } from './references/types.js';
import { DictionaryResolver } from './resolver/biomarker.js';
import { careTimer } from './resolver/care-timer.js';
import { CheckInResolver } from './resolver/check-in.js';
import { checkInDue, missedCheckInDue } from './resolver/check-in-plan.js';
import { retentionOver } from './resolver/consult-retention.js';
import { ConsultResolver } from './resolver/consult.js';
import { CriticalAlertResolver, escalationDue } from './resolver/critical-alert.js';
import { DictionaryPutResolver } from './resolver/dictionary-put.js';
import { DoseResolver } from './resolver/dose.js';
import { doseDue, missedDoseDue } from './resolver/dose-plan.js';
import { erase, ErasureResolver } from './resolver/erasure.js';
import { FhirExportResolver } from './resolver/fhir-export.js';
import { exportTimer } from './resolver/fhir-export-work.js';
import { HealthScoreResolver, scoreDue } from './resolver/health-score.js';
import { BookingVisitResolver, EncounterResolver, LabOrderResolver, PatientResolver } from './resolver/neighbour-fields.js';
import { InterventionResolver } from './resolver/intervention.js';
import { completionDue } from './resolver/intervention-life.js';
import { ObservationResolver } from './resolver/observation.js';
import { LabReportResolver } from './resolver/report.js';
import { reportTimer } from './resolver/report-parse.js';
import { ObservationChangeResolver } from './resolver/observation-change.js';
import { RedFlagResolver } from './resolver/red-flag.js';
import { RetestCycleResolver } from './resolver/retest-cycle.js';
import { RetestStatsResolver } from './resolver/retest-stats.js';
import { retestTimer, SweepResolver } from './resolver/sweep.js';
import { TrendResolver } from './resolver/trend.js';
import { ClinicalGuardResolver, UserClinicalResolver, UserResolver } from './resolver/user-clinical.js';
import { vialExpiryDue, VialResolver } from './resolver/vial.js';

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
    clockControl('clinical'),
    flagControl('clinical'),
    faultControl('clinical'),
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
