import { lazyPackage } from '../../../runtime/lazy.js';
import { roundHalfEven } from '../entities/rounding.js';
import { type UnitConversion, UnitConversionMethod, type UnitSystem } from '../entities/units.js';
import { unitOf } from './report-unit.js';

/** What conversion needs of a dictionary entry. */
export interface MarkerUnits {
  unit: string;
  decimals: number;
  otherUnits: readonly UnitConversion[];
  molarMass: number | null;
}

const ucum = lazyPackage<typeof import('@lhncbc/ucum-lhc')>(import.meta.url, '@lhncbc/ucum-lhc');
const converter = () => ucum().UcumLhcUtils.getInstance();

/** Micro is written u in UCUM; laboratories write U+00B5 or U+03BC. */
const spelled = (unit: string): string => unit.trim().replace(/[µμ]/g, 'u');

/** Of a marker that is measured in international units a laboratory's U is one: TSH in mU/L. Nothing else of it is counted in U. */
const international = (marker: Pick<MarkerUnits, 'unit'>, unit: string): string =>
  marker.unit.includes('[IU]') ? unit.replace(/(?<![A-Za-z[])([munpk]?)U(?![A-Za-z\]])/g, '$1[IU]') : unit;

const sameCase = (a: string, b: string): boolean => a === b;
const anyCase = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** A unit of the dictionary entry as written, else in another case (`mg/dl`). */
function listed(marker: Pick<MarkerUnits, 'unit' | 'otherUnits'>, unit: string): string | null {
  const known = [marker.unit, ...marker.otherUnits.map(other => other.unit)];
  return known.find(one => sameCase(one, unit)) ?? known.find(one => anyCase(one, unit)) ?? null;
}

/** Two scales with an intercept between them share their UCUM dimension, so UCUM's factor would be wrong: 41 mmol/mol of HbA1c is 5.9 %, not 4.1 %. */
const hasIntercept = (marker: MarkerUnits): boolean =>
  marker.otherUnits.some(other => other.method === UnitConversionMethod.AFFINE && other.offset);

function byUcum(marker: MarkerUnits, value: number, from: string, to: string): number | null {
  const { status, toVal } = converter().convertUnitTo(
    from,
    value,
    to,
    marker.molarMass === null ? {} : { molecularWeight: marker.molarMass },
  );
  return status === 'succeeded' && toVal !== null && Number.isFinite(toVal) ? toVal : null;
}

/**
 * A value in the canonical unit, not rounded: by the dictionary's affine entry, else by UCUM with the molar mass. Null for a unit
 * that is unknown or not convertible; it is never guessed. Source: clinical 2, 4.1.
 */
export function toCanonical(marker: MarkerUnits, value: number, unit: string): number | null {
  const written = international(marker, spelled(unit));
  const known = listed(marker, written);
  if (known === marker.unit) return value;
  const affine = marker.otherUnits.find(other => other.unit === known && other.method === UnitConversionMethod.AFFINE);
  if (affine) return affine.factor! * value + (affine.offset ?? 0);
  if (hasIntercept(marker)) return null;
  return byUcum(marker, value, known ?? written, marker.unit);
}

/**
 * UCUM's code of a unit as it was reported, null where UCUM has none: `m[IU]/L` of a laboratory's mIU/L, uIU/mL or, of such a marker,
 * mU/L. @param marker nothing: of no marker.
 */
export function ucumCode(unit: string, marker?: Pick<MarkerUnits, 'unit' | 'otherUnits'>): string | null {
  const written = marker ? international(marker, spelled(unit)) : spelled(unit);
  const code = unitOf((marker && listed(marker, written)) ?? written);
  return converter().validateUnitString(code, false).status === 'valid' ? code : null;
}

function fromCanonical(marker: MarkerUnits, value: number, other: UnitConversion): number | null {
  if (other.unit === marker.unit) return value;
  if (other.method === UnitConversionMethod.AFFINE) return (value - (other.offset ?? 0)) / other.factor!;
  return byUcum(marker, value, marker.unit, other.unit);
}

/** A canonical value in the unit of a system, rounded; null where the dictionary names no unit of it. */
export function inSystem(marker: MarkerUnits, value: number, system: UnitSystem): { value: number; unit: string } | null {
  const other = marker.otherUnits.find(one => one.system === system);
  if (!other) return null;
  const converted = fromCanonical(marker, value, other);
  return converted === null ? null : { value: roundHalfEven(converted, other.decimals), unit: other.unit };
}
