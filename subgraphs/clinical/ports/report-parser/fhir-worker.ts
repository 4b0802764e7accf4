import { parentPort, workerData } from 'node:worker_threads';
import type { ReadReport, ReadRow } from '../../rules/lab-report.js';

interface Reference {
  reference?: string;
  display?: string;
  identifier?: { value?: string };
}

/** What both kinds of resources have of a draw. */
interface Drawn {
  resourceType: string;
  id?: string;
  status?: string;
  effectiveDateTime?: string;
  effectiveInstant?: string;
  effectivePeriod?: { start?: string };
}

interface Measured {
  code?: { coding?: { code?: string }[]; text?: string };
  valueQuantity?: { value?: number; unit?: string; code?: string; comparator?: string };
  referenceRange?: { low?: { value?: number }; high?: { value?: number } }[];
}

interface Observation extends Drawn, Measured {
  component?: Measured[];
  hasMember?: Reference[];
}

interface DiagnosticReport extends Drawn {
  identifier?: { value?: string }[];
  performer?: Reference[];
  result?: Reference[];
}

interface Entry {
  fullUrl?: string;
  resource?: Observation & DiagnosticReport;
}

const COMPARATORS: Readonly<Record<string, string>> = { '<': 'lt', '>': 'gt', '<=': 'le', '>=': 'ge' };
/** ObservationStatus; null: there is no result, or there is none any more. What is not listed is not final. */
const STATUS: Readonly<Record<string, string | null>> = {
  final: 'final',
  amended: 'corrected',
  corrected: 'corrected',
  appended: 'corrected',
  registered: null,
  cancelled: null,
  'entered-in-error': null,
};
const statusOf = ({ status = 'final' }: Drawn): string | null => (status in STATUS ? STATUS[status]! : 'preliminary');
const isVoid = ({ status }: Drawn): boolean => status === 'entered-in-error' || status === 'cancelled';

/** A time that names its day at least. */
function timeOf(one: Drawn | undefined): Date | null {
  const text = one?.effectiveDateTime ?? one?.effectiveInstant ?? one?.effectivePeriod?.start ?? '';
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? new Date(text) : null;
  return at && !Number.isNaN(at.getTime()) ? at : null;
}

/** The report that lists a result; the only one of a bundle, where it lists none. */
function reportOf({ fullUrl, resource }: Entry, reports: readonly DiagnosticReport[]): DiagnosticReport | undefined {
  const names = [fullUrl, `Observation/${resource!.id}`];
  const listing = reports.find(one => one.result?.some(({ reference }) => reference !== undefined && names.includes(reference)));
  return listing ?? (reports.length === 1 && !reports[0]!.result?.length ? reports[0] : undefined);
}

/** What an observation measures: itself, or each of its components; one that only lists others measures nothing. */
function measuredIn(one: Observation): Measured[] {
  const { component = [], hasMember = [] } = one;
  const hasOwn = Object.keys(one).some(key => key.startsWith('value'));
  if (hasOwn) return [one, ...component];
  return component.length > 0 || hasMember.length > 0 ? component : [one];
}

function rowOf(entry: Entry, reports: readonly DiagnosticReport[]): ReadRow[] {
  const one = entry.resource!;
  const within = reportOf(entry, reports);
  const status = statusOf(one);
  if (status === null || (within && isVoid(within))) return [];
  const collectedAt = timeOf(one) ?? timeOf(within);
  return measuredIn(one).map(each => ({ ...resultOf(each), collectedAt, status }) as ReadRow); // names of the enums' values
}

function resultOf(one: Measured): object {
  const { value = null, code, unit, comparator } = one.valueQuantity ?? {};
  const range = one.referenceRange?.[0];
  return {
    page: 1,
    box: null,
    rawText: JSON.stringify(one).slice(0, 4000),
    name: one.code?.coding?.[0]?.code ?? one.code?.text ?? '',
    value,
    unit: code ?? unit ?? null,
    comparator: comparator ? (COMPARATORS[comparator] ?? null) : null,
    range: range ? { low: range.low?.value ?? null, high: range.high?.value ?? null } : null,
  };
}

/** Key of the laboratory: what it is identified by, or its name as such a key. */
function performerOf(one: DiagnosticReport | undefined): string | null {
  const { identifier, display } = one?.performer?.[0] ?? {};
  const key =
    identifier?.value ??
    display
      ?.toLowerCase()
      .replace(/[^a-z0-9]+/g, '_')
      .replace(/^_|_$/g, '');
  return key && /^[!-~]{1,64}$/.test(key) ? key : null;
}

function report(text: string): Omit<ReadReport, 'said'> {
  const { entry = [] } = JSON.parse(text) as { entry?: Entry[] };
  const reports = entry.flatMap(({ resource }) => (resource?.resourceType === 'DiagnosticReport' ? [resource] : []));
  const main = reports.find(one => !isVoid(one));
  const read = entry.filter(one => one.resource?.resourceType === 'Observation').map(one => rowOf(one, reports));
  const rows = read.flat();
  return {
    parser: { name: 'fhir_bundle', version: '2' },
    pageCount: null,
    collectedAt: timeOf(main) ?? rows.find(row => row.collectedAt)?.collectedAt ?? null,
    reportNumber: main?.identifier?.find(one => one.value)?.value ?? null,
    performer: performerOf(main),
    rows,
    otherLines: read.filter(one => one.length === 0).length,
  };
}

const { bytes } = workerData as { bytes: Uint8Array };
parentPort!.postMessage(report(new TextDecoder().decode(bytes)));
