import { beforeAll, describe, expect, test } from 'vitest';
import type { BiomarkerDirection, BiomarkerNoise } from '../../subgraphs/clinical/entities/biomarker.js';
import type { UnitConversion, UnitSystem } from '../../subgraphs/clinical/entities/units.js';
import { compare, noiseLimit } from '../../subgraphs/clinical/rules/direction.js';
import { inSystem, type MarkerUnits, toCanonical } from '../../subgraphs/clinical/rules/units.js';
import { DEMO } from '../support/platform.js';
import { Clinic } from './clinic.js';

let clinic: Clinic;
let catalog: any[];
beforeAll(async () => {
  clinic = await Clinic.open();
  catalog = (await clinic.rest('GET', '/v1/biomarkers/catalog?limit=100')).body.data;
});

/** The seed of the contract: LOINC, unit, direction, optimal, CVa, CVi, significant rise and fall in percent. */
const SEED: readonly [string, string, string, string, [number | null, number | null] | null, number, number, number, number][] = [
  ['ldl_c', '13457-7', 'mg/dL', 'lower_is_better', [null, 100], 0.03, 0.083, 22.7, 18.5],
  ['hdl_c', '2085-9', 'mg/dL', 'higher_is_better', [60, null], 0.025, 0.058, 15.8, 13.7],
  ['triglycerides', '2571-8', 'mg/dL', 'lower_is_better', [null, 100], 0.03, 0.197, 58.3, 36.8],
  ['apob', '1884-6', 'mg/dL', 'lower_is_better', [null, 80], 0.04, 0.069, 20.4, 16.9],
  ['hba1c', '4548-4', '%', 'lower_is_better', [null, 5.4], 0.02, 0.016, 6.1, 5.8],
  ['glucose_fasting', '1558-6', 'mg/dL', 'within_range', [75, 90], 0.02, 0.047, 12.6, 11.2],
  ['hs_crp', '30522-7', 'mg/L', 'lower_is_better', [null, 1], 0.05, 0.341, 118, 54.1],
  ['vitamin_d_25oh', '1989-3', 'ng/mL', 'within_range', [40, 60], 0.07, 0.068, 25.4, 20.3],
  ['ferritin', '2276-4', 'ng/mL', 'within_range', [50, 150], 0.04, 0.128, 36.4, 26.7],
  ['tsh', '3016-3', 'm[IU]/L', 'within_range', [0.5, 2.5], 0.04, 0.179, 52.7, 34.5],
  ['testosterone_total', '2986-8', 'ng/dL', 'within_range', null, 0.06, 0.14, 42.2, 29.7],
  ['alt', '1742-6', 'U/L', 'lower_is_better', [null, 25], 0.04, 0.101, 28.7, 22.3],
  ['creatinine', '2160-0', 'mg/dL', 'within_range', [0.7, 1.1], 0.025, 0.045, 12.7, 11.3],
  ['potassium', '2823-3', 'mmol/L', 'within_range', [4, 4.8], 0.015, 0.041, 10.7, 9.7],
];

const entry = (code: string): any => catalog.find(one => one.code === code);
const noiseOf = (one: any): BiomarkerNoise => ({
  model: one.noise.model,
  cvWithin: one.noise.cv_within,
  cvAnalytical: one.noise.cv_analytical,
  cvAnalyticalBetween: one.noise.cv_analytical_between,
  sd: one.noise.sd,
  z: one.noise.z,
  source: one.noise.source,
  sourceYear: one.noise.source_year,
});
const unitsOf = (one: any): MarkerUnits => ({
  unit: one.unit,
  decimals: one.decimals,
  molarMass: one.molar_mass,
  otherUnits: one.other_units as UnitConversion[],
});

/** Check digit of a LOINC, modulus 10. */
function checkDigit(number: string): number {
  const digits = [...number].reverse();
  const odd = digits
    .filter((_, index) => index % 2 === 0)
    .reverse()
    .join('');
  const sum = [...digits.filter((_, index) => index % 2 === 1), ...String(2 * Number(odd))].reduce((all, digit) => all + Number(digit), 0);
  return (10 - (sum % 10)) % 10;
}

describe('the biomarker dictionary', () => {
  test('has the 14 seed markers', () => expect(new Set(catalog.map(one => one.code))).toEqual(new Set(SEED.map(([code]) => code))));

  test.each(SEED)('%s has its LOINC, unit, direction, optimal range and variation', (code, loinc, unit, direction, optimal, cva, cvi) => {
    const one = entry(code);
    const range = one.ranges.find((row: any) => row.kind === 'optimal' && row.sex === 'any');
    expect(one).toMatchObject({
      loinc,
      unit,
      direction,
      status: 'active',
      version: 1,
      noise: { model: 'log_normal', cv_analytical: cva, cv_within: cvi, cv_analytical_between: 2 * cva, z: 1.645 },
    });
    expect(range ? [range.low, range.high] : null).toEqual(optimal);
  });

  test.each(SEED)(
    '%s changes significantly by the percentages of the contract',
    (code, _loinc, _unit, _direction, _optimal, _cva, _cvi, rise, fall) => {
      const limit = noiseLimit(noiseOf(entry(code)), false);
      expect(Math.abs(100 * (Math.exp(limit) - 1) - rise)).toBeLessThanOrEqual(0.06);
      expect(Math.abs(100 * (1 - Math.exp(-limit)) - fall)).toBeLessThanOrEqual(0.06);
    },
  );

  test.each(SEED)('%s: just below the noise limit is unchanged, just above is not noise, in every unit that it is reported in', code => {
    const one = entry(code);
    const noise = noiseOf(one);
    const range = one.ranges.find((row: any) => row.kind === 'optimal') ?? null;
    const baseline = 1.5 * (range?.high ?? range?.low ?? 100);
    const systems = [null, 'si', 'conventional'] as (UnitSystem | null)[];
    for (const system of systems) {
      for (const [share, significant] of [
        [0.98, false],
        [1.02, true],
      ] as const) {
        for (const sign of [-1, 1]) {
          const value = baseline * Math.exp(sign * share * noiseLimit(noise, false));
          const reported = system && unfold(one, value, system);
          const followUp = reported ? toCanonical(unitsOf(one), reported.value, reported.unit)! : value;
          const { basis } = compare({
            direction: one.direction as BiomarkerDirection,
            noise,
            target: range,
            otherLab: false,
            baseline: { value: baseline, comparator: null },
            followUp: { value: followUp, comparator: null },
          });
          expect({ code, system, share, noise: basis === 'within_noise' }).toEqual({ code, system, share, noise: !significant });
        }
      }
    }
  });

  test.each(SEED)('%s comes back unchanged from each unit system', code => {
    const one = entry(code);
    const value = 1.5 * (one.ranges.find((row: any) => row.high !== null)?.high ?? 100);
    for (const system of ['si', 'conventional'] as UnitSystem[]) {
      const shown = unfold(one, value, system);
      expect(shown).not.toBeNull();
      expect(toCanonical(unitsOf(one), shown!.value, shown!.unit)! / value).toBeCloseTo(1, 4);
    }
  });

  test('names a source for every number', () => {
    for (const one of catalog) {
      expect([one.source, one.noise.source, ...one.ranges.map((range: any) => range.source)].filter(source => !source)).toEqual([]);
      expect(one.noise.source_year).toBeGreaterThan(2000);
    }
  });

  test('has a right check digit on every LOINC, and none twice', () => {
    const all = catalog.flatMap(one => [one.loinc, ...one.other_loincs]) as string[];
    expect(all.filter(loinc => checkDigit(loinc.split('-')[0]!) !== Number(loinc.split('-')[1]))).toEqual([]);
    expect(new Set(all).size).toBe(all.length);
  });

  test('has critical and panic limits of potassium', () => {
    expect(
      entry('potassium')
        .ranges.filter((range: any) => ['critical', 'panic'].includes(range.kind))
        .map(({ kind, low, high }: any) => ({ kind, low, high })),
    ).toEqual([
      { kind: 'critical', low: 2.8, high: 6.2 },
      { kind: 'panic', low: 2.5, high: 6.5 },
    ]);
    expect(entry('potassium').critical).toEqual({ critical: { low: 2.8, high: 6.2 }, panic: { low: 2.5, high: 6.5 } });
    expect(entry('ldl_c').critical).toBeNull();
  });

  test('is read by code and by LOINC, by any valid token, and by nobody without one', async () => {
    const member = await clinic.p.userToken(DEMO, []);
    for (const name of ['ldl_c', '13457-7', '18262-6'])
      expect(await clinic.rest('GET', `/v1/biomarkers/catalog/${name}`, undefined, member)).toMatchObject({
        status: 200,
        body: { code: 'ldl_c' },
      });
    expect((await clinic.rest('GET', '/v1/biomarkers/catalog/none_such')).status).toBe(404);
    expect((await clinic.rest('GET', '/v1/biomarkers/catalog', undefined, await clinic.p.internalToken('cash'))).status).toBe(200);
    expect((await clinic.rest('GET', '/v1/biomarkers/catalog', undefined, null)).status).toBe(401);
  });

  test('is filtered by category and by what a person types, page by page', async () => {
    const codes = async (query: string) =>
      (await clinic.rest('GET', `/v1/biomarkers/catalog?${query}`)).body.data.map((one: any) => one.code).sort();
    expect(await codes('category=lipids')).toEqual(['apob', 'hdl_c', 'ldl_c', 'triglycerides']);
    expect(await codes('q=cholesterol')).toEqual(['hdl_c', 'ldl_c']);
    expect(await codes('q=59261-8')).toEqual(['hba1c']);
    expect(await codes('q=%25')).toEqual([]);
    const first = (await clinic.rest('GET', '/v1/biomarkers/catalog?limit=10')).body;
    const second = (await clinic.rest('GET', `/v1/biomarkers/catalog?limit=10&cursor=${first.next_cursor}`)).body;
    expect(new Set([...first.data, ...second.data].map((one: any) => one.code)).size).toBe(14);
    expect(second.next_cursor).toBeNull();
    expect((await clinic.rest('GET', '/v1/biomarkers/catalog?limit=101')).status).toBe(400);
  });

  test('is the same over GraphQL', async () => {
    const { data } = await clinic.p.graphql(
      '{ biomarker(code: "4548-4") { code unit otherUnits { unit method factor offset } ranges { kind high } noise { model } } }',
      {},
      { token: clinic.token },
    );
    expect(data.biomarker).toMatchObject({
      code: 'hba1c',
      unit: '%',
      otherUnits: expect.arrayContaining([{ unit: 'mmol/mol', method: 'AFFINE', factor: 0.09148, offset: 2.152 }]),
      noise: { model: 'LOG_NORMAL' },
    });
  });
});

/** A canonical value in the unit of a system, with many places, as a laboratory might report it. */
function unfold(one: any, value: number, system: UnitSystem): { value: number; unit: string } | null {
  const units = unitsOf(one);
  return inSystem({ ...units, otherUnits: units.otherUnits.map(other => ({ ...other, decimals: 8 })) }, value, system);
}

describe('the protocol dictionary', () => {
  test('has the two development protocols', async () => {
    const { body } = await clinic.rest('GET', '/v1/protocols/catalog');
    expect(
      body.data
        .map(({ key, requires_consult, markers }: any) => ({ key, requires_consult, markers: markers.map((marker: any) => marker.code) }))
        .sort((a: any, b: any) => (a.key < b.key ? -1 : 1)),
    ).toEqual([
      { key: 'lipid_reset', requires_consult: false, markers: ['ldl_c', 'apob'] },
      { key: 'thyroid_support', requires_consult: true, markers: ['tsh'] },
    ]);
    expect(await clinic.rest('GET', '/v1/protocols/catalog/lipid_reset', undefined, await clinic.p.userToken(DEMO, []))).toMatchObject({
      status: 200,
      body: { key: 'lipid_reset', version: 1, status: 'active' },
    });
    expect((await clinic.rest('GET', '/v1/protocols/catalog/none_such')).status).toBe(404);
  });
});
