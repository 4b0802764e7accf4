import type { TransitionTable } from '../../../runtime/request/states.js';
import { LabReportCounts, LabReportStatus as Status } from '../entities/lab-report.js';
import type { BiomarkerObservationStatus as ObservationStatus } from '../entities/observation.js';
import { ReportRowState as State, type SealedRow } from '../entities/report-row.js';
import { BiomarkerObservationComparator as Comparator } from '../entities/result.js';
import type { ValueRange } from '../entities/units.js';
import type { Meaning, Said } from './marker-names.js';
import type { Marker } from './observation.js';
import { joined, type Line, type LineResult, LONGEST, readLine } from './report-line.js';
import { type Notation, notationOf } from './report-number.js';
import { withoutDates } from './report-other.js';
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

/** What was read of a report, before anything is judged. */
export interface ReadReport {
  parser: { name: string; version: string };
  pageCount: number | null;
  collectedAt: Date | null;
  reportNumber: string | null;
  performer: string | null;
  rows: ReadRow[];
  /** Lines that could be no result; with the rows they are all lines that were read. */
  otherLines: number;
  /** What the report says of all its rows. */
  said: Said;
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

/** A result of whose line not everything is understood. */
const UNSURE = 0.6;

/** Days that stand beside a result and are not the report's leave open when it was drawn. */
const isOfReport = (dates: readonly string[], collectedAt: Date | null): boolean =>
  dates.every(date => /^\d{1,2}:/.test(date) || (collectedAt !== null && date.startsWith(collectedAt.toISOString().slice(0, 10))));

function rowOf({ page, box, confidence = 1 }: Line, { dates, isSure, ...result }: LineResult, collectedAt: Date | null): ReadRow {
  const sure = Math.min(confidence, isSure ? 1 : UNSURE);
  return { page, box, ...result, confidence: sure, ...(!isOfReport(dates, collectedAt) && { collectedAt: null }) };
}

/** How the numbers of a report are written. */
export const notationIn = (lines: readonly Line[]): Notation =>
  notationOf(lines.map(line => withoutDates(line.text.slice(0, LONGEST))).join('\n'));

/** The results of lines of text, and how many lines could be none. Each line is in one of the two. */
export function rowsOf(lines: readonly Line[], notation: Notation, collectedAt: Date | null): Pick<ReadReport, 'rows' | 'otherLines'> {
  const read = joined(lines, notation).map(line => readLine(line, notation).map(result => rowOf(line, result, collectedAt)));
  return { rows: read.flat(), otherLines: read.filter(rows => rows.length === 0).length };
}

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

const sealedOf = ({ rawText, value, unit, comparator, range, status }: ReadRow): SealedRow => ({
  rawText,
  value,
  unit,
  comparator,
  range,
  proposedUnit: null,
  ...(status && { status }),
});

/** What a row is taken for: matched and plausible with a unit, or something that a person must decide. A unit is never guessed. */
function judgeText(row: ReadRow, marker: Marker | null, meaning: Meaning): JudgedRow {
  const { value, unit } = row;
  const sealed = sealedOf(row);
  if (!marker || meaning === 'other') return { code: null, confidence: 0.3, state: State.UNMATCHED, sealed };
  const canonical = value === null || unit === null ? null : toCanonical(marker, value, unit);
  if (canonical === null) return { code: marker.code, confidence: 0.5, state: State.MATCHED, sealed };
  if (inside(marker.plausible, canonical))
    return { code: marker.code, confidence: meaning === 'same' ? 0.97 : 0.5, state: State.ACCEPTED, sealed };
  return {
    code: marker.code,
    confidence: 0.6,
    state: State.IMPLAUSIBLE,
    sealed: { ...sealed, proposedUnit: plausibleIn(marker, value!, unit!) },
  };
}

/** The same, at most as sure as the recognition of its text. @param meaning whether the row's name means this marker. */
export function judgeRow(row: ReadRow, marker: Marker | null, meaning: Meaning): JudgedRow {
  const judged = judgeText(row, marker, meaning);
  return { ...judged, confidence: Math.min(judged.confidence, row.confidence ?? 1) };
}

const OPEN: readonly State[] = [State.MATCHED, State.UNMATCHED, State.IMPLAUSIBLE];

/** Lines of a report; null while it is not read. */
interface LineCounts {
  linesRead: number | null;
  otherLines: number | null;
}

/** Rows that wait for a person. */
export const openRows = <Row extends { state: State }>(rows: readonly Row[]): Row[] => rows.filter(row => OPEN.includes(row.state));

/** Rows by what became of them, beside the lines that were none. */
export function countsOf({ linesRead: lines, otherLines: other }: LineCounts, rows: readonly { state: State }[]): LabReportCounts {
  const of = (state: State): number => rows.filter(row => row.state === state).length;
  return {
    rows: rows.length,
    accepted: of(State.ACCEPTED),
    open: openRows(rows).length,
    duplicate: of(State.DUPLICATE),
    rejected: of(State.REJECTED),
    lines,
    other,
  };
}
