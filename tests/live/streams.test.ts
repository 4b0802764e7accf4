import { createParser } from 'eventsource-parser';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { SignJWT } from 'jose';
import { newId } from '../../runtime/data/ids.js';
import type { Context } from '../../runtime/request/context.js';
import { signatureOf } from '../../subgraphs/live/ports/embedded.js';
import { atOnce } from '../support/locks.js';
import { ADMIN, BRAND, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import type { Addition } from '../../runtime/streams/feed.js';
import { sessionFeed } from '../../subgraphs/live/commands/feeds.js';
import { reconcileRoom } from '../../subgraphs/live/commands/reconcile.js';
import { joined } from '../../subgraphs/live/commands/vendor.js';
import { providerOf } from '../../subgraphs/live/ports/providers.js';
import {
  ask,
  cancel,
  change,
  count,
  eventsOf,
  join,
  moderate,
  onAirNow,
  own,
  people,
  person,
  register,
  session,
  statementsOf,
  streamOf,
  vote,
  Watcher,
  type Person,
} from './fixture.js';

const SECRET = 'test-secret-of-the-embedded-streaming-provider';

let p: TestPlatform;
let service: string;
let host: Person;
const watchers: Watcher[] = [];

beforeAll(async () => {
  p = await platform({ services: ['live', 'entitlements'], env: { STREAMING_WEBHOOK_SECRETS: SECRET } });
  service = await p.serviceToken();
  host = await person(p, ADMIN);
}, 300_000);
afterEach(() => {
  for (const one of watchers.splice(0)) one.close();
});

function watch(id: string, who: { token: string }, last?: string): Watcher {
  const one = new Watcher(streamOf(p, id), who.token, last);
  watchers.push(one);
  return one;
}

const onAir = (seats: number, fields: object = {}) => onAirNow(p, seats, fields);

interface Handle {
  destroy(): void;
  destroyed: boolean;
  remotePort?: number;
  localPort?: number;
}

/** The endpoints' server is none of the running parts that are shown, so its connections are found among this process's handles. */
const handlesOf = (port: string): Handle[] =>
  (process as unknown as { _getActiveHandles(): Handle[] })
    ._getActiveHandles()
    .filter(({ localPort, destroy }) => localPort === Number(port) && typeof destroy === 'function');

const cutAll = (): void => {
  for (const handle of handlesOf(new URL(p.url).port)) handle.destroy();
};

describe('a stream', () => {
  test('begins with the whole state, then tells of each change in its order', async () => {
    const {
      id,
      viewers: [a, b],
    } = await onAir(2);
    const first = (await ask(p, id, a!)).body.id as string;
    const one = watch(id, b!);
    const [snapshot] = await one.until('a snapshot', told => told.length >= 1);
    expect(snapshot).toMatchObject({
      type: 'snapshot',
      data: {
        session: { status: 'live' },
        counts: { confirmed: 2 },
        questions: [{ id: first }],
        viewer: { registration: { status: 'confirmed' } },
      },
    });
    await ask(p, id, a!, 'And 40?');
    await change(p, id, { title: 'Renamed' });
    const told = await one.until('two changes', seen => seen.length >= 3);
    expect(told.slice(1).map(({ type }) => type)).toEqual(['question', 'session']);
    const numbers = one.seen.filter(({ id: seq }) => seq !== '').map(({ id: seq }) => Number(seq));
    expect(numbers).toEqual([...numbers].sort((x, y) => x - y));
    expect(JSON.stringify(told)).not.toContain(a!.id);
  });

  test('case 14: all connections are cut, and each client gets exactly what it missed, in order, then goes on', async () => {
    const { id, viewers } = await onAir(3);
    const clients = [...viewers, host].map(who => watch(id, who));
    for (const one of clients) await one.until('a snapshot', told => told.length === 1);
    const title = async (n: number): Promise<void> => void (await change(p, id, { title: `Title ${n}` }));
    for (let n = 1; n <= 5; n++) await title(n);
    for (const one of clients) await one.until('five changes', told => told.length === 6);
    cutAll();
    for (let n = 6; n <= 10; n++) await title(n);
    for (const one of clients) await one.until('ten changes', told => told.length >= 11);
    await title(11);
    for (const one of clients) await one.until('the eleventh', told => told.length >= 12);
    for (const one of clients)
      expect(one.told.slice(1).map(({ data }) => data.title)).toEqual(Array.from({ length: 11 }, (_, n) => `Title ${n + 1}`));
  }, 60_000);

  test.each(['999999', 'nonsense', '-1'])('case 15: Last-Event-ID %s cannot be resumed from: reset, then the whole state', async last => {
    const {
      id,
      viewers: [a],
    } = await onAir(1);
    const [reset, snapshot] = await watch(id, a!, last).until('a snapshot', told => told.length >= 2);
    expect([reset!.type, snapshot!.type]).toEqual(['reset', 'snapshot']);
  });

  test('entries that are added to several streams at once keep their order, each in its own', async () => {
    const [one, two, none] = [newId(), newId(), newId()];
    const entries = (...ns: number[]) => ns.map(n => ({ type: 'n', payload: { n } }));
    const add = (...all: Addition[]) => p.host('live').transaction(ctx => sessionFeed.appendAll(ctx, all));
    await add({ id: one, entries: entries(1, 2, 3) }, { id: two, entries: entries(7) });
    const last = await add({ id: one, entries: entries(4, 5) }, { id: two, entries: entries(8, 9) }, { id: none, entries: [] });
    expect([...last].toSorted(([a], [b]) => (a < b ? -1 : 1))).toEqual([
      [one, 5],
      [two, 3],
      [none, 0],
    ]);
    const told = (id: string) =>
      p.host('live').read(async ctx => (await sessionFeed.after(ctx, id, 0, 9)).map(({ seq, data }) => [seq, JSON.parse(data).n]));
    expect(await told(one)).toEqual([1, 2, 3, 4, 5].map(n => [n, n]));
    expect(await told(two)).toEqual([7, 8, 9].map((n, at) => [at + 1, n]));
  });

  test('who comes too early to tell of votes is told how long to wait, not to wait all over again', async () => {
    const [stream, tenMinutes] = [newId(), 600_000];
    const claim = (): Promise<number> => p.host('live').transaction(ctx => sessionFeed.claimTick(ctx, stream, tenMinutes));
    expect(await claim()).toBe(0);
    await p.sql(`update live.live_feed_head set ticked_at = ticked_at - interval '9 minutes' where stream_id = $1`, [stream]);
    const wait = await claim();
    expect([wait > 0, wait <= 60_000]).toEqual([true, true]);
  });

  test('case 25: twenty votes at once are told once, with the final count', async () => {
    const { id, viewers } = await onAir(21);
    const [asker, ...voters] = viewers;
    const question = (await ask(p, id, asker!)).body.id as string;
    const one = watch(id, asker!);
    await one.until('a snapshot', told => told.length === 1);
    await Promise.all(voters.map(who => vote(p, question, who)));
    const told = await one.until('the votes', seen => seen.some(({ type, data }) => type === 'votes' && data.counts[question] === 20));
    expect(told.filter(({ type }) => type === 'votes').length).toBeLessThanOrEqual(3); // requests on a slow machine take longer than one interval
    expect(told.at(-1)).toMatchObject({ type: 'votes', data: { counts: { [question]: 20 } } });
  });

  test('a question that waits is told to the team and its author only, and one that is hidden goes for all', async () => {
    const {
      id,
      viewers: [a, b],
    } = await onAir(2, { question_moderation: 'pre' });
    const [team, author, other] = [watch(id, host), watch(id, a!), watch(id, b!)];
    for (const one of [team, author, other]) await one.until('a snapshot', told => told.length === 1);
    const question = (await ask(p, id, a!)).body.id as string;
    await team.until('the question', told => told.some(({ type }) => type === 'question'));
    await author.until('the question', told => told.some(({ type }) => type === 'question'));
    await moderate(p, question, host, { status: 'approved' });
    await moderate(p, question, host, { status: 'hidden' });
    const seen = await other.until('its removal', told => told.some(({ type }) => type === 'question_removed'));
    expect(seen.slice(1).map(({ type, data }) => [type, data.status ?? null])).toEqual([
      ['question', 'approved'],
      ['question_removed', null],
    ]);
  });

  test('promotion is told to whom it concerns, and to nobody else', async () => {
    const { id } = await session(p, { capacity: 1 });
    const [a, b, c] = (await people(p, 3)) as [Person, Person, Person];
    for (const who of [a, b, c]) await register(p, id, who);
    const [ofB, ofC] = [watch(id, b), watch(id, c)];
    for (const one of [ofB, ofC]) await one.until('a snapshot', told => told.length === 1);
    await cancel(p, id, a);
    expect((await ofB.until('the promotion', told => told.length === 2))[1]).toMatchObject({
      type: 'registration',
      data: { status: 'confirmed' },
    });
    await change(p, id, { title: 'Later' });
    expect((await ofC.until('the change', told => told.length === 2))[1]!.type).toBe('session');
  });

  test('a ticket opens the stream without a header, for that session only; without either it is a 401, without the scope a 403', async () => {
    const {
      id,
      viewers: [a],
    } = await onAir(1);
    const other = await session(p);
    const { status, body } = await p.rest('POST', `/live/v1/sessions/${id}/stream-ticket`, { token: a!.token });
    expect({ status, body }).toMatchObject({ status: 201, body: { path: `/v1/sessions/${id}/stream` } });
    const source = await fetch(`${streamOf(p, id)}?ticket=${body.ticket}`);
    expect([source.status, source.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(source.headers.get('cache-control')).toBe('no-cache, no-transform');
    await source.body!.cancel();
    const statusOf = async (url: string, headers = {}): Promise<number> =>
      fetch(url, { headers }).then(async answer => (await answer.body?.cancel(), answer.status));
    expect(await statusOf(`${streamOf(p, other.id)}?ticket=${body.ticket}`)).toBe(401);
    expect(await statusOf(streamOf(p, id))).toBe(401);
    const profile = await p.userToken(a!.id, ['read:profile']);
    expect(await statusOf(streamOf(p, id), { authorization: `Bearer ${profile}` })).toBe(403);
    expect(await statusOf(streamOf(p, newId()), { authorization: `Bearer ${a!.token}` })).toBe(404);
  });

  test('a stream says bye when its session is over, and a reconnect from its end is answered with 204', async () => {
    const {
      id,
      viewers: [a],
    } = await onAir(1);
    const lines: { event?: string; id?: string; data: string }[] = [];
    const answer = await fetch(streamOf(p, id), { headers: { authorization: `Bearer ${a!.token}` } });
    const parser = createParser({ onEvent: event => lines.push(event as never) });
    const reading = (async () => {
      for await (const chunk of answer.body!) parser.feed(Buffer.from(chunk as Uint8Array).toString());
    })();
    await until(
      'a snapshot',
      async () => lines.length,
      length => length >= 1,
    );
    await change(p, id, { status: 'ended' });
    await reading; // the server ends it
    expect(lines.at(-1)).toMatchObject({ event: 'bye', data: '{"reason":"ended"}' });
    const last = lines.filter(one => one.id).at(-1)!.id!;
    const again = await fetch(streamOf(p, id), { headers: { authorization: `Bearer ${a!.token}`, 'last-event-id': last } });
    expect(again.status).toBe(204);
  });

  test('case 28: five hundred streams of a hundred sessions on which nothing happens cost one query of heads in two seconds', async () => {
    const sessions = await Promise.all(Array.from({ length: 100 }, () => session(p)));
    const token = await p.serviceToken();
    const all = sessions.flatMap(({ id }) => Array.from({ length: 5 }, () => watch(id, { token })));
    for (const one of all) await one.until('a snapshot', told => told.length === 1);
    const heads = vi.spyOn(sessionFeed, 'heads');
    const begunAt = performance.now();
    const asked = await statementsOf(
      p,
      () =>
        until(
          'eleven queries',
          async () => heads.mock.calls.length,
          many => many >= 11,
        ),
      /from live\.live_feed_head where stream_id|live_feed_entry/,
    );
    const seconds = (performance.now() - begunAt) / 1_000;
    const streams = heads.mock.calls.map(([, ids]) => ids.length);
    heads.mockRestore();
    expect(seconds).toBeGreaterThanOrEqual(19); // ten distances of two seconds, each a little late or early
    expect(asked).toHaveLength(11);
    expect(Math.min(...streams)).toBeGreaterThanOrEqual(100);
  }, 120_000);

  test('a reader that takes nothing is cut off, the others get everything in time, and it resumes where it stopped', async () => {
    const { id, viewers } = await onAir(1);
    const { port } = new URL(p.url);
    const slow = connect(Number(port), 'localhost').on('error', () => undefined);
    slow.write(`GET /live/v1/sessions/${id}/stream HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${viewers[0]!.token}\r\n\r\n`);
    const chunks: Buffer[] = [];
    await new Promise<void>(resolve => slow.once('data', chunk => (chunks.push(chunk as Buffer), resolve())));
    slow.pause();
    const quick = watch(id, host);
    await quick.until('a snapshot', told => told.length === 1);
    const isServed = (): boolean => handlesOf(port).some(({ remotePort, destroyed }) => remotePort === slow.localPort && !destroyed);
    expect(isServed()).toBe(true);
    const entries = Array.from({ length: 100 }, () => ({ type: 'session', payload: { title: 'x'.repeat(15_000) } }));
    let told = 0;
    while (isServed() && told < 4_000) {
      await p.host('live').transaction(ctx => sessionFeed.append(ctx, id, entries)); // more than sockets of the system hold
      told += entries.length;
      await quick.until('all of them', seen => seen.length === told + 1);
    }
    expect(isServed()).toBe(false);
    slow.on('data', chunk => chunks.push(chunk as Buffer)).resume();
    await once(slow, 'close');
    const taken = Buffer.concat(chunks).toString();
    expect(taken).not.toContain('event: bye');
    const last = [...taken.matchAll(/id: (\d+)\nevent: session\ndata: [^\n]*\n\n/g)].at(-1)![1]!;
    expect(Number(last)).toBeLessThan(Number(quick.told.at(-1)!.id));
    const rest = quick.told.filter(one => Number(one.id) > Number(last)).map(one => one.id);
    const resumed = await watch(id, viewers[0]!, last).until('what was missed', seen => seen.length >= rest.length);
    expect(resumed.map(one => one.id)).toEqual(rest);
  }, 120_000);
});

describe('reports of the vendor', () => {
  const send = (body: string, signature: string) =>
    p.rest('POST', '/live/webhooks/streaming', {
      body,
      headers: { 'content-type': 'application/json', 'x-streaming-signature': signature },
    });
  const signed = (body: object): [string, string] => {
    const raw = JSON.stringify(body);
    return [raw, signatureOf(SECRET, Math.floor(Date.now() / 1000), raw)];
  };
  const receipts = async (id: string): Promise<number> =>
    (await p.sql('select 1 from live.streaming_receipt where event_id = $1', [id])).length;

  test('case 16: a changed byte is a 401 and leaves nothing; a valid one twice has one effect', async () => {
    const { id } = await onAir(0);
    const event = newId();
    const [raw, signature] = signed({ id: event, type: 'room_started', room: `ls_${id}_1` });
    expect((await send(raw.replace('room_started', 'room_startex'), signature)).status).toBe(401);
    expect(await receipts(event)).toBe(0);
    const late = signatureOf(SECRET, Math.floor(Date.now() / 1000) - 301, raw);
    expect((await send(raw, late)).status).toBe(401);
    expect([(await send(raw, signature)).status, (await send(raw, `${signature},v1=00`)).status]).toEqual([200, 200]);
    expect(await eventsOf(p, id, 'live.stream.event.v1')).toMatchObject([{ data: { kind: 'connected', vendor_event_id: event } }]);
    expect((await p.rest('POST', '/live/webhooks/streaming', { body: raw, headers: { 'content-type': 'text/plain' } })).status).toBe(415);
  });

  test('case 16: one that nobody has heard of is kept with 200, and says nothing on', async () => {
    const { id } = await onAir(0);
    for (const type of ['track_published', 'constructor']) {
      const event = newId();
      const [raw, signature] = signed({ id: event, type, room: `ls_${id}_1` });
      expect((await send(raw, signature)).status).toBe(200);
      expect(await receipts(event)).toBe(1);
    }
    expect(await eventsOf(p, id, 'live.stream.event.v1')).toEqual([]);
  });

  const connect = async (token: string, more: object = {}): Promise<string> => {
    const answer = await p.rest('POST', '/live/embedded-streaming/connect', { body: { token, ...more } });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body.participant_sid;
  };
  const open = (id: string): Promise<{ sid: string }[]> =>
    p.sql('select sid from live.live_attendance where subject_id = $1 and left_at is null', [id]);
  const viewersNow = async (id: string): Promise<number> =>
    (await p.rest('GET', `/live/v1/sessions/${id}`, { token: service })).body.counts.viewers_now;

  test('two who come at once are both counted', async () => {
    const { id, viewers } = await onAir(2);
    const [one, other] = await Promise.all(viewers.map(who => join(p, id, who)));
    const room = { room: `ls_${id}_1`, subjectId: id, canPublish: false };
    const comes = (entry: typeof one) => (ctx: Context) =>
      joined(ctx, { ...room, participantId: entry!.body.participant_id, sid: `PA_${newId()}` });
    await atOnce({ p, host: p.host('live'), waitsIn: 'live_session' }, comes(one), comes(other));
    expect(await viewersNow(id)).toBe(2);
  });

  test('case 17: a late left of an old connection does not end the new one', async () => {
    const {
      id,
      viewers: [a],
    } = await onAir(1);
    const { body } = await join(p, id, a!);
    const old = await connect(body.token);
    await until(
      'the first',
      () => open(id),
      rows => rows.length === 1,
    );
    await p.rest('POST', '/live/embedded-streaming/disconnect', { body: { participant_sid: old, hold: true } });
    const fresh = await connect(body.token, { reverse: true }); // joined of the new one first, then left of the old one
    await until(
      'both reports',
      () => open(id),
      rows => rows.length === 1 && rows[0]!.sid === fresh,
    );
    expect(await viewersNow(id)).toBe(1);
  });

  test('case 18: who was removed gets no token, and an old one lets them in for a moment only', async () => {
    const {
      id,
      viewers: [a],
    } = await onAir(1);
    const { body } = await join(p, id, a!);
    await connect(body.token);
    await until(
      'the participant',
      () => open(id),
      rows => rows.length === 1,
    );
    const remove = (token: string) =>
      p.rest('POST', `/live/v1/sessions/${id}/participants/${body.participant_id}/remove`, { token, body: { reason_code: 'disturbing' } });
    expect((await remove(a!.token)).status).toBe(403);
    expect((await remove(host.token)).status).toBe(200);
    const inRoom = () => p.sql('select sid from live.streaming_connection where room = $1', [`ls_${id}_1`]);
    await until('the room to be empty', inRoom, rows => rows.length === 0);
    expect(await join(p, id, a!)).toMatchObject({ status: 403, body: { reason: 'removed' } });
    await connect(body.token);
    await until('the second removal', inRoom, rows => rows.length === 0);
    expect((await p.rest('GET', `/live/v1/sessions/${id}/chat-token`, { token: a!.token })).status).toBe(403);
    await cancel(p, id, a!);
    await register(p, id, a!);
    expect((await join(p, id, a!)).status).toBe(403);
    const { body: question } = await ask(p, id, host);
    for (const answer of [await ask(p, id, a!), await vote(p, question.id, a!)])
      expect(answer).toMatchObject({ status: 403, body: { reason: 'removed' } });
    expect((await p.rest('GET', `/live/v1/sessions/${id}/questions`, { token: a!.token })).status).toBe(200); // who reads disturbs nobody
  });

  test('rule 6: a removal that the vendor did not carry out is tried again, and who was removed is shown no way to watch', async () => {
    const {
      id,
      viewers: [a],
    } = await onAir(1);
    const room = `ls_${id}_1`;
    const { body } = await join(p, id, a!);
    await connect(body.token);
    await until(
      'the participant',
      () => open(id),
      rows => rows.length === 1,
    );
    const playback = async () => (await p.rest('GET', `/live/v1/sessions/${id}`, { token: a!.token })).body.playback_url;
    const before = await playback();
    const provider = providerOf(p.host('live'));
    const refused = vi.spyOn(provider, 'removeParticipant').mockRejectedValueOnce(new Error('timeout'));
    const answer = await p.rest('POST', `/live/v1/sessions/${id}/participants/${body.participant_id}/remove`, {
      token: host.token,
      body: { reason_code: 'disturbing' },
    });
    expect(answer.status).toBe(200);
    await until(
      'the refusal',
      async () => refused.mock.calls.length,
      many => many > 0,
    );
    const inRoom = () => p.sql('select sid from live.streaming_connection where room = $1', [room]);
    expect(await inRoom()).toHaveLength(1);
    await reconcileRoom(p.host('live'), { name: room, subjectId: id });
    await until('the room to be empty', inRoom, rows => rows.length === 0);
    expect([before !== null, await playback()]).toEqual([true, null]);
    refused.mockRestore();
  });

  test('rule 9: what no report told, the list of participants tells', async () => {
    const {
      id,
      viewers: [a, b],
    } = await onAir(2);
    const room = `ls_${id}_1`;
    const [first, second] = [(await join(p, id, a!)).body, (await join(p, id, b!)).body];
    const sid = await connect(first.token);
    await until(
      'the first',
      () => open(id),
      rows => rows.length === 1,
    );
    await p.sql('delete from live.streaming_connection where sid = $1', [sid]); // its left is lost
    await p.sql(
      `insert into live.streaming_connection (sid, room, participant_id, can_publish, joined_at) values ('PA_lost', $1, $2, false, now())`,
      [room, second.participant_id],
    );
    await reconcileRoom(p.host('live'), { name: room, subjectId: id });
    expect(await open(id)).toEqual([{ sid: 'PA_lost' }]);
  });

  test('a room that the vendor ends, ends its session; a room of another epoch does not', async () => {
    const { id } = await onAir(0);
    await send(...signed({ id: newId(), type: 'room_finished', room: `ls_${id}_7` }));
    await send(...signed({ id: newId(), type: 'room_finished', room: `ls_${id}_1` }));
    const state = async () => (await p.rest('GET', `/live/v1/admin/sessions/${id}`, { token: service })).body;
    await until('the session to end', state, ({ status }) => status === 'ended');
    expect((await state()).end_reason).toBe('vendor');
    expect(await eventsOf(p, id, 'integration.streaming.session_ended.v1')).toHaveLength(1);
  });

  test('a recording is ready by the report, watched by those with access, and taken away', async () => {
    const {
      id,
      viewers: [a],
    } = await onAir(1, { recording_enabled: true });
    await p.rest('POST', '/live/embedded-streaming/egress', { body: { room: `ls_${id}_1`, duration_seconds: 60 } });
    const list = async (who: string) => (await p.rest('GET', `/live/v1/sessions/${id}/recordings`, { token: who })).body.data;
    const [recording] = await until(
      'the recording',
      () => list(a!.token),
      rows => rows.length === 1,
    );
    expect(recording).toMatchObject({ status: 'ready', duration_seconds: 60, transcript_url: null });
    expect(recording.playback_url).toContain('signature=');
    expect(await eventsOf(p, id, 'live.recording.ready.v1')).toMatchObject([{ user_id: ADMIN, data: { duration_s: 60 } }]);
    expect((await p.rest('DELETE', `/live/v1/admin/recordings/${recording.id}`, { token: service })).status).toBe(204);
    expect(await list(a!.token)).toEqual([]);
  });
});

describe('the embedded chat', () => {
  test('passes messages on under pseudonyms, and moderators delete them', async () => {
    const {
      id,
      viewers: [a],
    } = await onAir(1);
    const token = async (who: Person) => (await p.rest('GET', `/live/v1/sessions/${id}/chat-token`, { token: who.token })).body;
    const [viewer, moderator] = [await token(a!), await token(host)];
    expect([viewer.role, moderator.role]).toEqual(['viewer', 'moderator']);
    const say = (text: unknown, chat: string) =>
      p.rest('POST', '/live/embedded-chat/messages', { body: { text }, headers: { 'x-chat-token': chat } });
    expect((await say('Hello', 'nonsense')).status).toBe(401);
    expect((await say('', viewer.token)).status).toBe(400);
    const { status, body } = await say('Hello', viewer.token);
    expect(status).toBe(201);
    const del = (chat: string) => p.rest('DELETE', `/live/embedded-chat/messages/${body.id}`, { headers: { 'x-chat-token': chat } });
    expect([(await del(viewer.token)).status, (await del(moderator.token)).status, (await del(moderator.token)).status]).toEqual([
      403, 204, 404,
    ]);
    const answer = await fetch(`${p.url}/live/embedded-chat/stream?token=${viewer.token}`, { headers: { 'last-event-id': '0' } });
    let text = '';
    for await (const chunk of answer.body!) {
      text += Buffer.from(chunk as Uint8Array).toString();
      if (text.includes('message_removed')) break;
    }
    expect(text).not.toContain('Hello');
    await change(p, id, { chat_enabled: false });
    expect(await p.rest('GET', `/live/v1/sessions/${id}/chat-token`, { token: a!.token })).toMatchObject({
      status: 409,
      body: { reason: 'chat_disabled' },
    });
  });
});

describe('erasure and comms', () => {
  test('case 24: texts and author go, votes stay, the seat goes to the next, and a second delivery changes nothing', async () => {
    const { id } = await session(p, { capacity: 1, question_moderation: 'post' });
    const [a, b] = (await people(p, 2)) as [Person, Person];
    for (const who of [a, b]) await register(p, id, who);
    const mine = (await ask(p, id, a)).body.id as string;
    const hosts = (await ask(p, id, host, 'A question of the host')).body.id as string;
    await vote(p, hosts, a);
    const { eraseUser } = await import('../../runtime/erasure/erasure.js');
    const { erase } = await import('../../subgraphs/live/erase.js');
    const run = () => p.host('live').transaction(ctx => eraseUser(ctx, erase, { userId: a.id, requestId: newId(), scope: 'full' }));
    expect(await run()).toMatchObject({
      outcome: 'anonymised',
      records: { live_question: 1, live_question_vote: 1, live_registration: 1 },
    });
    expect(await own(p, id, b)).toMatchObject({ body: { status: 'confirmed' } });
    const listed = (await p.rest('GET', `/live/v1/sessions/${id}/questions`, { token: host.token })).body.data;
    expect(listed.find((one: any) => one.id === mine)).toMatchObject({ body: null, author: null });
    expect(listed.find((one: any) => one.id === hosts)).toMatchObject({ vote_count: 1 });
    expect(await run()).toMatchObject({ outcome: 'nothing_held' });
    const tables = await p.sql(
      `select table_name as name from information_schema.tables where table_schema = 'live' and table_type = 'BASE TABLE' and table_name not in ('audit_log')`,
    );
    for (const { name } of tables)
      expect(await p.sql(`select 1 from live."${name}" t where t::text like $1`, [`%${a.id}%`]), name).toEqual([]);
  });

  test('case 29: comms reads the audience in pages of a thousand, and nobody else does', async () => {
    const { id } = await session(p);
    await p.sql(
      `insert into live.live_registration (id, session_id, user_id, status, source, queue_no, registered_at)
       select gen_random_uuid(), $1, gen_random_uuid(), case when n <= 1100 then 'confirmed' when n <= 1200 then 'offered' else 'waitlisted' end, 'self', n + 10, now() from generate_series(1, 1205) n`,
      [id],
    );
    const query =
      'query ($id: ID!, $after: String) { liveSessionAudience(sessionId: $id, after: $after) { userIds endCursor hasNextPage } }';
    const comms = await p.internalToken('comms');
    const first = (await p.graphql(query, { id }, { token: comms })).data.liveSessionAudience;
    const second = (await p.graphql(query, { id, after: first.endCursor }, { token: comms })).data.liveSessionAudience;
    expect([first.userIds.length, second.userIds.length, second.hasNextPage]).toEqual([1_000, 200, false]);
    expect(new Set([...first.userIds, ...second.userIds]).size).toBe(1_200);
    expect((await p.graphql(query, { id }, { token: host.token })).errors[0]!.extensions.code).toBe('FORBIDDEN');
  });

  test('comms reads a registration with its calendar file, whose title is shown only when asked for', async () => {
    const { id } = await session(p);
    const a = await person(p);
    const registration = (await register(p, id, a)).body.id;
    const query =
      'query ($id: ID!) { liveRegistration(id: $id) { status session { title brand { id } } plain: calendarFile detailed: calendarFile(detail: true) } }';
    const { data, errors } = await p.graphql(query, { id: registration }, { token: await p.internalToken('comms') });
    expect(errors).toEqual([]);
    expect(data.liveRegistration).toMatchObject({ status: 'CONFIRMED', session: { title: 'Ask the lab', brand: { id: BRAND } } });
    expect(data.liveRegistration.plain).not.toContain('Ask the lab');
    expect(data.liveRegistration.detailed).toContain('SUMMARY:Ask the lab');
  });

  test("people's own registrations hang on the user, and nobody else's", async () => {
    const { id } = await session(p);
    const [a, b] = (await people(p, 2)) as [Person, Person];
    await register(p, id, a);
    const query = 'query ($id: ID!) { user(id: $id) { liveRegistrations { nodes { session { id } } } } }';
    const token = await p.userToken(a.id, ['read:live', 'read:profile']);
    expect((await p.graphql(query, { id: a.id }, { token })).data.user.liveRegistrations.nodes).toEqual([{ session: { id } }]);
    expect((await p.graphql(query, { id: a.id }, { token: b.token })).data?.user?.liveRegistrations?.nodes ?? []).toEqual([]);
    expect(await count(p, id)).toMatchObject({ confirmed: 1 });
  });
});

test('a report of LiveKit is taken by its own scheme, and only as it was signed', async () => {
  const { LivekitProvider } = await import('../../subgraphs/live/ports/livekit.js');
  const keys = [
    ['new', 'n'.repeat(32)],
    ['old', 'o'.repeat(32)],
  ] as const;
  const provider = new LivekitProvider('wss://rtc.example.test', keys);
  const raw = JSON.stringify({
    event: 'participant_joined',
    id: 'EV_1',
    room: { name: 'ls_x_1' },
    participant: { sid: 'PA_1', identity: 'p_1' },
  });
  const jwt = async (secret: string, body: string, key = 'new') => {
    const sha256 = createHash('sha256').update(body).digest('base64');
    return new SignJWT({ sha256 })
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer(key)
      .setNotBefore('0s')
      .setExpirationTime('5m')
      .sign(Buffer.from(secret));
  };
  const verify = (token: string, body = raw) =>
    provider.verifyWebhook(Buffer.from(body), name => (name === 'authorization' ? token : null));
  expect(await verify(await jwt('n'.repeat(32), raw))).toMatchObject({
    id: 'EV_1',
    type: 'participant_joined',
    room: 'ls_x_1',
    participantId: 'p_1',
    sid: 'PA_1',
  });
  expect(await verify(`Bearer ${await jwt('o'.repeat(32), raw, 'old')}`)).toMatchObject({ id: 'EV_1' });
  expect(await verify(await jwt('x'.repeat(32), raw))).toBeNull();
  expect(await verify(await jwt('n'.repeat(32), raw), raw.replace('PA_1', 'PA_2'))).toBeNull();
  expect(await verify('')).toBeNull();
  const egress = async (status: string, event = 'egress_updated') => {
    const fileResults = [{ duration: '90000000000', size: '1000' }];
    const body = JSON.stringify({ event, id: 'EV_2', egressInfo: { egressId: 'EG_1', roomName: 'ls_x_1', status, fileResults } });
    return (await verify(await jwt('n'.repeat(32), body), body))!.egress;
  };
  for (const status of ['EGRESS_STARTING', 'EGRESS_ACTIVE', 'EGRESS_ENDING'])
    expect(await egress(status)).toMatchObject({ ref: 'EG_1', failed: false, durationSeconds: null });
  for (const status of ['EGRESS_COMPLETE', 'EGRESS_LIMIT_REACHED'])
    expect(await egress(status, 'egress_ended')).toMatchObject({ failed: false, durationSeconds: 90, sizeBytes: 1000 });
  for (const status of ['EGRESS_FAILED', 'EGRESS_ABORTED']) expect(await egress(status, 'egress_ended')).toMatchObject({ failed: true });
  const { token } = await provider.issueJoinToken({ room: 'ls_x_1', participantId: 'p_1', canPublish: false, canPublishData: false });
  const { TokenVerifier } = await import('livekit-server-sdk');
  expect(await new TokenVerifier('new', 'n'.repeat(32)).verify(token)).toMatchObject({
    sub: 'p_1',
    video: { room: 'ls_x_1', roomJoin: true, canPublish: false },
  });
});
