import { beforeAll, expect, test } from 'vitest';
import { visitCreated, visitRescheduled } from '../../events/catalogue/booking.js';
import { newId } from '../../runtime/data/ids.js';
import { platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { neighbours, people, tell, type Person } from './fixture.js';

let p: TestPlatform;
/** Provider's user of each visit, as booking knows it. */
const providers = new Map<string, { member: string; provider: string }>();

const [NOW, OPENS, CLOSES] = ['2031-06-01T09:50:00.000Z', '2031-06-01T10:00:00.000Z', '2031-06-01T10:30:00.000Z'];

beforeAll(async () => {
  p = await platform({ services: ['live', 'entitlements'] });
  await p.clock('live', { now: NOW });
  neighbours(p, {
    LiveVisit: ({ id }) => {
      const { member, provider } = providers.get(id)!;
      const people = { user: { id: member }, provider: { user: { id: provider } } };
      return { bookingVisit: { id, mode: 'VIDEO', status: 'BOOKED', startsAt: OPENS, endsAt: CLOSES, ...people } };
    },
  });
}, 300_000);

interface Booked {
  visit: string;
  call: string;
  member: Person;
}

async function booked(member: Person, provider: Person): Promise<Booked> {
  const visit = newId();
  providers.set(visit, { member: member.id, provider: provider.id });
  const data = { visit_id: visit, visit_type: 'follow_up', provider_id: newId(), mode: 'video' as const, time_zone: 'UTC' };
  const times = { starts_at: OPENS, ends_at: CLOSES, source: 'member' as const };
  await tell(p, 'live.visits', visitCreated, { userId: member.id, data: { ...data, ...times } });
  const [row] = await p.sql('select id from live.live_call where reference_id = $1', [visit]);
  return { visit, call: row.id, member };
}

async function rehost({ visit, member }: Booked, provider: Person): Promise<void> {
  providers.set(visit, { member: member.id, provider: provider.id });
  const times = { previous_starts_at: OPENS, starts_at: OPENS, ends_at: CLOSES };
  const data = { visit_id: visit, provider_id: newId(), ...times, initiated_by: 'staff' as const, reschedule_count: 1 };
  await tell(p, 'live.visits', visitRescheduled, { userId: member.id, data });
}

const base = (call: string): string => `/live/v1/live/calls/${call}`;
const read = (call: string, who: Person) => p.rest('GET', base(call), { token: who.token });
const token = (call: string, who: Person) => p.rest('POST', `${base(call)}/token`, { token: who.token });
const end = (call: string, who: Person) => p.rest('POST', `${base(call)}/end`, { token: who.token });
const connect = (opens: string) => p.rest('POST', '/live/embedded-streaming/connect', { body: { token: opens } });
const inRoom = (call: string): Promise<unknown[]> => p.sql('select 1 from live.streaming_connection where room = $1', [`lc_${call}`]);
const attending = (call: string): Promise<unknown[]> =>
  p.sql('select 1 from live.live_attendance where subject_id = $1 and left_at is null', [call]);

test('a provider whom another replaces leaves the call: out of the room as often as an old token lets them in, and not theirs to end', async () => {
  const [member, first, second] = (await people(p, 3)) as [Person, Person, Person];
  const visit = await booked(member, first);
  const entry = await token(visit.call, first);
  expect(entry).toMatchObject({ status: 200, body: { role: 'host' } });
  expect((await connect(entry.body.token)).status).toBe(200);
  await until(
    'the first provider',
    () => attending(visit.call),
    rows => rows.length === 1,
  );
  await rehost(visit, second);
  await until(
    'an empty room',
    () => inRoom(visit.call),
    rows => rows.length === 0,
  );
  await connect(entry.body.token);
  await until(
    'a room that is empty again',
    () => inRoom(visit.call),
    rows => rows.length === 0,
  );
  expect((await read(visit.call, first)).status).toBe(404);
  expect(await token(visit.call, first)).toMatchObject({ status: 403, body: { reason: 'removed' } });
  expect((await end(visit.call, first)).status).toBe(404);
  expect((await read(visit.call, second)).body).toMatchObject({
    status: 'active',
    participants: expect.arrayContaining([
      { user_id: second.id, role: 'host', state: 'invited' },
      { user_id: member.id, role: 'guest', state: 'invited' },
    ]),
  });
  expect(await end(visit.call, second)).toMatchObject({ status: 200, body: { status: 'ended' } });
});

test('a provider who comes back after another has their part again, and stays in the room', async () => {
  const [member, first, second] = (await people(p, 3)) as [Person, Person, Person];
  const visit = await booked(member, first);
  await connect((await token(visit.call, first)).body.token);
  await until(
    'the first provider',
    () => attending(visit.call),
    rows => rows.length === 1,
  );
  await rehost(visit, second);
  await until(
    'an empty room',
    () => attending(visit.call),
    rows => rows.length === 0,
  );
  await rehost(visit, first);
  expect((await read(visit.call, second)).status).toBe(404);
  expect((await read(visit.call, first)).body.participants).toHaveLength(2);
  const entry = await token(visit.call, first);
  expect(entry).toMatchObject({ status: 200, body: { role: 'host' } });
  await connect(entry.body.token);
  await until(
    'the first provider again',
    () => attending(visit.call),
    rows => rows.length === 1,
  );
  expect((await read(visit.call, first)).body.participants).toContainEqual({ user_id: first.id, role: 'host', state: 'joined' });
});
