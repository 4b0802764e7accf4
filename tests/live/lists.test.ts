import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../runtime/data/ids.js';
import { ADMIN, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { grant, join, neighbours, onAirNow, people, person, register, session, statementsOf, type Person } from './fixture.js';

let p: TestPlatform;
let viewer: Person;
const FEATURES = ['labs.discount', 'ai.messages', 'content.quality'];

beforeAll(async () => {
  p = await platform({ services: ['live', 'entitlements'] });
  viewer = await person(p);
}, 300_000);

const CHANGED = 'select 1 from live.live_session where counts_dirty union all select 1 from live.live_question where votes_dirty';

/** Statements of a list of one and of many: as many, or it reads them one by one. */
async function expectFlat(list: (first: number) => Promise<unknown[]>, many: number): Promise<string[]> {
  await list(1); // what is read once
  await until(
    'streams that were told of all counts',
    () => p.sql(CHANGED),
    rows => rows.length === 0,
  );
  const few = await statementsOf(p, async () => expect(await list(1)).toHaveLength(1));
  const all = await statementsOf(p, async () => expect(await list(many)).toHaveLength(many));
  expect(few.length).toBeGreaterThan(0);
  expect(all.length, all.join('\n')).toBe(few.length);
  return all;
}

describe('a list of sessions', () => {
  test('costs one statement a table and one question to each neighbour, however long it is', async () => {
    const tag = newId().slice(-8);
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, n) => session(p, { tags: [tag], required_feature: n % 2 ? FEATURES[n % 3] : null })),
    );
    for (const { id } of made.slice(0, 5)) await p.rest('POST', `/live/v1/sessions/${id}/registrations`, { token: viewer.token, body: {} });
    const list = async (first: number): Promise<any[]> =>
      (await p.rest('GET', `/live/v1/sessions?tag=${tag}&limit=${first}`, { token: viewer.token })).body.data;
    await expectFlat(list, 12);
    const seen = neighbours(p, {});
    const rows = await list(12);
    seen.stop();
    expect(seen.asked.filter(name => name !== 'FlagSnapshot')).toEqual(['LiveFeatures']); // flags are read from time to time
    expect(new Set(rows.map(({ access }) => access.reason))).toEqual(new Set(['none', 'feature_required']));
    expect(rows.filter(one => one.viewer_registration !== null).length).toBeGreaterThanOrEqual(3);
    expect(rows.every(({ host, hosts }) => host.id === ADMIN && hosts.length === 1)).toBe(true);
  });

  test("of members' sessions asks follows once", async () => {
    const [giver, other] = (await people(p, 2)) as [Person, Person];
    const tag = newId().slice(-8);
    for (const who of [giver, other]) {
      await grant(p, who, 'live.host');
      const times = { starts_at: '2047-06-02T18:00:00.000Z', ends_at: '2047-06-02T19:00:00.000Z' };
      for (let n = 0; n < 3; n++)
        await p.rest('POST', '/live/v1/sessions', { token: who.token, body: { kind: 'broadcast', title: 'Mine', ...times, tags: [tag] } });
    }
    const follows = neighbours(p, { LiveBlocked: () => ({ blockedEither: [other.id] }) });
    const list = async (first: number): Promise<any[]> =>
      (await p.rest('GET', `/live/v1/sessions?tag=${tag}&limit=${first}`, { token: viewer.token })).body.data;
    const many = await statementsOf(p, async () =>
      expect((await list(100)).map(({ host }) => host.id)).toEqual([giver.id, giver.id, giver.id]),
    );
    expect(follows.asked.filter(name => name === 'LiveBlocked')).toHaveLength(1);
    expect(many.filter(text => text.includes('live_session_host'))).toHaveLength(1);
    follows.stop();
  });

  test('that are on air shows to each whether they may watch, in as many statements', async () => {
    const tag = newId().slice(-8);
    for (let n = 0; n < 4; n++) {
      const { id } = await onAirNow(p, 0, { tags: [tag] });
      await register(p, id, viewer);
      if (n === 0) {
        const { participant_id } = (await join(p, id, viewer)).body;
        const body = { reason_code: 'disturbing' };
        await p.rest('POST', `/live/v1/sessions/${id}/participants/${participant_id}/remove`, { token: await p.serviceToken(), body });
      }
    }
    const list = async (first: number): Promise<any[]> =>
      (await p.rest('GET', `/live/v1/live/sessions?tag=${tag}&limit=${first}`, { token: viewer.token })).body.data;
    await expectFlat(list, 4);
    expect((await list(4)).filter(one => one.playback_url === null)).toHaveLength(1);
  });
});

test("a member's registrations with their sessions, and the waitlist with its positions, cost as many statements as one of them", async () => {
  const who = await person(p);
  const made = await Promise.all(Array.from({ length: 8 }, () => session(p)));
  for (const { id } of made) await register(p, id, who);
  const token = await p.userToken(who.id, ['read:live', 'read:profile']);
  const query = `query ($id: ID!, $first: Int!) { user(id: $id) { liveRegistrations(first: $first) { nodes { status position attendance { seconds }
    session { title access { allowed } host { id } viewerRegistration { id } } } } } }`;
  const own = async (first: number): Promise<unknown[]> =>
    (await p.graphql(query, { id: who.id, first }, { token })).data.user.liveRegistrations.nodes;
  await expectFlat(own, 8);
  const { id } = await session(p, { capacity: 1 });
  for (const one of await people(p, 9)) await register(p, id, one);
  const waiting = async (first: number): Promise<any[]> =>
    (await p.rest('GET', `/live/v1/admin/sessions/${id}/registrations?status=waitlisted&limit=${first}`, { token: await p.serviceToken() }))
      .body.data;
  await expectFlat(waiting, 8);
  expect((await waiting(8)).map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

test('sessions and questions that another service names are read in one statement a table, by the rule of the query', async () => {
  const hidden = await session(p, { visibility: 'invite' });
  const made = await Promise.all(Array.from({ length: 6 }, () => session(p, { question_moderation: 'post' })));
  const questions: string[] = [];
  for (const { id } of made) {
    await register(p, id, viewer);
    questions.push(
      (await p.rest('POST', `/live/v1/sessions/${id}/questions`, { token: viewer.token, body: { body: 'Is 30 low?' } })).body.id,
    );
  }
  const entities =
    (type: string, ids: readonly string[]) =>
    async (first: number): Promise<any[]> => {
      const representations = ids.slice(0, first).map(id => ({ __typename: type, id }));
      const query = `query ($representations: [_Any!]!) { _entities(representations: $representations) { ... on ${type} { id } } }`;
      const answer = await p.rest('POST', '/live/graphql', { token: viewer.token, body: { query, variables: { representations } } });
      return answer.body.data._entities;
    };
  const sessions = [...made.map(({ id }) => id), hidden.id, 'nonsense'];
  await expectFlat(entities('LiveSession', sessions), 6);
  expect((await entities('LiveSession', sessions)(8)).map(one => one?.id ?? null)).toEqual([...sessions.slice(0, 6), null, null]);
  await expectFlat(entities('LiveQuestion', questions), 6);
});
