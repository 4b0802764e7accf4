import { Migration } from '@mikro-orm/migrations';

const EFLM = 'CVi: EFLM Biological Variation Database (biologicalvariation.eu); CVa: imprecision of routine methods';
const EFLM_YEAR = 2024;
const HOUSE = 'house default; there is no consensus limit';
const PLAUSIBLE = 'plausible: house limits beyond what is seen in living adults';

/** One-sided 95 %: improved and worsened are each wrong in at most 5 % of unchanged members. */
const Z = 1.645;

type Unit = readonly [
  unit: string,
  method: 'ucum' | 'molar_mass' | 'affine',
  system: 'si' | 'conventional' | null,
  decimals: number,
  factor?: number,
  offset?: number,
];
type Range = readonly [
  kind: 'reference' | 'optimal' | 'critical' | 'panic',
  low: number | null,
  high: number | null,
  source: string,
  sex?: 'male' | 'female',
];

interface Entry {
  code: string;
  loinc: string;
  other: string[];
  name: string;
  short: string;
  category: string;
  specimen: string;
  fasting?: true;
  unit: string;
  decimals: number;
  units: Unit[];
  molarMass?: number;
  direction: 'lower_is_better' | 'higher_is_better' | 'within_range';
  cva: number;
  cvi: number;
  plausible: [number, number];
  ranges: Range[];
}

const ATP = 'NCEP ATP III, 2001';
const ADA = 'American Diabetes Association, Standards of Care, 2024';
const mgdl = (decimals: number): Unit => ['mg/dL', 'ucum', 'conventional', decimals];

// A table: an entry reads as one block of three to six lines.

const ENTRIES: readonly Entry[] = [
  {
    code: 'ldl_c', loinc: '13457-7', other: ['18262-6', '2089-1', '22748-8'], name: 'LDL cholesterol', short: 'LDL-C', category: 'lipids', specimen: 'serum',
    unit: 'mg/dL', decimals: 1, units: [mgdl(1), ['mmol/L', 'molar_mass', 'si', 2]], molarMass: 386.65, direction: 'lower_is_better', cva: 0.03, cvi: 0.083, plausible: [2, 1200],
    ranges: [['optimal', null, 100, ATP], ['reference', null, 130, ATP]],
  },
  {
    code: 'hdl_c', loinc: '2085-9', other: ['14646-4'], name: 'HDL cholesterol', short: 'HDL-C', category: 'lipids', specimen: 'serum', unit: 'mg/dL', decimals: 1,
    units: [mgdl(1), ['mmol/L', 'molar_mass', 'si', 2]], molarMass: 386.65, direction: 'higher_is_better', cva: 0.025, cvi: 0.058, plausible: [2, 250],
    ranges: [['optimal', 60, null, ATP], ['reference', 40, null, 'AHA/NHLBI, metabolic syndrome, 2005', 'male'], ['reference', 50, null, 'AHA/NHLBI, metabolic syndrome, 2005', 'female']],
  },
  {
    code: 'triglycerides', loinc: '2571-8', other: ['14927-8'], name: 'Triglycerides', short: 'TG', category: 'lipids', specimen: 'serum', fasting: true, unit: 'mg/dL', decimals: 1,
    units: [mgdl(1), ['mmol/L', 'molar_mass', 'si', 2]], molarMass: 885.4, direction: 'lower_is_better', cva: 0.03, cvi: 0.197, plausible: [5, 15000],
    ranges: [['optimal', null, 100, 'American Heart Association, triglycerides, 2011'], ['reference', null, 150, ATP]],
  },
  {
    code: 'apob', loinc: '1884-6', other: [], name: 'Apolipoprotein B', short: 'ApoB', category: 'lipids', specimen: 'serum', unit: 'mg/dL', decimals: 1,
    units: [mgdl(1), ['g/L', 'ucum', 'si', 2]], direction: 'lower_is_better', cva: 0.04, cvi: 0.069, plausible: [5, 500],
    ranges: [['optimal', null, 80, 'ESC/EAS, dyslipidaemias, 2019'], ['reference', null, 120, 'AACC lipoproteins working group, 2009']],
  },
  {
    code: 'hba1c', loinc: '4548-4', other: ['17856-6', '59261-8'], name: 'Haemoglobin A1c', short: 'HbA1c', category: 'metabolic', specimen: 'whole_blood', unit: '%', decimals: 1,
    units: [['%', 'ucum', 'conventional', 1], ['mmol/mol', 'affine', 'si', 0, 0.09148, 2.152]], direction: 'lower_is_better', cva: 0.02, cvi: 0.016, plausible: [3, 20],
    ranges: [['optimal', null, 5.4, 'Selvin et al., N Engl J Med, 2010'], ['reference', null, 5.6, ADA]],
  },
  {
    code: 'glucose_fasting', loinc: '1558-6', other: ['14771-0'], name: 'Fasting glucose', short: 'Glucose', category: 'metabolic', specimen: 'plasma', fasting: true, unit: 'mg/dL', decimals: 1,
    units: [mgdl(1), ['mmol/L', 'molar_mass', 'si', 1]], molarMass: 180.156, direction: 'within_range', cva: 0.02, cvi: 0.047, plausible: [10, 2000],
    ranges: [['optimal', 75, 90, 'Tirosh et al., N Engl J Med, 2005'], ['reference', 70, 99, ADA]],
  },
  {
    code: 'hs_crp', loinc: '30522-7', other: ['71426-1'], name: 'C-reactive protein, high sensitivity', short: 'hs-CRP', category: 'inflammation', specimen: 'serum', unit: 'mg/L', decimals: 2,
    units: [['mg/L', 'ucum', 'si', 2], ['mg/dL', 'ucum', 'conventional', 3]], direction: 'lower_is_better', cva: 0.05, cvi: 0.341, plausible: [0.01, 800],
    ranges: [['optimal', null, 1, 'AHA/CDC, markers of inflammation, 2003'], ['reference', null, 3, 'AHA/CDC, markers of inflammation, 2003']],
  },
  {
    code: 'vitamin_d_25oh', loinc: '1989-3', other: ['62292-8'], name: '25-hydroxyvitamin D', short: 'Vitamin D', category: 'vitamins', specimen: 'serum', unit: 'ng/mL', decimals: 2,
    units: [['ng/mL', 'ucum', 'conventional', 2], ['nmol/L', 'molar_mass', 'si', 1]], molarMass: 400.64, direction: 'within_range', cva: 0.07, cvi: 0.068, plausible: [1, 400],
    ranges: [['optimal', 40, 60, 'Endocrine Society, vitamin D, 2011'], ['reference', 30, 100, 'Endocrine Society, vitamin D, 2011']],
  },
  {
    code: 'ferritin', loinc: '2276-4', other: ['20567-4'], name: 'Ferritin', short: 'Ferritin', category: 'hematology', specimen: 'serum', unit: 'ng/mL', decimals: 1,
    units: [['ng/mL', 'ucum', 'conventional', 1], ['ug/L', 'ucum', 'si', 1]], direction: 'within_range', cva: 0.04, cvi: 0.128, plausible: [0.5, 100000],
    ranges: [['optimal', 50, 150, HOUSE], ['reference', 30, 400, 'reagent manufacturers, adults', 'male'], ['reference', 15, 150, 'World Health Organization, ferritin, 2020; reagent manufacturers, adults', 'female']],
  },
  {
    code: 'tsh', loinc: '3016-3', other: ['11580-8', '11579-0'], name: 'Thyrotropin', short: 'TSH', category: 'thyroid', specimen: 'serum', unit: 'm[IU]/L', decimals: 3,
    units: [['m[IU]/L', 'ucum', 'si', 3], ['u[IU]/mL', 'affine', 'conventional', 3, 1], ['mIU/L', 'affine', null, 3, 1], ['uIU/mL', 'affine', null, 3, 1]],
    direction: 'within_range', cva: 0.04, cvi: 0.179, plausible: [0.001, 1000],
    ranges: [['optimal', 0.5, 2.5, 'National Academy of Clinical Biochemistry, thyroid, 2003'], ['reference', 0.4, 4.5, 'NHANES III, Hollowell et al., 2002']],
  },
  {
    code: 'testosterone_total', loinc: '2986-8', other: ['14913-8'], name: 'Testosterone, total', short: 'Testosterone', category: 'hormones', specimen: 'serum', unit: 'ng/dL', decimals: 1,
    units: [['ng/dL', 'ucum', 'conventional', 1], ['nmol/L', 'molar_mass', 'si', 2]], molarMass: 288.42, direction: 'within_range', cva: 0.06, cvi: 0.14, plausible: [1, 5000],
    ranges: [['optimal', 500, 900, HOUSE, 'male'], ['reference', 264, 916, 'Travison et al., J Clin Endocrinol Metab, 2017', 'male'], ['reference', 15, 70, 'reagent manufacturers, adults', 'female']],
  },
  {
    code: 'alt', loinc: '1742-6', other: ['1743-4', '1744-2'], name: 'Alanine aminotransferase', short: 'ALT', category: 'liver', specimen: 'serum', unit: 'U/L', decimals: 1,
    units: [['U/L', 'ucum', 'conventional', 1], ['ukat/L', 'ucum', 'si', 2], ['[IU]/L', 'affine', null, 1, 1], ['IU/L', 'affine', null, 1, 1]],
    direction: 'lower_is_better', cva: 0.04, cvi: 0.101, plausible: [1, 50000],
    ranges: [['optimal', null, 25, 'American College of Gastroenterology, liver chemistries, 2017'], ['reference', null, 40, 'reagent manufacturers, adults']],
  },
  {
    code: 'creatinine', loinc: '2160-0', other: ['14682-9', '38483-4'], name: 'Creatinine', short: 'Creatinine', category: 'kidney', specimen: 'serum', unit: 'mg/dL', decimals: 2,
    units: [mgdl(2), ['umol/L', 'molar_mass', 'si', 0]], molarMass: 113.12, direction: 'within_range', cva: 0.025, cvi: 0.045, plausible: [0.05, 60],
    ranges: [['optimal', 0.7, 1.1, HOUSE], ['reference', 0.6, 1.3, 'reagent manufacturers, adults']],
  },
  {
    code: 'potassium', loinc: '2823-3', other: ['6298-4'], name: 'Potassium', short: 'Potassium', category: 'electrolytes', specimen: 'serum', unit: 'mmol/L', decimals: 2,
    units: [['mmol/L', 'ucum', 'si', 2], ['meq/L', 'affine', 'conventional', 2, 1]], molarMass: 39.098, direction: 'within_range', cva: 0.015, cvi: 0.041, plausible: [1, 12],
    ranges: [
      ['optimal', 4, 4.8, 'Collins et al., Am J Nephrol, 2017'], ['reference', 3.5, 5.1, 'reagent manufacturers, adults'],
      ['critical', 2.8, 6.2, 'Kost, JAMA, 1990'], ['panic', 2.5, 6.5, 'Royal College of Pathologists, 2017'],
    ],
  },
];

const unitOf = ([unit, method, system, decimals, factor = null, offset = null]:
  Unit | readonly [string, string, string | null, number, number | null, number | null]) => ({
  unit,
  method,
  factor,
  offset: method === 'affine' ? (offset ?? 0) : null,
  system,
  decimals,
});

const noiseOf = ({ cva, cvi }: Entry) => ({
  model: 'log_normal',
  cvWithin: cvi,
  cvAnalytical: cva,
  cvAnalyticalBetween: 2 * cva,
  sd: null,
  z: Z,
  source: EFLM,
  sourceYear: EFLM_YEAR,
});

const literal = (rows: unknown): string => `$json$${JSON.stringify(rows)}$json$`;

const biomarkers = ENTRIES.map((entry, index) => ({
  id: `0190b3a0-0000-7000-8000-0000000b${String(index + 1).padStart(4, '0')}`,
  code: entry.code,
  loinc: entry.loinc,
  other_loincs: entry.other,
  name: entry.name,
  short_name: entry.short,
  category: entry.category,
  specimen: entry.specimen,
  fasting: entry.fasting ?? false,
  unit: entry.unit,
  other_units: entry.units.map(unitOf),
  decimals: entry.decimals,
  molar_mass: entry.molarMass ?? null,
  direction: entry.direction,
  noise: noiseOf(entry),
  plausible: { low: entry.plausible[0], high: entry.plausible[1] },
  source: `${entry.molarMass ? 'molar mass: PubChem; ' : ''}${entry.code === 'hba1c' ? 'NGSP/IFCC master equation; ' : ''}${PLAUSIBLE}`,
}));

const ranges = ENTRIES.flatMap((entry, index) =>
  entry.ranges.map(([kind, low, high, source, sex = 'any'], at) => ({
    id: `0190b3a0-0000-7000-8001-0000${String(index + 1).padStart(4, '0')}${String(at + 1).padStart(4, '0')}`,
    biomarker_id: biomarkers[index]!.id,
    kind,
    sex,
    low,
    high,
    source,
  })),
);

/** First version of the biomarker dictionary; later versions are new rows. Source: clinical 2. */
export class Migration202611211110 extends Migration {
  override up(): void {
    this
      .addSql(`insert into clinical.biomarker (id, code, loinc, other_loincs, name, short_name, category, specimen, fasting, unit, other_units, decimals, molar_mass, direction, noise, plausible, source, created_at)
      select id, code, loinc, other_loincs, name, short_name, category, specimen, fasting, unit, other_units, decimals, molar_mass, direction, noise, plausible, source, '2026-11-21T11:10:00Z'
      from jsonb_to_recordset(${literal(biomarkers)}) as b(id uuid, code text, loinc text, other_loincs text[], name text, short_name text, category text, specimen text, fasting boolean, unit text,
        other_units jsonb, decimals smallint, molar_mass numeric, direction text, noise jsonb, plausible jsonb, source text)`);
    this.addSql(`insert into clinical.biomarker_range (id, biomarker_id, kind, sex, low, high, source)
      select id, biomarker_id, kind, sex, low, high, source
      from jsonb_to_recordset(${literal(ranges)}) as r(id uuid, biomarker_id uuid, kind text, sex text, low numeric, high numeric, source text)`);
  }
}
