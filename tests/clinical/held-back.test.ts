import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DEMO } from '../support/platform.js';
import { until } from '../support/until.js';
import { Clinic, T0 } from './clinic.js';

let clinic: Clinic;
beforeAll(async () => {
  clinic = await Clinic.open();
});
afterEach(async () => {
  await clinic.rest('POST', '/v1/admin/erasure', { patient_id: DEMO });
});

const SCOPES = ['read:biomarkers', 'read:my_outcomes', 'read:lab_results', 'write:biomarkers'];
const asMember = async (path: string) => clinic.rest('GET', path, undefined, await clinic.p.userToken(DEMO, SCOPES));
const potassium = async (value: number, drawId: string = randomUUID()) =>
  (await clinic.post(DEMO, { code: 'potassium', value, collectedAt: T0, drawId })).body.data[0];
const change = async (id: string, action: string, body: object = {}) =>
  (await clinic.rest('POST', `/v1/biomarkers/${id}/${action}`, body)).body;
const acknowledge = async (observationId: string) => {
  const [alert] = (await clinic.rest('GET', `/v1/critical-alerts?observation_id=${observationId}`)).body.data;
  expect((await clinic.rest('POST', `/v1/critical-alerts/${alert.id}/acknowledge`, {})).status).toBe(200);
};

/** Baseline of an open cycle on a stack. */
async function cycleOn(observationId: string): Promise<string> {
  await clinic.rest('POST', '/v1/protocols', { user_id: DEMO, kind: 'stack', key: 'minerals' });
  const intervention = { kind: 'stack', key: 'minerals' };
  const body = { patient_id: DEMO, code: 'potassium', baseline: { observation_id: observationId }, intervention };
  return (await clinic.rest('POST', '/v1/retest-cycles', body)).body.id;
}

describe('members see a critical value only after acknowledgement or 24 h', () => {
  test('in the rows of a report: the critical one says nothing until then, the others do', async () => {
    const message = [
      'MSH|^~\\&|LAB|A|||20260730||ORU^R01|1|P|2.5',
      'OBR|1||R-10^LAB|CHEM|||20260730081500',
      'OBX|1|NM|2823-3^Potassium^LN||6.6|mmol/L|3.5-5.1||||F',
      'OBX|2|NM|13457-7^LDL^LN||110|mg/dL|0-130||||F',
    ].join('\r');
    const file = Buffer.from(message).toString('base64');
    const { id } = (await clinic.rest('POST', '/v1/bloodwork', { user_id: DEMO, file })).body;
    const read = () => clinic.rest('GET', `/v1/bloodwork/${id}`);
    const report = await until('the report', read, ({ body }) => body.status === 'parsed');
    expect(report.body.rows).toMatchObject([{ code: 'potassium', value: 6.6 }, { value: 110 }]);
    const hidden = (await asMember(`/v1/bloodwork/${id}`)).body.rows;
    expect(hidden).toMatchObject([{ code: 'potassium', value: null, unit: null, range: null, raw_text: null }, { value: 110 }]);
    await acknowledge(report.body.rows[0].observation_id);
    expect((await asMember(`/v1/bloodwork/${id}`)).body.rows).toMatchObject([{ value: 6.6, unit: 'mmol/L' }, { value: 110 }]);
  });

  test('in an open cycle whose baseline is corrected to a critical value, and at once when it is corrected back', async () => {
    const id = await cycleOn((await potassium(4.5)).id);
    const mine = async () => (await asMember('/v1/retest-cycles/me')).body.data[0].baseline_value;
    expect(await mine()).toMatchObject({ value: 4.5 });
    const critical = await change((await clinic.read(id)).baseline_observation_id, 'correct', { value: 6.6, unit: 'mmol/L' });
    expect(await mine()).toBeNull();
    expect((await clinic.read(id)).baseline_value).toMatchObject({ value: 6.6 });
    await change(critical.id, 'correct', { value: 4.6, unit: 'mmol/L' });
    expect(await mine()).toMatchObject({ value: 4.6 });
  });

  test('in the history of a result that corrects it, and in the row that withdraws it', async () => {
    const critical = await potassium(6.6);
    const fixed = await change(critical.id, 'correct', { value: 4.5, unit: 'mmol/L' });
    expect((await asMember(`/v1/biomarkers/${fixed.id}`)).body).toMatchObject({ value: { value: 4.5 }, history: [] });
    expect((await clinic.rest('GET', `/v1/biomarkers/${fixed.id}`)).body.history).toMatchObject([{ value: { value: 6.6 } }]);
    await acknowledge(critical.id);
    expect((await asMember(`/v1/biomarkers/${fixed.id}`)).body.history).toMatchObject([{ value: { value: 6.6 } }]);
    const gone = await change((await potassium(6.7)).id, 'retract');
    expect((await asMember(`/v1/biomarkers/${gone.id}`)).status).toBe(404);
  });
});
