import { BiomarkerRangeSex } from '../entities/biomarker.js';
import type { RangeSubject } from './ranges.js';

/** What the choice of ranges and contraindications need of a patient; null where nobody knows. */
export interface Demographics {
  /** FEMALE, MALE, OTHER or UNKNOWN. */
  sexAtBirth: string | null;
  birthDate: string | null;
  /** IANA name of where the patient lives. */
  timeZone?: string | null;
  /** Codes of conditions, as ranges name them. */
  conditions: readonly string[];
}

/** Full years between two civil dates, by calendar. */
function yearsBetween(birthDate: string, at: Date): number {
  const day = at.toISOString().slice(0, 10);
  const years = Number(day.slice(0, 4)) - Number(birthDate.slice(0, 4));
  return day.slice(5) < birthDate.slice(5) ? years - 1 : years;
}

const SEXES: Readonly<Record<string, RangeSubject['sex']>> = { FEMALE: BiomarkerRangeSex.FEMALE, MALE: BiomarkerRangeSex.MALE };

/** Sex and age at a draw; OTHER, UNKNOWN and what nobody knows are null, and then only ranges for everybody apply. Source: clinical 2, 6. */
export const subjectAt = (known: Demographics | null, collectedAt: Date): Omit<RangeSubject, 'performer'> => ({
  sex: SEXES[known?.sexAtBirth ?? ''] ?? null,
  age: known?.birthDate ? yearsBetween(known.birthDate, collectedAt) : null,
  conditions: known?.conditions ?? [],
});
