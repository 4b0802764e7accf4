import { BiomarkerRangeKind, BiomarkerRangeSex } from '../entities/biomarker.js';
import { BiomarkerObservationInterpretation as Interpretation, BiomarkerObservationRangeBasis as RangeBasis } from '../entities/result.js';
import type { ValueRange } from '../entities/units.js';
import { type Measured, spanOf } from './direction.js';

/** A range of the dictionary. */
export interface RangeRow extends ValueRange {
  kind: BiomarkerRangeKind;
  sex: BiomarkerRangeSex;
  ageFrom: number | null;
  ageTo: number | null;
  condition: string | null;
  performer: string | null;
}

/** Whose result it is; what is unknown is null, and then no range that asks for it applies. */
export interface RangeSubject {
  performer: string | null;
  sex: BiomarkerRangeSex.FEMALE | BiomarkerRangeSex.MALE | null;
  /** Years at the draw. */
  age: number | null;
  conditions: readonly string[];
}

const bounded = (row: RangeRow): boolean => row.ageFrom !== null || row.ageTo !== null;

function fits(row: RangeRow, subject: RangeSubject): boolean {
  if (row.performer !== null && row.performer !== subject.performer) return false;
  if (row.condition !== null && !subject.conditions.includes(row.condition)) return false;
  if (row.sex !== BiomarkerRangeSex.ANY && row.sex !== subject.sex) return false;
  if (!bounded(row)) return true;
  return subject.age !== null && subject.age >= (row.ageFrom ?? 0) && subject.age < (row.ageTo ?? Infinity);
}

const ageSpan = (row: RangeRow): number => (bounded(row) ? (row.ageTo ?? 200) - (row.ageFrom ?? 0) : 1000);

/** Order of specificity: performer, condition, sex, narrower age, anybody. Source: clinical 2, range choice. */
function moreSpecific(a: RangeRow, b: RangeRow): number {
  const by = (holds: (row: RangeRow) => boolean): number => Number(holds(b)) - Number(holds(a));
  return (
    by(row => row.performer !== null) ||
    by(row => row.condition !== null) ||
    by(row => row.sex !== BiomarkerRangeSex.ANY) ||
    ageSpan(a) - ageSpan(b)
  );
}

/** The range of a kind that applies to a subject, null for none. */
export const chooseRange = (ranges: readonly RangeRow[], kind: BiomarkerRangeKind, subject: RangeSubject): RangeRow | null =>
  ranges.filter(row => row.kind === kind && fits(row, subject)).sort(moreSpecific)[0] ?? null;

const edges = (row: RangeRow | null): ValueRange | null => row && { low: row.low, high: row.high };

/** A value this close to an edge, in proportion, lies on it: the rounding of a conversion decides nothing. */
const EQUAL = 1e-12;

const beyond = (edge: number | null, distance: number): boolean => edge !== null && distance > EQUAL * Math.abs(edge);

/** -1 below, 0 inside, 1 above; the edges are inside. */
function side({ low, high }: ValueRange, value: number): -1 | 0 | 1 {
  if (beyond(low, (low ?? 0) - value)) return -1;
  return beyond(high, value - (high ?? 0)) ? 1 : 0;
}

/** The side on which all values lie that a result stands for; null where they do not agree. */
function sideOf(range: ValueRange | null, measured: Measured): -1 | 0 | 1 | null {
  if (range === null) return null;
  const [low, high] = spanOf(measured).map(value => side(range, value)) as [-1 | 0 | 1, -1 | 0 | 1];
  return low === high ? low : null;
}

function interpret(reference: ValueRange | null, limits: readonly (ValueRange | null)[], measured: Measured): Interpretation | null {
  const beyond = limits.map(limit => sideOf(limit, measured)).find(where => where === -1 || where === 1);
  if (beyond !== undefined) return beyond === -1 ? Interpretation.LL : Interpretation.HH;
  const where = sideOf(reference, measured);
  if (where === null) return null;
  return where === 0 ? Interpretation.N : where === -1 ? Interpretation.L : Interpretation.H;
}

/** The limit kind that a result lies beyond: PANIC before CRITICAL, null for neither. Source: clinical 7.3.2. */
export function limitBeyond(
  ranges: readonly RangeRow[],
  subject: RangeSubject,
  measured: Measured,
): BiomarkerRangeKind.PANIC | BiomarkerRangeKind.CRITICAL | null {
  for (const kind of [BiomarkerRangeKind.PANIC, BiomarkerRangeKind.CRITICAL] as const) {
    const where = sideOf(edges(chooseRange(ranges, kind, subject)), measured);
    if (where === -1 || where === 1) return kind;
  }
  return null;
}

/** Nobody in particular: only ranges for everybody fit. */
const ANYBODY: RangeSubject = { performer: null, sex: null, age: null, conditions: [] };

/** The limits of a marker that hold for everybody; null where it has none. */
export function limitsFor(ranges: readonly RangeRow[]): { critical: ValueRange | null; panic: ValueRange | null } | null {
  const [critical, panic] = [BiomarkerRangeKind.CRITICAL, BiomarkerRangeKind.PANIC].map(kind =>
    edges(chooseRange(ranges, kind, ANYBODY)),
  ) as [ValueRange | null, ValueRange | null];
  return critical || panic ? { critical, panic } : null;
}

export interface Judgement {
  reference: ValueRange | null;
  optimal: ValueRange | null;
  basis: RangeBasis;
  interpretation: Interpretation | null;
  inOptimal: boolean | null;
}

const qualified = (row: RangeRow | null): boolean =>
  row !== null && (row.sex !== BiomarkerRangeSex.ANY || bounded(row) || row.condition !== null);

/** Judges a result by the ranges of one dictionary version: which apply, and where the result lies in them. Null: a text result. */
export function judge(ranges: readonly RangeRow[], subject: RangeSubject, measured: Measured | null): Judgement {
  const [reference, optimal, critical, panic] = [
    BiomarkerRangeKind.REFERENCE,
    BiomarkerRangeKind.OPTIMAL,
    BiomarkerRangeKind.CRITICAL,
    BiomarkerRangeKind.PANIC,
  ].map(kind => chooseRange(ranges, kind, subject)) as [RangeRow | null, RangeRow | null, RangeRow | null, RangeRow | null];
  const basis = [reference, optimal].some(qualified)
    ? RangeBasis.QUALIFIED
    : reference || optimal
      ? RangeBasis.UNQUALIFIED
      : RangeBasis.NONE;
  const inside = measured && sideOf(edges(optimal), measured);
  return {
    reference: edges(reference),
    optimal: edges(optimal),
    basis,
    interpretation: measured && interpret(edges(reference), [critical, panic], measured),
    inOptimal: inside === null ? null : inside === 0,
  };
}
