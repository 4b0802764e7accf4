import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { keepUntil, retentionYears } from '../../subgraphs/clinical/rules/consult.js';
import { DEMO, DEMO2 } from '../support/platform.js';
import { Clinic, T0 } from './clinic.js';

let clinic: Clinic;
let clinician: string;
beforeAll(async () => {
  clinic = await Clinic.open(T0, { env: { CLINICAL_RETAIN_SIGNED_CONSULT_YEARS: '10' } });
  clinician = await clinic.p.userToken(DEMO2, [], {
    permissions: ['admin:clinical:consults', 'admin:clinical:read'],
    roles: ['clinician'],
  });
});

const change = async (method: string, path: string, body: object) =>
  (await clinic.rest(method, `/v1/consults${path}`, body, clinician)).body;

/** A signed consult of the demo user. */
async function signed(): Promise<any> {
  const { body } = await clinic.rest('POST', '/v1/consults', { user_id: DEMO, type: 'initial', intake_answers: { smoker: true } });
  const scheduled = await change('PATCH', `/${body.id}`, { version: 1, status: 'scheduled', visit_id: randomUUID(), clinician_id: DEMO2 });
  const begun = await change('PATCH', `/${body.id}`, { version: scheduled.version, status: 'in_progress', notes: 'Well.' });
  return change('POST', `/${body.id}/sign`, { version: begun.version, outcome: 'referred', follow_up_due_on: '2026-11-01' });
}

describe('signed consults that the operator must keep', () => {
  test('are stripped at erasure of all but id, type and dates, and reported as retained with the basis', async () => {
    const consult = await signed();
    await clinic.rest('POST', '/v1/consults', { user_id: DEMO, type: 'follow_up' });
    const answer = await clinic.rest('POST', '/v1/admin/erasure', { patient_id: DEMO });
    expect(answer).toMatchObject({
      status: 200,
      body: {
        outcome: 'retained',
        basis: 'medical records: signed consults are kept for 10 years',
        records: { consult: 2, retained_consult: 1 },
      },
    });
    expect((await clinic.rest('GET', `/v1/consults/${consult.id}`)).status).toBe(404);
    const kept = await clinic.p.sql('select *, follow_up_due_on::text from clinical.retained_consult');
    const at = new Date(T0);
    expect(kept).toEqual([
      {
        id: consult.id,
        type: 'initial',
        created_at: at,
        signed_at: at,
        follow_up_due_on: '2026-11-01',
        keep_until: new Date('2036-08-01T08:00:00.000Z'),
      },
    ]);
    expect((await clinic.rest('POST', '/v1/admin/erasure', { patient_id: DEMO })).body).toMatchObject({
      outcome: 'nothing_held',
      basis: null,
    });
  });
});

test.each([
  [undefined, 0],
  ['0', 0],
  ['7', 7],
])('the setting %s keeps them for %d years', (text, years) => expect(retentionYears(text)).toBe(years));
test.each(['-1', '51', '1.5', 'long'])('the setting %s is refused', text => expect(() => retentionYears(text)).toThrow(/from 0 to 50/));
test('years are those of the calendar', () =>
  expect(keepUntil(new Date('2024-02-29T00:00:00.000Z'), 1)).toEqual(new Date('2025-03-01T00:00:00.000Z')));
