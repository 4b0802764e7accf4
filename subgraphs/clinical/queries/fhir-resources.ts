import type { Context } from '../../../runtime/request/context.js';
import type { Biomarker } from '../entities/biomarker.js';
import type { HealthScore } from '../entities/health-score.js';
import type { Intervention } from '../entities/intervention.js';
import type { LabReport } from '../entities/lab-report.js';
import type { BiomarkerObservation } from '../entities/observation.js';
import type { Protocol } from '../entities/protocol.js';
import type { RetestCycle } from '../entities/retest-cycle.js';
import {
  category,
  type FhirRelease,
  interpretation,
  LOINC,
  OUTCOME,
  ownCode,
  present,
  quantity,
  rangeOf,
  reference,
  type Resource,
  STATUS,
  subjectOf,
} from '../rules/fhir.js';
import { loincFor } from '../rules/loinc.js';
import { ucumCode } from '../rules/units.js';

/** What the mapping needs of a dictionary entry. */
type FhirMarker = Pick<Biomarker, 'loinc' | 'name' | 'unit' | 'otherUnits'>;

/** What the mapping needs beside the rows. */
export interface Export {
  ctx: Context;
  release: FhirRelease;
  /** For a member, who does not see everything yet. */
  isMember: boolean;
  /** Markers by code. */
  markers: ReadonlyMap<string, FhirMarker>;
  /** Newest result of each marker. */
  newest: ReadonlyMap<string, string>;
}

/** @param ucum code of the result's unit, which decides between the LOINCs of a marker; null for a result without one. */
const markerCode = ({ markers }: Export, code: string, ucum: string | null = null) => {
  const entry = markers.get(code);
  const own = ownCode('biomarker', code, entry?.name).coding;
  const loinc = entry && loincFor(entry, ucum);
  return { coding: [...(loinc ? [{ system: LOINC, code: loinc, display: entry.name }] : []), ...own], text: entry?.name ?? code };
};

export function observation(of: Export, row: BiomarkerObservation): Resource {
  const { value, unit, comparator, textValue, interpretation: judged, appliedRange, canonicalUnit } = row.open(of.ctx);
  const ucum = unit === null ? null : ucumCode(unit, of.markers.get(row.code));
  return present({
    resourceType: 'Observation',
    id: row.id,
    status: STATUS.observation[row.status],
    category: category('laboratory'),
    code: markerCode(of, row.code, ucum),
    subject: subjectOf(row.patientId),
    effectiveDateTime: row.collectedAt.toISOString(),
    issued: row.receivedAt.toISOString(),
    valueQuantity: value === null ? null : quantity(value, unit!, comparator, ucum),
    valueString: value === null ? textValue : null,
    interpretation: judged ? interpretation(judged.toUpperCase()) : null,
    referenceRange: [
      ...rangeOf(appliedRange?.reference ?? null, canonicalUnit, 'reference'),
      ...rangeOf(appliedRange?.optimal ?? null, canonicalUnit, 'optimal'),
    ],
    method: row.method ? { text: row.method } : null,
  });
}

const STUDIES = { coding: [{ system: LOINC, code: '26436-6', display: 'Laboratory studies (set)' }] };
const LABORATORY = { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0074', code: 'LAB', display: 'Laboratory' }] };

/** All results of one draw. */
export const panel = (rows: readonly BiomarkerObservation[]): Resource => ({
  resourceType: 'Observation',
  id: rows[0]!.drawId!,
  status: 'final',
  category: category('laboratory'),
  code: STUDIES,
  subject: subjectOf(rows[0]!.patientId),
  effectiveDateTime: rows[0]!.collectedAt.toISOString(),
  hasMember: rows.map(row => reference('Observation', row.id)),
});

const REPORT_CODE = { coding: [{ system: LOINC, code: '11502-2', display: 'Laboratory report' }] };

export const report = (row: LabReport, results: readonly BiomarkerObservation[]): Resource[] => [
  present({
    resourceType: 'DiagnosticReport',
    id: row.id,
    status: STATUS.report[row.status],
    category: [LABORATORY],
    code: REPORT_CODE,
    subject: subjectOf(row.patientId),
    effectiveDateTime: row.collectedAt?.toISOString() ?? null,
    issued: row.createdAt.toISOString(),
    result: results.map(one => reference('Observation', one.id)),
  }),
  {
    resourceType: 'DocumentReference',
    id: row.documentId,
    status: 'current',
    type: REPORT_CODE,
    category: [STUDIES],
    subject: subjectOf(row.patientId),
    date: row.createdAt.toISOString(),
    content: [
      { attachment: { contentType: row.mimeType, title: row.reportNumber ?? 'Laboratory report', creation: row.createdAt.toISOString() } },
    ],
  },
];

export function healthScore({ ctx, newest }: Export, row: HealthScore): Resource {
  const { score, components } = row.open(ctx);
  const sources = components.flatMap(one => one.contributors).flatMap(({ code }) => newest.get(code) ?? []);
  return present({
    resourceType: 'Observation',
    id: row.id,
    status: 'final',
    category: category('survey'),
    code: ownCode('score', 'health_score', 'Health score'),
    subject: subjectOf(row.patientId),
    effectiveDateTime: row.computedAt.toISOString(),
    valueQuantity: score === null ? null : quantity(score, '{score}'),
    dataAbsentReason: score === null ? { text: 'insufficient data' } : null,
    derivedFrom: sources.map(id => reference('Observation', id)),
  });
}

const canonical = ({ ctx }: Export, key: string, version: number): string =>
  `${ctx.host.config.baseUrl}/clinical/fhir/PlanDefinition/${key}|${version}`;

export const plan = (of: Export, row: Protocol): Resource => ({
  resourceType: 'PlanDefinition',
  id: row.id,
  url: canonical(of, row.key, row.version).split('|')[0],
  version: String(row.version),
  name: row.key,
  title: row.title,
  status: STATUS.protocol[row.status],
  action: row.phases.map(phase => ({ title: phase.name })),
});

const ASSESS_PLAN = { system: 'http://hl7.org/fhir/us/core/CodeSystem/careplan-category', code: 'assess-plan' };

/** Keys are of lower case letters, digits and underscores, so the narrative needs no escapes. */
const narrative = (key: string) => ({ status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${key}</div>` });

export const carePlan = (of: Export, row: Intervention): Resource =>
  present({
    resourceType: 'CarePlan',
    id: row.id,
    text: narrative(row.key),
    status: STATUS.intervention[row.status],
    intent: 'plan',
    title: row.key,
    category: [{ coding: [ASSESS_PLAN] }],
    subject: subjectOf(row.patientId),
    instantiatesCanonical: row.definitionVersion === null ? null : [canonical(of, row.key, row.definitionVersion)],
    period: present({ start: row.startedOn, end: row.endedAt?.toISOString().slice(0, 10) ?? row.plannedEndOn }),
    created: row.createdAt.toISOString(),
  });

/** The outcome has no row of its own: the cycle's id in UUID version 8, which nothing else here has. */
const outcomeId = (cycleId: string): string => `${cycleId.slice(0, 14)}8${cycleId.slice(15)}`;

/** The planned re-test, and what came of it. */
export function cycle(of: Export, row: RetestCycle): Resource[] {
  const code = markerCode(of, row.code);
  const request = {
    resourceType: 'ServiceRequest',
    id: row.id,
    status: STATUS.cycle[row.status],
    intent: 'plan',
    code: of.release === 'R5' ? { concept: code } : code,
    subject: subjectOf(row.patientId),
    occurrenceDateTime: row.retestDueAt.toISOString(),
    basedOn: [reference('CarePlan', row.interventionId)],
  };
  if (row.outcomeDirection === null) return [request];
  const outcome = present({
    resourceType: 'Observation',
    id: outcomeId(row.id),
    status: 'final',
    code: ownCode('outcome', 'retest_outcome', 'Re-test outcome'),
    subject: subjectOf(row.patientId),
    effectiveDateTime: row.followUpCollectedAt!.toISOString(),
    basedOn: [reference('ServiceRequest', row.id)],
    interpretation: interpretation(OUTCOME[row.outcomeDirection]),
    component:
      row.deltaAmount === null
        ? null
        : [{ code: ownCode('outcome', 'delta', 'Change'), valueQuantity: quantity(row.deltaAmount, row.unit) }],
    derivedFrom: [row.baselineObservationId, row.followUpObservationId!].map(id => reference('Observation', id)),
  });
  return [request, outcome];
}
