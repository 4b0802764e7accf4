import { describe, expect, test } from 'vitest';
import { matches, type Meaning, meaningOf, type NamedMarker, namesOf, saidIn } from '../../subgraphs/clinical/rules/marker-names.js';

const entry = (code: string, name: string, shortName: string, more: Partial<NamedMarker> = {}): NamedMarker => ({
  code,
  name,
  shortName,
  loinc: '',
  otherLoincs: [],
  specimen: 'serum',
  fasting: false,
  ...more,
});
const GLUCOSE = entry('glucose_fasting', 'Fasting glucose', 'Glucose', { specimen: 'plasma', fasting: true });
const INSULIN = entry('insulin_fasting', 'Fasting insulin', 'Insulin', { fasting: true });
const TESTOSTERONE = entry('testosterone_total', 'Testosterone, total', 'Testosterone');
const FREE_TESTOSTERONE = entry('testosterone_free', 'Testosterone, free', 'Testosterone');
const FREE_T4 = entry('t4_free', 'Thyroxine, free', 'T4');
const FREE_T3 = entry('t3_free', 'Triiodothyronine, free', 'T3');
const PSA = entry('psa_total', 'Prostate specific antigen, total', 'PSA');
const DIRECT = entry('bilirubin_direct', 'Bilirubin, direct', 'Bilirubin');
const TOTAL_BILIRUBIN = entry('bilirubin_total', 'Bilirubin, total', 'Bilirubin');
const LDL = entry('ldl_c', 'LDL cholesterol', 'LDL-C');
const CREATININE = entry('creatinine', 'Creatinine', 'Creatinine');
const URINE_CREATININE = entry('creatinine_urine', 'Creatinine, urine', 'Creatinine', { specimen: 'urine' });
const ALBUMIN = entry('albumin', 'Albumin', 'Albumin');
const URINE_ALBUMIN = entry('albumin_urine', 'Albumin, urine', 'Albumin', { specimen: 'urine' });
const POTASSIUM = entry('potassium', 'Potassium', 'Potassium');
const VITAMIN_D = entry('vitamin_d_25oh', '25-hydroxyvitamin D', 'Vitamin D');
const CALCITRIOL = entry('vitamin_d_125', '1,25-dihydroxyvitamin D', 'Vitamin D');
const HS_CRP = entry('hs_crp', 'C-reactive protein, high sensitivity', 'hs-CRP');
const CALCIUM = entry('calcium_total', 'Calcium, total', 'Calcium');
const MAGNESIUM_RBC = entry('magnesium_rbc', 'Magnesium, RBC', 'Magnesium', { specimen: 'whole_blood' });

/** Name and line of a row, the rest of its report, the marker that has the name, and what is to become of it. */
const TABLE: [name: string, line: string, report: string[], marker: NamedMarker, meaning: Meaning][] = [
  // fasting or not
  ['Glucose', 'Glucose 88 mg/dL 70 - 99', [], GLUCOSE, 'open'],
  ['GLUCOSE', 'GLUCOSE 88 mg/dL Fasting reference interval 65-99', [], GLUCOSE, 'open'],
  ['Glucose', 'Glucose 88 mg/dL fasting: 70-99', [], GLUCOSE, 'open'],
  ['Glucose', 'Glucose 88 mg/dL', ['Fasting: N/A'], GLUCOSE, 'open'],
  ['Glucose', 'Glucose 88 mg/dL', ['Fasting: Yes'], GLUCOSE, 'same'],
  ['Glucose', 'Glucose 88 mg/dL', ['Fasting status: fasting'], GLUCOSE, 'same'],
  ['Glucose', 'Glucose 88 mg/dL', ['Fasting: 12 h'], GLUCOSE, 'same'],
  ['Glucose', 'Glucose 88 mg/dL (fasting)', [], GLUCOSE, 'same'],
  ['Glucose', 'Glucose 140 mg/dL', ['Fasting: No'], GLUCOSE, 'other'],
  ['Glucose', 'Glucose 140 mg/dL (non-fasting)', [], GLUCOSE, 'other'],
  ['Glucose', 'Glucose 140 mg/dL random', ['Fasting: Yes'], GLUCOSE, 'other'],
  ['Glucose, Serum', 'Glucose, Serum 88 mg/dL', [], GLUCOSE, 'open'],
  ['Glucose, fasting', 'Glucose, fasting 88 mg/dL', [], GLUCOSE, 'same'],
  ['1558-6', 'OBX|1|NM|1558-6^Glucose', [], GLUCOSE, 'same'],
  ['Insulin', 'Insulin 5 uIU/mL', [], INSULIN, 'open'],
  // total or free
  ['Testosterone', 'Testosterone 520 ng/dL', [], TESTOSTERONE, 'open'],
  ['Testosterone', 'Testosterone 520 ng/dL (total)', [], TESTOSTERONE, 'same'],
  ['Testosterone', 'Testosterone 9 pg/mL (free)', [], TESTOSTERONE, 'other'],
  ['Testosterone', 'Testosterone 9 pg/mL (free)', [], FREE_TESTOSTERONE, 'same'],
  ['Testosterone, Total', 'Testosterone, Total 520 ng/dL', [], TESTOSTERONE, 'same'],
  ['T4', 'T4 1.2 ng/dL', [], FREE_T4, 'open'],
  ['T4', 'T4 8 ug/dL total', [], FREE_T4, 'other'],
  ['T3', 'T3 3.1 pg/mL', [], FREE_T3, 'open'],
  ['PSA', 'PSA 0.8 ng/mL', [], PSA, 'open'],
  ['PSA', 'PSA (free) 0.2 ng/mL', [], PSA, 'other'],
  ['Calcium', 'Calcium 9.4 mg/dL', [], CALCIUM, 'open'],
  ['Calcium', 'Calcium (ionized) 1.2 mmol/L', [], CALCIUM, 'other'],
  // direct or not
  ['Bilirubin', 'Bilirubin 0.2 mg/dL', [], DIRECT, 'open'],
  ['Bilirubin', 'Bilirubin 0.8 mg/dL total', [], DIRECT, 'other'],
  ['Bilirubin', 'Bilirubin 0.6 mg/dL (indirect)', [], DIRECT, 'other'],
  ['Bilirubin', 'Bilirubin 0.8 mg/dL total', [], TOTAL_BILIRUBIN, 'same'],
  // measured and calculated LDL are one marker, with the LOINCs of both
  ['LDL Cholesterol', 'LDL Cholesterol 131 mg/dL (calc)', [], LDL, 'same'],
  ['LDL Cholesterol, Direct', 'LDL Cholesterol, Direct 131 mg/dL', [], LDL, 'same'],
  // blood or urine
  ['Creatinine', 'Creatinine 1.0 mg/dL', [], CREATININE, 'same'],
  ['Creatinine', 'Creatinine 1.0 mg/dL', ['URINALYSIS'], CREATININE, 'open'],
  ['Creatinine', 'Creatinine 1.0 mg/dL (serum)', ['Urine protein 5 mg/dL'], CREATININE, 'same'],
  ['Creatinine', 'Creatinine 95 mg/dL (random urine)', [], CREATININE, 'other'],
  ['Creatinine', 'Creatinine 95 mg/dL (random urine)', [], URINE_CREATININE, 'same'],
  ['Creatinine', 'Creatinine 95 mg/dL', [], URINE_CREATININE, 'other'],
  ['Albumin', 'Albumin 4.5 g/dL', [], ALBUMIN, 'same'],
  ['Albumin', 'Albumin 4.5 g/dL', ['Urine, 24 h'], ALBUMIN, 'open'],
  ['Albumin', 'Albumin 12 mg/L urine', [], URINE_ALBUMIN, 'same'],
  ['Potassium', 'Potassium 4.2 mmol/L', ['Urine: clear'], POTASSIUM, 'open'],
  ['Magnesium', 'Magnesium 5.1 mg/dL RBC', [], MAGNESIUM_RBC, 'same'],
  // which of the hydroxylated forms, and how sensitive
  ['Vitamin D', 'Vitamin D 41 ng/mL', [], VITAMIN_D, 'open'],
  ['Vitamin D', 'Vitamin D 41 ng/mL (25-OH)', [], VITAMIN_D, 'same'],
  ['Vitamin D', 'Vitamin D 50 pg/mL (1,25-dihydroxy)', [], VITAMIN_D, 'other'],
  ['Vitamin D', 'Vitamin D 50 pg/mL (1,25-dihydroxy)', [], CALCITRIOL, 'same'],
  ['CRP', 'CRP 5 mg/L', [], HS_CRP, 'open'],
  ['CRP', 'CRP 0.5 mg/L (cardiac)', [], HS_CRP, 'same'],
  ['hs-CRP', 'hs-CRP 0.5 mg/L', [], HS_CRP, 'same'],
];

describe('a plain name that several markers share means one of them only where the report says which', () => {
  test.each(TABLE)('%s in "%s", beside %j', (name, rawText, report, marker, meaning) => {
    expect(meaningOf({ name, rawText }, marker, saidIn([rawText, ...report]))).toBe(meaning);
  });
});

test('names are compared without case, marks and spaces, and a free hormone is no total one', () => {
  expect(matches(namesOf(LDL), 'LDL-CHOLESTEROL')).toBe(true);
  expect(matches(namesOf(TESTOSTERONE), 'Testosterone, Free')).toBe(false);
  expect(matches(namesOf(CREATININE), 'Creatinine, Urine')).toBe(false);
  expect(matches(namesOf(VITAMIN_D), '25-Hydroxyvitamin D')).toBe(true);
});
