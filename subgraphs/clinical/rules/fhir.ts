import type { BiomarkerObservationComparator } from '../entities/result.js';
import type { ValueRange } from '../entities/units.js';
import { ucumCode } from './units.js';

/** Releases of FHIR that are exported. */
export type FhirRelease = 'R4' | 'R5';

/** A FHIR resource as JSON; the tests hold it against the release's schema. */
export interface Resource {
  resourceType: string;
  id: string;
  [key: string]: unknown;
}

export const LOINC = 'http://loinc.org';
export const UCUM = 'http://unitsofmeasure.org';
const V3 = 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation';
const CATEGORY = 'http://terminology.hl7.org/CodeSystem/observation-category';
/** Codes of this service, as a system of their own. */
export const OWN = 'urn:platform:clinical';

/** Without what is null, undefined or empty: FHIR has no null. */
export function present<T extends object>(value: T): T {
  const kept = Object.entries(value).filter(([, one]) => one !== null && one !== undefined && !(Array.isArray(one) && one.length === 0));
  return Object.fromEntries(kept) as T;
}

export const reference = (type: string, id: string) => ({ reference: `${type}/${id}` });
export const subjectOf = (patientId: string) => reference('Patient', patientId);
export const ownCode = (kind: string, code: string, text?: string) => ({
  coding: [{ system: `${OWN}:${kind}`, code }],
  ...(text && { text }),
});
export const category = (code: 'laboratory' | 'survey') => [{ coding: [{ system: CATEGORY, code }] }];
export const interpretation = (code: string) => [{ coding: [{ system: V3, code }] }];

const COMPARATORS: Readonly<Record<BiomarkerObservationComparator, string>> = { lt: '<', le: '<=', ge: '>=', gt: '>' };

/** A measured value: the unit as it was reported, and UCUM's code of it where there is one. @param code default: the unit's, of no marker. */
export const quantity = (
  value: number,
  unit: string,
  comparator: BiomarkerObservationComparator | null = null,
  code: string | null = ucumCode(unit),
) => present({ value, comparator: comparator && COMPARATORS[comparator], unit, system: code && UCUM, code });

export const rangeOf = (range: ValueRange | null, unit: string, text: string) =>
  range
    ? [
        present({
          low: range.low === null ? null : quantity(range.low, unit),
          high: range.high === null ? null : quantity(range.high, unit),
          text,
        }),
      ]
    : [];

/** FHIR's codes of our states; where FHIR has none, the nearest one. */
export const STATUS = {
  observation: { preliminary: 'preliminary', final: 'final', corrected: 'corrected', entered_in_error: 'entered-in-error' },
  report: {
    uploaded: 'registered',
    scanning: 'registered',
    parsing: 'registered',
    needs_review: 'partial',
    parsed: 'final',
    failed: 'unknown',
    rejected: 'cancelled',
  },
  protocol: { draft: 'draft', active: 'active', retired: 'retired' },
  intervention: {
    proposed: 'draft',
    pending_consult: 'draft',
    active: 'active',
    paused: 'on-hold',
    completed: 'completed',
    stopped: 'revoked',
    cancelled: 'revoked',
  },
  cycle: { baseline_set: 'active', prompted: 'active', retested: 'completed', expired: 'revoked' },
  flag: { open: 'active', acknowledged: 'active', resolved: 'inactive', dismissed: 'inactive' },
  alert: { open: 'preliminary', escalated: 'preliminary', acknowledged: 'final', closed: 'final' },
  checkIn: { due: 'in-progress', submitted: 'completed', missed: 'stopped', skipped: 'stopped' },
  dose: { taken: 'completed', skipped: 'not-done', missed: 'not-done', scheduled: null },
} as const;

/** R5 has another code for a finished encounter. */
export const encounterStatus = (status: string, release: FhirRelease): string => {
  const codes: Record<string, string> = {
    requested: 'planned',
    scheduled: 'planned',
    in_progress: 'in-progress',
    signed: 'finished',
    cancelled: 'cancelled',
  };
  return release === 'R5' && status === 'signed' ? 'completed' : codes[status]!;
};

/** Improved is better, worsened worse, unchanged normal. Source: clinical 4.3. */
export const OUTCOME = { improved: 'B', worsened: 'W', unchanged: 'N' } as const;

const US_CORE = 'http://hl7.org/fhir/us/core/StructureDefinition/us-core-';

/**
 * The profile of US Core that a resource of ours meets. It wants the date of a report that is final, and the address of a document,
 * which an export does not bear; what is not named here has no profile there.
 */
const PROFILES: Readonly<Record<string, (resource: Resource) => string | null>> = {
  Observation: one => (JSON.stringify(one.category)?.includes('"laboratory"') ? 'observation-lab' : null),
  DiagnosticReport: one => (one.effectiveDateTime ? 'diagnosticreport-lab' : null),
  CarePlan: () => 'careplan',
  ServiceRequest: () => 'servicerequest',
  Encounter: () => 'encounter',
  QuestionnaireResponse: () => 'questionnaireresponse',
  Medication: () => 'medication',
};

function profiled(resource: Resource): Resource {
  const profile = PROFILES[resource.resourceType]?.(resource);
  return profile ? { ...resource, meta: { profile: [US_CORE + profile] } } : resource;
}

/** A person, by the id alone: who it is patient-graph knows. */
export const patient = (id: string): Resource => ({ resourceType: 'Patient', id });

const nameOf = ({ resourceType, id }: Resource): string => `${resourceType}/${id}`;

/** Without the references of its lists to what is not in the bundle: a result that was corrected, or is kept from the member. */
function resolved(resource: Resource, known: ReadonlySet<string>): Resource {
  const refers = (one: unknown): boolean => typeof (one as { reference?: string } | null)?.reference === 'string';
  const kept = Object.entries(resource).map(([key, value]) =>
    Array.isArray(value) && value.some(refers) ? [key, value.filter(one => !refers(one) || known.has(one.reference))] : [key, value],
  );
  return present(Object.fromEntries(kept) as Resource);
}

/**
 * A bundle of resources of one person; in R4 with the profiles of US Core, which is of that release. Relative references resolve inside
 * it, because the full URLs are of one server. @param base address of that server.
 */
export function bundleOf(resources: readonly Resource[], release: FhirRelease, base: string, at: Date) {
  const known = new Set(resources.map(nameOf));
  const whole = resources.map(one => resolved(one, known));
  return {
    resourceType: 'Bundle',
    type: 'collection',
    timestamp: at.toISOString(),
    entry: whole.map(one => ({ fullUrl: `${base}/${nameOf(one)}`, resource: release === 'R4' ? profiled(one) : one })),
  };
}
