export const BOUNDS = '{ low high }';
const QUANTITY = '{ value unit }';

export const BIOMARKER = `code loinc otherLoincs name shortName category specimen fasting unit
  otherUnits { unit method factor offset system decimals } decimals molarMass direction
  noise { model cvWithin cvAnalytical cvAnalyticalBetween sd z source sourceYear }
  ranges { kind sex ageFrom ageTo condition performer low high source } plausible ${BOUNDS}
  critical { critical ${BOUNDS} panic ${BOUNDS} } source status version`;

export const OBSERVATION = `id patientId code value ${QUANTITY} comparator canonicalValue ${QUANTITY} textValue collectedAt receivedAt
  drawId source performer method reportId reportedRange ${BOUNDS} appliedRange { reference ${BOUNDS} optimal ${BOUNDS} dictionaryVersion }
  rangeBasis interpretation inOptimal status verification needsReview sourceRef supersedes`;

export const PROTOCOL = `key version title status durationDays requiresConsult
  phases { name startDay endDay doses { productCode quantity ${QUANTITY} route timing timesOfDay } checkIns { templateKey everyDays } }
  markers { code windowDays target ${BOUNDS} } contraindications`;

export const INTERVENTION = `id patientId kind key definitionVersion status startedOn plannedEndOn endedAt stopReason phase prescriberId
  source partnerTreatmentRef timeZone brandId createdAt version`;

export const CYCLE = `id patientId code status brandId baselineObservationId baselineDrawId baselineCollectedAt baselineValue ${QUANTITY}
  intervention { kind id key } windowDays graceDays retestDueAt expiresAt target ${BOUNDS} promptCount lastPromptedAt nextPromptAt
  followUpObservationId followUpDrawId followUpCollectedAt followUpValue ${QUANTITY} delta deltaPercent outcomeDirection outcomeBasis
  crossedTarget daysToRetest timing organic closedAt failureCount lastErrorClass createdAt version`;

export const SWEEP = `id trigger startedAt finishedAt scanned prompted expired recorded skippedFlag skippedLimit skippedLabInProgress
  failed`;

export const aPatient = '0190b3a0-0000-7000-8000-0000000000a1';
export const aDraw = '0190b3a0-1111-7000-8000-0000000000d1';
export const aBrand = '0190b3a0-0000-7000-8000-000000000001';

export const ALERT = `id patientId observationId code severity status acknowledgeBy acknowledgedBy acknowledgedAt
  contacts { at by outcome } closedReason createdAt`;
export const FLAG = `id patientId rule { key version source severity memberMessageKey } severity source status evidence detectedAt
  acknowledgedBy acknowledgedAt resolvedAt resolution visibleToMember`;
export const CONSULT = `id patientId type status interventionId visitId clinicianId intakeAnswers notes outcome followUpDueOn signedAt
  addenda { at by text } createdAt version`;
export const CHECK_IN = `id patientId interventionId template { key version title questions { key text type required min max options } }
  sequence dueAt status answers submittedAt`;
export const VIAL = `id patientId productCode lot coaId interventionId status content ${QUANTITY} diluentMl stabilityDays reconstitutedAt
  expiresOn beyondUseOn dosesPlanned dosesRemaining discardReason discardedAt createdAt version`;
export const DOSE = `id patientId interventionId vialId productCode scheduledFor timeZone status takenAt quantity ${QUANTITY} site note`;
export const SCORE = `id patientId modelVersion status score band trend coverage
  components { category score weight contributors { code subscore freshnessDays } } computedAt`;
