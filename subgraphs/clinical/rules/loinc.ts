/** What a LOINC measures: a mass or its fraction, or an amount of substance. */
type Kind = 'mass' | 'substance' | 'other';

/** @param code UCUM. */
function kindOf(code: string): Kind {
  const [above = ''] = code.split('/');
  if (/(?:mol|eq)$/.test(above)) return 'substance';
  return /g$|^%$/.test(above) ? 'mass' : 'other';
}

/** LOINCs of the same measurement as an amount of substance, by that of the mass. Source: LOINC 2.77, property and component. */
const AS_SUBSTANCE: Readonly<Record<string, string>> = {
  '13457-7': '22748-8', // cholesterol in LDL
  '2085-9': '14646-4', // cholesterol in HDL
  '2571-8': '14927-8', // triglyceride
  '4548-4': '59261-8', // haemoglobin A1c, IFCC
  '1558-6': '14771-0', // fasting glucose
  '1989-3': '14635-7', // calcidiol
  '2986-8': '14913-8', // testosterone
  '2160-0': '14682-9', // creatinine
};

/**
 * The LOINC of a marker that fits the unit of a result: LOINC has one for the mass and another for the amount of substance.
 * @param code UCUM code of the result; null for one without a unit. @returns null where none is known.
 */
export function loincFor({ loinc, unit }: { loinc: string; unit: string }, code: string | null): string | null {
  if (code === null || kindOf(code) === kindOf(unit)) return loinc;
  return kindOf(code) === 'substance' ? (AS_SUBSTANCE[loinc] ?? null) : null;
}
