import ucum from '@lhncbc/ucum-lhc';
import { roundHalfEven } from '../entities/rounding.js';
import { type UnitConversion, UnitConversionMethod, type UnitSystem } from '../entities/units.js';

/** What conversion needs of a dictionary entry. */
export interface MarkerUnits {
  unit: string;
  decimals: number;
  otherUnits: readonly UnitConversion[];
  molarMass: number | null;
}

const converter = ucum.UcumLhcUtils.getInstance();

/** Micro is written u in UCUM; laboratories write U+00B5 or U+03BC. */
const spelled = (unit: string): string => unit.trim().replace(/[µμ]/g, 'u');

const sameCase = (a: string, b: string): boolean => a === b;
const anyCase = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** A unit of the dictionary entry as written, else in another case (`mg/dl`). */
function listed(marker: MarkerUnits, unit: string): string | null {
  const known = [marker.unit, ...marker.otherUnits.map(other => other.unit)];
  return known.find(one => sameCase(one, unit)) ?? known.find(one => anyCase(one, unit)) ?? null;
}

/** Two scales with an intercept between them share their UCUM dimension, so UCUM's factor would be wrong: 41 mmol/mol of HbA1c is 5.9 %, not 4.1 %. */
const hasIntercept = (marker: MarkerUnits): boolean =>
  marker.otherUnits.some(other => other.method === UnitConversionMethod.AFFINE && other.offset);

function byUcum(marker: MarkerUnits, value: number, from: string, to: string): number | null {
  const { status, toVal } = converter.convertUnitTo(
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
  const written = spelled(unit);
  const known = listed(marker, written);
  if (known === marker.unit) return value;
  const affine = marker.otherUnits.find(other => other.unit === known && other.method === UnitConversionMethod.AFFINE);
  if (affine) return affine.factor! * value + (affine.offset ?? 0);
  if (hasIntercept(marker)) return null;
  return byUcum(marker, value, known ?? written, marker.unit);
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
