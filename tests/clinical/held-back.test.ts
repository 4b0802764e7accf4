import { randomUUID } from 'node:crypto';
import { request } from 'undici';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DEMO, DEMO2 } from '../support/platform.js';
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

  const MESSAGE = [
    'MSH|^~\\&|LAB|A|||20260730||ORU^R01|1|P|2.5',
    'OBR|1||R-11^LAB|CHEM|||20260730081500',
    'OBX|1|NM|2823-3^Potassium^LN||6.8|mmol/L|3.5-5.1||||F',
  ].join('\r');
  const sent = async (message: string): Promise<any> =>
    (await clinic.rest('POST', '/v1/bloodwork', { user_id: DEMO, file: Buffer.from(message).toString('base64') })).body;
  const read = async (id: string, status: string): Promise<any> =>
    (
      await until(
        'the report',
        () => clinic.rest('GET', `/v1/bloodwork/${id}`),
        ({ body }) => body.status === status,
      )
    ).body;
  const fileFor = async (id: string, token?: string) =>
    clinic.rest('GET', `/v1/bloodwork/${id}/file`, undefined, token ?? (await clinic.p.userToken(DEMO, SCOPES)));
  const clinician = () => clinic.p.userToken(DEMO2, [], { permissions: ['admin:clinical:read'] });

  test('in the file of a report, by a new link and by one of before; the care team has it at once', async () => {
    const { id } = await sent(MESSAGE);
    const report = await read(id, 'parsed');
    expect((await fileFor(id)).status).toBe(404);
    for (const token of [clinic.token, await clinician()]) {
      const { status, headers } = await fileFor(id, token);
      expect([status, (await request(String(headers.location))).statusCode]).toEqual([302, 200]);
    }
    const query = 'query ($id: ID!) { labReport(id: $id) { id counts { rows } file { url } } }';
    const asked = await clinic.p.graphql(query, { id }, { token: await clinic.p.userToken(DEMO, SCOPES) });
    expect(asked).toMatchObject({ data: { labReport: { id, counts: { rows: 1 }, file: null } } });
    await acknowledge(report.rows[0].observation_id);
    const { status, headers } = await fileFor(id);
    expect([status, (await request(String(headers.location))).statusCode]).toEqual([302, 200]);
  });

  test('in the file of a report whose critical value was stored before, from elsewhere', async () => {
    const [critical] = (await clinic.post(DEMO, { code: 'potassium', value: 6.8, collectedAt: '2026-07-30T06:00:00.000Z' })).body.data;
    const { id } = await sent(MESSAGE);
    expect((await read(id, 'parsed')).rows).toMatchObject([{ state: 'duplicate', observation_id: critical.id }]);
    expect((await asMember(`/v1/bloodwork/${id}`)).body.rows).toMatchObject([{ value: null, raw_text: null }]);
    expect((await fileFor(id)).status).toBe(404);
  });

  test('in the file that the member has sent in, too, once a value of it is judged to be critical', async () => {
    const file = Buffer.from(MESSAGE.replace('R-11', 'R-13')).toString('base64');
    const mine = await clinic.rest('POST', '/v1/bloodwork/me', { file }, await clinic.p.userToken(DEMO, SCOPES));
    const report = await read(mine.body.id, 'parsed');
    expect((await asMember(`/v1/bloodwork/${report.id}`)).body.rows).toMatchObject([{ value: null, raw_text: null }]);
    expect((await fileFor(report.id)).status).toBe(404);
    await acknowledge(report.rows[0].observation_id);
    expect((await fileFor(report.id)).status).toBe(302);
  });

  test('in a report that others sent in and nobody has judged: rows and file wait as long; the own one is had at once', async () => {
    const unclear = MESSAGE.replace('|mmol/L|', '||');
    const { id } = await sent(unclear);
    expect(await read(id, 'needs_review')).toMatchObject({ rows: [{ state: 'matched', value: 6.8, unit: null }] });
    expect((await asMember(`/v1/bloodwork/${id}`)).body.rows).toMatchObject([{ code: 'potassium', value: null, raw_text: null }]);
    expect((await fileFor(id)).status).toBe(404);
    const own = unclear.replace('R-11', 'R-12');
    const mine = await clinic.rest(
      'POST',
      '/v1/bloodwork/me',
      { file: Buffer.from(own).toString('base64') },
      await clinic.p.userToken(DEMO, SCOPES),
    );
    await read(mine.body.id, 'needs_review');
    expect((await asMember(`/v1/bloodwork/${mine.body.id}`)).body.rows).toMatchObject([{ value: 6.8 }]);
    expect((await fileFor(mine.body.id)).status).toBe(302);
    const [{ now }] = await clinic.p.sql('select now from clinical.test_clock');
    await clinic.clock(new Date(now.getTime() + 86_400_000).toISOString());
    expect((await asMember(`/v1/bloodwork/${id}`)).body.rows).toMatchObject([{ value: 6.8 }]);
    expect((await fileFor(id)).status).toBe(302);
  });

  test('in a red flag that it raised, also an acknowledged one, and in the export', async () => {
    const scopes = ['read:red_flags', 'read:clinical', 'read:biomarkers'];
    const flags = async () => (await clinic.rest('GET', '/v1/red-flags/me', undefined, await clinic.p.userToken(DEMO, scopes))).body.data;
    const kinds = async (): Promise<string[]> => {
      const exported = await clinic.rest('GET', '/v1/fhir/export/me', undefined, await clinic.p.userToken(DEMO, scopes));
      const all: string[] = exported.body.bundle.entry.map((one: any) => one.resource.resourceType);
      expect(exported.body.resource_count).toBe(all.filter(one => one !== 'Patient').length);
      return all;
    };
    const critical = await potassium(6.8);
    const [flag] = (await clinic.rest('GET', `/v1/red-flags?user_id=${DEMO}`)).body.data;
    expect((await clinic.rest('POST', `/v1/red-flags/${flag.id}/acknowledge`, {})).status).toBe(200);
    expect([await flags(), await kinds()]).toEqual([[], []]);
    await acknowledge(critical.id);
    expect(await flags()).toMatchObject([{ id: flag.id }]);
    expect(await kinds()).toEqual(expect.arrayContaining(['Observation', 'Flag']));
  });

  test('in the direction of a cycle that it closes', async () => {
    const id = await cycleOn((await potassium(5.2)).id);
    await clinic.clock('2026-08-03T08:00:00.000Z');
    const follow = { code: 'potassium', value: 6.8, collectedAt: '2026-08-02T08:00:00.000Z' };
    const critical = await clinic.lab(DEMO, follow);
    expect(await clinic.read(id)).toMatchObject({ status: 'retested', outcome_direction: 'worsened' });
    const hidden = { status: 'retested', outcome_direction: null, outcome_basis: null, crossed_target: null, delta: null };
    expect((await asMember('/v1/retest-cycles/me')).body.data).toMatchObject([hidden]);
    await acknowledge(critical.id);
    expect((await asMember('/v1/retest-cycles/me')).body.data).toMatchObject([{ outcome_direction: 'worsened', delta: 1.6 }]);
  });

  const RECORDED = 'clinical.retest.recorded.v1';
  const FLAGGED = 'clinical.red_flag.detected.v1';
  const told = async (type: string): Promise<any[]> =>
    (
      await clinic.p.sql(`select data from events.outbox where user_id = $1 and type = $2 and seq > $3 order by seq`, [DEMO, type, since])
    ).map(row => row.data);
  let since = '0';
  const fromNow = async (): Promise<void> => {
    const [row] = await clinic.p.sql('select coalesce(max(seq), 0)::text as last from events.outbox');
    since = row.last;
  };
  const later = async (ms: number): Promise<void> => {
    const [{ now }] = await clinic.p.sql('select now from clinical.test_clock');
    await clinic.clock(new Date(now.getTime() + ms).toISOString());
  };

  /** A cycle that a critical value has closed. */
  async function closedByCritical(): Promise<any> {
    const id = await cycleOn((await potassium(5.2)).id);
    await later(2 * 86_400_000);
    await fromNow();
    const [{ now }] = await clinic.p.sql('select now from clinical.test_clock');
    const critical = await clinic.lab(DEMO, {
      code: 'potassium',
      value: 6.8,
      collectedAt: new Date(now.getTime() - 3_600_000).toISOString(),
    });
    expect(await clinic.read(id)).toMatchObject({ status: 'retested', outcome_direction: 'worsened' });
    return critical;
  }
  const OUTCOME = { code: 'potassium', direction: 'worsened', days_to_retest: expect.any(Number) };

  test('in the event of a cycle that it closes, which is emitted once when it is acknowledged', async () => {
    const critical = await closedByCritical();
    expect(await told(RECORDED)).toEqual([]);
    await acknowledge(critical.id);
    expect(await told(RECORDED)).toEqual([OUTCOME]);
    await later(2 * 86_400_000);
    expect(await told(RECORDED)).toHaveLength(1);
  });

  test('in that event, which is emitted after 24 h when nobody acknowledges it; of an erased member it is not', async () => {
    await closedByCritical();
    await later(86_400_000 - 1);
    expect(await told(RECORDED)).toEqual([]);
    await later(1);
    expect(await told(RECORDED)).toEqual([OUTCOME]);
    await closedByCritical();
    await clinic.rest('POST', '/v1/admin/erasure', { patient_id: DEMO });
    await later(86_400_000);
    expect(await told(RECORDED)).toEqual([]);
  });

  describe('in the event of a flag that is not urgent', () => {
    beforeAll(async () => {
      const condition = { '>': [{ var: 'biomarkers.potassium.value' }, 6.2] };
      await clinic.p.sql(
        `insert into clinical.red_flag_rule (id, key, source, condition, severity, member_message_key, clinician_action)
         values (gen_random_uuid(), 'potassium_watch', 'biomarker', $1, 'warning', 'red_flag.potassium_watch', 'Look at it.')`,
        [JSON.stringify(condition)],
      );
    });
    const watched = async () => (await told(FLAGGED)).filter(data => data.rule === 'potassium_watch');

    test('the urgent one goes to clinicians at once, this one when the value is acknowledged', async () => {
      await fromNow();
      const critical = await potassium(6.8);
      expect((await told(FLAGGED)).map(data => data.severity)).toEqual(['urgent']);
      await acknowledge(critical.id);
      expect(await watched()).toMatchObject([{ severity: 'warning', source: 'biomarker' }]);
    });

    test('and not at all when it was dismissed before', async () => {
      await fromNow();
      const critical = await potassium(6.8);
      const flags = (await clinic.rest('GET', `/v1/red-flags?user_id=${DEMO}&severity=warning`)).body.data;
      expect((await clinic.rest('POST', `/v1/red-flags/${flags[0].id}/dismiss`, { reason: 'A haemolysed sample.' })).status).toBe(200);
      await acknowledge(critical.id);
      expect(await watched()).toEqual([]);
    });
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
