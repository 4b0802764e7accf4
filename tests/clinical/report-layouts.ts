/** What a line of a report is to be read as. */
export interface Expected {
  name: string;
  value: number | null;
  unit: string | null;
  low: number | null;
  high: number | null;
  comparator: string | null;
  /** Everything of the line is understood; else a person looks at it. */
  isSure: boolean;
}

type Range = readonly [low: number | null, high: number | null];

/** A line that is understood. */
const sure = (
  name: string,
  value: number | null,
  unit: string | null = null,
  [low, high]: Range = [null, null],
  comparator: string | null = null,
): Expected => ({ name, value, unit, low, high, comparator, isSure: true });

/** A line that a person must look at. */
const unsure = (...args: Parameters<typeof sure>): Expected => ({ ...sure(...args), isSure: false });

/** A line that is one with the next. */
export const ABOVE = 'above';

/** A line of a layout (tabs are columns) with its results; none: it could be no result. */
export type LayoutLine = readonly [text: string, ...results: Expected[]] | readonly [text: string, typeof ABOVE];

/** Layouts of laboratory reports, by what is particular to each; pages of lines. */
export const LAYOUTS: Readonly<Record<string, readonly (readonly LayoutLine[])[]>> = {
  'columns of name, result, unit and reference': [
    [
      ['Test\tResult\tUnit\tReference'],
      ['LDL Cholesterol\t110\tmg/dL\t0 - 130', sure('LDL Cholesterol', 110, 'mg/dL', [0, 130])],
      ['TSH\t2.1\tmIU/L\t0.4 - 4.5', sure('TSH', 2.1, 'm[IU]/L', [0.4, 4.5])],
    ],
  ],
  'a flag between value and unit, a remark behind it': [
    [
      ['LDL-CHOLESTEROL 131 H mg/dL (calc) <100', sure('LDL-CHOLESTEROL', 131, 'mg/dL', [null, 100])],
      ['Glucose 101 H mg/dL 70 - 99', sure('Glucose', 101, 'mg/dL', [70, 99])],
    ],
  ],
  'no unit at all': [
    [
      ['Ferritin 80', sure('Ferritin', 80)],
      ['Potassium\t4.2', sure('Potassium', 4.2)],
    ],
  ],
  'no unit, but a range': [[['Ferritin 80 30 - 400', sure('Ferritin', 80, null, [30, 400])]]],
  'the unit behind the range, and the performing laboratory': [
    [
      ['Test Name\tIn Range\tOut Of Range\tReference Range\tLab'],
      ['LDL-CHOLESTEROL\t\t131 H\t<100 mg/dL (calc)\tNYL', sure('LDL-CHOLESTEROL', 131, 'mg/dL', [null, 100])],
      ['GLUCOSE\t88\t\t65-99 mg/dL\tEN', sure('GLUCOSE', 88, 'mg/dL', [65, 99])],
      ['TSH\t2.10\t\t0.40-4.50 mIU/L\tEN', sure('TSH', 2.1, 'm[IU]/L', [0.4, 4.5])],
    ],
  ],
  'the number of the performing laboratory behind the range': [
    [
      ['TESTS\tRESULT\tFLAG\tUNITS\tREFERENCE INTERVAL LAB'],
      ['Ferritin, Serum\t80\t\tng/mL\t30-400 01', sure('Ferritin, Serum', 80, 'ng/mL', [30, 400])],
      ['LDL Chol Calc (NIH)\t131\tHigh\tmg/dL\t0-99 02', sure('LDL Chol Calc (NIH)', 131, 'mg/dL', [0, 99])],
    ],
  ],
  'the range to the left of the value': [
    [
      ['Test\tReference\tResult\tUnit'],
      ['Ferritin\t30 - 400\t80\tng/mL', sure('Ferritin', 80, 'ng/mL', [30, 400])],
      ['ALT (SGPT)\t<40\t22\tU/L', unsure('ALT (SGPT)', 22, 'U/L', [null, 40])],
    ],
  ],
  'two columns of results': [
    [
      [
        'Ferritin 80 ng/mL 30-400\tPotassium 4.2 mmol/L 3.5-5.1',
        sure('Ferritin', 80, 'ng/mL', [30, 400]),
        sure('Potassium', 4.2, 'mmol/L', [3.5, 5.1]),
      ],
      ['TSH 2.1 mIU/L\tALT 22 U/L <40', sure('TSH', 2.1, 'm[IU]/L'), sure('ALT', 22, 'U/L', [null, 40])],
    ],
  ],
  'footnotes on names and values': [
    [
      ['Ferritin (1) 80 ng/mL 30 - 400', sure('Ferritin', 80, 'ng/mL', [30, 400])],
      ['Potassium* 4.2 mmol/L', sure('Potassium', 4.2, 'mmol/L')],
      ['Ferritin¹ 80² ng/mL', sure('Ferritin', 80, 'ng/mL')],
      ['BMI 24.7 kg/m²', sure('BMI', 24.7, 'kg/m2')],
      ['eGFR 95 mL/min/1.73 m² >59', sure('eGFR', 95, 'mL/min/1.73m2', [59, null])],
      ['TSH [a] 2.1 mIU/L', sure('TSH', 2.1, 'm[IU]/L')],
      ['(1) This test was developed by the laboratory and has not been cleared.'],
      ['* Haemolysis may have raised this value.'],
    ],
  ],
  'decimals with a comma': [
    [
      ['Kalium 4,2 mmol/L (3,5 - 5,1)', sure('Kalium', 4.2, 'mmol/L', [3.5, 5.1])],
      ['TSH: 2,135 mIU/L (0,4 - 4,5)', sure('TSH', 2.135, 'm[IU]/L', [0.4, 4.5])],
      ['Thrombozyten 1.250 /nL', sure('Thrombozyten', 1250, '/nL')],
    ],
  ],
  'thousands with a comma, in a report with decimal points': [
    [
      ['Vitamin B12 1,234 pg/mL 232-1,245', sure('Vitamin B12', 1234, 'pg/mL', [232, 1245])],
      ['Platelets 250,000 /uL 150,000 - 400,000', sure('Platelets', 250_000, '/uL', [150_000, 400_000])],
      ['Potassium 4.2 mmol/L', sure('Potassium', 4.2, 'mmol/L')],
    ],
  ],
  'a comma that may be of thousands or of decimals': [[['Vitamin B12 1,234 pg/mL', unsure('Vitamin B12', 1234, 'pg/mL')]]],
  'thousands with an apostrophe': [[['Thrombozyten 250’000 /uL', sure('Thrombozyten', 250_000, '/uL')]]],
  'a page break inside a table': [
    [['Test Result Unit Reference'], ['Ferritin 80 ng/mL 30 - 400', sure('Ferritin', 80, 'ng/mL', [30, 400])], ['Page 1 of 2']],
    [
      ['Patient: Demo  DOB: 01/02/1980'],
      ['Test Result Unit Reference'],
      ['Potassium 4.2 mmol/L 3.5 - 5.1', sure('Potassium', 4.2, 'mmol/L', [3.5, 5.1])],
      ['Page 2 of 2'],
    ],
  ],
  'the value at the top of the next page': [
    [['Ferritin 80 ng/mL', sure('Ferritin', 80, 'ng/mL')], ['Potassium']],
    [['4.2 mmol/L 3.5 - 5.1', unsure('', 4.2, 'mmol/L', [3.5, 5.1])]],
  ],
  'every kind of flag': [
    [
      ['Ferritin 800 H ng/mL 30-400', sure('Ferritin', 800, 'ng/mL', [30, 400])],
      ['Ferritin 800 HH ng/mL 30-400', sure('Ferritin', 800, 'ng/mL', [30, 400])],
      ['Ferritin 8 L ng/mL 30-400', sure('Ferritin', 8, 'ng/mL', [30, 400])],
      ['Ferritin 8* ng/mL 30-400', sure('Ferritin', 8, 'ng/mL', [30, 400])],
      ['Ferritin 800 ** ng/mL 30-400', sure('Ferritin', 800, 'ng/mL', [30, 400])],
      ['Ferritin 800 (H) ng/mL 30-400', sure('Ferritin', 800, 'ng/mL', [30, 400])],
      ['Ferritin 800H ng/mL 30-400', sure('Ferritin', 800, 'ng/mL', [30, 400])],
      ['Ferritin 800 ng/mL HIGH 30-400', sure('Ferritin', 800, 'ng/mL', [30, 400])],
      ['Ferritin 800 ng/mL 30-400 Abnormal', sure('Ferritin', 800, 'ng/mL', [30, 400])],
      ['Ferritin 800 ng/mL 30-400 !', sure('Ferritin', 800, 'ng/mL', [30, 400])],
      ['Ferritin 800 Critical ng/mL', sure('Ferritin', 800, 'ng/mL')],
      ['Ferritin H 800 ng/mL 30-400', sure('Ferritin', 800, 'ng/mL', [30, 400])],
      ['Ferritin * 800 ng/mL', sure('Ferritin', 800, 'ng/mL')],
    ],
  ],
  'names that end in a letter': [
    [
      ['Vitamin A 50 ug/dL 30-65', sure('Vitamin A', 50, 'ug/dL', [30, 65])],
      ['Protein C 110 %', sure('Protein C', 110, '%')],
    ],
  ],
  'censored values': [
    [
      ['hs-CRP <0.3 mg/L', sure('hs-CRP', 0.3, 'mg/L', [null, null], 'lt')],
      ['hs-CRP < 0.3 mg/L <3.0', sure('hs-CRP', 0.3, 'mg/L', [null, 3], 'lt')],
      ['eGFR >90 mL/min/1.73m2 >59', sure('eGFR', 90, 'mL/min/1.73m2', [59, null], 'gt')],
      ['eGFR > OR = 60 mL/min/1.73m2', sure('eGFR', 60, 'mL/min/1.73m2', [null, null], 'ge')],
      ['TSH less than 0.01 mIU/L', sure('TSH', 0.01, 'm[IU]/L', [null, null], 'lt')],
      ['hs-CRP <=.3 mg/L', sure('hs-CRP', 0.3, 'mg/L', [null, null], 'le')],
      ['Ferritin <5', sure('Ferritin', 5, null, [null, null], 'lt')],
    ],
  ],
  'ranges with one edge': [
    [
      ['HDL Cholesterol 55 mg/dL >40', sure('HDL Cholesterol', 55, 'mg/dL', [40, null])],
      ['Triglycerides 120 mg/dL < or = 150', sure('Triglycerides', 120, 'mg/dL', [null, 150])],
      ['ALT 22 U/L up to 40', sure('ALT', 22, 'U/L', [null, 40])],
      ['ALT 22 U/L bis 40', sure('ALT', 22, 'U/L', [null, 40])],
    ],
  ],
  'ranges with words': [
    [
      ['Ferritin 80 ng/mL Ref: 30-400', sure('Ferritin', 80, 'ng/mL', [30, 400])],
      ['Ferritin 80 ng/mL Reference range: 30 - 400 ng/mL', sure('Ferritin', 80, 'ng/mL', [30, 400])],
      ['Ferritin 80 ng/mL (Normal: 30 to 400)', sure('Ferritin', 80, 'ng/mL', [30, 400])],
      ['Ferritin 80 ng/mL M: 30-400 F: 15-150', sure('Ferritin', 80, 'ng/mL')],
      ['Homocysteine 9.1 umol/L Not Estab.', sure('Homocysteine', 9.1, 'umol/L')],
    ],
  ],
  'ranges in brackets, with dashes and spaces of every kind': [
    [
      ['Ferritin 80 ng/mL [30-400]', sure('Ferritin', 80, 'ng/mL', [30, 400])],
      ['Ferritin 80 ng/mL (30 – 400)', sure('Ferritin', 80, 'ng/mL', [30, 400])],
      ['Ferritin 80 ng/mL 30 -400', sure('Ferritin', 80, 'ng/mL', [30, 400])],
    ],
  ],
  'the unit beside the name': [
    [
      ['Ferritin (ng/mL) 80 30-400', sure('Ferritin', 80, 'ng/mL', [30, 400])],
      ['Ferritin, ng/mL 80', sure('Ferritin', 80, 'ng/mL')],
      ['Potassium [mmol/L]: 4.2', sure('Potassium', 4.2, 'mmol/L')],
    ],
  ],
  'two units that differ': [[['Glucose 88 mg/dL 3.9-5.5 mmol/L', unsure('Glucose', 88, 'mg/dL', [3.9, 5.5])]]],
  'the same result in two units': [[['Glucose 88 mg/dL 4.9 mmol/L', unsure('Glucose 88', 4.9, 'mmol/L')]]],
  'leaders between name and value': [
    [
      ['Ferritin ........... 80 ng/mL', sure('Ferritin', 80, 'ng/mL')],
      ['Potassium: 4.2 mmol/L', sure('Potassium', 4.2, 'mmol/L')],
      ['TSH = 2.1 mIU/L', sure('TSH', 2.1, 'm[IU]/L')],
      ['ALT | 22 | U/L | <40', sure('ALT', 22, 'U/L', [null, 40])],
      ['Ferritin;80;ng/mL;30-400', sure('Ferritin', 80, 'ng/mL', [30, 400])],
      ['Ferritin,80,ng/mL', sure('Ferritin', 80, 'ng/mL')],
    ],
  ],
  'values that touch their unit': [
    [
      ['Ferritin 80ng/mL', sure('Ferritin', 80, 'ng/mL')],
      ['HbA1c 5.4%', sure('HbA1c', 5.4, '%')],
      ['Ferritin80 ng/mL', unsure('Ferritin80 ng/mL', null)],
    ],
  ],
  'names with numbers': [
    [
      ['25-Hydroxyvitamin D 41 ng/mL 30-100', sure('25-Hydroxyvitamin D', 41, 'ng/mL', [30, 100])],
      ['Vitamin D 25 OH 41 ng/mL', sure('Vitamin D 25 OH', 41, 'ng/mL')],
      ['17-OH Progesterone 55 ng/dL', sure('17-OH Progesterone', 55, 'ng/dL')],
      ['CA 19-9 12 U/mL', sure('CA 19-9', 12, 'U/mL')],
      ['CA 125 20 U/mL <35', sure('CA 125', 20, 'U/mL', [null, 35])],
      ['Hemoglobin A1c 5.4 % 4.0 - 5.6', sure('Hemoglobin A1c', 5.4, '%', [4, 5.6])],
      ['T3, Free 3.1 pg/mL 2.0-4.4', sure('T3, Free', 3.1, 'pg/mL', [2, 4.4])],
    ],
  ],
  'lists with numbers, points and codes of the laboratory': [
    [
      ['1. Ferritin 80 ng/mL', sure('Ferritin', 80, 'ng/mL')],
      ['2) Potassium 4.2 mmol/L', sure('Potassium', 4.2, 'mmol/L')],
      ['- TSH 2.1 mIU/L', sure('TSH', 2.1, 'm[IU]/L')],
      ['004598 ALT (SGPT) 22 U/L', sure('ALT (SGPT)', 22, 'U/L')],
    ],
  ],
  'the value below its name': [
    [
      ['Results'],
      ['Vitamin D, 25-Hydroxy', ABOVE],
      ['41 ng/mL 30 - 100', unsure('Vitamin D, 25-Hydroxy', 41, 'ng/mL', [30, 100])],
      ['Ferritin', ABOVE],
      ['80 ng/mL', unsure('Ferritin', 80, 'ng/mL')],
    ],
  ],
  'values torn from their names': [
    [['Ferritin'], ['Potassium'], ['Units'], ['80', unsure('', 80)], ['<0.3', unsure('', 0.3, null, [null, null], 'lt')]],
  ],
  'dates on lines': [
    [
      ['Collected: 2026-07-30 08:15'],
      ['Ferritin 80 ng/mL 30-400 07/30/2026', sure('Ferritin', 80, 'ng/mL', [30, 400])],
      ['Potassium 07/30/2026 4.2 mmol/L', sure('Potassium', 4.2, 'mmol/L')],
      ['TSH 2.1 mIU/L 2026-07-30 08:15', sure('TSH', 2.1, 'm[IU]/L')],
      ['Reported 08/01/2026 10:15 AM'],
      ['30.07.2026'],
    ],
  ],
  'results of earlier draws beside it': [
    [
      ['Test\t2026-07-30\t2026-01-12\tUnit'],
      ['Ferritin\t80\t75\tng/mL', sure('Ferritin 80', 75, 'ng/mL')],
      ['Potassium 4.2 mmol/L 3.5-5.1 4.4 (01/12/2026)', unsure('Potassium', 4.2, 'mmol/L', [3.5, 5.1])],
    ],
  ],
  'headers and footers': [
    [
      ['Example Laboratories, Inc.'],
      ['123 Main Street, Springfield, IL 62704'],
      ['Phone: (555) 123-4567  Fax: 555-123-4568'],
      ['CLIA: 05D0642827   Lab Director: A. Example, MD'],
      ['Patient ID: 12345   Age: 45   Sex: F'],
      ['Account Number: 998877  Order #: 4711'],
      ['Fasting: Yes'],
      ['Specimen ID: S-778/12'],
      ['Collected: 2026-07-30 08:15   Received: 2026-07-30 11:02'],
      ['Ferritin 80 ng/mL', sure('Ferritin', 80, 'ng/mL')],
      ['https://lab.example/results/12'],
      ['Page 1 of 1'],
      ['-----------------------'],
    ],
  ],
  'legends of ranges': [
    [
      ['LDL Cholesterol 110 mg/dL', sure('LDL Cholesterol', 110, 'mg/dL')],
      ['Optimal: <100 mg/dL'],
      ['Near optimal: 100 - 129 mg/dL'],
      ['Borderline high 130 - 159 mg/dL'],
      ['Adult male: 30-400'],
      ['Deficiency <20'],
    ],
  ],
  sentences: [
    [
      ['HbA1c 5.4 %', sure('HbA1c', 5.4, '%')],
      ['A fasting glucose of 100 to 125 mg/dL is considered prediabetes.'],
      ['Desirable range <100 mg/dL for primary prevention and <70 mg/dL for'],
      ['patients with CHD or diabetic patients with > or = 2 CHD risk factors.'],
      ['LDL-C is now calculated using the Martin-Hopkins calculation, JAMA 2013;310:2061-2068.'],
      ['Your ferritin was 80 ng/mL', sure('Your ferritin was', 80, 'ng/mL')],
    ],
  ],
  'a remark behind the result': [
    [
      ['Potassium 6.8 mmol/L called to Dr X at 10:15', unsure('Potassium', 6.8, 'mmol/L')],
      ['Ferritin 80 ng/mL slightly below what we like', unsure('Ferritin', 80, 'ng/mL')],
    ],
  ],
  'words instead of a value': [
    [
      ['HIV Ag/Ab, 4th Gen NON-REACTIVE', unsure('HIV Ag/Ab, 4th Gen', null)],
      ['Urine protein: Negative', unsure('Urine protein', null)],
      ['Potassium TNP', unsure('Potassium', null)],
      ['Ferritin see note', unsure('Ferritin', null)],
    ],
  ],
  'a range without a value': [[['Ferritin 30 - 400 ng/mL', unsure('Ferritin', null, null, [30, 400])]]],
  'figures that are no single number': [
    [
      ['Blood pressure 120/80 mmHg', unsure('Blood pressure', null)],
      ['ANA titer 1:160', unsure('ANA titer', null)],
    ],
  ],
  'counts with powers of ten': [
    [
      ['WBC 5.2 x10E3/uL 3.4-10.8', sure('WBC', 5.2, '10*3/uL', [3.4, 10.8])],
      ['Platelets 250 10^3/uL', sure('Platelets', 250, '10*3/uL')],
      ['RBC 4.8 Million/uL', sure('RBC', 4.8, '10*6/uL')],
      ['WBC 5.2 K/uL', sure('WBC', 5.2, '10*3/uL')],
    ],
  ],
  'units with what they are of': [
    [
      ['HbA1c 5.4 % of total Hgb <5.7', sure('HbA1c', 5.4, '%', [null, 5.7])],
      ['HEMOGLOBIN A1c 5.9 H % of total Hgb <5.7', sure('HEMOGLOBIN A1c', 5.9, '%', [null, 5.7])],
      ['HEMOGLOBIN A1c\t5.4\t\t<5.7 % of total Hgb\tEN', sure('HEMOGLOBIN A1c', 5.4, '%', [null, 5.7])],
      ['HbA1c 5.4% of total hemoglobin 4.0 - 5.6', sure('HbA1c', 5.4, '%', [4, 5.6])],
      ['HbA1c 36 mmol/mol Hb <39', sure('HbA1c', 36, 'mmol/mol', [null, 39])],
      ['Free Testosterone 1.5 % of total 1.0 - 2.7', sure('Free Testosterone', 1.5, '%', [1, 2.7])],
      ['OMEGA-3 TOTAL 5.6 % by wt >5.4', sure('OMEGA-3 TOTAL', 5.6, '%', [5.4, null])],
      ['NON HDL CHOLESTEROL 120 <130 mg/dL (calc)', sure('NON HDL CHOLESTEROL', 120, 'mg/dL', [null, 130])],
      ['NON HDL CHOLESTEROL 120 mg/dL(calc) <130', sure('NON HDL CHOLESTEROL', 120, 'mg/dL', [null, 130])],
      ['CHOL/HDLC RATIO 3.1 (calc) <5.0', sure('CHOL/HDLC RATIO', 3.1, null, [null, 5])],
      ['% SATURATION 30 % (calc) 20-48', sure('% SATURATION', 30, '%', [20, 48])],
      ['EGFR 95 mL/min/1.73m2 > OR = 60', sure('EGFR', 95, 'mL/min/1.73m2', [60, null])],
      ['EGFR\t95\t\t>60 mL/min/1.73m2\tEN', sure('EGFR', 95, 'mL/min/1.73m2', [60, null])],
      ['ABSOLUTE NEUTROPHILS 3.1 x10E3/uL 1.4-7.0', sure('ABSOLUTE NEUTROPHILS', 3.1, '10*3/uL', [1.4, 7])],
      ['ABSOLUTE NEUTROPHILS 3120 cells/uL 1500-7800', sure('ABSOLUTE NEUTROPHILS', 3120, 'cells/uL', [1500, 7800])],
      ['Albumin/Creatinine Ratio 5 mg/g creat <30', sure('Albumin/Creatinine Ratio', 5, 'mg/gcreat', [null, 30])],
      ['Ferritin 80 ng/mL of unknown kind <5.7', unsure('Ferritin', 80, 'ng/mL')],
    ],
  ],
  'micro in every spelling': [
    [
      ['Creatinine 88 µmol/L', sure('Creatinine', 88, 'umol/L')],
      ['Creatinine 88 umol/L', sure('Creatinine', 88, 'umol/L')],
      ['TSH 2.1 µIU/mL', sure('TSH', 2.1, 'u[IU]/mL')],
      ['Iron 88 mcg/dL', sure('Iron', 88, 'ug/dL')],
    ],
  ],
  'units of other spellings': [
    [
      ['Potassium 4.2 mEq/L', sure('Potassium', 4.2, 'meq/L')],
      ['ALT 22 IU/L', sure('ALT', 22, '[IU]/L')],
      ['Ferritin 80 ng / mL', sure('Ferritin', 80, 'ng/mL')],
      ['Glucose 88 mg%', sure('Glucose', 88, 'mg/dL')],
      ['ESR 12 mm/h 0-20', sure('ESR', 12, 'mm/h', [0, 20])],
      ['Ferritin 80 ngml', unsure('Ferritin', 80)],
    ],
  ],
  'unitless results': [
    [
      ['Specific gravity 1.015 1.005-1.030', sure('Specific gravity', 1.015, null, [1.005, 1.03])],
      ['pH 6.0 5.0-8.0', sure('pH', 6, null, [5, 8])],
      ['INR 1.0', sure('INR', 1)],
    ],
  ],
  'names that begin as a header does': [
    [
      ['Sex Hormone Binding Globulin 45 nmol/L', sure('Sex Hormone Binding Globulin', 45, 'nmol/L')],
      ['Sex Hormone Binding Globulin 45', sure('Sex Hormone Binding Globulin', 45)],
      ['Lipoprotein-associated phospholipase A2 activity 180', sure('Lipoprotein-associated phospholipase A2 activity', 180)],
      ['Prothrombin Time 12.1 sec', sure('Prothrombin Time', 12.1, 'sec')],
      ['Free androgen index 45', sure('Free androgen index', 45)],
      ['eGFR If Non-African Am 95 mL/min/1.73 >59', sure('eGFR If Non-African Am', 95, 'mL/min/1.73', [59, null])],
      ['Lipoprotein (a) 75 nmol/L <75', sure('Lipoprotein (a)', 75, 'nmol/L', [null, 75])],
    ],
  ],
  'a heading before the result in one line': [
    [['Collected: 2026-07-30 Ferritin 80 ng/mL', sure('Collected: 2026-07-30 Ferritin', 80, 'ng/mL')]],
  ],
  'nothing but a letter': [[['Dear Ms Demo,'], ['thank you for your visit on 2026-07-30.'], ['Kind regards']]],
};
