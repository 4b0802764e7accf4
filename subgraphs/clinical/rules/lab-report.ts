import type { TransitionTable } from '../../../runtime/request/states.js';
import { LabReportCounts, LabReportStatus as Status } from '../entities/lab-report.js';
import type { BiomarkerObservationStatus as ObservationStatus } from '../entities/observation.js';
import { ReportRowState as State, type SealedRow } from '../entities/report-row.js';
import { BiomarkerObservationComparator as Comparator } from '../entities/result.js';
import type { ValueRange } from '../entities/units.js';
import type { Marker } from './observation.js';
import { toCanonical } from './units.js';

export type LabReportTrigger = 'scan' | 'parse' | 'accept' | 'need_review' | 'review' | 'reject' | 'fail' | 'retry';

/** Report states. Source: clinical 3. */
export const REPORT_STATES = {
  [Status.UPLOADED]: { scan: Status.SCANNING },
  [Status.SCANNING]: { parse: Status.PARSING, reject: Status.REJECTED },
  [Status.PARSING]: { accept: Status.PARSED, need_review: Status.NEEDS_REVIEW, fail: Status.FAILED },
  [Status.NEEDS_REVIEW]: { review: Status.PARSED },
  [Status.PARSED]: {},
  [Status.FAILED]: { retry: Status.PARSING },
  [Status.REJECTED]: {},
} as const satisfies TransitionTable<Status, LabReportTrigger>;

/** A line of a page, with its position. */
export interface Line {
  page: number;
  box: number[] | null;
  text: string;
  /** How sure a recognition is, 0..1; nothing for a text that was not recognised. */
  confidence?: number;
}

/** What was read of a report, before anything is judged. */
export interface ReadReport {
  parser: { name: string; version: string };
  pageCount: number | null;
  collectedAt: Date | null;
  reportNumber: string | null;
  performer: string | null;
  rows: ReadRow[];
}

export interface ReadRow {
  page: number;
  box: number[] | null;
  rawText: string;
  /** Name, LOINC or code as written. */
  name: string;
  value: number | null;
  unit: string | null;
  comparator: Comparator | null;
  range: ValueRange | null;
  /** As of the {@link Line}. */
  confidence?: number;
  /** Of its own draw; null where a report of several draws leaves it open, nothing where the report's time is of all rows. */
  collectedAt?: Date | null;
  /** Nothing: final. */
  status?: ObservationStatus;
}

const COMPARATORS: Readonly<Record<string, Comparator>> = {
  '<': Comparator.LT,
  '<=': Comparator.LE,
  '≤': Comparator.LE,
  '>': Comparator.GT,
  '>=': Comparator.GE,
  '≥': Comparator.GE,
};
const NUMBER = String.raw`\d{1,7}(?:[.,]\d{1,6})?`;
const NAME = String.raw`(?<name>[A-Za-zÀ-ÿ][^<>≤≥|]*?)`;
const RANGE = String.raw`(?:(?<low>${NUMBER})\s*(?:-|–|to)\s*(?<high>${NUMBER})|(?<edge><=|>=|<|>|≤|≥)\s*(?<limit>${NUMBER}))`;
const UNIT = String.raw`(?<unit>%|[A-Za-zµμ\[{][A-Za-z0-9µμ./^*\[\]{}]*)`;
const ROW = new RegExp(
  String.raw`^${NAME}[\s:]+(?<comparator><=|>=|<|>|≤|≥)?\s*(?<value>${NUMBER})(?:\s+(?<flag>HH|LL|H|L|\*))?(?:\s*${UNIT})?(?:\s+[(\[]?${RANGE}[)\]]?)?\s*(?:HH|LL|H|L|\*)?$`,
);

const numberOf = (text: string | undefined): number | null => (text === undefined ? null : Number(text.replace(',', '.')));

function rangeOf({ low, high, edge, limit }: Record<string, string | undefined>): ValueRange | null {
  if (low !== undefined) return { low: numberOf(low), high: numberOf(high) };
  if (edge === undefined) return null;
  return edge.startsWith('<') || edge === '≤' ? { low: null, high: numberOf(limit) } : { low: numberOf(limit), high: null };
}

/** Spellings of laboratories that UCUM does not have. */
const UNITS: Readonly<Record<string, string>> = {
  'miu/l': 'm[IU]/L',
  'uiu/ml': 'u[IU]/mL',
  'iu/l': '[IU]/L',
  'meq/l': 'meq/L',
  mcgdl: 'ug/dL',
  'mcg/l': 'ug/L',
  'mg%': 'mg/dL',
};
const unitOf = (unit: string | undefined): string | null => (unit === undefined ? null : (UNITS[unit.toLowerCase()] ?? unit));

/** A line of a report as a result; null for a line that is none. */
export function readLine({ page, box, text, confidence }: Line): ReadRow | null {
  const groups = ROW.exec(text.replace(/\s+/g, ' ').trim())?.groups;
  if (!groups) return null;
  const row = { name: groups.name!.trim(), value: numberOf(groups.value), unit: unitOf(groups.unit), range: rangeOf(groups) };
  const isResult = row.unit !== null || row.range !== null;
  return isResult
    ? { page, box, confidence, rawText: text, comparator: groups.comparator ? COMPARATORS[groups.comparator]! : null, ...row }
    : null;
}

const COLLECTED =
  /\b(?:collected|collection date|date of collection|drawn|entnommen|abnahme)\b[^0-9]{0,20}(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}))?/i;
const NUMBERED = /\b(?:report (?:no|number|id)|accession)\b[.:#\s]*([A-Z0-9][A-Z0-9/-]{2,40})/i;

/** When the draw was, as the report writes it; null when it does not. */
export function collectedIn(lines: readonly Line[]): Date | null {
  const match = lines.map(line => COLLECTED.exec(line.text)).find(Boolean);
  const at = match ? new Date(`${match[1]}T${match[2] ?? '00:00'}:00.000Z`) : null;
  return at && !Number.isNaN(at.getTime()) ? at : null;
}

export const numberIn = (lines: readonly Line[]): string | null => lines.map(line => NUMBERED.exec(line.text)?.[1]).find(Boolean) ?? null;

/** Names without case, marks and spaces. */
const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Names of laboratories beside name, short name, code and LOINC of the dictionary. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  ldl_c: ['LDL Cholesterol', 'LDL Chol Calc (NIH)', 'LDL Cholesterol Calc', 'LDL Cholesterin', 'LDL-Cholesterol', 'LDL'],
  hdl_c: ['HDL Cholesterol', 'HDL Cholesterin', 'HDL'],
  triglycerides: ['Triglyceride', 'Triglyzeride'],
  apob: ['Apolipoprotein B', 'Apo B'],
  hba1c: ['Hemoglobin A1c', 'Haemoglobin A1c', 'HbA1c', 'A1c'],
  glucose_fasting: ['Glucose, fasting', 'Fasting Glucose', 'Glucose'],
  hs_crp: ['hs-CRP', 'C-Reactive Protein, Cardiac', 'CRP, high sensitivity', 'hsCRP'],
  vitamin_d_25oh: ['Vitamin D, 25-Hydroxy', '25-OH Vitamin D', 'Vitamin D 25-OH', '25-Hydroxyvitamin D'],
  ferritin: ['Ferritin, Serum'],
  tsh: ['TSH', 'Thyroid Stimulating Hormone'],
  testosterone_total: ['Testosterone, Total', 'Testosterone'],
  alt: ['ALT', 'ALT (SGPT)', 'SGPT', 'GPT'],
  creatinine: ['Creatinine, Serum', 'Kreatinin'],
  potassium: ['Potassium, Serum', 'Kalium', 'K'],
};

/** What laboratories may call a marker. */
export const namesOf = (entry: {
  code: string;
  name: string;
  shortName: string;
  loinc: string;
  otherLoincs: readonly string[];
}): string[] => [entry.code, entry.name, entry.shortName, entry.loinc, ...entry.otherLoincs, ...(ALIASES[entry.code] ?? [])].map(plain);

export const matches = (names: readonly string[], name: string): boolean => names.includes(plain(name));

/** A row of which a machine is less sure waits for a person. Source: clinical 4.2. */
export const SURE = 0.9;

export interface JudgedRow {
  code: string | null;
  confidence: number;
  state: State;
  sealed: SealedRow;
}

const inside = ({ low, high }: ValueRange, value: number): boolean => (low === null || value >= low) && (high === null || value <= high);

/** A unit of the dictionary, other than the stated one, in which the value would be plausible. Source: clinical 7.3.4. */
function plausibleIn(marker: Marker, value: number, stated: string): string | null {
  const units = [marker.unit, ...marker.otherUnits.map(one => one.unit)].filter(one => one !== stated);
  return units.find(unit => inside(marker.plausible, toCanonical(marker, value, unit) ?? NaN)) ?? null;
}

/** What a row is taken for: matched and plausible with a unit, or something that a person must decide. A unit is never guessed. */
function judgeText(row: ReadRow, marker: Marker | null): JudgedRow {
  const { rawText, value, unit, comparator, range, status } = row;
  const sealed: SealedRow = { rawText, value, unit, comparator, range, proposedUnit: null, ...(status && { status }) };
  if (!marker) return { code: null, confidence: 0.3, state: State.UNMATCHED, sealed };
  const canonical = value === null || unit === null ? null : toCanonical(marker, value, unit);
  if (canonical === null) return { code: marker.code, confidence: 0.5, state: State.MATCHED, sealed };
  if (inside(marker.plausible, canonical)) return { code: marker.code, confidence: 0.97, state: State.ACCEPTED, sealed };
  return {
    code: marker.code,
    confidence: 0.6,
    state: State.IMPLAUSIBLE,
    sealed: { ...sealed, proposedUnit: plausibleIn(marker, value!, unit!) },
  };
}

/** The same, at most as sure as the recognition of its text. */
export function judgeRow(row: ReadRow, marker: Marker | null): JudgedRow {
  const judged = judgeText(row, marker);
  return { ...judged, confidence: Math.min(judged.confidence, row.confidence ?? 1) };
}

const OPEN: readonly State[] = [State.MATCHED, State.UNMATCHED, State.IMPLAUSIBLE];

/** Rows that wait for a person. */
export const openRows = <Row extends { state: State }>(rows: readonly Row[]): Row[] => rows.filter(row => OPEN.includes(row.state));

/** Rows by what became of them. */
export function countsOf(rows: readonly { state: State }[]): LabReportCounts {
  const of = (state: State): number => rows.filter(row => row.state === state).length;
  return {
    rows: rows.length,
    accepted: of(State.ACCEPTED),
    open: openRows(rows).length,
    duplicate: of(State.DUPLICATE),
    rejected: of(State.REJECTED),
  };
}
