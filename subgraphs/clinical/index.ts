import { service } from '../../runtime/service.js';
import { guard } from './consumers/guard.js';
import { labOrders } from './consumers/lab-orders.js';
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
import { Protocol } from './entities/protocol.js';
import { RedFlag, RedFlagRule } from './entities/red-flag.js';
import { ReportRow } from './entities/report-row.js';
import { RetestCycle } from './entities/retest-cycle.js';
import { RetestTally } from './entities/retest-stats.js';
import { SweepRun } from './entities/sweep-run.js';
import { Vial } from './entities/vial.js';
import { WaitingEvent } from './entities/waiting-event.js';
import { erase } from './erase.js';
import { reportFilePaths, serveReportFiles } from './native/report-file.js';
import { references } from './references.js';
// root fields stand in the schema in the order in which these are loaded
import { ConsultResolver } from './resolvers/consult.js';
import { InterventionResolver } from './resolvers/intervention.js';
import { VialResolver } from './resolvers/vial.js';
import { CriticalAlertResolver } from './resolvers/critical-alert.js';
import { RetestCycleResolver } from './resolvers/retest-cycle.js';
import { DictionaryResolver } from './resolvers/biomarker.js';
import { CheckInResolver } from './resolvers/check-in.js';
import { DictionaryPutResolver } from './resolvers/dictionary-put.js';
import { DoseResolver } from './resolvers/dose.js';
import { ErasureResolver } from './resolvers/erasure.js';
import { FhirExportResolver } from './resolvers/fhir-export.js';
import { HealthScoreResolver } from './resolvers/health-score.js';
import { ObservationResolver } from './resolvers/observation.js';
import { BookingVisitResolver, EncounterResolver, LabOrderResolver, PatientResolver } from './resolvers/neighbour-fields.js';
import { LabReportResolver } from './resolvers/lab-report.js';
import { ObservationChangeResolver } from './resolvers/observation-change.js';
import { RedFlagResolver } from './resolvers/red-flag.js';
import { RetestStatsResolver } from './resolvers/retest-stats.js';
import { SweepResolver } from './resolvers/retest-sweep.js';
import { TrendResolver } from './resolvers/trend.js';
import { ClinicalGuardResolver, UserClinicalResolver, UserResolver } from './resolvers/user-clinical.js';
import { seed } from './seed.js';
import { BookingVisit, Encounter, LabOrder, Patient } from './stubs.js';
import { careTimer } from './timers/care.js';
import { exportTimer } from './timers/fhir-export.js';
import { labOrderTimer } from './timers/lab-order.js';
import { reportTimer } from './timers/lab-report.js';
import { retestTimer } from './timers/retest.js';

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
    WaitingEvent,
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
  timers: [retestTimer, careTimer, reportTimer, labOrderTimer, exportTimer],
  seed,
  erase,
  native: serveReportFiles,
  nativePaths: reportFilePaths,
});
