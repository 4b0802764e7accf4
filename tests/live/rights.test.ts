import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { reconcileRoom } from '../../subgraphs/live/commands/reconcile.js';
import { providerOf } from '../../subgraphs/live/ports/providers.js';
import { ADMIN, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import {
  ask,
  assign,
  cancel,
  change,
  chatToken,
  count,
  grant,
  invite,
  join,
  neighbours,
  onAirNow,
  own,
  people,
  person,
  register,
  session,
  streamOf,
  Watcher,
  type Person,
} from './fixture.js';

let p: TestPlatform;
let host: Person;
/** Pairs of users of whom one has blocked the other. */
const blocks = new Set<string>();
const pair = (one: string, other: string): string => [one, other].sort().join();
const watchers: Watcher[] = [];

beforeAll(async () => {
  p = await platform({ services: ['live', 'entitlements'] });
  host = await person(p, ADMIN);
  neighbours(p, {
    LiveBlocked: ({ userId, others }) => ({ blockedEither: others.filter((other: string) => blocks.has(pair(userId, other))) }),
  });
}, 300_000);
afterEach(() => {
  for (const one of watchers.splice(0)) one.close();
});

function watch(id: string, who: Person): Watcher {
  const one = new Watcher(streamOf(p, id), who.token);
  watchers.push(one);
  return one;
}

const enter = async (token: string): Promise<string> =>
  (await p.rest('POST', '/live/embedded-streaming/connect', { body: { token } })).body.participant_sid;
const speaks = async (sid: string): Promise<boolean | undefined> =>
  (await p.sql('select can_publish as may from live.streaming_connection where sid = $1', [sid]))[0]?.may;

describe('the right to speak', () => {
  test('goes with the part in the team: in the running room, by an older token and by a new one', async () => {
    const { id, viewers } = await onAirNow(p, 1);
    const [speaker] = viewers as [Person];
    await assign(p, id, host, speaker, { role: 'speaker' });
    const entry = (await join(p, id, speaker)).body;
    expect(entry).toMatchObject({ role: 'speaker', can_publish: true });
    const sid = await enter(entry.token);
    expect(await speaks(sid)).toBe(true);
    await assign(p, id, host, speaker, { remove: true });
    await until(
      'the vendor to be told',
      () => speaks(sid),
      may => may === false,
    );
    const again = await enter(entry.token); // as a vendor does, the embedded one lets an older token in with what it says
    await until(
      'the vendor to be told again',
      () => speaks(again),
      may => may === false,
    );
    expect((await join(p, id, speaker)).body).toMatchObject({ role: 'viewer', can_publish: false, participant_id: entry.participant_id });
  });

  test('comes with the part in the team, and goes when it becomes that of a moderator', async () => {
    const { id, viewers } = await onAirNow(p, 1);
    const [viewer] = viewers as [Person];
    const sid = await enter((await join(p, id, viewer)).body.token);
    expect(await speaks(sid)).toBe(false);
    await assign(p, id, host, viewer, { role: 'speaker' });
    await until(
      'the right to speak',
      () => speaks(sid),
      may => may === true,
    );
    await assign(p, id, host, viewer, { role: 'moderator' });
    await until(
      'its end',
      () => speaks(sid),
      may => may === false,
    );
  });

  test('that comes while the vendor is told of its end stands, whichever word arrives last', async () => {
    const { id, viewers } = await onAirNow(p, 1);
    const [speaker] = viewers as [Person];
    await assign(p, id, host, speaker, { role: 'speaker' });
    const { token } = (await join(p, id, speaker)).body;
    await assign(p, id, host, speaker, { remove: true });
    const provider = providerOf(p.host('live'));
    const tell = provider.setPermissions.bind(provider);
    const [late, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const told = vi.spyOn(provider, 'setPermissions').mockImplementation(async (...right) => {
      if (!right[2]) {
        begun.resolve();
        await late.promise;
      }
      return tell(...right);
    });
    const sid = await enter(token); // a token of before, which the report of its use sets right
    await begun.promise;
    await assign(p, id, host, speaker, { role: 'speaker' });
    await until('the right, which was told', async () => told.mock.calls.some(([, , may]) => may), Boolean);
    late.resolve();
    await Promise.all(told.mock.results.map(one => one.value));
    await until(
      'the right that stands',
      () => speaks(sid),
      may => may === true,
    );
    told.mockRestore();
  });

  test('that the vendor did not take away is taken away by reconciliation, and by nothing that only chats', async () => {
    const { id, viewers } = await onAirNow(p, 1);
    const [speaker] = viewers as [Person];
    await assign(p, id, host, speaker, { role: 'speaker' });
    const sid = await enter((await join(p, id, speaker)).body.token);
    const attending = () => p.sql('select 1 from live.live_attendance where sid = $1', [sid]);
    await until('the report of it', attending, rows => rows.length === 1);
    expect((await chatToken(p, id, speaker)).status).toBe(200);
    await reconcileRoom(p.host('live'), { name: `ls_${id}_1`, subjectId: id });
    expect(await speaks(sid)).toBe(true);
    const lost = vi.spyOn(providerOf(p.host('live')), 'setPermissions').mockRejectedValueOnce(new Error('timeout'));
    await assign(p, id, host, speaker, { remove: true });
    await until(
      'the refusal',
      async () => lost.mock.calls.length,
      many => many > 0,
    );
    lost.mockRestore();
    expect(await speaks(sid)).toBe(true);
    await reconcileRoom(p.host('live'), { name: `ls_${id}_1`, subjectId: id });
    await until(
      'the vendor to be told',
      () => speaks(sid),
      may => may === false,
    );
  });
});

describe('the chat', () => {
  test("is moderated by who is in the team now: a former moderator's token deletes nothing, and still speaks", async () => {
    const { id, viewers } = await onAirNow(p, 1);
    const [moderator] = viewers as [Person];
    await assign(p, id, host, moderator, { role: 'moderator' });
    const { token, role } = (await chatToken(p, id, moderator)).body;
    expect(role).toBe('moderator');
    const say = () => p.rest('POST', '/live/embedded-chat/messages', { body: { text: 'Hello' }, headers: { 'x-chat-token': token } });
    const remove = (message: string) => p.rest('DELETE', `/live/embedded-chat/messages/${message}`, { headers: { 'x-chat-token': token } });
    const [first, second] = [(await say()).body.id, (await say()).body.id];
    expect((await remove(first)).status).toBe(204);
    await assign(p, id, host, moderator, { role: 'speaker' });
    expect((await remove(second)).status).toBe(403);
    await assign(p, id, host, moderator, { remove: true });
    expect((await remove(second)).status).toBe(403);
    expect((await say()).status).toBe(201);
  });

  test('is for those who could join: without a registration the required feature is asked for', async () => {
    const { id } = await onAirNow(p, 0, { registration_required: false, required_feature: 'labs.discount' });
    const [without, having] = (await people(p, 2)) as [Person, Person];
    await grant(p, having, 'labs.discount');
    expect(await join(p, id, without)).toMatchObject({ status: 403, body: { reason: 'feature_required' } });
    expect(await chatToken(p, id, without)).toMatchObject({ status: 403, body: { reason: 'feature_required' } });
    expect((await chatToken(p, id, having)).status).toBe(200);
    expect((await chatToken(p, id, host)).body).toMatchObject({ role: 'moderator' });
  });
});

describe('a session for the invited', () => {
  test('is not opened again by an invitation that was cancelled; another one opens it', async () => {
    const { id } = await session(p, { visibility: 'invite' });
    const guest = await person(p);
    await invite(p, id, host, guest);
    expect((await register(p, id, guest)).body.status).toBe('confirmed');
    expect((await cancel(p, id, guest)).status).toBe(204);
    const seen = await p.rest('GET', `/live/v1/sessions/${id}`, { token: guest.token });
    expect(seen.body.access).toMatchObject({ allowed: false, reason: 'invite_only' });
    expect(await register(p, id, guest)).toMatchObject({ status: 403, body: { reason: 'invite_only' } });
    expect(await own(p, id, guest)).toMatchObject({ status: 200, body: { status: 'cancelled', source: 'invite' } });
    expect((await count(p, id)).confirmed).toBe(0);
    expect((await invite(p, id, host, guest)).body).toMatchObject({ status: 'offered', source: 'invite' });
    expect(await register(p, id, guest)).toMatchObject({ status: 200, body: { status: 'confirmed', source: 'invite' } });
    expect((await p.rest('GET', `/live/v1/sessions/${id}`, { token: guest.token })).status).toBe(200);
  });

  test('is not joined by such an invitation either, where no registration is required', async () => {
    const { id } = await onAirNow(p, 0, { visibility: 'invite', registration_required: false });
    const guest = await person(p);
    await invite(p, id, host, guest);
    expect((await join(p, id, guest)).status).toBe(200);
    await cancel(p, id, guest);
    expect(await join(p, id, guest)).toMatchObject({ status: 403, body: { reason: 'invite_only' } });
    expect(await chatToken(p, id, guest)).toMatchObject({ status: 403, body: { reason: 'invite_only' } });
  });
});

/** What the process does each minute, without the minute. */
function aMinuteLater(): void {
  const now = Date.now;
  const ahead = vi.spyOn(Date, 'now').mockImplementation(() => now() + 61_000);
  afterEachOnce.push(() => ahead.mockRestore());
}
const afterEachOnce: (() => void)[] = [];
afterEach(() => {
  for (const undo of afterEachOnce.splice(0)) undo();
});

describe('an open stream, of which each minute is asked who may watch', () => {
  test("ends for whom the member who gives the session has blocked, and a former moderator sees no more of the team's", async () => {
    const [giver, moderator, blocked, viewer] = (await people(p, 4)) as [Person, Person, Person, Person];
    await grant(p, giver, 'live.host');
    const body = { kind: 'broadcast', title: 'Mine', starts_at: '2048-06-02T18:00:00.000Z', ends_at: '2048-06-02T19:00:00.000Z' };
    const { id } = (await p.rest('POST', '/live/v1/sessions', { token: giver.token, body })).body;
    await assign(p, id, giver, moderator, { role: 'moderator' });
    for (const who of [blocked, viewer]) expect((await register(p, id, who)).status).toBe(201);
    const [ofGiver, ofModerator, ofBlocked, ofViewer] = [giver, moderator, blocked, viewer].map(who => watch(id, who)) as Watcher[];
    for (const one of [ofGiver!, ofModerator!, ofBlocked!, ofViewer!]) await one.until('a snapshot', told => told.length === 1);
    blocks.add(pair(giver.id, blocked.id));
    await assign(p, id, giver, moderator, { remove: true });
    aMinuteLater();
    const told = await ofBlocked!.until('the bye', seen => seen.some(({ type }) => type === 'bye'));
    expect(told.at(-1)).toMatchObject({ type: 'bye', data: { reason: 'forbidden' } });
    expect((await ask(p, id, viewer)).body.status).toBe('pending');
    await ofGiver!.until('the question', seen => seen.some(({ type }) => type === 'question'));
    await p.rest('PATCH', `/live/v1/sessions/${id}`, { token: giver.token, body: { title: 'Mine, still' } });
    for (const one of [ofModerator!, ofViewer!]) await one.until('the change', seen => seen.some(({ type }) => type === 'session'));
    expect(ofModerator!.told.map(({ type }) => type)).toEqual(['snapshot', 'session']);
  });

  test('ends for who has left the team of a draft, which nobody else finds', async () => {
    const { id } = await session(p, { status: 'draft' });
    const moderator = await person(p);
    await assign(p, id, host, moderator, { role: 'moderator' });
    const [kept, left] = [watch(id, host), watch(id, moderator)];
    for (const one of [kept, left]) await one.until('a snapshot', told => told.length === 1);
    await assign(p, id, host, moderator, { remove: true });
    aMinuteLater();
    await left.until('the bye', told => told.some(({ type, data }) => type === 'bye' && data.reason === 'forbidden'));
    await change(p, id, { status: 'scheduled', title: 'No draft' });
    expect(kept.seen.filter(({ type }) => type === 'bye')).toEqual([]);
  });

  test('goes on while nobody can say who is blocked', async () => {
    const [giver, viewer, late] = (await people(p, 3)) as [Person, Person, Person];
    await grant(p, giver, 'live.host');
    const body = { kind: 'broadcast', title: 'Mine', starts_at: '2048-06-02T18:00:00.000Z', ends_at: '2048-06-02T19:00:00.000Z' };
    const { id } = (await p.rest('POST', '/live/v1/sessions', { token: giver.token, body })).body;
    await assign(p, id, giver, late, { role: 'moderator' });
    const [ofViewer, ofLate] = [watch(id, viewer), watch(id, late)];
    for (const one of [ofViewer, ofLate]) await one.until('a snapshot', told => told.length === 1);
    const warned = vi.spyOn(p.host('live').log, 'warn');
    const broken = neighbours(p, { LiveBlocked: () => Promise.reject(new Error('follows is down')) });
    aMinuteLater();
    const complaints = async (): Promise<boolean> => warned.mock.calls.some(([, text]) => String(text).startsWith('follows'));
    await until('the warning', complaints, Boolean);
    broken.stop();
    warned.mockRestore();
    await p.rest('PATCH', `/live/v1/sessions/${id}`, { token: giver.token, body: { title: 'Mine, still' } });
    for (const one of [ofViewer, ofLate]) await one.until('the change', told => told.some(({ type }) => type === 'session'));
    expect(ofViewer.seen.filter(({ type }) => type === 'bye')).toEqual([]);
  });
});
