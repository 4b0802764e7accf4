import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { isLoinc } from '../../subgraphs/clinical/rules/biomarker.js';
import { DEMO, DEMO2 } from '../support/platform.js';
import { Clinic, T0 } from './clinic.js';

let clinic: Clinic;
beforeAll(async () => {
  clinic = await Clinic.open();
});
afterEach(() => clinic.leave());

const pointers = ({ body }: any): string[] => body.errors.map((one: any) => one.pointer).sort();

describe('putting a dictionary entry', () => {
  const range = (more: object = {}) => ({ kind: 'reference', low: 2.2, high: 2.6, source: 'a test', ...more });
  const calcium = (more: object = {}) => ({
    loinc: '17861-6',
    name: 'Calcium',
    short_name: 'Ca',
    category: 'electrolytes',
    specimen: 'serum',
    unit: 'mg/dL',
    decimals: 1,
    molar_mass: 40.078,
    other_units: [{ unit: 'mmol/L', method: 'molar_mass', system: 'si', decimals: 2 }],
    direction: 'within_range',
    noise: { model: 'log_normal', cv_within: 0.019, cv_analytical: 0.012, source: 'EFLM', source_year: 2024 },
    plausible: { low: 2, high: 30 },
    ranges: [range({ low: 8.5, high: 10.5 })],
    source: 'a test',
    ...more,
  });
  const put = (code: string, body: object, token?: string) => clinic.rest('PUT', `/v1/admin/biomarkers/${code}`, body, token);

  test('makes version 1, then the next; a wrong or missing version is a 409, and results keep the version that judged them', async () => {
    expect(await put('calcium_a', calcium())).toMatchObject({
      status: 200,
      body: { code: 'calcium_a', version: 1, ranges: [{ low: 8.5, high: 10.5 }] },
    });
    const { body } = await clinic.rest('POST', '/v1/biomarkers', {
      user_id: clinic.stranger(),
      observations: [{ ...clinic.row({ code: 'ldl_c', value: 10.6, collectedAt: T0 }), code: 'calcium_a', unit: 'mg/dL' }],
    });
    expect(body.data[0]).toMatchObject({ interpretation: 'h', applied_range: { dictionary_version: 1 } });
    expect(await put('calcium_a', calcium())).toMatchObject({ status: 409, body: { reason: 'version_conflict' } });
    expect(await put('calcium_a', calcium({ version: 2 }))).toMatchObject({ status: 409 });
    expect(await put('calcium_a', calcium({ version: 1, ranges: [range({ low: 8.5, high: 10.9 })] }))).toMatchObject({
      status: 200,
      body: { version: 2 },
    });
    expect((await clinic.rest('GET', '/v1/biomarkers/catalog/17861-6')).body).toMatchObject({ version: 2, ranges: [{ high: 10.9 }] });
    const read = (await clinic.rest('GET', `/v1/biomarkers/${body.data[0].id}`)).body;
    expect(read).toMatchObject({ interpretation: 'h', applied_range: { dictionary_version: 1 } });
  });

  test.each<[string, object, string[]]>([
    ['a LOINC with a wrong check digit', { loinc: '17861-7' }, ['/loinc']],
    ['a LOINC of another entry', { loinc: '13457-7' }, ['/loinc']],
    ['a LOINC twice', { other_loincs: ['17861-6'] }, ['/other_loincs/0']],
    ['a unit that cannot be converted', { other_units: [{ unit: 'kg', method: 'ucum', decimals: 0 }] }, ['/other_units/0/unit']],
    ['an affine unit without a factor', { other_units: [{ unit: 'x', method: 'affine', decimals: 0 }] }, ['/other_units/0/factor']],
    ['substance units without a molar mass', { molar_mass: null }, ['/molar_mass']],
    ['noise without its numbers', { noise: { model: 'absolute', source: 'x', source_year: 2024 } }, ['/noise/sd']],
    ['a range upside down', { ranges: [range({ low: 3, high: 2 })] }, ['/ranges/0/low']],
    ['a range without an edge', { ranges: [range({ low: null, high: null })] }, ['/ranges/0']],
    ['an edge that is not positive', { ranges: [range({ low: 0 })] }, ['/ranges/0/low']],
    ['two ranges that are as specific', { ranges: [range(), range({ high: 3 })] }, ['/ranges/1']],
    [
      'two ages that overlap and are as wide',
      { ranges: [range({ age_from: 10, age_to: 20 }), range({ age_from: 15, age_to: 25 })] },
      ['/ranges/1'],
    ],
    ['ages upside down', { ranges: [range({ age_from: 20, age_to: 20 })] }, ['/ranges/0/age_to']],
  ])('refuses %s', async (_what, change, expected) => {
    const answer = await put('calcium_a', calcium(change));
    expect([answer.status, pointers(answer)]).toEqual([400, expected]);
  });

  test('takes ranges of which one is more specific', async () => {
    const ranges = [
      range(),
      range({ sex: 'male' }),
      range({ age_from: 10, age_to: 20 }),
      range({ performer: 'lab_a' }),
      range({ age_from: 20, age_to: 30 }),
    ];
    expect(await put('calcium_c', calcium({ loinc: '2000-8', ranges }))).toMatchObject({ status: 200, body: { version: 1 } });
  });

  test('is for services and those who hold the dictionary', async () => {
    expect((await put('calcium_d', calcium(), await clinic.p.userToken(DEMO, ['write:clinical']))).status).toBe(403);
    expect((await put('calcium_d', calcium(), await clinic.p.userToken(DEMO2, [], { permissions: ['admin:clinical:read'] }))).status).toBe(
      403,
    );
    const holder = await clinic.p.userToken(DEMO2, [], { permissions: ['admin:clinical:dictionary'] });
    expect((await put('calcium_d', calcium({ loinc: '49765-1' }), holder)).status).toBe(200);
  });

  test.each(['13457-7', '2085-9', '4548-4', '1989-3', '3016-3'])('%s is a LOINC', text => expect(isLoinc(text)).toBe(true));
  test.each(['13457-6', '2085-8', '13457', 'x-1', '123456789-0'])('%s is none', text => expect(isLoinc(text)).toBe(false));
});

describe('putting a protocol', () => {
  const phase = (more: object = {}) => ({ name: 'One', start_day: 0, end_day: 30, ...more });
  const plan = (more: object = {}) => ({
    title: 'Iron',
    duration_days: 60,
    phases: [phase(), phase({ name: 'Two', start_day: 30, end_day: 60 })],
    markers: [{ code: 'ferritin', window_days: 60 }],
    ...more,
  });
  const put = (key: string, body: object, token?: string) => clinic.rest('PUT', `/v1/protocols/catalog/${key}`, body, token);

  test('makes version 1, then the next; what runs keeps its version', async () => {
    expect(await put('iron_one', plan())).toMatchObject({ status: 200, body: { key: 'iron_one', version: 1, status: 'active' } });
    const patient = clinic.stranger();
    const started = await clinic.rest('POST', '/v1/protocols', { user_id: patient, kind: 'protocol', key: 'iron_one' });
    expect(started.body).toMatchObject({ definition_version: 1, phase: 'One' });
    expect((await put('iron_one', plan())).status).toBe(409);
    expect(await put('iron_one', plan({ version: 1, phases: [phase({ name: 'Other', end_day: 60 })] }))).toMatchObject({
      status: 200,
      body: { version: 2 },
    });
    expect((await clinic.rest('GET', `/v1/protocols?user_id=${patient}`)).body.data).toMatchObject([
      { definition_version: 1, phase: 'One' },
    ]);
    expect((await clinic.rest('GET', '/v1/protocols/catalog/iron_one')).body).toMatchObject({ version: 2, phases: [{ name: 'Other' }] });
  });

  test('as a draft is not seen and cannot be started; retired it is seen and cannot be started', async () => {
    await put('iron_draft', plan({ status: 'draft' }));
    await put('iron_retired', plan({ status: 'retired' }));
    expect((await clinic.rest('GET', '/v1/protocols/catalog/iron_draft')).status).toBe(404);
    expect((await clinic.rest('GET', '/v1/protocols/catalog/iron_retired')).status).toBe(200);
    for (const key of ['iron_draft', 'iron_retired'])
      expect((await clinic.rest('POST', '/v1/protocols', { user_id: clinic.stranger(), kind: 'protocol', key })).status).toBe(400);
  });

  test.each<[string, object, string[]]>([
    ['a phase that ends before it starts', { phases: [phase({ start_day: 30 })] }, ['/phases/0/end_day']],
    ['a phase after the end', { phases: [phase({ end_day: 61 })] }, ['/phases/0/end_day']],
    ['phases that overlap', { phases: [phase(), phase({ start_day: 29, end_day: 40 })] }, ['/phases/1/start_day']],
    ['a marker that is unknown', { markers: [{ code: 'unobtainium' }] }, ['/markers/0/code']],
    ['a marker twice', { markers: [{ code: 'tsh' }, { code: 'tsh' }] }, ['/markers/1/code']],
    [
      'a timing that is no object',
      {
        phases: [
          phase({
            doses: [{ product_code: 'iron', quantity: { value: 1, unit: 'mg' }, route: 'oral', timing: 'daily', times_of_day: ['08:00'] }],
          }),
        ],
      },
      ['/phases/0/doses/0/timing'],
    ],
    [
      'a template that is unknown',
      { phases: [phase({ check_ins: [{ template_key: 'nothing', every_days: 7 }] })] },
      ['/phases/0/check_ins/0/template_key'],
    ],
    [
      'a dose of nothing',
      { phases: [phase({ doses: [{ product_code: 'x', quantity: { value: 0, unit: 'mg' }, route: 'oral', times_of_day: ['08:00'] }] })] },
      ['/phases/0/doses/0/quantity/value'],
    ],
    [
      'a time that is none',
      { phases: [phase({ doses: [{ product_code: 'x', quantity: { value: 1, unit: 'mg' }, route: 'oral', times_of_day: ['24:00'] }] })] },
      ['/phases/0/doses/0/times_of_day/0'],
    ],
    ['a target upside down', { markers: [{ code: 'tsh', target: { low: 3, high: 2 } }] }, ['/markers/0/target/low']],
  ])('refuses %s', async (_what, change, expected) => {
    const answer = await put('iron_bad', plan(change));
    expect([answer.status, pointers(answer)]).toEqual([400, expected]);
  });

  test('is for services and those who hold the dictionary', async () => {
    expect((await put('iron_x', plan(), await clinic.p.userToken(DEMO, ['write:protocols']))).status).toBe(403);
  });
});
