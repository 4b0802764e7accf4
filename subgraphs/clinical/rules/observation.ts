import type { Violation } from '../../../runtime/request/errors.js';
import { after, MINUTE_MS } from '../../../runtime/time/durations.js';
import { type BiomarkerNoise, BiomarkerNoiseModel } from '../entities/biomarker.js';
import {
  BiomarkerObservationSource as Source,
  BiomarkerObservationStatus as Status,
  BiomarkerObservationVerification as Verification,
} from '../entities/observation.js';
import { BiomarkerObservationComparator as Comparator, type SealedResult } from '../entities/result.js';
import { UnitSystem, type ValueRange } from '../entities/units.js';
import { judge, type RangeRow, type RangeSubject } from './ranges.js';
import { inSystem, type MarkerUnits, toCanonical } from './units.js';

/** A draw may lie this far in the future, because clocks differ. Source: clinical 4.1. */
const CLOCK_DIFFERENCE_MS = 5 * MINUTE_MS;

/** A dictionary entry as the rules need it. */
export interface Marker extends MarkerUnits {
  code: string;
  noise: BiomarkerNoise;
  plausible: ValueRange;
  version: number;
  ranges: readonly RangeRow[];
}

/** A result as it comes in. */
export interface Reported {
  value: number | null;
  unit: string | null;
  comparator: Comparator | null;
  textValue: string | null;
  collectedAt: Date;
  drawId: string | null;
  source: Source;
  status: Status;
  performer: string | null;
  referenceRange: ValueRange | null;
  /** A person has looked at an implausible value. */
  confirmed: boolean;
}

const FROM_A_DRAW: readonly Source[] = [Source.LAB, Source.PARTNER];
export const isFromADraw = (source: Source): boolean => FROM_A_DRAW.includes(source);

/** A laboratory's result counts as verified; a member's or a device's does not. */
export const verificationOf = (source: Source): Verification => (isFromADraw(source) ? Verification.VERIFIED : Verification.UNVERIFIED);

const openAbove = (comparator: Comparator | null): boolean => comparator === Comparator.GE || comparator === Comparator.GT;

function valueViolation(marker: Marker, row: Reported, canonical: number): string | null {
  const { noise, plausible } = marker;
  if (noise.model === BiomarkerNoiseModel.LOG_NORMAL && canonical <= 0 && row.comparator === null)
    return 'must be more than 0, or have a comparator';
  if (noise.model === BiomarkerNoiseModel.LOG_NORMAL && canonical <= 0 && !openAbove(row.comparator)) return 'must be more than 0';
  const outside = (plausible.low !== null && canonical < plausible.low) || (plausible.high !== null && canonical > plausible.high);
  return outside && !row.confirmed ? 'is not plausible in this unit; send "confirmed": true if it is right' : null;
}

function* measuredViolations(marker: Marker, row: Reported, at: string): Generator<Violation> {
  if (row.value === null) {
    if (row.textValue === null) yield { pointer: `${at}/value`, message: 'is required without a text value' };
    return;
  }
  if (!row.unit?.trim()) return yield { pointer: `${at}/unit`, message: 'is required with a value' };
  const canonical = toCanonical(marker, row.value, row.unit);
  if (canonical === null) return yield { pointer: `${at}/unit`, message: `is unknown or cannot be converted to ${marker.unit}` };
  const message = valueViolation(marker, row, canonical);
  if (message) yield { pointer: `${at}/value`, message };
}

/** @param at pointer of the row. */
function* drawViolations(row: Pick<Reported, 'collectedAt' | 'drawId' | 'source'>, now: Date, at: string): Generator<Violation> {
  if (row.collectedAt > after(now, CLOCK_DIFFERENCE_MS)) yield { pointer: `${at}/collectedAt`, message: 'lies in the future' };
  if (isFromADraw(row.source) && row.drawId === null) yield { pointer: `${at}/drawId`, message: 'is required for lab and partner results' };
}

/** Everything that is wrong with a result of a known marker. Messages name no value. Source: clinical 4.1, 7.3.4. */
export function* violationsOf(marker: Marker, row: Reported, now: Date, at: string): Generator<Violation> {
  yield* measuredViolations(marker, row, at);
  yield* drawViolations(row, now, at);
  if (row.status === Status.ENTERED_IN_ERROR) yield { pointer: `${at}/status`, message: 'cannot be recorded as entered in error' };
}

/** A valid result, judged by the dictionary version of now: its canonical value, not rounded, and what is kept sealed. */
export function judged(marker: Marker, row: Reported, subject: RangeSubject): { canonical: number | null; sealed: SealedResult } {
  const canonical = row.value === null ? null : toCanonical(marker, row.value, row.unit!);
  const { reference, optimal, basis, interpretation, inOptimal } = judge(
    marker.ranges,
    subject,
    canonical === null ? null : { value: canonical, comparator: row.comparator },
  );
  const shown = (system: UnitSystem) => (canonical === null ? null : inSystem(marker, canonical, system));
  return {
    canonical,
    sealed: {
      value: row.value,
      unit: row.value === null ? null : row.unit,
      comparator: row.comparator,
      textValue: row.textValue,
      reportedRange: row.referenceRange,
      appliedRange: { reference, optimal, dictionaryVersion: marker.version },
      rangeBasis: basis,
      interpretation,
      inOptimal,
      canonicalUnit: marker.unit,
      decimals: marker.decimals,
      bySystem: { [UnitSystem.SI]: shown(UnitSystem.SI), [UnitSystem.CONVENTIONAL]: shown(UnitSystem.CONVENTIONAL) },
    },
  };
}

/** What is kept of a result, with the ranges of a subject that is known better now; the marker is the version that judged it. */
export function judgedAgain(marker: Marker, canonical: number, sealed: SealedResult, subject: RangeSubject): SealedResult {
  const measured = { value: canonical, comparator: sealed.comparator };
  const { reference, optimal, basis, interpretation, inOptimal } = judge(marker.ranges, subject, measured);
  return {
    ...sealed,
    appliedRange: { reference, optimal, dictionaryVersion: marker.version },
    rangeBasis: basis,
    interpretation,
    inOptimal,
  };
}

const sameRange = (a: ValueRange | null, b: ValueRange | null): boolean =>
  (a?.low ?? null) === (b?.low ?? null) && (a?.high ?? null) === (b?.high ?? null);

/** Whether a result has the same value as a stored one, whatever else was sent with it. */
export const sameValue = (stored: SealedResult, row: Reported): boolean =>
  stored.value === row.value &&
  stored.unit === (row.value === null ? null : row.unit) &&
  stored.comparator === row.comparator &&
  stored.textValue === row.textValue;

/** Whether a result has the same content as a stored one, so that its repetition is answered with the stored row. */
export const sameResult = (stored: SealedResult, row: Reported): boolean =>
  sameValue(stored, row) && sameRange(stored.reportedRange, row.referenceRange);

/** Whether a result replaces one of the same measurement: a final one that of a preliminary one, a corrected one any. Source: clinical 7.3.3. */
export const succeeds = (status: Status, before: Status): boolean =>
  status === Status.CORRECTED || (status === Status.FINAL && before === Status.PRELIMINARY);
