import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DEMO, DEMO2 } from '../support/platform.js';
import { until } from '../support/until.js';
import { Clinic } from './clinic.js';

let clinic: Clinic;
beforeAll(async () => {
  clinic = await Clinic.open();
});
afterEach(async () => {
  await clinic.leave();
  await clinic.rest('POST', '/v1/admin/erasure', { patient_id: DEMO });
});

const now = async (): Promise<string> => (await clinic.p.sql('select now from clinical.test_clock'))[0].now.toISOString();
const advance = async (ms: number) => clinic.clock(new Date(Date.parse(await now()) + ms).toISOString());
const DAY = 86_400_000;

/** Five markers of four categories, all optimal. */
const OPTIMAL = { ldl_c: 90, apob: 70, hba1c: 5.2, hs_crp: 0.5, tsh: 2 };
const post = async (patient: string, values: Record<string, number>) => {
  const collectedAt = await now();
  const answer = await clinic.post(patient, ...Object.entries(values).map(([code, value]) => ({ code, value, collectedAt })));
  expect(answer.status).toBe(201);
};
const read = async (patient: string) => (await clinic.rest('GET', `/v1/health-score?user_id=${patient}`)).body;
const history = async (patient: string) => (await clinic.rest('GET', `/v1/health-score/history?user_id=${patient}`)).body.data;
const events = async (patient: string) =>
  (
    await clinic.p.sql<{ data: any }>(
      `select data from events.outbox where user_id = $1 and type = 'clinical.health_score.computed.v1' order by seq`,
      [patient],
    )
  ).map(row => row.data);

/** Computes a score now and waits for its row. */
async function computed(patient: string): Promise<any> {
  const before = (await history(patient)).length;
  expect((await clinic.rest('POST', '/v1/health-score/recompute', { user_id: patient })).status).toBe(202);
  await advance(1);
  const rows = await until(
    'the score',
    () => history(patient),
    found => found.length > before,
  );
  return rows[0];
}

describe('the health score', () => {
  test('of a patient without enough results is 200 with insufficient_data and no score', async () => {
    const patient = clinic.stranger();
    await post(patient, { ldl_c: 90, apob: 70 });
    expect(await clinic.rest('GET', `/v1/health-score?user_id=${patient}`)).toMatchObject({
      status: 200,
      body: { status: 'insufficient_data', score: null, band: null, trend: null },
    });
    expect(await computed(patient)).toMatchObject({ status: 'insufficient_data', score: null });
    expect(await events(patient)).toEqual([]);
  });

  test('is computed once, when the results have been quiet for 60 s, and told without the score', async () => {
    const patient = clinic.stranger();
    const { tsh, ...first } = OPTIMAL;
    await post(patient, first);
    await advance(59_000);
    await post(patient, { tsh });
    await advance(59_999);
    expect(await history(patient)).toEqual([]);
    await advance(1);
    const [score, ...others] = await until(
      'the score',
      () => history(patient),
      found => found.length > 0,
    );
    expect(others).toEqual([]);
    expect(score).toMatchObject({ patient_id: patient, status: 'partial', score: 100, band: 'optimal', trend: 'first' });
    expect(score.components.map((one: any) => one.category).sort()).toEqual(['inflammation', 'lipids', 'metabolic', 'thyroid']);
    expect(await read(patient)).toEqual(score);
    expect(await events(patient)).toEqual([
      { score_id: score.id, model_version: score.model_version, band: 'optimal', trend: 'first', computed_at: score.computed_at },
    ]);
  });

  test('is told again with another band or after 30 days, and its history has every row, newest first', async () => {
    const patient = clinic.stranger();
    await post(patient, OPTIMAL);
    const first = await computed(patient);
    const same = await computed(patient);
    expect(same).toMatchObject({ score: 100, trend: 'flat' });
    expect(await events(patient)).toHaveLength(1);
    await advance(1000);
    await post(patient, { ldl_c: 195, apob: 180, hba1c: 8.4 });
    const worse = await computed(patient);
    // lipids and metabolic at 60·exp(-1) = 22.07, weight 2 each; inflammation 1.5 and thyroid 1 at 100
    expect(worse).toMatchObject({ score: 52, band: 'fair', trend: 'down' });
    expect((await events(patient)).map(data => data.band)).toEqual(['optimal', 'fair']);
    await advance(30 * DAY);
    const later = await computed(patient);
    expect(later).toMatchObject({ band: 'fair', trend: 'flat' });
    expect((await events(patient)).map(data => data.score_id)).toEqual([first.id, worse.id, later.id]);
    expect((await history(patient)).slice(-3).map((row: any) => row.id)).toEqual([worse.id, same.id, first.id]);
  });

  test('leaves out what was withdrawn, what is preliminary, and what waits for a person', async () => {
    const patient = clinic.stranger();
    const collectedAt = await now();
    const { ldl_c, ...others } = OPTIMAL;
    await post(patient, others);
    const [row] = (await clinic.post(patient, { code: 'ldl_c', value: ldl_c, collectedAt, status: 'preliminary' })).body.data;
    expect(await computed(patient)).toMatchObject({ status: 'insufficient_data' });
    const [final] = (await clinic.post(patient, { code: 'ldl_c', value: ldl_c, collectedAt, drawId: row.draw_id })).body.data;
    expect(await computed(patient)).toMatchObject({ score: 100 });
    await clinic.rest('POST', `/v1/biomarkers/${final.id}/retract`, {});
    expect(await computed(patient)).toMatchObject({ status: 'insufficient_data' });
  });

  test("is the member's own with read:clinical, its score with read:biomarkers, and another's for services and clinicians", async () => {
    await post(DEMO, OPTIMAL);
    await computed(DEMO);
    const ask = (path: string, token: string) => clinic.rest('GET', `/v1/health-score${path}`, undefined, token);
    const own = await clinic.p.userToken(DEMO, ['read:clinical', 'read:biomarkers']);
    expect(await ask('/me', own)).toMatchObject({ status: 200, body: { score: 100, band: 'optimal' } });
    expect((await ask('/history', own)).body.data).toMatchObject([{ score: 100 }]);
    const plain = await clinic.p.userToken(DEMO, ['read:clinical']);
    expect((await ask('/me', plain)).body).toMatchObject({ score: null, components: null, band: 'optimal' });
    expect((await ask('/me', await clinic.p.userToken(DEMO, ['read:biomarkers']))).status).toBe(403);
    expect((await ask(`?user_id=${DEMO}`, own)).status).toBe(403);
    const clinician = await clinic.p.userToken(DEMO2, [], { permissions: ['admin:clinical:read'] });
    expect((await ask(`?user_id=${DEMO}`, clinician)).body).toMatchObject({ score: 100 });
    expect((await clinic.rest('POST', '/v1/health-score/recompute', { user_id: DEMO }, own)).status).toBe(403);
  });

  test('lets nobody work out a critical value that is still kept from the member; it counts afterwards', async () => {
    await post(DEMO, { ...OPTIMAL, potassium: 6.6 });
    const codes = (score: any): string[] => score.components.flatMap((one: any) => one.contributors.map((each: any) => each.code));
    const first = await computed(DEMO);
    expect(codes(first)).toHaveLength(5);
    const [alert] = (await clinic.rest('GET', `/v1/critical-alerts?user_id=${DEMO}`)).body.data;
    expect((await clinic.rest('POST', `/v1/critical-alerts/${alert.id}/acknowledge`, {})).status).toBe(200);
    await advance(1);
    const [shown] = await until(
      'the score',
      () => history(DEMO),
      found => codes(found[0]).length === 6,
    );
    expect(codes(shown)).toContain('potassium');
    await post(DEMO, { potassium: 6.7 });
    await computed(DEMO);
    const before = (await history(DEMO)).length;
    await advance(DAY);
    const rows = await until(
      'the score',
      () => history(DEMO),
      found => found.length > before,
    );
    expect(codes(rows[0])).toHaveLength(6);
  });
});
