import { beforeAll, expect, test } from 'vitest';
import { LivePromotionMode, LiveRegistrationStatus, LiveSessionStatus } from '../../subgraphs/live/entities/enums.js';
import { CALL_STATES, callEndDue, isInWindow } from '../../subgraphs/live/rules/call.js';
import { mergedVoters, QUESTION_STATES } from '../../subgraphs/live/rules/question.js';
import { newParticipantId, roomOf } from '../../subgraphs/live/rules/participant.js';
import { freeSeats, isWindowOpen, offerEnd, placeFor, promotedTo, type Seats } from '../../subgraphs/live/rules/seats.js';
import { SESSION_STATES } from '../../subgraphs/live/rules/session.js';
import { platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { cancel, count, eventsOf, people, register, session, type Person } from './fixture.js';

const { CONFIRMED, WAITLISTED, OFFERED } = LiveRegistrationStatus;
const START = new Date('2031-06-04T18:00:00.000Z');
const NOW = new Date('2031-06-01T18:00:00.000Z');
const seats = (some: Partial<Seats>): Seats => ({
  status: LiveSessionStatus.SCHEDULED,
  capacity: 2,
  confirmed: 0,
  offered: 0,
  waitlisted: 0,
  waitlistEnabled: true,
  waitlistLimit: null,
  promotionMode: LivePromotionMode.OFFER,
  startsAt: START,
  endsAt: new Date(START.getTime() + 3_600_000),
  registrationOpensAt: null,
  registrationClosesAt: null,
  ...some,
});

test.each([
  [{}, CONFIRMED],
  [{ confirmed: 1, offered: 1 }, WAITLISTED],
  [{ confirmed: 1, waitlisted: 1 }, WAITLISTED], // a seat shows free, but somebody waits
  [{ confirmed: 2, waitlistEnabled: false }, null],
  [{ confirmed: 2, waitlisted: 3, waitlistLimit: 3 }, null],
  [{ capacity: null, confirmed: 5_000 }, CONFIRMED],
] satisfies [Partial<Seats>, LiveRegistrationStatus | null][])('with %j a newcomer is %s', (some, place) => {
  expect(placeFor(seats(some))).toBe(place);
});

test.each([
  ['2031-06-01T18:00:00.000Z', '2031-06-02T06:00:00.000Z', OFFERED],
  ['2031-06-04T10:00:00.000Z', '2031-06-04T17:45:00.000Z', OFFERED], // 15 min before the start
  ['2031-06-04T17:29:00.000Z', '2031-06-04T17:45:00.000Z', OFFERED],
  ['2031-06-04T17:30:00.000Z', '2031-06-04T17:45:00.000Z', CONFIRMED],
  ['2031-06-04T17:40:00.000Z', '2031-06-04T17:55:00.000Z', CONFIRMED], // at least 15 min, were it offered
])('at %s an offer would end at %s, and the first of the queue is %s', (now, end, status) => {
  expect(offerEnd({ startsAt: START }, new Date(now)).toISOString()).toBe(end);
  expect(promotedTo(seats({}), new Date(now))).toBe(status);
});

test('registration is open in its window, and while a session is live', () => {
  const opens = new Date(NOW.getTime() + 1);
  expect(isWindowOpen(seats({ registrationOpensAt: opens }), NOW)).toBe(false);
  expect(isWindowOpen(seats({ registrationOpensAt: opens }), opens)).toBe(true);
  expect(isWindowOpen(seats({ registrationClosesAt: NOW }), NOW)).toBe(false);
  const states = Object.values(LiveSessionStatus).filter(status => isWindowOpen(seats({ status }), NOW));
  expect(states).toEqual([LiveSessionStatus.SCHEDULED, LiveSessionStatus.LIVE]);
  expect(freeSeats(seats({ capacity: 1, confirmed: 3 }))).toBe(0);
});

test('what is over has no way on, in each machine', () => {
  const ends = (table: Record<string, object>): string[] => Object.keys(table).filter(state => Object.keys(table[state]!).length === 0);
  expect(ends(SESSION_STATES)).toEqual(['ended', 'cancelled']);
  expect(ends(QUESTION_STATES)).toEqual(['withdrawn', 'removed']);
  expect(ends(CALL_STATES)).toEqual(['ended', 'expired', 'cancelled']);
});

test('a call is entered from 15 minutes before until 30 minutes after, and ends when it is empty, lonely or over', () => {
  const [opensAt, closesAt] = [new Date('2031-06-01T10:00:00Z'), new Date('2031-06-01T10:30:00Z')];
  const inWindow = (time: string): boolean => isInWindow({ opensAt, closesAt }, new Date(`2031-06-01T${time}Z`));
  expect(['09:44:59', '09:45:00', '11:00:00', '11:00:01'].map(inWindow)).toEqual([false, true, true, false]);
  const due = (now: string, some: object) =>
    callEndDue({ closesAt, aloneSince: null, emptySince: null, ...some }, new Date(`2031-06-01T${now}Z`));
  const since = new Date('2031-06-01T10:00:00Z');
  expect(due('10:01:59', { emptySince: since })).toBeNull();
  expect(due('10:02:00', { emptySince: since })).toBe('HANG_UP');
  expect(due('10:09:59', { aloneSince: since })).toBeNull();
  expect(due('10:10:00', { aloneSince: since })).toBe('SOLO_TIMEOUT');
  expect(due('11:00:00', {})).toBe('WINDOW_OVER');
});

test('merging takes the union of voters, the asker of the other included and the own author left out', () => {
  const merged = mergedVoters({ author: 'a', voters: ['x', 'y'] }, { author: 'b', voters: ['y', 'z', 'a'] });
  expect(merged.sort()).toEqual(['b', 'x', 'y', 'z']);
});

test('pseudonyms and rooms have their forms', () => {
  expect(new Set(Array.from({ length: 100 }, newParticipantId)).size).toBe(100);
  expect(newParticipantId()).toMatch(/^p_[A-Za-z0-9]{22}$/);
  const id = '0190b3a0-0000-7000-8000-000000000001';
  expect([roomOf(`ls_${id}_3`), roomOf(`lc_${id}`), roomOf('other')]).toEqual([
    { subjectId: id, epoch: 3 },
    { subjectId: id, epoch: null },
    null,
  ]);
});

let p: TestPlatform;
beforeAll(async () => {
  p = await platform({ services: ['live', 'entitlements'] });
  await p.clock('live', { now: NOW.toISOString() });
}, 300_000);

interface Row {
  user_id: string;
  status: string;
  queue_no: number;
}

const rowsOf = (id: string): Promise<Row[]> =>
  p.sql('select user_id, status, queue_no from live.live_registration where session_id = $1 order by queue_no', [id]);

/** What must hold at every commit and at the end. */
async function expectSound(id: string, capacity: number): Promise<Row[]> {
  const rows = await rowsOf(id);
  const of = (status: string): Row[] => rows.filter(row => row.status === status);
  const held = [...of('confirmed'), ...of('offered')];
  expect(held.length).toBeLessThanOrEqual(capacity);
  if (of('waitlisted').length > 0) expect(held.length).toBe(capacity); // no seat is free while somebody waits
  expect(await count(p, id)).toMatchObject({
    confirmed: of('confirmed').length,
    offered: of('offered').length,
    waitlisted: of('waitlisted').length,
  });
  return rows;
}

test('case 3: of fifty at once for ten seats ten are confirmed, and forty wait at positions without gaps', async () => {
  const { id } = await session(p, { capacity: 10 });
  const answers = await Promise.all((await people(p, 50)).map(who => register(p, id, who)));
  expect(answers.filter(({ body }) => body.status === 'confirmed')).toHaveLength(10);
  const positions = answers.map(({ body }) => body.position as number | null).filter(position => position !== null);
  expect(positions.sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
  await expectSound(id, 10);
}, 120_000);

test('a hundred for six seats and a waitlist of thirty, with cancellations and expiring offers between: never a seventh, nobody lost or twice, order kept', async () => {
  const { id } = await session(p, {
    capacity: 6,
    waitlist_limit: 30,
    promotion_mode: 'offer',
    starts_at: START.toISOString(),
    ends_at: '2031-06-04T19:00:00.000Z',
  });
  const all = await people(p, 100);
  const holding: Person[] = [];
  const answers = await Promise.all(
    all.map(async (who, n) => {
      const answer = await register(p, id, who);
      if (answer.body.status === 'confirmed') holding.push(who);
      if (n % 10 === 3 && holding.length > 0) await cancel(p, id, holding.shift()!);
      return answer;
    }),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 409]));
  const refused = answers.filter(({ status }) => status === 409);
  expect(new Set(refused.map(({ body }) => body.reason))).toEqual(new Set(['session_full']));
  const rows = await expectSound(id, 6);
  expect(rows).toHaveLength(100 - refused.length); // whoever was told 201 has one row
  await p.clock('live', { advance: 'PT12H' }); // all offers expire, the next are offered
  await expectSound(id, 6);
  await p.clock('live', { advance: 'PT12H' });
  const last = await expectSound(id, 6);
  // who was promoted came before everybody who still waits
  const promoted = (await eventsOf(p, id, 'live.session.waitlist_promoted.v1')).map(({ user_id }) => user_id);
  expect(new Set(promoted).size).toBe(promoted.length);
  const orderOf = new Map(last.map(row => [row.user_id, row.queue_no]));
  const order = promoted.map(user => orderOf.get(user!)!);
  expect(order).toEqual([...order].sort((a, b) => a - b));
  const waiting = last.filter(row => row.status === 'waitlisted').map(row => row.queue_no);
  if (waiting.length > 0) expect(Math.max(...order)).toBeLessThan(Math.min(...waiting));
  // each confirmation was told once
  const told = (await eventsOf(p, id, 'live.session.registered.v1')).map(({ user_id }) => user_id);
  expect(new Set(told).size).toBe(told.length);
}, 180_000);

test('connections of the database that are killed in the middle lose nobody and give no seat twice', async () => {
  const { id } = await session(p, { capacity: 5 });
  const all = await people(p, 40);
  const kill = (): Promise<unknown> =>
    p.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and query ilike '%live_%' and state <> 'idle'`,
    );
  const attempts = Promise.all(
    all.map(async who => {
      const answer = await until(
        'an answer',
        () => register(p, id, who),
        ({ status }) => status < 500,
      );
      return answer.body.id as string;
    }),
  );
  for (let n = 0; n < 6; n++) await kill();
  const ids = await attempts;
  expect(new Set(ids).size).toBe(40);
  const rows = await expectSound(id, 5);
  expect(rows).toHaveLength(40);
  expect(await eventsOf(p, id, 'live.registration.created.v1')).toHaveLength(40);
}, 180_000);
