import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { BRAND, DEMO } from '../support/platform.js';
import { Clinic, day, PROMPT_FLAG } from './clinic.js';

let clinic: Clinic;
let member: string;
const stats = (query = '', token: string | null = clinic.token) => clinic.rest('GET', `/v1/retest-cycles/stats${query}`, undefined, token);

beforeAll(async () => {
  clinic = await Clinic.open(day(91));
  member = await clinic.p.userToken(DEMO, ['read:clinical']);
});

describe('GET /v1/retest-cycles/stats', () => {
  test('has no rate while nothing is closed', async () => {
    expect(await stats()).toMatchObject({
      status: 200,
      body: {
        retest_rate: null,
        counts: { baseline_set: 0, prompted: 0, retested: 0, expired: 0 },
        closed: 0,
        average_days_to_retest: null,
        organic_retested: 0,
        prompted_retested: 0,
        late_follow_ups: 0,
      },
    });
  });

  test('6 retested, 3 expired, 4 and 2 open: rate 0.6667, counts, average and who came without a prompt', async () => {
    const make = async (options: Parameters<Clinic['cycle']>[1] = {}) => {
      const patient = await clinic.patient();
      return { patient, cycle: await clinic.cycle(patient, { drawId: randomUUID(), ...options }) };
    };
    const nudge = async (count: number) => {
      const made = await Promise.all(Array.from({ length: count }, () => make()));
      for (const { patient } of made) await clinic.flag(PROMPT_FLAG, true, { user_id: patient });
      await clinic.sweep();
      return made;
    };
    const retest = (patient: string, at: number) => clinic.lab(patient, { code: 'ldl_c', value: 110, collectedAt: day(at) });
    const prompted = await nudge(6);
    for (const [index, { patient }] of prompted.slice(0, 4).entries()) await retest(patient, 80 + index);
    for (const at of [85, 91]) await retest((await make()).patient, at);
    for (let index = 0; index < 3; index++) await make({ collectedAt: day(-60), code: 'apob', value: 120 });
    await clinic.sweep();
    for (let index = 0; index < 4; index++) await make({ collectedAt: day(60) });
    expect((await stats()).body).toEqual({
      retest_rate: 0.6667,
      counts: { baseline_set: 4, prompted: 2, retested: 6, expired: 3 },
      closed: 9,
      average_days_to_retest: 83.7,
      organic_retested: 2,
      prompted_retested: 4,
      late_follow_ups: 0,
      computed_at: day(91),
    });
  });

  test('a filtered cell with fewer than 5 closed cycles has counts, but no rate and no average', async () => {
    expect((await stats('?code=ldl_c')).body).toMatchObject({ retest_rate: 1, closed: 6, average_days_to_retest: 83.7 });
    expect((await stats('?code=13457-7')).body).toMatchObject({ closed: 6 });
    expect((await stats('?code=apob')).body).toMatchObject({
      retest_rate: null,
      closed: 3,
      average_days_to_retest: null,
      counts: { expired: 3 },
    });
    expect((await stats(`?brand_id=${BRAND}&intervention_key=lipid_reset`)).body).toMatchObject({ retest_rate: 0.6667, closed: 9 });
    expect((await stats(`?brand_id=${randomUUID()}`)).body).toMatchObject({ retest_rate: null, closed: 0 });
    expect((await stats(`?closed_from=${day(90)}&closed_to=${day(92)}`)).body).toMatchObject({
      retest_rate: 0.6667,
      closed: 9,
      counts: { baseline_set: 0, prompted: 0 },
    });
    expect((await stats(`?closed_to=${day(91)}`)).body).toMatchObject({ closed: 0 });
  });

  test('is open to a member with read:clinical, unfiltered, and to nobody without the scope', async () => {
    expect(await stats('', member)).toMatchObject({ status: 200, body: { retest_rate: 0.6667 } });
    expect(await stats('?code=ldl_c', member)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(await stats('', await clinic.p.userToken(DEMO, ['read:my_outcomes']))).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope' },
    });
    expect((await stats('', null)).status).toBe(401);
    const staff = await clinic.p.userToken(DEMO, [], { permissions: ['admin:clinical:read'] });
    expect(await stats('?code=ldl_c', staff)).toMatchObject({ status: 200, body: { closed: 6 } });
  });

  test('says the same over GraphQL', async () => {
    const { data } = await clinic.p.graphql(
      '{ retestStats { retestRate counts { baselineSet prompted retested expired } closed } }',
      {},
      { token: clinic.token },
    );
    expect(data.retestStats).toEqual({ retestRate: 0.6667, counts: { baselineSet: 4, prompted: 2, retested: 6, expired: 3 }, closed: 9 });
  });

  test('agrees with a count of the cycles themselves, also after the erasure of a patient', async () => {
    const counted = () =>
      clinic.p.sql(
        'select status, count(*)::int as cycles, coalesce(sum(days_to_retest), 0)::int as days from clinical.retest_cycle group by status order by status',
      );
    const kept = () =>
      clinic.p.sql(
        'select status, sum(cycles)::int as cycles, sum(days)::int as days from clinical.retest_tally group by status having sum(cycles) <> 0 order by status',
      );
    expect(await kept()).toEqual(await counted());
    const [{ patient_id: patient }] = await clinic.p.sql(`select patient_id from clinical.retest_cycle where status = 'expired' limit 1`);
    await clinic.rest('POST', '/v1/admin/erasure', { patient_id: patient });
    expect(await kept()).toEqual(await counted());
    expect((await stats()).body).toMatchObject({ counts: { expired: 2 }, closed: 8, retest_rate: 0.75 });
  });
});
