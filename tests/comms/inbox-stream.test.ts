import { EventSource } from 'eventsource';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { newId } from '../../runtime/data/ids.js';
import { DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { emitAs, send, settle } from './asking.js';

interface Told {
  type: string;
  id: string;
  data: any;
}

let p: TestPlatform;
let member: string;
const watchers: Watcher[] = [];
const SCOPES = ['read:inbox', 'manage:inbox'];
const PARTNER = { clientId: 'demo-partner-app' };

/** A client of a stream: what it was told, in order, over all of its connections. */
class Watcher {
  readonly told: Told[] = [];
  readonly source: EventSource;

  constructor(address: string, headers: Record<string, string>) {
    this.source = new EventSource(`${p.url}${address}`, {
      fetch: (input, init) => fetch(input, { ...init, headers: { ...headers, ...init?.headers } }),
    });
    for (const type of ['snapshot', 'reset', 'item', 'count', 'bye'])
      this.source.addEventListener(type, event => this.told.push({ type, id: event.lastEventId, data: JSON.parse(event.data as string) }));
    watchers.push(this);
  }

  of(type: string): any[] {
    return this.told.filter(one => one.type === type).map(({ data }) => data);
  }

  /** What it has been told, once there is so much of a type. */
  async until(type: string, count = 1): Promise<any[]> {
    return until(
      `${count} ${type}`,
      async () => this.of(type),
      found => found.length >= count,
    );
  }
}

const STREAM = '/comms/v1/inbox/stream';
const watch = (token: string, more: Record<string, string> = {}): Watcher =>
  new Watcher(STREAM, { authorization: `Bearer ${token}`, ...more });
const rest = (method: string, path: string, token: string | null, body?: unknown) => p.rest(method, `/comms${path}`, { token, body });
const ticketOf = (token: string) => rest('POST', '/v1/inbox/stream-ticket', token);
const statusOf = async (query = '', token: string | null = null): Promise<number> => {
  const answer = await fetch(`${p.url}${STREAM}${query}`, token === null ? {} : { headers: { authorization: `Bearer ${token}` } });
  await answer.body?.cancel();
  return answer.status;
};

/** An item of a topic that everybody may know of, or of health. */
async function deliver(body: Record<string, unknown> = {}): Promise<void> {
  expect((await send(p, { channels: ['in_app'], ...body })).status).toBe(202);
  await settle(p);
}
const deliverHealth = (): Promise<void> =>
  deliver({ template: 'lab_results_ready', params: { report_id: newId() }, entity: { type: 'report', id: newId() } });

beforeAll(async () => {
  p = await platform({ services: ['comms', 'events'] });
  member = await p.userToken(DEMO, SCOPES);
}, 240_000);

afterEach(() => {
  for (const one of watchers.splice(0)) one.source.close();
});

test('a stream begins with the newest items and the numbers, then tells of an item and of the numbers after it', async () => {
  await deliver();
  const one = watch(member);
  const [snapshot] = await one.until('snapshot');
  const { data } = (await rest('GET', '/v1/inbox', member)).body;
  expect(snapshot.viewer).toEqual({ count: (await rest('GET', '/v1/inbox/count', member)).body, items: data });
  await deliver();
  const [[item], [count]] = [await one.until('item'), await one.until('count')];
  expect(item).toEqual((await rest('GET', '/v1/inbox', member)).body.data[0]);
  expect([item.kind, item.status, count]).toEqual(['order_placed', 'unseen', { unseen: data.length + 1, unread: data.length + 1 }]);
  expect(one.told.map(({ type }) => type)).toEqual(['snapshot', 'item', 'count']);
});

test('what a person does with items in one app, others see: read, seen up to one, archived, opened by its link', async () => {
  const one = watch(member);
  await one.until('snapshot');
  await deliver();
  await deliver();
  const [first, second] = await one.until('item', 2);
  await rest('POST', `/v1/inbox/${first.id}/read`, member);
  expect((await one.until('item', 3)).at(-1)).toMatchObject({ id: first.id, status: 'read', read_at: expect.any(String) });
  await rest('POST', '/v1/inbox/seen', member, { up_to: second.id });
  await until(
    'the second to be seen',
    async () => one.of('item'),
    all => all.some(({ id, status }) => id === second.id && status === 'seen'),
  );
  expect((await one.until('count', 4)).at(-1)).toMatchObject({ unseen: 0 });
  const { body } = await rest('GET', `/v1/messages/me?limit=1`, member);
  expect((await p.rest('GET', `/comms/m/${body.data[0].id}`, { token: member })).status).toBe(200);
  await until(
    'the second to be read',
    async () => one.of('item').at(-1),
    item => item.id === second.id && item.status === 'read',
  );
  await rest('POST', `/v1/inbox/${second.id}/archive`, member);
  await until(
    'the second to be archived',
    async () => one.of('item').at(-1),
    item => item.status === 'archived',
  );
  expect((await one.until('count', 6)).at(-1)).toEqual((await rest('GET', '/v1/inbox/count', member)).body);
});

test('who comes back with a Last-Event-ID gets exactly what was missed, in order; with one that nobody gave, the whole state', async () => {
  const one = watch(member);
  await one.until('snapshot');
  await deliver();
  await one.until('count');
  one.source.close();
  for (let n = 0; n < 3; n++) await deliver();
  const last = one.told.at(-1)!.id;
  const back = watch(member, { 'last-event-id': last });
  await back.until('count', 3);
  await deliver();
  await back.until('count', 4);
  expect(back.told.map(({ type }) => type)).toEqual(Array.from({ length: 4 }, () => ['item', 'count']).flat());
  expect(back.told.map(({ id }) => Number(id))).toEqual(Array.from({ length: 8 }, (_, n) => Number(last) + n + 1));
  const newest = (await rest('GET', '/v1/inbox', member)).body.data.slice(0, 4).reverse();
  expect(back.of('item')).toEqual(newest);
  const lost = watch(member, { 'last-event-id': '999999' });
  await lost.until('snapshot');
  expect(lost.told.map(({ type }) => type)).toEqual(['reset', 'snapshot']);
});

test('of changes at the same time the number that is told last is the right one', async () => {
  await rest('POST', '/v1/inbox/read-all', member, { up_to: (await rest('GET', '/v1/inbox', member)).body.data[0].id });
  for (let n = 0; n < 8; n++) await send(p, { channels: ['in_app'] });
  await settle(p);
  const one = watch(member);
  const [{ viewer }] = await one.until('snapshot');
  const waiting = (viewer.items as { id: string; status: string }[]).filter(({ status }) => status === 'unseen');
  expect(waiting).toHaveLength(8);
  await Promise.all(waiting.map(({ id }) => rest('POST', `/v1/inbox/${id}/read`, member)));
  const counts = await one.until('count', 8);
  expect(counts.map(({ unread }) => unread)).toEqual([7, 6, 5, 4, 3, 2, 1, 0]);
});

test('nobody is told of another person’s inbox', async () => {
  const [own, other] = [watch(member), watch(await p.userToken(DEMO2, SCOPES))];
  for (const one of [own, other]) await one.until('snapshot');
  await deliver();
  await own.until('count');
  await deliver({ user_id: DEMO2 });
  await other.until('count');
  expect([own.of('item').length, other.of('item').length]).toEqual([1, 1]);
  expect(own.of('item')[0].id).not.toBe(other.of('item')[0].id);
});

test('a token with read:inbox opens it, or a ticket that it got; a service, nobody and a made-up ticket do not', async () => {
  const { status, body } = await ticketOf(member);
  expect({ status, body }).toMatchObject({ status: 201, body: { path: '/v1/inbox/stream', expires_at: expect.any(String) } });
  const [deep] = [Buffer.from(body.ticket as string, 'base64url').toString('latin1')];
  expect(deep).not.toContain(DEMO);
  expect([await statusOf('', member), await statusOf(`?ticket=${body.ticket}`)]).toEqual([200, 200]);
  expect([await statusOf(), await statusOf('?ticket=made-up'), await statusOf(`?ticket=${body.ticket.slice(0, -4)}AAAA`)]).toEqual([
    401, 401, 401,
  ]);
  const profile = await p.userToken(DEMO, ['read:profile']);
  expect([await statusOf('', profile), await statusOf('', await p.serviceToken('admin:comms'))]).toEqual([403, 403]);
  expect([(await ticketOf(profile)).status, (await rest('POST', '/v1/inbox/stream-ticket', null)).status]).toEqual([403, 401]);
});

test('an app of others learns of a health item only that there is one, in snapshot, stream and by ticket; with the topic’s scope it is named', async () => {
  await p.sql(`insert into identity.oauth_client_agreement (id, client_id, document_version, scopes, signed_by, signed_at, expires_at)
    values (gen_random_uuid(), 'demo-partner-app', '2026-01', '{read:lab_results}', 'Legal', now(), now() + interval '1 day')`);
  const agreed = await p.userToken(DEMO, ['read:inbox', 'read:lab_results'], PARTNER);
  const third = await p.userToken(DEMO, ['read:inbox'], PARTNER);
  const byTicket = async (token: string) => new Watcher(`${STREAM}?ticket=${(await ticketOf(token)).body.ticket}`, {});
  const closed = [watch(third), await byTicket(third)];
  const open = [watch(member), await byTicket(member), watch(agreed)];
  for (const one of [...open, ...closed]) await one.until('snapshot');
  await deliverHealth();
  for (const one of open) {
    const [item] = await one.until('item');
    expect(item).toMatchObject({ kind: 'lab_results_ready', title: 'Your results are there', entity: { type: 'report' } });
    expect(item).toEqual((await rest('GET', '/v1/inbox', member)).body.data[0]);
  }
  const [shown] = (await rest('GET', '/v1/inbox', third)).body.data;
  for (const one of closed) {
    const [item] = await one.until('item');
    expect([item.kind, item.title, item.entity]).toEqual(['health', 'You have a new health reminder.', null]);
    expect(item).toEqual(shown);
    expect(JSON.stringify(one.told)).not.toContain('Your results are there');
  }
  const later = watch(third);
  expect((await later.until('snapshot'))[0].viewer.items[0]).toEqual(shown);
});

test('no text of an item stands in the tables of the stream', async () => {
  await deliverHealth();
  const rows = await p.sql<{ row: string }>('select e::text as row from comms.inbox_feed_entry e');
  const hex = Buffer.from('results').toString('hex');
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.filter(({ row }) => /results|lab_|health/.test(row) || row.includes(hex))).toEqual([]);
});

test('a stream ends with the token that opened it, revoked', async () => {
  const token = await p.userToken(DEMO, ['read:inbox']);
  const [one, other] = [watch(token), watch(member)];
  for (const each of [one, other]) await each.until('snapshot');
  const form = new URLSearchParams({ client_id: 'demo-app', token }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  expect((await p.rest('POST', '/identity/v1/oauth/revoke', { body: form, headers })).status).toBe(200);
  expect(await one.until('bye')).toEqual([{ reason: 'revoked' }]);
  await deliver();
  await other.until('item');
  expect([one.of('item'), other.of('bye')]).toEqual([[], []]);
});

test('entries are kept for a day: who comes back later begins with the whole state', async () => {
  const one = watch(member);
  await one.until('snapshot');
  await deliver();
  await one.until('count');
  const last = String(Number(one.told.at(-1)!.id) - 1);
  one.source.close();
  await p.clock('comms', { advance: 'P3D' });
  expect(await p.sql('select 1 from comms.inbox_feed_entry')).toEqual([]);
  const back = watch(member, { 'last-event-id': last });
  await back.until('snapshot');
  expect(back.told.map(({ type }) => type)).toEqual(['reset', 'snapshot']);
});

test('the stream of a person who is erased ends, and nothing of it stays', async () => {
  const one = watch(await p.userToken(DEMO2, ['read:inbox']));
  await one.until('snapshot');
  await deliver({ user_id: DEMO2 });
  await one.until('item');
  const erasure = { request_id: newId(), scope: 'full', requested_at: '2027-01-14T08:00:00.000Z', due_at: '2027-02-14T08:00:00.000Z' };
  await emitAs(p, 'identity', 'user.erasure_requested.v1', erasure, DEMO2);
  expect(await one.until('bye')).toEqual([{ reason: 'ended' }]);
  expect(await p.sql('select 1 from comms.inbox_feed_entry where stream_id = $1 or user_id = $1', [DEMO2])).toEqual([]);
  await p.clock('comms', { advance: 'P3D' });
  expect(await p.sql('select 1 from comms.inbox_feed_head where stream_id = $1', [DEMO2])).toEqual([]);
});
