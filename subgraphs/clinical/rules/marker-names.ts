/** Names without case, marks and spaces. */
const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Names of laboratories beside name, short name, code and LOINC of the dictionary. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  // direct and calculated LDL are one marker here: its entry has the LOINCs of both
  ldl_c: [
    'LDL Cholesterol',
    'LDL Chol Calc (NIH)',
    'LDL Cholesterol Calc',
    'LDL Cholesterol, Calculated',
    'LDL Cholesterol, Direct',
    'LDL Cholesterin',
    'LDL',
  ],
  hdl_c: ['HDL Cholesterol', 'HDL Cholesterin', 'HDL'],
  triglycerides: ['Triglyceride', 'Triglyzeride'],
  apob: ['Apolipoprotein B', 'Apo B'],
  hba1c: ['Hemoglobin A1c', 'Haemoglobin A1c', 'HbA1c', 'A1c'],
  glucose_fasting: [
    'Glucose, fasting',
    'Fasting Glucose',
    'Glucose, Serum, Fasting',
    'Glucose',
    'Glukose',
    'Blood sugar',
    'Glucose, Serum',
    'Glucose, Plasma',
  ],
  hs_crp: ['hs-CRP', 'C-Reactive Protein, Cardiac', 'CRP, high sensitivity', 'hsCRP', 'CRP', 'C-Reactive Protein'],
  vitamin_d_25oh: [
    'Vitamin D, 25-Hydroxy',
    'Vitamin D, 25-Hydroxy, Total',
    '25-OH Vitamin D',
    'Vitamin D 25-OH',
    '25-Hydroxyvitamin D',
    'Vitamin D',
  ],
  ferritin: ['Ferritin, Serum'],
  tsh: ['TSH', 'Thyroid Stimulating Hormone'],
  testosterone_total: ['Testosterone, Total', 'Total Testosterone', 'Testosterone', 'Testosterone, Serum'],
  alt: ['ALT', 'ALT (SGPT)', 'SGPT', 'GPT'],
  creatinine: ['Creatinine, Serum', 'Kreatinin'],
  potassium: ['Potassium, Serum', 'Kalium', 'K'],
};

/** What a dictionary entry says of itself. */
export interface NamedMarker {
  code: string;
  name: string;
  shortName: string;
  loinc: string;
  otherLoincs: readonly string[];
  specimen: string;
  fasting: boolean;
}

/** What laboratories may call a marker. */
export const namesOf = (entry: NamedMarker): string[] =>
  [entry.code, entry.name, entry.shortName, entry.loinc, ...entry.otherLoincs, ...(ALIASES[entry.code] ?? [])].map(plain);

export const matches = (names: readonly string[], name: string): boolean => names.includes(plain(name));

/** In what markers of one plain name may differ. */
type Difference = 'fasting' | 'fraction' | 'specimen' | 'hydroxylation' | 'sensitivity' | 'time';

/** Plain names that several markers share, and in what these differ: what the report does not say, a person does. */
const AMBIGUOUS: Readonly<Record<Difference, readonly string[]>> = {
  fasting: ['Glucose', 'Glukose', 'Glucose, Serum', 'Glucose, Plasma', 'Blood sugar', 'Insulin', 'C-Peptide'],
  fraction: [
    'Testosterone',
    'Testosterone, Serum',
    'T3',
    'Triiodothyronine',
    'T4',
    'Thyroxine',
    'PSA',
    'Prostate Specific Antigen',
    'Bilirubin',
    'Calcium',
    'Protein S',
  ],
  specimen: [
    'Creatinine',
    'Kreatinin',
    'Potassium',
    'Kalium',
    'K',
    'Sodium',
    'Natrium',
    'Chloride',
    'Albumin',
    'Protein',
    'Urea',
    'Uric Acid',
    'Phosphate',
    'Magnesium',
    'Folate',
  ],
  hydroxylation: ['Vitamin D'],
  sensitivity: ['CRP', 'C-Reactive Protein'],
  time: ['Cortisol'],
};
const DIFFERENCES = new Map(
  Object.entries(AMBIGUOUS).flatMap(([difference, names]) => names.map(name => [plain(name), difference as Difference] as const)),
);

/** Words by which a text takes a side; the first that fits counts. A range's label ("fasting: 70-99") says nothing of the person. */
const SIDES: Readonly<Record<Difference, readonly (readonly [side: string, words: RegExp])[]>> = {
  fasting: [
    ['fed', /\b(?:non|not|un)[- ]?fast(?:ing|ed)|\brandom\b|post-?prandial|\b\d\s?h(?:ou)?rs?\b|\bafter (?:a )?(?:meal|load)/i],
    ['fasting', /\b(?:fasting|fasted|nüchtern)\b(?!\s*(?:reference|ref\b|range|interval|[:=]?\s*[([]?\s*[<>≤≥\d]))/i],
  ],
  fraction: [
    ['indirect', /\bindirect\b|\bunconjugated\b/i],
    ['direct', /\bdirect\b|\bconjugated\b/i],
    ['free', /\bfree\b|\bionized\b|\bionised\b|\bfrei/i],
    ['bioavailable', /\bbioavailable\b/i],
    ['total', /\btotal\b|\bgesamt/i],
  ],
  specimen: [
    ['urine', /\burin|\bharn|\b24\s?-?h/i],
    ['saliva', /\bsaliva/i],
    ['rbc', /\brbc\b|erythrocyt/i],
    ['blood', /\bserum\b|\bplasma\b|\bblood\b|whole_blood|\bdbs\b/i],
  ],
  hydroxylation: [
    ['1,25', /\b1,\s?25|dihydroxy|calcitriol/i],
    ['25', /\b25[ -]?(?:oh|hydroxy)|\b25\(OH\)/i],
  ],
  sensitivity: [['high', /\bhs\b|\bhs-|\bhscrp\b|high[- ]sens|sensitivity|cardiac/i]],
  time: [
    ['morning', /\bam\b|morning/i],
    ['evening', /\bpm\b|evening/i],
  ],
};

const sideOf = (difference: Difference, text: string): string | null =>
  SIDES[difference].find(([, words]) => words.test(text))?.[0] ?? null;

/** What a report says of all its rows. */
export interface Said {
  /** The person had fasted, or had not; null where the report does not say. */
  fasting: 'fasting' | 'fed' | null;
  /** It has something of urine, so that a plain name may be of either. */
  urine: boolean;
}

const FASTED =
  /\b(?:fasting|fasted|nüchtern)(?: status| state)?\s*[:=?]*\s*(?:yes\b|y\b|ja\b|true\b|fasting\b|\d\d\s*h)|\bpatient (?:was |is )?(?:fasting|fasted)\b/i;
const FED =
  /\b(?:fasting|fasted|nüchtern)(?: status| state)?\s*[:=?]*\s*(?:no\b|n\b(?!\/)|nein\b|false\b|non-?fasting)|\b(?:patient|sample|specimen)[^.]{0,20}non-?fasting\b|^non-?fasting\b/im;

/** @param texts lines of the report. */
export function saidIn(texts: readonly string[]): Said {
  const text = texts.join('\n');
  const fasting = FED.test(text) ? 'fed' : FASTED.test(text) ? 'fasting' : null;
  return { fasting, urine: SIDES.specimen[0]![1].test(text) };
}

/** Whether a name means a marker: it does, it is that of another one, or it may be of either and a person decides. */
export type Meaning = 'same' | 'other' | 'open';

/** What the marker itself is, of what its plain name leaves open. */
const sideOfMarker = (difference: Difference, { name, code, specimen, fasting }: NamedMarker): string | null => {
  if (difference === 'fasting' && fasting) return 'fasting';
  const named = sideOf(difference, `${name} ${code.replace(/_/g, ' ')}`);
  return named ?? (difference === 'specimen' ? sideOf(difference, specimen) : null);
};

/** What the report adds, where a row is silent: blood is meant where nothing of urine is in it. */
function sideOfReport(difference: Difference, said: Said): string | null {
  if (difference === 'fasting') return said.fasting;
  return difference === 'specimen' && !said.urine ? 'blood' : null;
}

/** @param row its name and line. */
export function meaningOf(row: { name: string; rawText: string }, marker: NamedMarker, said: Said): Meaning {
  const difference = DIFFERENCES.get(plain(row.name));
  if (!difference) return 'same';
  const stated = sideOf(difference, row.rawText) ?? sideOfReport(difference, said);
  if (stated === null) return 'open';
  return stated === sideOfMarker(difference, marker) ? 'same' : 'other';
}
