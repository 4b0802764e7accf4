import { randomUUID } from 'node:crypto';
import { beforeAll, afterEach, describe, expect, test } from 'vitest';
import { CheckInQuestionType, CheckInStatus } from '../../subgraphs/clinical/entities/check-in.js';
import { VialStatus } from '../../subgraphs/clinical/entities/vial.js';
import { CHECK_IN_STATES, violationsOfAnswers } from '../../subgraphs/clinical/rules/check-in.js';
import { checkInsOf, everyDays, instantOf, nextDoses } from '../../subgraphs/clinical/rules/dose-schedule.js';
import { beyondUseOn, VIAL_STATES } from '../../subgraphs/clinical/rules/vial.js';
import { DEMO, DEMO2 } from '../support/platform.js';
import { Clinic } from './clinic.js';

let clinic: Clinic;
const HOUR = 3_600_000;
const SCOPES = ['read:protocols', 'write:protocols', 'read:check_ins', 'write:check_ins', 'read:biomarkers'];
const now = async (): Promise<string> => (await clinic.p.sql('select now from clinical.test_clock'))[0].now.toISOString();
const after = (at: string, ms: number): string => new Date(Date.parse(at) + ms).toISOString();
const me = async (method: string, path: string, body?: object, id = DEMO) =>
  clinic.rest(method, path, body, await clinic.p.userToken(id, SCOPES));
/** Events that name an object of a test, because earlier tests left theirs. */
const eventsOf = (type: string, about: string) =>
  clinic.p.sql<{ data: any }>(`select data from events.outbox where user_id = $1 and type = $2 and data::text like $3 order by seq`, [
    DEMO,
    type,
    `%${about}%`,
  ]);

beforeAll(async () => {
  clinic = await Clinic.open();
});
afterEach(async () => {
  await clinic.rest('POST', '/v1/admin/erasure', { patient_id: DEMO });
});

const start = async (): Promise<any> => {
  const started = (await now()).slice(0, 10);
  const answer = await me('POST', '/v1/protocols/me', { kind: 'protocol', key: 'lipid_reset', started_on: started, time_zone: 'UTC' });
  expect(answer.status).toBe(201);
  return answer.body;
};

describe('check-ins', () => {
  const GOOD = { energy: 7, sleep: 6, side_effects: 0 };
  const list = async () => (await me('GET', '/v1/check-ins/me')).body.data;
  const submit = (id: string, body: object, who = DEMO) => me('POST', `/v1/check-ins/${id}/submit`, body, who);

  test('open on the first day and every week, each told once, and are answered', async () => {
    const { id } = await start();
    const [first] = await list();
    expect(first).toMatchObject({
      sequence: 1,
      status: 'due',
      intervention_id: id,
      template: { key: 'well_being', version: 1 },
      answers: null,
    });
    await clinic.clock(after(first.due_at, 7 * 24 * HOUR - 1));
    expect(await list()).toHaveLength(1);
    await clinic.clock(after(first.due_at, 7 * 24 * HOUR));
    expect((await list()).map((one: any) => one.sequence)).toEqual([2, 1]);
    const told = await eventsOf('check_in.due.v1', 'well_being');
    expect(told.map(one => one.data).filter(one => one.due_at >= first.due_at)).toMatchObject([
      { check_in_id: first.id, template: 'well_being', due_at: first.due_at, sequence: 1 },
      { sequence: 2 },
    ]);
    const answered = await submit((await list())[0].id, { answers: GOOD });
    expect(answered).toMatchObject({ status: 200, body: { status: 'submitted', answers: GOOD, submitted_at: await now() } });
    expect((await submit(answered.body.id, { answers: GOOD })).status).toBe(409);
  });

  test('that nobody answers for 7 days are missed; they can be skipped before', async () => {
    await start();
    const [one] = await list();
    await clinic.clock(after(one.due_at, 7 * 24 * HOUR));
    expect((await list()).map((row: any) => row.status)).toEqual(['due', 'missed']);
    expect((await submit(one.id, { answers: GOOD })).status).toBe(409);
    expect((await submit((await list())[0].id, { skip: true })).body).toMatchObject({ status: 'skipped', answers: null });
  });

  test('refuse answers that the template does not have, naming each and no answer', async () => {
    await start();
    const [one] = await list();
    const answer = await submit(one.id, { answers: { energy: 11, sleep: 'deep-secret', comment: 5, nonsense: 1 } });
    expect(answer.status).toBe(400);
    expect(answer.body.errors.map((error: any) => error.pointer).sort()).toEqual(
      ['/answers/comment', '/answers/energy', '/answers/nonsense', '/answers/side_effects', '/answers/sleep'].sort(),
    );
    expect(JSON.stringify(answer.body)).not.toContain('deep-secret');
    expect((await list())[0].status).toBe('due');
  });

  test("are judged by red-flag rules, and another member's are not found", async () => {
    await start();
    const [one] = await list();
    expect((await submit(one.id, { answers: GOOD }, DEMO2)).status).toBe(404);
    await submit(one.id, { answers: { ...GOOD, side_effects: 9 } });
    const flags = (await clinic.rest('GET', `/v1/red-flags?user_id=${DEMO}`)).body.data;
    expect(flags).toMatchObject([{ rule: { key: 'severe_side_effects' }, source: 'check_in', evidence: [one.id] }]);
  });

  test('stop with the pause and go on with the rest', async () => {
    const { id } = await start();
    const [one] = await list();
    await me('POST', `/v1/protocols/${id}/pause`);
    await clinic.clock(after(one.due_at, 8 * 24 * HOUR));
    expect(await list()).toHaveLength(1);
    await me('POST', `/v1/protocols/${id}/resume`);
    await clinic.clock(after(one.due_at, 14 * 24 * HOUR));
    expect((await list()).map((row: any) => row.sequence)).toEqual([3, 1]);
  });

  test.each(Object.values(CheckInStatus))('the table says what leads out of %s', status =>
    expect(CHECK_IN_STATES[status]).toEqual(status === 'due' ? { submit: 'submitted', skip: 'skipped', miss: 'missed' } : {}),
  );

  const question = (more: object) => ({
    key: 'q',
    text: '?',
    type: CheckInQuestionType.TEXT,
    required: true,
    min: null,
    max: null,
    options: [],
    ...more,
  });
  test.each<[object, unknown, boolean]>([
    [{ type: 'boolean' }, true, true],
    [{ type: 'boolean' }, 'true', false],
    [{ type: 'scale', min: 0, max: 10 }, 10, true],
    [{ type: 'scale', min: 0, max: 10 }, 10.5, false],
    [{ type: 'scale', min: 0, max: 10 }, NaN, false],
    [{ type: 'choice', options: ['a'] }, 'a', true],
    [{ type: 'choice', options: ['a'] }, 'b', false],
    [{ type: 'text' }, 'x'.repeat(2000), true],
    [{ type: 'text' }, 'x'.repeat(2001), false],
    [{ type: 'text' }, null, false],
    [{ type: 'text', required: false }, null, true],
  ])('a question %o takes %o: %s', (more, value, fine) =>
    expect(violationsOfAnswers([question(more) as never], { q: value }).length === 0).toBe(fine),
  );
});

describe('doses', () => {
  const list = async (query = '') => (await me('GET', `/v1/doses/me${query}`)).body.data;
  const log = (id: string, body: object = {}, who = DEMO) => me('POST', `/v1/doses/${id}/log`, body, who);

  test('are planned one ahead, each told once with its time zone, and logged; taken twice is the same row', async () => {
    const { id } = await start();
    const [first] = await list();
    expect(first).toMatchObject({
      intervention_id: id,
      product_code: 'fibre_pack',
      status: 'scheduled',
      quantity: { value: 7 },
      time_zone: 'UTC',
      vial_id: null,
    });
    expect(await eventsOf('dose.reminder.scheduled.v1', id)).toEqual([
      { data: { reminder_id: first.id, protocol_id: id, vial_id: null, scheduled_for: first.scheduled_for, time_zone: 'UTC' } },
    ]);
    await clinic.clock(first.scheduled_for);
    expect(await list()).toHaveLength(2);
    const taken = await log(first.id, { note: 'with breakfast', site: 'oral', quantity: { value: 5, unit: '{sachet}' } });
    expect(taken).toMatchObject({
      status: 200,
      body: { status: 'taken', taken_at: await now(), quantity: { value: 5 }, note: 'with breakfast' },
    });
    expect(await log(first.id, { note: 'again' })).toMatchObject({ status: 200, body: { id: first.id, note: 'with breakfast' } });
    expect((await log(first.id, { status: 'skipped' })).status).toBe(409);
    expect(await list(`?to=${first.scheduled_for}`)).toHaveLength(1);
  });

  test('are logged at most 7 days back and a day ahead; then they are missed', async () => {
    await start();
    const [first] = await list();
    if (Date.parse(first.scheduled_for) - Date.parse(await now()) > 24 * HOUR) expect((await log(first.id)).status).toBe(409);
    await clinic.clock(after(first.scheduled_for, 24 * HOUR));
    expect((await log(first.id, { taken_at: after(await now(), HOUR) })).body.errors).toMatchObject([{ pointer: '/taken_at' }]);
    await clinic.clock(after(first.scheduled_for, 7 * 24 * HOUR));
    expect((await list()).find((row: any) => row.id === first.id).status).toBe('missed');
    expect((await log(first.id)).status).toBe(409);
  });

  test('of a stopped intervention are no plan any more', async () => {
    const { id } = await start();
    expect(await list()).toHaveLength(1);
    await me('POST', `/v1/protocols/${id}/stop`, { reason: 'enough' });
    expect(await list()).toEqual([]);
  });

  test("are seen by patient-graph with values, by jobs without, and another member's are not found", async () => {
    await start();
    const [first] = await list();
    const seen = async (slug: 'patient-graph' | 'jobs') =>
      (await clinic.rest('GET', `/v1/doses?user_id=${DEMO},${DEMO2}`, undefined, await clinic.p.internalToken(slug))).body.data;
    expect(await seen('patient-graph')).toMatchObject([{ id: first.id, quantity: { value: 7 } }]);
    expect(await seen('jobs')).toMatchObject([{ id: first.id, quantity: null }]);
    expect((await log(first.id, {}, DEMO2)).status).toBe(404);
    expect((await log(randomUUID())).status).toBe(404);
  });

  const daily = (timesOfDay: string[], timing: object = {}) => ({
    startedOn: '2026-03-27',
    timeZone: 'Europe/Berlin',
    phases: [
      {
        name: 'x',
        startDay: 0,
        endDay: 10,
        checkIns: [],
        doses: [{ productCode: 'x', quantity: { value: 1, unit: 'mg' }, route: 'oral', timing, timesOfDay }],
      },
    ],
  });
  const following = (plan: ReturnType<typeof daily>, from: string, count: number): string[] => {
    const found: string[] = [];
    for (let at = new Date(from); found.length < count; at = new Date(found.at(-1)!)) {
      const [next] = nextDoses(plan, at);
      if (!next) break;
      found.push(next.at.toISOString());
    }
    return found;
  };

  test('keep the wall clock over a change of the clocks; a skipped hour is its end, a doubled one fires once', () => {
    expect(following(daily(['08:00']), '2026-03-27T12:00:00Z', 3)).toEqual([
      '2026-03-28T07:00:00.000Z',
      '2026-03-29T06:00:00.000Z',
      '2026-03-30T06:00:00.000Z',
    ]);
    expect(instantOf('2026-03-29', '02:30', 'Europe/Berlin').toISOString()).toBe('2026-03-29T01:00:00.000Z');
    expect(instantOf('2026-10-25', '02:30', 'Europe/Berlin').toISOString()).toBe('2026-10-25T00:30:00.000Z');
    expect(instantOf('2026-03-08', '02:15', 'America/New_York').toISOString()).toBe('2026-03-08T07:00:00.000Z');
    expect(following(daily(['02:30', '20:00']), '2026-03-28T12:00:00Z', 3)).toEqual([
      '2026-03-28T19:00:00.000Z',
      '2026-03-29T01:00:00.000Z',
      '2026-03-29T18:00:00.000Z',
    ]);
  });

  test('end with their phase, and come every so many days', () => {
    expect(
      following(daily(['08:00'], { repeat: { period: 3, periodUnit: 'd' } }), '2026-03-27T00:00:00Z', 9).map(at => at.slice(0, 10)),
    ).toEqual(['2026-03-27', '2026-03-30', '2026-04-02', '2026-04-05']);
    expect([{}, { repeat: { period: 2, periodUnit: 'wk' } }, { repeat: { period: 12, periodUnit: 'h' } }, null].map(everyDays)).toEqual([
      1, 14, 1, 1,
    ]);
  });

  test('check-ins are numbered over the whole plan', () => {
    const phases = [
      { name: 'a', startDay: 0, endDay: 14, doses: [], checkIns: [{ templateKey: 't', everyDays: 7 }] },
      { name: 'b', startDay: 14, endDay: 30, doses: [], checkIns: [{ templateKey: 't', everyDays: 14 }] },
    ];
    expect(
      checkInsOf({ startedOn: '2026-08-01', timeZone: 'UTC', phases }).map(one => [one.sequence, one.at.toISOString().slice(0, 10)]),
    ).toEqual([
      [1, '2026-08-01'],
      [2, '2026-08-08'],
      [3, '2026-08-15'],
      [4, '2026-08-29'],
    ]);
  });
});

describe('a vial', () => {
  const body = (more: object = {}) => ({
    product_code: 'fibre_pack',
    expires_on: '2030-01-01',
    doses_planned: 2,
    stability_days: 28,
    ...more,
  });
  const create = async (more: object = {}) => (await me('POST', '/v1/vials/me', body(more))).body;
  const act = (id: string, action: string, input: object = {}, who = DEMO) => me('POST', `/v1/vials/${id}/${action}`, input, who);
  const list = async () => (await me('GET', '/v1/vials/me')).body.data;

  test('is registered, told, reconstituted with a last day of use, and discarded with a reason', async () => {
    const at = await now();
    const vial = await create({ lot: 'L1', content: { value: 5, unit: 'mg' } });
    expect(vial).toMatchObject({ status: 'new', doses_remaining: 2, beyond_use_on: null, lot: 'L1', content: { value: 5, unit: 'mg' } });
    expect(await eventsOf('clinical.vial.created.v1', vial.id)).toEqual([
      { data: { vial_id: vial.id, product_code: 'fibre_pack', protocol_id: null, expires_on: '2030-01-01', doses_planned: 2 } },
    ]);
    const used = (await act(vial.id, 'reconstitute', { diluent_ml: 2 })).body;
    expect(used).toMatchObject({ status: 'in_use', diluent_ml: 2, beyond_use_on: after(at, 28 * 24 * HOUR).slice(0, 10) });
    expect((await act(vial.id, 'reconstitute')).status).toBe(409);
    expect((await act(vial.id, 'discard', { reason: 'damaged' })).body).toMatchObject({ status: 'discarded', discard_reason: 'damaged' });
    expect((await act(vial.id, 'discard', { reason: 'lost' })).status).toBe(409);
    expect((await eventsOf('clinical.vial.discarded.v1', vial.id)).map(one => one.data.reason)).toEqual(['damaged']);
  });

  test('is used up by its last dose, and is the one that a dose is planned from', async () => {
    const vial = await create({ doses_planned: 1 });
    await act(vial.id, 'reconstitute');
    await start();
    const [dose] = (await me('GET', '/v1/doses/me')).body.data;
    expect(dose.vial_id).toBe(vial.id);
    await clinic.clock(dose.scheduled_for);
    expect((await me('POST', `/v1/doses/${dose.id}/log`, {})).status).toBe(200);
    expect(await list()).toMatchObject([{ status: 'discarded', discard_reason: 'used_up', doses_remaining: 0 }]);
  });

  test('past its last day is discarded as expired', async () => {
    const at = await now();
    await create({ expires_on: after(at, 24 * HOUR).slice(0, 10) });
    await clinic.clock(`${after(at, 24 * HOUR).slice(0, 10)}T23:59:59.999Z`);
    expect(await list()).toMatchObject([{ status: 'new' }]);
    await clinic.clock(`${after(at, 48 * HOUR).slice(0, 10)}T00:00:00.000Z`);
    expect(await list()).toMatchObject([{ status: 'discarded', discard_reason: 'expired' }]);
  });

  test("is refused with bad input, and another member's is not found", async () => {
    expect((await me('POST', '/v1/vials/me', body({ expires_on: '2020-01-01' }))).body.errors).toMatchObject([{ pointer: '/expires_on' }]);
    expect(
      (await me('POST', '/v1/vials/me', body({ doses_planned: 0, product_code: 'No!' }))).body.errors.map((one: any) => one.pointer).sort(),
    ).toEqual(['/doses_planned', '/product_code']);
    expect((await me('POST', '/v1/vials/me', body({ intervention_id: randomUUID() }))).status).toBe(404);
    const vial = await create();
    expect((await act(vial.id, 'discard', { reason: 'lost' }, DEMO2)).status).toBe(404);
    expect(
      (await clinic.rest('GET', `/v1/vials?user_id=${DEMO}`, undefined, await clinic.p.internalToken('patient-graph'))).body.data,
    ).toHaveLength(1);
  });

  test.each(Object.values(VialStatus))('the table says what leads out of %s', status =>
    expect(VIAL_STATES[status]).toEqual(
      { new: { reconstitute: 'in_use', discard: 'discarded' }, in_use: { discard: 'discarded' }, discarded: {} }[status],
    ),
  );

  test('keeps no longer than it expires', () => {
    expect(beyondUseOn('2026-08-01', 28, '2026-12-31')).toBe('2026-08-29');
    expect(beyondUseOn('2026-08-01', 28, '2026-08-10')).toBe('2026-08-10');
  });
});

test('an intervention is completed on its planned end', async () => {
  const plan = { title: 'Short', duration_days: 2, phases: [{ name: 'All', start_day: 0, end_day: 2 }] };
  expect((await clinic.rest('PUT', '/v1/protocols/catalog/short_plan', plan)).status).toBe(200);
  const started = (await now()).slice(0, 10);
  const { body } = await me('POST', '/v1/protocols/me', { kind: 'protocol', key: 'short_plan', started_on: started, time_zone: 'UTC' });
  await clinic.clock(after(`${body.planned_end_on}T00:00:00.000Z`, -1));
  expect((await me('GET', '/v1/protocols/me')).body.data).toMatchObject([{ status: 'active' }]);
  await clinic.clock(`${body.planned_end_on}T00:00:00.000Z`);
  expect((await me('GET', '/v1/protocols/me')).body.data).toMatchObject([
    { id: body.id, status: 'completed', ended_at: `${body.planned_end_on}T00:00:00.000Z` },
  ]);
});
