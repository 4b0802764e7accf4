import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { BRAND } from '../support/platform.js';
import { Clinic, day, PROMPT_FLAG } from './clinic.js';

let clinic: Clinic;
/** Each test begins here; the clock only goes forward. */
let start: string;

beforeAll(async () => {
  clinic = await Clinic.open();
});

afterEach(async () => {
  await clinic.leave();
  await clinic.flag(PROMPT_FLAG, null);
});

/** A cycle that is due so many days after the test's start. */
async function cycleDue(patient: string, inDays: number): Promise<any> {
  return clinic.cycle(patient, { collectedAt: day(inDays - 90, start), drawId: randomUUID() });
}

const now = async (): Promise<string> =>
  (await clinic.p.sql(`select to_char(now at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as now from clinical.test_clock`))[0].now;

describe('the sweep', () => {
  test('prompts nobody while the prompt flag is off', async () => {
    start = await now();
    const patient = await clinic.patient();
    const cycle = await cycleDue(patient, 1);
    await clinic.clock(day(2, start));
    expect(await clinic.sweep()).toMatchObject({ scanned: 1, prompted: 0, skipped_flag: 1 });
    expect(await clinic.read(cycle.id)).toMatchObject({ status: 'baseline_set', prompt_count: 0 });
    expect(await clinic.eventTypes(patient)).toEqual(['cycle_started']);
  });

  test('prompts a due cycle of a (brand, user) for whom the flag is on, and no other', async () => {
    start = await now();
    const [a, c] = [await clinic.patient(), await clinic.patient()];
    const cycles = [await cycleDue(a, 0), await cycleDue(c, 0)];
    await clinic.flag(PROMPT_FLAG, true, { brand_id: BRAND, user_id: a });
    expect(await clinic.sweep()).toMatchObject({ prompted: 1, skipped_flag: 1 });
    expect(await clinic.read(cycles[0].id)).toMatchObject({
      status: 'prompted',
      prompt_count: 1,
      last_prompted_at: start,
      next_prompt_at: day(14, start),
    });
    expect(await clinic.read(cycles[1].id)).toMatchObject({ status: 'baseline_set', prompt_count: 0 });
    expect((await clinic.events(a)).at(-1)).toEqual({
      type: 'clinical.retest.prompted.v1',
      brand_id: BRAND,
      data: { code: 'ldl_c', prompt_count: 1, prompted_at: start },
    });
  });

  test('reads a flag that cannot be read as off', async () => {
    start = await now();
    const patient = await clinic.patient();
    await cycleDue(patient, 0);
    await clinic.flag(PROMPT_FLAG, '!error');
    expect(await clinic.sweep()).toMatchObject({ prompted: 0, skipped_flag: 1, failed: 0 });
  });

  test('by its timer prompts on days 90, 104 and 118 and expires after day 120, once each', async () => {
    const patient = await clinic.patient();
    start = await now();
    const cycle = await clinic.cycle(patient, { collectedAt: start });
    await clinic.flag(PROMPT_FLAG, true, { user_id: patient });
    await clinic.clock(day(121, start));
    expect(await clinic.read(cycle.id)).toMatchObject({
      status: 'expired',
      prompt_count: 3,
      next_prompt_at: null,
      outcome_direction: null,
    });
    const events = await clinic.events(patient);
    expect(events.map(event => event.type.split('.')[2])).toEqual(['cycle_started', 'prompted', 'prompted', 'prompted', 'expired']);
    const days = events.slice(1).map(({ data }) => (Date.parse(data.prompted_at ?? data.expired_at) - Date.parse(start)) / 86_400_000);
    expect(days.map(Math.floor)).toEqual([90, 104, 118, 120]);
    days.forEach((at, index) => expect(at - [90, 104, 118, 120][index]!).toBeLessThan(0.25));
    expect(events.at(-1)).toMatchObject({ type: 'clinical.retest.expired.v1', data: { code: 'ldl_c', prompt_count: 3 } });
  }, 180_000); // 484 sweeps

  test('takes the prompt limits that are set for a brand; those of all apply to the others, and where platform says nothing of use', async () => {
    start = await now();
    await clinic.flag(PROMPT_FLAG, true);
    const schema = { type: 'object' };
    const defined = { key: 'clinical.retest', description: 'Prompt limits', schema, scopes: ['brand'], readers: ['clinical'] };
    const platform = (method: string, path: string, body: object) => clinic.p.rest(method, path, { token: clinic.token, body });
    expect((await platform('POST', '/platform/v1/admin/config', defined)).status).toBe(201);
    const set = (value: object, version: number) =>
      platform('PUT', '/platform/v1/admin/config/clinical.retest', { brand_id: BRAND, value, expected_version: version, reason: 'test' });
    expect((await set({ reprompt_days: 3, max_prompts: 2 }, 0)).status).toBe(200);
    const [here, elsewhere] = [await clinic.patient(), await clinic.patient()];
    const mine = await cycleDue(here, 0);
    const theirs = await clinic.cycle(elsewhere, { collectedAt: day(-90, start), more: { brand_id: randomUUID() } });
    await clinic.sweep();
    expect(await clinic.read(mine.id)).toMatchObject({ prompt_count: 1, next_prompt_at: day(3, start) });
    expect(await clinic.read(theirs.id)).toMatchObject({ prompt_count: 1, next_prompt_at: day(14, start) });
    await clinic.clock(day(13.9, start));
    expect(await clinic.read(mine.id)).toMatchObject({ prompt_count: 2, next_prompt_at: null });
    expect(await clinic.read(theirs.id)).toMatchObject({ prompt_count: 1 });
    expect((await set({ max_prompts: 99 }, 1)).status).toBe(200);
    await clinic.sweep();
    expect(await clinic.read(mine.id)).toMatchObject({ prompt_count: 2 }); // 14 days are not over
  });

  test('runs every 6 hours on the UTC grid, one run a slot and none left out, whatever runs beside', async () => {
    start = await now();
    await clinic.clock(day(10, start));
    const { body } = await clinic.rest('GET', '/v1/retest-cycles/sweeps?limit=38');
    expect(new Set(body.data.map((run: any) => run.trigger))).toEqual(new Set(['timer']));
    expect(new Set(body.data.map((run: any) => run.started_at.slice(11)))).toEqual(
      new Set(['00:00:00.000Z', '06:00:00.000Z', '12:00:00.000Z', '18:00:00.000Z']),
    );
    const gaps = body.data.slice(1).map((run: any, index: number) => Date.parse(body.data[index].started_at) - Date.parse(run.started_at));
    expect(new Set(gaps)).toEqual(new Set([6 * 3_600_000]));
    expect(body.next_cursor).toEqual(expect.any(String));
  });

  test('goes on when one cycle fails, and tries that one again at the next run', async () => {
    start = await now();
    await clinic.flag(PROMPT_FLAG, true);
    const patients = [await clinic.patient(), await clinic.patient(), await clinic.patient()];
    const cycles = [];
    for (const patient of patients) cycles.push(await cycleDue(patient, 0));
    await clinic.fault('retest.sweep.cycle', cycles[1].id, 1);
    expect(await clinic.sweep()).toMatchObject({ prompted: 2, failed: 1 });
    expect(await clinic.read(cycles[1].id)).toMatchObject({
      status: 'baseline_set',
      prompt_count: 0,
      failure_count: 1,
      last_error_class: 'Error',
    });
    expect(await clinic.sweep()).toMatchObject({ prompted: 1, failed: 0, skipped_limit: 2 });
    expect(await clinic.read(cycles[1].id)).toMatchObject({
      status: 'prompted',
      prompt_count: 1,
      failure_count: 0,
      last_error_class: null,
    });
    for (const patient of patients) expect(await clinic.eventTypes(patient)).toEqual(['cycle_started', 'prompted']);
  });

  test('raises an alarm for a cycle that fails 5 times in a row, and tries it still', async () => {
    start = await now();
    await clinic.flag(PROMPT_FLAG, true);
    const cycle = await cycleDue(await clinic.patient(), 0);
    const log = vi.spyOn(clinic.p.host('clinical').log, 'error');
    await clinic.fault('retest.sweep.cycle', cycle.id, 5);
    const alarms = () =>
      log.mock.calls.map(([fields]) => fields as unknown).filter(fields => (fields as { alarm?: string }).alarm === 'retest_cycle_failing');
    for (let failures = 1; failures <= 5; failures++) {
      expect(alarms()).toEqual([]);
      await clinic.sweep();
    }
    expect(alarms()).toEqual([{ alarm: 'retest_cycle_failing', cycle: cycle.id, failures: 5, error_class: 'Error' }]);
    log.mockRestore();
    await clinic.sweep();
    expect(await clinic.read(cycle.id)).toMatchObject({ status: 'prompted', failure_count: 0 });
  });

  test('isolates a row that the database refuses', async () => {
    start = await now();
    await clinic.flag(PROMPT_FLAG, true);
    const [poisoned, healthy] = [await cycleDue(await clinic.patient(), 0), await cycleDue(await clinic.patient(), 0)];
    await clinic.p.sql(`alter table clinical.retest_cycle add constraint poison check (id <> '${poisoned.id}' or prompt_count = 0)`);
    try {
      expect(await clinic.sweep()).toMatchObject({ prompted: 1, failed: 1 });
    } finally {
      await clinic.p.sql('alter table clinical.retest_cycle drop constraint poison');
    }
    expect(await clinic.read(poisoned.id)).toMatchObject({ prompt_count: 0, failure_count: 1, last_error_class: '23514' });
    expect(await clinic.read(healthy.id)).toMatchObject({ prompt_count: 1 });
  });

  test('records a stored follow-up before it expires anything', async () => {
    start = await now();
    const patient = await clinic.patient();
    const cycle = await cycleDue(patient, -29.9);
    await clinic.fault('retest.handler', null, 1000);
    const { body } = await clinic.post(patient, { code: 'ldl_c', value: 110, collectedAt: start });
    await clinic.clock(day(0.2, start));
    expect(await clinic.sweep()).toMatchObject({ recorded: expect.any(Number), expired: 0 });
    expect(await clinic.read(cycle.id)).toMatchObject({ status: 'retested', outcome_direction: 'improved' });
    await clinic.fault('retest.handler', null, 0);
    await clinic.handled(body.data[0].id);
    expect(await clinic.eventTypes(patient)).toEqual(['cycle_started', 'recorded']);
  });

  test('a lab collected exactly at expiry counts; one millisecond later the cycle expires', async () => {
    start = await now();
    const [inTime, tooLate] = [await clinic.patient(), await clinic.patient()];
    const [one, two] = [await cycleDue(inTime, -29), await cycleDue(tooLate, -29)];
    const expiry = one.expires_at as string;
    await clinic.clock(new Date(Date.parse(expiry) - 60_000).toISOString());
    await clinic.lab(inTime, { code: 'ldl_c', value: 110, collectedAt: expiry });
    await clinic.lab(tooLate, { code: 'ldl_c', value: 110, collectedAt: new Date(Date.parse(expiry) + 1).toISOString() });
    expect(await clinic.read(one.id)).toMatchObject({ status: 'retested' });
    expect(await clinic.read(two.id)).toMatchObject({ status: 'baseline_set' });
    await clinic.clock(new Date(Date.parse(expiry) + 60_000).toISOString());
    await clinic.sweep();
    expect(await clinic.read(two.id)).toMatchObject({ status: 'expired' });
  });

  test('does not expire at the instant of expiry, and prompts at the instant of the due date', async () => {
    start = await now();
    await clinic.flag(PROMPT_FLAG, true);
    const [due, expiring] = [await cycleDue(await clinic.patient(), 0), await cycleDue(await clinic.patient(), -30)];
    expect(expiring.expires_at).toBe(start);
    expect(await clinic.sweep()).toMatchObject({ prompted: 2, expired: 0 });
    expect(await clinic.read(due.id)).toMatchObject({ prompt_count: 1 });
    expect(await clinic.read(expiring.id)).toMatchObject({ prompt_count: 1, next_prompt_at: null });
  });

  test('prompts no cycle whose intervention was stopped or whose marker is being measured; both stay measurable', async () => {
    start = await now();
    await clinic.flag(PROMPT_FLAG, true);
    const [stopped, ordered] = [await clinic.patient(), await clinic.patient()];
    const cycles = [await cycleDue(stopped, 0), await cycleDue(ordered, 0)];
    await clinic.rest('POST', `/v1/protocols/${cycles[0].intervention.id}/stop`);
    await clinic.p.sql(`insert into clinical.lab_order_marker (lab_order_id, code, patient_id, until) values ($1, 'ldl_c', $2, $3)`, [
      randomUUID(),
      ordered,
      day(21, start),
    ]);
    expect(await clinic.sweep()).toMatchObject({ prompted: 0, skipped_lab_in_progress: 1, skipped_flag: 0, skipped_limit: 0 });
    for (const [index, patient] of [stopped, ordered].entries()) {
      await clinic.lab(patient, { code: 'ldl_c', value: 110, collectedAt: start });
      expect(await clinic.read(cycles[index].id)).toMatchObject({ status: 'retested', organic: true });
    }
  });

  test('counts a result that arrives after its cycle expired, once, and changes nothing else', async () => {
    start = await now();
    const patient = await clinic.patient();
    const cycle = await cycleDue(patient, -31);
    await clinic.sweep();
    const expired = await clinic.read(cycle.id);
    expect(expired.status).toBe('expired');
    await clinic.clock(day(0.01, start));
    await clinic.lab(patient, { code: 'ldl_c', value: 110, collectedAt: day(-5, start) });
    await clinic.lab(patient, { code: 'ldl_c', value: 105, collectedAt: day(0.005, start) });
    expect(await clinic.read(cycle.id)).toEqual(expired);
    expect(await clinic.eventTypes(patient)).toEqual(['cycle_started', 'expired']);
    expect((await clinic.rest('GET', `/v1/retest-cycles/stats`)).body).toMatchObject({ late_follow_ups: 1 });
  });

  test('is one at a time: a manual one is refused with 409 while another one runs, in any process', async () => {
    const other = new pg.Client({ connectionString: clinic.p.env.DATABASE_URL });
    await other.connect();
    await other.query(`select pg_advisory_lock(hashtextextended('clinical:retest.sweep', 19))`);
    const refused = await clinic.rest('POST', '/v1/retest-cycles/sweep');
    await other.query(`select pg_advisory_unlock(hashtextextended('clinical:retest.sweep', 19))`);
    await other.end();
    expect(refused).toMatchObject({ status: 409, body: { code: 'conflict', reason: 'sweep_running' } });
    await clinic.sweep();
  });

  test('several at once prompt nobody twice', async () => {
    start = await now();
    await clinic.flag(PROMPT_FLAG, true);
    const patients = await Promise.all(Array.from({ length: 20 }, () => clinic.patient()));
    for (const patient of patients) await cycleDue(patient, 0);
    const answers = await Promise.all(Array.from({ length: 4 }, () => clinic.rest('POST', '/v1/retest-cycles/sweep')));
    expect(answers.filter(answer => ![200, 409].includes(answer.status))).toEqual([]);
    for (const patient of patients) expect(await clinic.eventTypes(patient)).toEqual(['cycle_started', 'prompted']);
  });

  test('audits every state change, free of values and codes', async () => {
    start = await now();
    await clinic.flag(PROMPT_FLAG, true);
    const [nudged, lost] = [await clinic.patient(), await clinic.patient()];
    const [cycle, gone] = [await cycleDue(nudged, 0), await cycleDue(lost, -31)];
    const { id: sweep } = await clinic.sweep();
    await clinic.lab(nudged, { code: 'ldl_c', value: 110, collectedAt: start });
    const rows = await clinic.p.sql('select action, actor, details from clinical.audit_log where target = any($1) order by at, id', [
      [cycle.id, gone.id],
    ]);
    const byService = { kind: 'service', client_id: 'demo-m2m' };
    expect(rows.filter(row => !row.action.endsWith('.read'))).toEqual(
      expect.arrayContaining([
        { action: 'retest_cycle.started', actor: byService, details: { from: null, to: 'baseline_set', prompt_count: 0 } },
        { action: 'retest_cycle.prompted', actor: byService, details: { from: 'baseline_set', to: 'prompted', prompt_count: 1, sweep } },
        { action: 'retest_cycle.expired', actor: byService, details: { from: 'baseline_set', to: 'expired', prompt_count: 0, sweep } },
        {
          action: 'retest_cycle.recorded',
          actor: { kind: 'system', client_id: 'svc-clinical' },
          details: { from: 'prompted', to: 'retested', prompt_count: 1, event: expect.any(String) },
        },
      ]),
    );
    expect(JSON.stringify(rows)).not.toMatch(/\b(160|110|mg)\b|ldl|improved/); // whole words: ids of rows are random
  });
});
