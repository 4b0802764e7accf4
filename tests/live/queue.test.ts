import { beforeAll, expect, test } from 'vitest';
import { userBlocked } from '../../events/catalogue/follows.js';
import { platform, type TestPlatform } from '../support/platform.js';
import {
  cancel,
  change,
  count,
  eventsOf,
  grant,
  neighbours,
  own,
  people,
  register,
  revoke,
  session,
  tell,
  type Person,
} from './fixture.js';

let p: TestPlatform;
const blocks = new Set<string>();
const pair = (one: string, other: string): string => [one, other].sort().join();

beforeAll(async () => {
  p = await platform({ services: ['live', 'entitlements'] });
  await p.clock('live', { now: '2031-06-01T08:00:00.000Z' });
  neighbours(p, {
    LiveBlocked: ({ userId, others }) => ({ blockedEither: others.filter((other: string) => blocks.has(pair(userId, other))) }),
  });
}, 300_000);

const FEATURE = 'labs.discount';
const statusOf = async (id: string, who: Person): Promise<string> => (await own(p, id, who)).body.status;

/** One seat with the first of four, the others wait; all have the feature. */
async function queued(fields: object): Promise<{ id: string; all: Person[]; features: string[] }> {
  const { id } = await session(p, { capacity: 1, required_feature: FEATURE, ...fields });
  const all = await people(p, 4);
  const features = [];
  for (const who of all) {
    features.push(await grant(p, who, FEATURE));
    await register(p, id, who);
  }
  return { id, all, features };
}

test('an offer that runs out is given to the next who still has the feature; who has lost it leaves the queue', async () => {
  const { id, all, features } = await queued({
    promotion_mode: 'offer',
    starts_at: '2031-06-20T18:00:00.000Z',
    ends_at: '2031-06-20T19:00:00.000Z',
  });
  const [a, b, c, d] = all as [Person, Person, Person, Person];
  await cancel(p, id, a);
  expect(await statusOf(id, b)).toBe('offered');
  await revoke(p, features[2]!);
  await p.clock('live', { advance: 'PT12H' });
  expect([await statusOf(id, b), await statusOf(id, c), await statusOf(id, d)]).toEqual(['expired', 'cancelled', 'offered']);
  expect(await count(p, id)).toMatchObject({ confirmed: 0, offered: 1, waitlisted: 0 });
  const promoted = (await eventsOf(p, id, 'live.session.waitlist_promoted.v1')).map(({ user_id }) => user_id);
  expect(promoted).toEqual([b.id, d.id]);
});

test('an offer of one session runs out while entitlements does not answer for another', async () => {
  const times = { promotion_mode: 'offer', starts_at: '2031-07-20T18:00:00.000Z', ends_at: '2031-07-20T19:00:00.000Z' };
  const held = await queued(times);
  const free = await queued({ ...times, required_feature: null });
  for (const { id, all } of [held, free]) await cancel(p, id, all[0]!);
  const silent = neighbours(p, { LiveEntitlements: () => Promise.reject(new Error('entitlements is down')) });
  await expect(p.clock('live', { advance: 'PT12H' })).rejects.toThrow('refused');
  silent.stop();
  expect([await statusOf(held.id, held.all[1]!), await statusOf(free.id, free.all[1]!)]).toEqual(['offered', 'expired']);
  expect(await statusOf(free.id, free.all[2]!)).toBe('offered');
  await p.clock('live', { advance: 'PT1S' });
  expect(await statusOf(held.id, held.all[1]!)).toBe('expired');
});

const OFFERED_BEFORE = `insert into live.live_registration select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'user_id', gen_random_uuid(),
  'queue_no', -n))).* from live.live_registration r, generate_series(1, 60) n
  where r.session_id = $1 and r.status = 'offered'`;

test('nor do many offers that are due with it, and cannot run out, hold it up', async () => {
  await p.clock('live', { advance: 'P3D' }); // the offers of other sessions run out
  const times = { promotion_mode: 'offer', starts_at: '2031-08-20T18:00:00.000Z', ends_at: '2031-08-20T19:00:00.000Z' };
  const held = await queued(times);
  const free = await queued({ ...times, required_feature: null });
  for (const { id, all } of [held, free]) await cancel(p, id, all[0]!);
  await p.sql(OFFERED_BEFORE, [held.id]);
  const silent = neighbours(p, { LiveEntitlements: () => Promise.reject(new Error('entitlements is down')) });
  await expect(p.clock('live', { advance: 'PT12H' })).rejects.toThrow('refused');
  silent.stop();
  const seen = await statusOf(free.id, free.all[1]!);
  await p.sql('delete from live.live_registration where session_id = $1', [held.id]);
  await p.sql('update live.live_session set confirmed = 0, offered = 0, waitlisted = 0 where id = $1', [held.id]);
  expect(seen).toBe('expired');
});

test('a seat that a block frees goes to nobody who has lost the feature, nor to whom the host has blocked', async () => {
  const [giver, a, b, c, d] = (await people(p, 5)) as [Person, Person, Person, Person, Person];
  await grant(p, giver, 'live.host');
  const times = { starts_at: '2038-06-02T18:00:00.000Z', ends_at: '2038-06-02T19:00:00.000Z' };
  const body = { kind: 'broadcast', title: 'Mine', ...times, capacity: 1, required_feature: FEATURE };
  const { id } = (await p.rest('POST', '/live/v1/sessions', { token: giver.token, body })).body;
  const features = new Map<Person, string>();
  for (const who of [a, b, c, d]) {
    features.set(who, await grant(p, who, FEATURE));
    await register(p, id, who);
  }
  await revoke(p, features.get(b)!);
  for (const who of [a, c]) blocks.add(pair(giver.id, who.id));
  await tell(p, 'live.blocks', userBlocked, { userId: giver.id, data: { blocked_user_id: a.id } });
  const rows = await p.sql('select user_id, status from live.live_registration where session_id = $1 order by queue_no', [id]);
  expect(rows).toEqual([
    { user_id: a.id, status: 'cancelled' },
    { user_id: b.id, status: 'cancelled' },
    { user_id: c.id, status: 'cancelled' },
    { user_id: d.id, status: 'confirmed' },
  ]);
});

test('without a capacity the whole waitlist is confirmed, offers or not', async () => {
  const { id, all } = await queued({
    promotion_mode: 'offer',
    required_feature: null,
    starts_at: '2038-06-20T18:00:00.000Z',
    ends_at: '2038-06-20T19:00:00.000Z',
  });
  expect((await change(p, id, { capacity: null })).status).toBe(200);
  expect(await count(p, id)).toEqual({ confirmed: 4, offered: 0, waitlisted: 0, capacity: null, remaining: null });
  expect(await Promise.all(all.map(who => statusOf(id, who)))).toEqual(['confirmed', 'confirmed', 'confirmed', 'confirmed']);
  expect(await eventsOf(p, id, 'live.session.registered.v1')).toHaveLength(4);
});

/** As many who wait as registrations would make, by SQL: a request each would take half a minute. */
const WAITING = `with made as (insert into live.live_registration (id, session_id, user_id, status, source, queue_no, registered_at, version)
    select gen_random_uuid(), $1, gen_random_uuid(), 'waitlisted', 'self', n + 1, now(), 1 from generate_series(1, $2::int) n returning 1)
  update live.live_session set waitlisted = $2::int, next_queue_no = $2::int + 2 where id = $1`;
const QUEUE = 'select user_id, status from live.live_registration where session_id = $1 order by queue_no offset 1';
const PEOPLE_WAIT = 1_300;
const STATES = `select status, count(*)::int from live.live_registration where session_id = $1 group by 1`;

test('a queue of more people than one transaction may tell is confirmed in pieces when the capacity is removed, and asked about piece by piece', async () => {
  const times = { starts_at: '2038-06-21T18:00:00.000Z', ends_at: '2038-06-21T19:00:00.000Z' };
  const { id } = await session(p, { capacity: 1, required_feature: FEATURE, ...times });
  const [first] = (await people(p, 1)) as [Person];
  await grant(p, first, FEATURE);
  expect((await register(p, id, first)).body.status).toBe('confirmed');
  await p.sql(WAITING, [id, PEOPLE_WAIT]);
  const stub = neighbours(p, {
    LiveEntitlements: ({ userIds }) => ({
      checkEntitlements: userIds.map((userId: string) => ({ userId, checks: [{ key: FEATURE, allowed: true }] })),
    }),
  });
  const answer = await change(p, id, { capacity: null });
  expect([answer.status, answer.body.counts.confirmed, answer.body.counts.waitlisted]).toEqual([200, 501, PEOPLE_WAIT - 500]);
  expect(stub.asked.filter(name => name === 'LiveEntitlements').length).toBeLessThan(13); // pages of the whole queue
  await p.clock('live', { advance: 'PT1S' });
  stub.stop();
  expect(await count(p, id)).toMatchObject({ confirmed: PEOPLE_WAIT + 1, waitlisted: 0 });
  expect(await p.sql(STATES, [id])).toEqual([{ status: 'confirmed', count: PEOPLE_WAIT + 1 }]);
  const promoted = (await eventsOf(p, id, 'live.session.waitlist_promoted.v1')).map(({ user_id }) => user_id);
  expect(promoted).toEqual((await p.sql<{ user_id: string }>(QUEUE, [id])).map(({ user_id }) => user_id));
}, 120_000);

const SEATED = `with made as (insert into live.live_registration (id, session_id, user_id, status, source, queue_no, registered_at, confirmed_at, version)
    select gen_random_uuid(), $1, gen_random_uuid(), 'confirmed', 'self', n, now(), now(), 1 from generate_series(1, $2::int) n returning 1)
  update live.live_session set confirmed = $2::int, next_queue_no = $2::int + 1 where id = $1`;
const TOLD = `select count(*)::int as told, count(distinct user_id)::int as people from events.outbox
  where type = 'comms.message.send_requested.v1' and data->>'dedupe_key' like 'live:resched:' || $1 || ':%'`;

test('a session that more people than one transaction may tell are registered for is moved, and each is told once', async () => {
  const { id } = await session(p, { capacity: 5_000, starts_at: '2039-06-21T18:00:00.000Z', ends_at: '2039-06-21T19:00:00.000Z' });
  await p.sql(SEATED, [id, PEOPLE_WAIT]);
  const answer = await change(p, id, { starts_at: '2039-06-21T17:00:00.000Z' });
  expect([answer.status, await p.sql(TOLD, [id])]).toEqual([200, [{ told: 500, people: 500 }]]);
  const [late] = (await people(p, 1)) as [Person];
  expect((await register(p, id, late)).status).toBe(201);
  await p.clock('live', { advance: 'PT1S' });
  expect(await p.sql(TOLD, [id])).toEqual([{ told: PEOPLE_WAIT, people: PEOPLE_WAIT }]);
}, 120_000);

test('however many at the head of the queue have lost the feature, the seat goes to the first who still has it', async () => {
  const { id } = await session(p, { capacity: 1, required_feature: FEATURE });
  const [first] = (await people(p, 1)) as [Person];
  await grant(p, first, FEATURE);
  expect((await register(p, id, first)).body.status).toBe('confirmed');
  await p.sql(WAITING, [id, 242]);
  const having = new Set((await p.sql<{ user_id: string }>(QUEUE, [id])).slice(240).map(({ user_id }) => user_id));
  const stub = neighbours(p, {
    LiveEntitlements: ({ userIds }) => ({
      checkEntitlements: userIds.map((userId: string) => ({ userId, checks: [{ key: FEATURE, allowed: having.has(userId) }] })),
    }),
  });
  expect((await cancel(p, id, first)).status).toBe(204);
  stub.stop();
  const rows = await p.sql(QUEUE, [id]);
  expect(rows.map(({ status }) => status)).toEqual([...Array(240).fill('cancelled'), 'confirmed', 'waitlisted']);
  expect(await count(p, id)).toMatchObject({ confirmed: 1, waitlisted: 1 });
}, 120_000);
