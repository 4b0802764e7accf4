import type { Violation } from '../../../runtime/request/errors.js';
import { type BiomarkerNoise, BiomarkerNoiseModel } from '../entities/biomarker.js';
import { type UnitConversion, UnitConversionMethod, type ValueRange } from '../entities/units.js';
import type { RangeRow } from './ranges.js';
import { toCanonical } from './units.js';

/** A dictionary entry as it is put. */
export interface Definition {
  loinc: string;
  otherLoincs: readonly string[];
  unit: string;
  decimals: number;
  otherUnits: readonly UnitConversion[];
  molarMass: number | null;
  noise: BiomarkerNoise;
  plausible: ValueRange;
  ranges: readonly RangeRow[];
}

/** Whether the last digit of a LOINC is the check digit of the others (mod 10, doubling from the right). Source: LOINC Users' Guide, appendix. */
export function isLoinc(text: string): boolean {
  const match = /^(\d{1,7})-(\d)$/.exec(text);
  if (!match) return false;
  const digits = [...match[1]!].reverse().map(Number);
  const sum = digits.reduce((total, digit, index) => {
    const doubled = index % 2 === 0 ? digit * 2 : digit;
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return (10 - (sum % 10)) % 10 === Number(match[2]);
}

function* loincViolations({ loinc, otherLoincs }: Definition): Generator<Violation> {
  const all = [loinc, ...otherLoincs];
  const at = (index: number): string => (index === 0 ? '/input/loinc' : `/input/otherLoincs/${index - 1}`);
  for (const [index, one] of all.entries()) {
    if (!isLoinc(one)) yield { pointer: at(index), message: 'is not a LOINC: the check digit is wrong' };
    else if (all.indexOf(one) !== index) yield { pointer: at(index), message: 'is named twice' };
  }
}

function* unitViolations(definition: Definition): Generator<Violation> {
  for (const [index, other] of definition.otherUnits.entries()) {
    const at = `/input/otherUnits/${index}`;
    if (other.method === UnitConversionMethod.AFFINE && !other.factor)
      yield { pointer: `${at}/factor`, message: 'is required and not 0 for AFFINE' };
    else if (other.method === UnitConversionMethod.MOLAR_MASS && !definition.molarMass)
      yield { pointer: '/input/molarMass', message: 'is required by a unit' };
    else if (toCanonical(definition, 1, other.unit) === null)
      yield { pointer: `${at}/unit`, message: `is unknown or cannot be converted to ${definition.unit}` };
  }
}

function* noiseViolations({ noise }: Definition): Generator<Violation> {
  const needed = noise.model === BiomarkerNoiseModel.ABSOLUTE ? (['sd'] as const) : (['cvWithin', 'cvAnalytical'] as const);
  for (const name of needed)
    if (!((noise[name] ?? 0) > 0))
      yield { pointer: `/input/noise/${name}`, message: `is required and more than 0 for ${noise.model.toUpperCase()}` };
}

/** What is wrong with the edges of a range. @param positive where noise is of ratios, values are more than 0. */
export function* edgeViolations({ low, high }: ValueRange, positive: boolean, at: string): Generator<Violation> {
  if (low !== null && high !== null && low > high) yield { pointer: `${at}/low`, message: 'is more than high' };
  if (positive && low !== null && low <= 0) yield { pointer: `${at}/low`, message: 'must be more than 0' };
  if (positive && high !== null && high <= 0) yield { pointer: `${at}/high`, message: 'must be more than 0' };
}

function* boundsViolations(range: ValueRange, positive: boolean, at: string): Generator<Violation> {
  if (range.low === null && range.high === null) yield { pointer: at, message: 'needs an edge' };
  yield* edgeViolations(range, positive, at);
}

const overlapsInAge = (a: RangeRow, b: RangeRow): boolean =>
  (a.ageFrom ?? 0) < (b.ageTo ?? Infinity) && (b.ageFrom ?? 0) < (a.ageTo ?? Infinity);

/** Equal in all that makes a range specific, so that nothing would decide between the two. */
const sameFor = (a: RangeRow, b: RangeRow): boolean =>
  a.kind === b.kind &&
  a.sex === b.sex &&
  a.condition === b.condition &&
  a.performer === b.performer &&
  span(a) === span(b) &&
  overlapsInAge(a, b);

const span = ({ ageFrom, ageTo }: RangeRow): number => (ageFrom === null && ageTo === null ? Infinity : (ageTo ?? 200) - (ageFrom ?? 0));

function* rangeViolations({ ranges, noise }: Definition): Generator<Violation> {
  const positive = noise.model === BiomarkerNoiseModel.LOG_NORMAL;
  for (const [index, range] of ranges.entries()) {
    const at = `/input/ranges/${index}`;
    yield* boundsViolations(range, positive, at);
    if (range.ageFrom !== null && range.ageTo !== null && range.ageFrom >= range.ageTo)
      yield { pointer: `${at}/ageTo`, message: 'must be more than ageFrom' };
    if (ranges.slice(0, index).some(other => sameFor(other, range)))
      yield { pointer: at, message: 'overlaps another range that is as specific' };
  }
}

/** Everything that is wrong with a dictionary entry. Source: clinical 2, Biomarker and range choice. */
export const violationsOfDefinition = (definition: Definition): Violation[] => [
  ...loincViolations(definition),
  ...unitViolations(definition),
  ...noiseViolations(definition),
  ...boundsViolations(definition.plausible, false, '/input/plausible'),
  ...rangeViolations(definition),
];
