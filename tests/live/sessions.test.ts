import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../runtime/data/ids.js';
import { ADMIN, DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { Client } from '../support/statements.js';
import { until } from '../support/until.js';
import {
  ask,
  cancel,
  change,
  count,
  eventsOf,
  join,
  moderate,
  own,
  people,
  person,
  register,
  session,
  START,
  vote,
  type Person,
} from './fixture.js';

let p: TestPlatform;
let service: string;
let host: Person;

beforeAll(async () => {
  p = await platform({ services: ['live', 'entitlements'] });
  service = await p.serviceToken();
  host = await person(p, ADMIN);
  await p.clock('live', { now: '2031-06-01T08:00:00.000Z' });
}, 300_000);

/** The clock goes forward only; each of these lies far behind the other. */
let day = 0;
const nextDay = (): string => new Date(Date.UTC(2031, 6, 1 + day++ * 7)).toISOString().slice(0, 10);
const at = (date: string, time: string): string => `${date}T${time}:00.000Z`;

describe('seats', () => {
  test('case 1: of three who register for two seats two are confirmed and one waits at position 1', async () => {
    const { id } = await session(p, { capacity: 2 });
    const [a, b, c] = (await people(p, 3)) as [Person, Person, Person];
    expect(await register(p, id, a)).toMatchObject({ status: 201, body: { status: 'confirmed', position: null, user_id: a.id } });
    expect(await register(p, id, b)).toMatchObject({ status: 201, body: { status: 'confirmed' } });
    expect(await register(p, id, c)).toMatchObject({ status: 201, body: { status: 'waitlisted', position: 1 } });
    expect(await count(p, id)).toEqual({ confirmed: 2, offered: 0, waitlisted: 1, capacity: 2, remaining: 0 });
  });

  test('case 2: who cancels makes room for the first of the queue, told once each', async () => {
    const { id } = await session(p, { capacity: 2 });
    const [a, b, c] = (await people(p, 3)) as [Person, Person, Person];
    for (const who of [a, b, c]) await register(p, id, who);
    expect((await cancel(p, id, a)).status).toBe(204);
    expect((await cancel(p, id, a)).status).toBe(204);
    expect(await own(p, id, c)).toMatchObject({ status: 200, body: { status: 'confirmed', position: null } });
    expect(await own(p, id, a)).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    const ofC = (await eventsOf(p, id))
      .filter(({ user_id }) => user_id === c.id)
      .map(({ type, data }) => [type, data.confirm_by ?? data.position ?? null]);
    expect(ofC).toEqual([
      ['live.registration.created.v1', 1],
      ['live.session.waitlist_promoted.v1', null],
      ['live.session.registered.v1', null],
    ]);
  });

  test('case 4: an offer has 12 hours; when they pass it expires and the second is offered the seat', async () => {
    const date = nextDay();
    const { id } = await session(p, { starts_at: at(date, '18:00'), ends_at: at(date, '19:00'), capacity: 1, promotion_mode: 'offer' });
    const [a, b, c] = (await people(p, 3)) as [Person, Person, Person];
    for (const who of [a, b, c]) await register(p, id, who);
    await p.clock('live', { now: new Date(Date.parse(at(date, '18:00')) - 3 * 86_400_000).toISOString() });
    await cancel(p, id, a);
    const confirmBy = new Date(Date.parse(at(date, '18:00')) - 2.5 * 86_400_000).toISOString();
    expect(await own(p, id, b)).toMatchObject({ body: { status: 'offered', confirm_by: confirmBy } });
    expect(await own(p, id, c)).toMatchObject({ body: { status: 'waitlisted', position: 1 } });
    await p.clock('live', { now: confirmBy });
    expect(await own(p, id, b)).toMatchObject({ body: { status: 'expired' } });
    expect(await own(p, id, c)).toMatchObject({ body: { status: 'offered' } });
    expect(await register(p, id, c)).toMatchObject({ status: 200, body: { status: 'confirmed' } });
    expect(await count(p, id)).toMatchObject({ confirmed: 1, offered: 0, waitlisted: 0 });
    expect(await eventsOf(p, id, 'live.session.registered.v1')).toHaveLength(2);
  });

  test('case 5: registering again by either path answers 200 with the same, and emits nothing', async () => {
    const { id } = await session(p);
    const a = await person(p);
    const first = await register(p, id, a);
    const before = await eventsOf(p, id);
    const alias = await p.rest('POST', `/live/v1/sessions/${id}/register`, { token: a.token });
    const again = await register(p, id, a);
    expect([alias.status, again.status, alias.body.id, again.body.id]).toEqual([200, 200, first.body.id, first.body.id]);
    expect(await eventsOf(p, id)).toEqual(before);
    expect((await p.rest('POST', `/live/v1/sessions/${id}/register`, { token: service })).status).toBe(400);
  });

  test('rule 3: parallel registrations of one user make one row', async () => {
    const { id } = await session(p, { capacity: 5 });
    const a = await person(p);
    const answers = await Promise.all(Array.from({ length: 8 }, () => register(p, id, a)));
    expect(answers.map(({ status }) => String(status)).sort()).toEqual(['200', '200', '200', '200', '200', '200', '200', '201']);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(await count(p, id)).toMatchObject({ confirmed: 1 });
  });

  test('case 6: a capacity below what is taken is refused, and says how much', async () => {
    const { id } = await session(p, { capacity: 5 });
    for (const who of await people(p, 4)) await register(p, id, who);
    const answer = await change(p, id, { capacity: 3 });
    expect(answer).toMatchObject({ status: 409, body: { code: 'conflict', reason: 'capacity_below_confirmed' } });
    expect(answer.body.errors[0].message).toContain('4');
    expect(await count(p, id)).toMatchObject({ confirmed: 4, capacity: 5 });
  });

  test('a raised capacity promotes in order; without one the whole waitlist is confirmed', async () => {
    const { id } = await session(p, { capacity: 1 });
    const all = await people(p, 6);
    for (const who of all) await register(p, id, who);
    await change(p, id, { capacity: 3 });
    const status = async (): Promise<string[]> => Promise.all(all.map(async who => (await own(p, id, who)).body.status));
    expect(await status()).toEqual(['confirmed', 'confirmed', 'confirmed', 'waitlisted', 'waitlisted', 'waitlisted']);
    await change(p, id, { capacity: null });
    expect(new Set(await status())).toEqual(new Set(['confirmed']));
    expect(await count(p, id)).toMatchObject({ confirmed: 6, waitlisted: 0, capacity: null, remaining: null });
  });

  test('without a waitlist a full session is a 409, and staff may exceed the capacity', async () => {
    const { id } = await session(p, { capacity: 1, waitlist_enabled: false });
    const [a, b] = (await people(p, 2)) as [Person, Person];
    await register(p, id, a);
    expect(await register(p, id, b)).toMatchObject({
      status: 409,
      body: { reason: 'session_full', detail: '1 of 1 seats taken, waitlist off' },
    });
    const body = { user_id: b.id, override_capacity: true };
    expect(await p.rest('POST', `/live/v1/sessions/${id}/registrations`, { token: service, body })).toMatchObject({
      status: 201,
      body: { status: 'confirmed', source: 'staff' },
    });
    expect(await count(p, id)).toMatchObject({ confirmed: 2, capacity: 1, remaining: 0 });
  });

  test('an invitation is an offer until the start, and a member names nobody else', async () => {
    const { id } = await session(p, { capacity: 2, visibility: 'invite' });
    const [guest, stranger] = (await people(p, 2)) as [Person, Person];
    expect((await p.rest('GET', `/live/v1/sessions/${id}`, { token: guest.token })).status).toBe(404);
    const invited = await p.rest('POST', `/live/v1/sessions/${id}/registrations`, { token: host.token, body: { user_id: guest.id } });
    expect(invited).toMatchObject({ status: 201, body: { status: 'offered', confirm_by: START, source: 'invite' } });
    expect((await p.rest('GET', `/live/v1/sessions/${id}`, { token: guest.token })).status).toBe(200);
    expect(await register(p, id, guest)).toMatchObject({ status: 200, body: { status: 'confirmed' } });
    const named = await p.rest('POST', `/live/v1/sessions/${id}/registrations`, { token: stranger.token, body: { user_id: guest.id } });
    expect(named.status).toBe(404);
    const request = await p.sql(
      `select data from events.outbox where type = 'comms.message.send_requested.v1' and data->'params'->>'session_id' = $1`,
      [id],
    );
    expect(request.map(({ data }) => [data.template, Object.keys(data.params).sort()])).toEqual([
      ['live_invitation', ['registration_id', 'session_id', 'starts_at']],
    ]);
  });

  test('a required feature is asked for, and a locked session is still listed', async () => {
    const { id } = await session(p, { required_feature: 'labs.discount', tags: ['locked'] });
    const a = await person(p);
    expect(await register(p, id, a)).toMatchObject({ status: 403, body: { reason: 'feature_required' } });
    const listed = await p.rest('GET', '/live/v1/sessions?tag=locked', { token: a.token });
    expect(listed.body.data).toMatchObject([{ id, access: { allowed: false, reason: 'feature_required' } }]);
  });

  test('a moved session is told to those with a seat, once for each version', async () => {
    const { id } = await session(p, { capacity: 1 });
    const [a, b] = (await people(p, 2)) as [Person, Person];
    for (const who of [a, b]) await register(p, id, who);
    const { body } = await change(p, id, { starts_at: '2049-06-02T18:30:00.000Z' });
    const requests = await p.sql(
      `select user_id, data from events.outbox where data->>'template' = 'live_session_rescheduled' and data->'params'->>'session_id' = $1`,
      [id],
    );
    expect(requests.map(one => [one.user_id, one.data.dedupe_key])).toEqual([[a.id, `live:resched:${id}:${body.version}:${a.id}`]]);
    const file = await p.rest('GET', `/live/v1/sessions/${id}/calendar.ics`, { token: a.token });
    expect(file.headers['content-type']).toContain('text/calendar');
    expect(file.body).toContain(`UID:${id}@live`);
    expect(file.body).toContain('SEQUENCE:1');
  });
});

describe('the machine of a session', () => {
  test('case 7: a viewer cannot join before it is live, the host can 30 minutes early', async () => {
    const date = nextDay();
    const { id } = await session(p, { starts_at: at(date, '18:00'), ends_at: at(date, '19:00') });
    const a = await person(p);
    await register(p, id, a);
    expect(await join(p, id, host)).toMatchObject({ status: 409, body: { reason: 'not_live' } });
    await p.clock('live', { now: at(date, '17:30') });
    expect(await join(p, id, a)).toMatchObject({ status: 409, body: { reason: 'not_live' } });
    expect(await join(p, id, host)).toMatchObject({ status: 200, body: { role: 'host', can_publish: true } });
  });

  test('cases 8 and 9: without a seat nobody joins or asks; with one the token says what it opens, and not who holds it', async () => {
    const date = nextDay();
    const { id } = await session(p, { starts_at: at(date, '18:00'), ends_at: at(date, '19:00') });
    const [a, b] = (await people(p, 2)) as [Person, Person];
    await register(p, id, a);
    await p.clock('live', { now: at(date, '17:55') });
    expect(await change(p, id, { status: 'live' })).toMatchObject({ status: 200, body: { status: 'live', started_at: at(date, '17:55') } });
    expect(await join(p, id, b)).toMatchObject({ status: 403, body: { reason: 'registration_required' } });
    expect(await ask(p, id, b)).toMatchObject({ status: 403, body: { reason: 'registration_required' } });
    const { status, body } = await join(p, id, a);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { role: 'viewer', can_publish: false, mode: 'webrtc', registration: { status: 'confirmed' } },
    });
    const claims = JSON.parse(Buffer.from(body.token.split('.')[1], 'base64url').toString());
    expect(claims).toMatchObject({ sub: body.participant_id, video: { room: `ls_${id}_1`, canPublish: false, roomJoin: true } });
    expect(claims.exp - Date.now() / 1000).toBeLessThanOrEqual(300);
    expect(body.participant_id).toMatch(/^p_[A-Za-z0-9]{22}$/);
    expect(JSON.stringify(claims)).not.toContain(a.id);
    expect((await join(p, id, a)).body.participant_id).toBe(body.participant_id);
  });

  test('rule 12: of two starts at once one succeeds, with one room and one event', async () => {
    const date = nextDay();
    const { id } = await session(p, { starts_at: at(date, '18:00'), ends_at: at(date, '19:00') });
    await p.clock('live', { now: at(date, '18:00') });
    const answers = await Promise.all([change(p, id, { status: 'live' }), change(p, id, { status: 'live' })]);
    expect(answers.map(({ status }) => String(status)).sort()).toEqual(['200', '409']);
    expect(await eventsOf(p, id, 'live.session.started.v1')).toHaveLength(1);
    expect(await p.sql('select name from live.streaming_room where subject_id = $1', [id])).toHaveLength(1);
    const ended = await p.rest('PATCH', `/live/v1/sessions/${id}`, { token: host.token, body: { status: 'ended' } });
    expect(ended).toMatchObject({ status: 200, body: { status: 'ended', end_reason: 'host' } });
    expect(await eventsOf(p, id, 'live.session.ended.v1')).toMatchObject([{ user_id: ADMIN, data: { attended_count: 0 } }]);
    expect((await change(p, id, { title: 'Other' })).status).toBe(409);
    expect((await register(p, id, await person(p))).status).toBe(409);
  });

  test('case 23: one that nobody starts is cancelled after an hour, once', async () => {
    const date = nextDay();
    const { id } = await session(p, { starts_at: at(date, '10:00'), ends_at: at(date, '11:00') });
    await p.clock('live', { now: at(date, '11:00') });
    const { body } = await p.rest('GET', `/live/v1/admin/sessions/${id}`, { token: service });
    expect(body).toMatchObject({ status: 'cancelled', cancel_reason: 'host_no_show', cancelled_at: at(date, '11:00') });
    await p.clock('live', { advance: 'PT1H' });
    expect(await eventsOf(p, id, 'live.session.cancelled.v1')).toHaveLength(1);
  });

  test('one that overruns ends two hours after its end, when nobody of the host team is there', async () => {
    const date = nextDay();
    const { id } = await session(p, { starts_at: at(date, '10:00'), ends_at: at(date, '11:00') });
    await p.clock('live', { now: at(date, '10:00') });
    await change(p, id, { status: 'live' });
    await p.clock('live', { now: at(date, '12:59') });
    expect((await p.rest('GET', `/live/v1/admin/sessions/${id}`, { token: service })).body.status).toBe('live');
    await p.clock('live', { now: at(date, '13:00') });
    expect((await p.rest('GET', `/live/v1/admin/sessions/${id}`, { token: service })).body).toMatchObject({
      status: 'ended',
      end_reason: 'overrun',
    });
  });

  test('case 22: a draft is there for its host team and the office only; publishing announces it', async () => {
    const { id } = await session(p, { status: 'draft' });
    const stranger = await person(p);
    expect((await p.rest('GET', `/live/v1/sessions/${id}`, { token: stranger.token })).status).toBe(404);
    expect((await p.rest('GET', `/live/v1/sessions/${id}`, { token: host.token })).status).toBe(200);
    expect(await eventsOf(p, id)).toEqual([]);
    expect((await p.rest('PATCH', `/live/v1/sessions/${id}`, { token: stranger.token, body: { status: 'scheduled' } })).status).toBe(404);
    expect((await p.rest('PATCH', `/live/v1/sessions/${id}`, { token: host.token, body: { status: 'scheduled' } })).status).toBe(200);
    expect((await eventsOf(p, id)).map(({ type }) => type)).toEqual(['live.session.created.v1']);
    expect((await p.rest('PATCH', `/live/v1/sessions/${id}`, { token: stranger.token, body: { title: 'Mine' } })).status).toBe(403);
  });

  test('case 21: what is on air now cannot be filtered by status', async () => {
    const token = host.token;
    expect((await p.rest('GET', '/live/v1/live/sessions?status=ended', { token })).status).toBe(400);
    expect((await p.rest('GET', '/live/v1/live/sessions', { token })).status).toBe(200);
  });

  test('deleting removes a draft, cancels what is scheduled, and hides what is over for the office only', async () => {
    const draft = await session(p, { status: 'draft' });
    const del = (id: string, base = 'admin/sessions', token = service) => p.rest('DELETE', `/live/v1/${base}/${id}`, { token });
    expect((await del(draft.id)).status).toBe(204);
    expect((await p.rest('GET', `/live/v1/admin/sessions/${draft.id}`, { token: service })).status).toBe(404);
    const date = nextDay();
    const { id } = await session(p, { starts_at: at(date, '18:00'), ends_at: at(date, '19:00') });
    expect((await del(id)).status).toBe(204);
    expect(await eventsOf(p, id, 'live.session.cancelled.v1')).toMatchObject([{ data: { reason: 'deleted' } }]);
    expect((await del(id, 'sessions', host.token)).status).toBe(409);
    expect((await del(id)).status).toBe(204);
    expect((await p.rest('GET', `/live/v1/sessions/${id}`, { token: host.token })).status).toBe(404);
    expect((await p.rest('GET', `/live/v1/admin/sessions/${id}?include=deleted`, { token: service })).status).toBe(200);
  });

  test('a session is handed over, and its only host cannot leave', async () => {
    const { id } = await session(p);
    const assign = (body: object) => p.rest('POST', `/live/v1/sessions/${id}/host`, { token: service, body });
    expect(await assign({ user_id: ADMIN, remove: true })).toMatchObject({ status: 409, body: { reason: 'only_host' } });
    expect((await assign({ user_id: DEMO, role: 'host' })).body.hosts).toEqual([
      { user_id: DEMO, role: 'host' },
      { user_id: ADMIN, role: 'co_host' },
    ]);
    expect((await assign({ user_id: DEMO, role: 'host' })).status).toBe(200);
    expect(await assign({ user_id: newId(), role: 'speaker' })).toMatchObject({ status: 409, body: { reason: 'user_not_active' } });
    expect((await assign({ user_id: ADMIN, remove: true })).body.hosts).toEqual([{ user_id: DEMO, role: 'host' }]);
  });

  test('a member gives sessions with the entitlement live.host only, and hosts them', async () => {
    const demo2 = await person(p, DEMO2);
    const body = { kind: 'group', title: 'Morning stretch', starts_at: '2039-06-02T18:00:00.000Z', ends_at: '2039-06-02T19:00:00.000Z' };
    expect((await p.rest('POST', '/live/v1/sessions', { token: demo2.token, body })).status).toBe(403);
    const override = { user_id: DEMO2, feature_key: 'live.host', allow: true, reason: 'A test' };
    const granted = await p.rest('POST', '/entitlements/v1/admin/overrides', { token: service, body: override });
    expect(granted.status, JSON.stringify(granted.body)).toBe(201);
    const made = await p.rest('POST', '/live/v1/sessions', { token: demo2.token, body });
    expect(made).toMatchObject({ status: 201, body: { host: { id: DEMO2 }, capacity: 100, status: 'scheduled' } });
    expect((await p.rest('POST', '/live/v1/sessions', { token: demo2.token, body: { ...body, host_user_id: DEMO } })).status).toBe(404);
  });

  test('a series makes one session for each date, at the same time of day over a change of clocks', async () => {
    const fields = {
      kind: 'group',
      title: 'Weekly',
      starts_at: '2031-10-20T16:00:00.000Z',
      ends_at: '2031-10-20T17:00:00.000Z',
      time_zone: 'Europe/Berlin',
      host_user_id: ADMIN,
    };
    const made = await p.rest('POST', '/live/v1/admin/series', { token: service, body: { ...fields, rrule: 'FREQ=WEEKLY;COUNT=3' } });
    expect(made).toMatchObject({ status: 201, body: { rrule: 'FREQ=WEEKLY;COUNT=3', time_zone: 'Europe/Berlin' } });
    const rows = await p.sql(
      `select to_char(starts_at at time zone 'utc', 'YYYY-MM-DD HH24:MI') as at from live.live_session where series_id = $1 order by 1`,
      [made.body.id],
    );
    expect(rows.map(row => row.at)).toEqual(['2031-10-20 16:00', '2031-10-27 17:00', '2031-11-03 17:00']);
    for (const rrule of ['FREQ=WEEKLY;COUNT=27', 'FREQ=HOURLY;COUNT=2', 'FREQ=WEEKLY', 'nonsense words'])
      expect((await p.rest('POST', '/live/v1/admin/series', { token: service, body: { ...fields, rrule } })).status, rrule).toBe(400);
  });

  test.each([
    [{ capacity: 101, kind: 'group' }, '/capacity'],
    [{ ends_at: '2041-06-02T18:04:00.000Z' }, '/ends_at'],
    [{ title: 'Turned \u202e around' }, '/title'],
    [{ starts_at: '2020-06-02T18:00:00.000Z', ends_at: '2020-06-02T19:00:00.000Z' }, '/starts_at'],
    [{ cover_image_url: 'http://example.test/a.png' }, '/cover_image_url'],
  ])('%j is refused at %s', async (fields, pointer) => {
    const body = {
      kind: 'broadcast',
      title: 'T',
      starts_at: '2041-06-02T18:00:00.000Z',
      ends_at: '2041-06-02T19:00:00.000Z',
      host_user_id: ADMIN,
      ...fields,
    };
    const answer = await p.rest('POST', '/live/v1/admin/sessions', { token: service, body });
    expect(answer.status).toBe(400);
    expect(answer.body.errors.map((one: { pointer: string }) => one.pointer)).toContain(pointer);
  });
});

describe('questions', () => {
  async function asked(fields: object = {}): Promise<{ id: string; a: Person; b: Person; question: string }> {
    const { id } = await session(p, { starts_at: '2045-06-02T18:00:00.000Z', ends_at: '2045-06-02T19:00:00.000Z', ...fields });
    const [a, b] = (await people(p, 2)) as [Person, Person];
    for (const who of [a, b]) await register(p, id, who);
    const answer = await ask(p, id, a);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return { id, a, b, question: answer.body.id };
  }
  const listed = async (id: string, who: Person): Promise<string[]> =>
    (await p.rest('GET', `/live/v1/sessions/${id}/questions`, { token: who.token })).body.data.map((one: { id: string }) => one.id);

  test('case 10: a question waits unseen until the host approves it', async () => {
    const { id, a, b, question } = await asked();
    expect(await listed(id, b)).toEqual([]);
    expect(await listed(id, a)).toEqual([question]);
    expect(await listed(id, host)).toEqual([question]);
    expect((await moderate(p, question, b, { status: 'approved' })).status).toBe(404);
    expect(await moderate(p, question, host, { status: 'approved' })).toMatchObject({ status: 200, body: { status: 'approved' } });
    expect((await moderate(p, question, host, { status: 'approved' })).status).toBe(200);
    expect(await listed(id, b)).toEqual([question]);
    expect((await moderate(p, question, b, { status: 'hidden' })).status).toBe(403);
    const events = (await eventsOf(p, id))
      .filter(({ type }) => type.startsWith('live.question'))
      .map(({ type, user_id, data }) => [type, user_id, data.status ?? null]);
    expect(events).toEqual([
      ['live.question.submitted.v1', a.id, null],
      ['live.question.moderated.v1', a.id, 'approved'],
    ]);
  });

  test('cases 11 and 12: a vote counts once, is taken back, and nobody votes for an own question', async () => {
    const { id, a, b, question } = await asked();
    expect((await vote(p, question, b)).status).toBe(404);
    await moderate(p, question, host, { status: 'approved' });
    const counts = [];
    for (const voted of [true, true, true, false]) counts.push((await vote(p, question, b, voted)).body.vote_count);
    expect(counts).toEqual([1, 1, 1, 0]);
    expect((await eventsOf(p, id, 'live.question.voted.v1')).map(({ data }) => [data.voted, data.vote_count])).toEqual([
      [true, 1],
      [false, 0],
    ]);
    expect(await vote(p, question, a)).toMatchObject({ status: 409, body: { reason: 'own_question' } });
  });

  test('rule 4: votes of many at once are counted exactly', async () => {
    const { question } = await asked();
    await moderate(p, question, host, { status: 'approved' });
    const voters = await people(p, 20);
    await Promise.all(voters.flatMap(who => [vote(p, question, who), vote(p, question, who)]));
    const [row] = await p.sql(
      'select vote_count, (select count(*)::int from live.live_question_vote v where v.question_id = q.id) as rows from live.live_question q where id = $1',
      [question],
    );
    expect(row).toEqual({ vote_count: 20, rows: 20 });
  });

  test('a vote for a question that is hidden while it waits for its row is refused, and leaves nothing', async () => {
    const { id, question, b } = await asked();
    await moderate(p, question, host, { status: 'approved' });
    const moderator = new Client({ connectionString: p.env.DATABASE_URL });
    await moderator.connect();
    try {
      await moderator.query('begin');
      await moderator.query(`update live.live_question set status = 'hidden' where id = $1`, [question]);
      const voted = vote(p, question, b);
      const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%"live_question"%for no key update%'`;
      await until(
        'the vote to wait',
        () => p.sql(waiting),
        rows => rows.length > 0,
      );
      await moderator.query('commit');
      expect((await voted).status).toBe(404);
    } finally {
      await moderator.end();
    }
    expect(await p.sql('select 1 from live.live_question_vote where question_id = $1', [question])).toEqual([]);
    expect(await eventsOf(p, id, 'live.question.voted.v1')).toEqual([]);
  });

  test('case 13: nobody but its author learns who asked anonymously', async () => {
    const { id, a, b } = await asked({ question_moderation: 'post' });
    const { body } = await ask(p, id, a, 'Somebody else asks', { anonymous: true });
    const read = async (who: Person) =>
      (await p.rest('GET', `/live/v1/sessions/${id}/questions`, { token: who.token })).body.data.find((one: any) => one.id === body.id);
    expect(await read(host)).toMatchObject({ author: null, viewer_is_author: false });
    expect(await read(b)).toMatchObject({ author: null, viewer_is_author: false });
    expect(await read(a)).toMatchObject({ author: { id: a.id }, viewer_is_author: true });
    const audits = await p.sql(`select details from live.audit_log where target = $1`, [body.id]);
    expect(JSON.stringify(audits)).not.toContain(a.id);
  });

  test('a duplicate moves its voters: the target has the union, its own author left out', async () => {
    const { id, a, b, question } = await asked({ question_moderation: 'post' });
    const [c, d] = (await people(p, 2)) as [Person, Person];
    for (const who of [c, d]) await register(p, id, who);
    const other = (await ask(p, id, c, 'Is thirty low?')).body.id as string;
    await vote(p, question, b);
    for (const who of [b, d, a]) await vote(p, other, who);
    const merged = await moderate(p, other, host, { duplicate_of: question });
    expect(merged).toMatchObject({ status: 200, body: { status: 'rejected', reason_code: 'duplicate', duplicate_of: { id: question } } });
    const voters = await p.sql('select user_id as id from live.live_question_vote where question_id = $1', [question]);
    expect(voters.map(row => row.id as string).sort()).toEqual([b.id, c.id, d.id].sort());
    expect(
      (await p.rest('GET', `/live/v1/sessions/${id}/questions`, { token: b.token })).body.data.find((one: any) => one.id === question)
        .vote_count,
    ).toBe(3);
    expect((await moderate(p, other, host, { duplicate_of: question })).status).toBe(200);
    expect((await moderate(p, question, host, { duplicate_of: question })).status).toBe(400);
  });

  test('what a question is a duplicate of is shown to whom that one is there for', async () => {
    const { id, b, question } = await asked({ question_moderation: 'post' });
    const other = (await ask(p, id, b, 'Is thirty low?')).body.id as string;
    await moderate(p, other, host, { duplicate_of: question });
    const seenBy = async (who: Person) =>
      (await p.rest('GET', `/live/v1/sessions/${id}/questions`, { token: who.token })).body.data.find((one: any) => one.id === other)
        .duplicate_of;
    expect(await seenBy(b)).toEqual({ id: question });
    await moderate(p, question, host, { status: 'hidden' });
    expect(await seenBy(b)).toBeNull();
    expect(await seenBy(host)).toEqual({ id: question });
  });

  test('an answer is stored sealed, a fourth pin refused, and a question withdrawn is gone', async () => {
    const { id, a, question } = await asked();
    expect(await moderate(p, question, host, { status: 'answered', answer: 'No.' })).toMatchObject({
      body: { status: 'answered', answer: 'No.' },
    });
    expect((await p.rest('DELETE', `/live/v1/questions/${question}`, { token: a.token })).status).toBe(409);
    const [row] = await p.sql('select body, answer from live.live_question where id = $1', [question]);
    expect(row.body.toString('latin1') + row.answer.toString('latin1')).not.toMatch(/30 low|No\./);
    const askers = await people(p, 4);
    const statuses = [];
    for (const who of askers) {
      await register(p, id, who);
      const one = (await ask(p, id, who)).body.id;
      statuses.push((await moderate(p, one, host, { status: 'approved', pinned: true })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 409]);
    const last = (await ask(p, id, askers[0]!, 'Mine')).body.id;
    expect((await p.rest('DELETE', `/live/v1/questions/${last}`, { token: askers[0]!.token })).status).toBe(204);
    expect((await p.rest('DELETE', `/live/v1/questions/${last}`, { token: askers[0]!.token })).status).toBe(404);
  });

  test('a fourth question that waits is a 429, and text that turns around is refused', async () => {
    const { id, a } = await asked();
    expect((await ask(p, id, a, 'Turned \u202e around')).status).toBe(400);
    const statuses = [];
    for (const n of [2, 3, 4]) statuses.push((await ask(p, id, a, `Question ${n}`)).status);
    expect(statuses).toEqual([201, 201, 429]);
  });
});

describe('calls', () => {
  const window = (date: string) => ({ opens_at: at(date, '10:00'), closes_at: at(date, '10:30') });
  async function call(date: string): Promise<{ id: string; a: Person; b: Person; visit: string }> {
    const [a, b] = (await people(p, 2)) as [Person, Person];
    const visit = newId();
    const participants = [
      { user_id: a.id, role: 'host' },
      { user_id: b.id, role: 'guest' },
    ];
    const body = { kind: 'one_to_one', participants, reference: { type: 'visit', id: visit }, ...window(date) };
    const made = await p.rest('POST', '/live/v1/live/calls', { token: service, body });
    expect(made).toMatchObject({ status: 201, body: { status: 'created' } });
    const again = await p.rest('POST', '/live/v1/live/calls', { token: service, body });
    expect([again.status, again.body.id]).toEqual([200, made.body.id]);
    return { id: made.body.id, a, b, visit };
  }
  const token = (id: string, who: Person) => p.rest('POST', `/live/v1/live/calls/${id}/token`, { token: who.token });

  test('cases 19 and 20: a call is entered in its window only, and by its people only', async () => {
    const date = new Date(Date.now() + 4_000 * 86_400_000 * 4).toISOString().slice(0, 10);
    const { id, a, b } = await call(date);
    const stranger = await person(p);
    expect((await p.rest('GET', `/live/v1/live/calls/${id}`, { token: stranger.token })).status).toBe(404);
    expect((await token(id, stranger)).status).toBe(404);
    await p.clock('live', { now: at(date, '09:44') });
    expect(await token(id, a)).toMatchObject({ status: 409, body: { reason: 'outside_window' } });
    await p.clock('live', { now: at(date, '09:45') });
    const { status, body } = await token(id, a);
    expect({ status, body }).toMatchObject({ status: 200, body: { role: 'host', can_publish: true, room: `lc_${id}` } });
    const connect = await p.rest('POST', '/live/embedded-streaming/connect', { body: { token: body.token } });
    expect(connect.status).toBe(200);
    await until(
      'the call to be active',
      async () => (await p.rest('GET', `/live/v1/live/calls/${id}`, { token: b.token })).body.status,
      state => state === 'active',
    );
    await p.clock('live', { now: at(date, '11:01') });
    expect((await token(id, b)).status).toBe(409);
    expect((await p.rest('GET', `/live/v1/live/calls/${id}`, { token: a.token })).body).toMatchObject({
      status: 'ended',
      end_reason: 'window_over',
    });
  });

  test('a member calls nobody whom no visit or conversation confirms, and either of two ends a call', async () => {
    const [a, b] = (await people(p, 2)) as [Person, Person];
    const participants = [
      { user_id: a.id, role: 'host' },
      { user_id: b.id, role: 'guest' },
    ];
    const own = { kind: 'one_to_one', participants, reference: { type: 'conversation', id: newId() } };
    expect((await p.rest('POST', '/live/v1/live/calls', { token: a.token, body: own })).status).toBe(404);
    const made = await p.rest('POST', '/live/v1/live/calls', { token: service, body: { kind: 'one_to_one', participants } });
    const end = () => p.rest('POST', `/live/v1/live/calls/${made.body.id}/end`, { token: b.token });
    expect(await end()).toMatchObject({ status: 200, body: { status: 'ended', end_reason: 'hang_up' } });
    expect((await end()).status).toBe(200);
    const group = await p.rest('POST', '/live/v1/live/calls', { token: service, body: { kind: 'group', participants } });
    expect((await p.rest('POST', `/live/v1/live/calls/${group.body.id}/end`, { token: b.token })).status).toBe(403);
  });
});
