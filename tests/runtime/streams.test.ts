import { once } from 'node:events';
import { connect } from 'node:net';
import { EventSource } from 'eventsource';
import type { FastifyInstance } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { createHttp } from '../../runtime/http/server.js';
import { createLogger } from '../../runtime/observe/log.js';
import { ANONYMOUS } from '../../runtime/request/caller.js';
import { Connection, MAX_UNSENT_BYTES } from '../../runtime/streams/connection.js';
import type { Entry, EntryReader } from '../../runtime/streams/feed.js';
import { Served } from '../../runtime/streams/served.js';
import { callerOfTicket, issueTicket } from '../../runtime/streams/tickets.js';
import { createSealer } from '../../runtime/data/crypto.js';
import { closeGracefully } from '../../gateway/composition/shutdown.js';
import { until } from '../support/until.js';

const USER = '0190b3a0-0000-7000-8000-0000000000a1';

/** Entries in memory, and how often they were read. */
class Entries implements EntryReader {
  readonly all: Entry[] = [];
  reads = 0;
  add(entry: Partial<Entry> = {}): number {
    const seq = this.all.length + 1;
    this.all.push({ seq, audience: 'PUBLIC', userId: null, type: 'note', data: JSON.stringify({ n: seq }), ...entry });
    return seq;
  }
  heads = async () => new Map([['s', { seq: this.all.length, floor: 0, over: false }]]);
  after = async (_id: string, seq: number, limit: number) => {
    this.reads++;
    return this.all.filter(entry => entry.seq > seq).slice(0, limit);
  };
}

interface Server {
  app: FastifyInstance;
  url: string;
  entries: Entries;
  stream: Served;
}

const servers: Server[] = [];
const sources: EventSource[] = [];
afterEach(async () => {
  for (const source of sources.splice(0)) source.close();
  for (const { app } of servers.splice(0)) {
    app.server.closeAllConnections();
    await app.close();
  }
});

/** Whoever asks with `?user=` is that user, with `?team` of the team; resumes where `Last-Event-ID` says. */
async function serve(): Promise<Server> {
  const [app, entries] = [createHttp({ log: createLogger('error') }), new Entries()];
  const stream = new Served('s', entries, { seq: 0, floor: 0, over: false }, error => {
    throw error;
  });
  app.get('/stream', async (request, reply) => {
    const { user, team } = request.query as { user?: string; team?: string };
    reply.hijack();
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    const viewer = { caller: ANONYMOUS, userId: user ?? null, team: team !== undefined };
    const connection = new Connection(viewer, reply.raw, Number(request.headers['last-event-id'] ?? 0));
    connection.onEnd(() => stream.connections.delete(connection));
    await stream.attach(connection);
  });
  app.leaving.push(async () => {
    for (const connection of stream.connections) stream.end(connection, 'shutdown');
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const one = { app, entries, stream, url: `http://127.0.0.1:${(app.server.address() as { port: number }).port}/stream` };
  servers.push(one);
  return one;
}

/** What a client of this address has seen: numbers of notes, and the words of other events. */
function watch(url: string): { seen: (number | string)[]; source: EventSource } {
  const [seen, source]: [(number | string)[], EventSource] = [[], new EventSource(url)];
  source.addEventListener('note', event => seen.push((JSON.parse(event.data) as { n: number }).n));
  source.addEventListener('bye', event => seen.push((JSON.parse(event.data) as { reason: string }).reason));
  sources.push(source);
  return { seen, source };
}

const seenBy = (seen: readonly unknown[], count: number) =>
  until(
    `${count} events`,
    async () => seen.length,
    length => length >= count,
  );
const connected = (stream: Served, count: number) =>
  until(
    `${count} connections`,
    async () => stream.connections.size,
    size => size === count,
  );

test('after its connections are cut, each client resumes with exactly what it missed, in order', async () => {
  const { app, url, entries, stream } = await serve();
  const clients = Array.from({ length: 20 }, () => watch(url));
  await connected(stream, 20);
  for (let n = 0; n < 5; n++) entries.add();
  stream.wake();
  await Promise.all(clients.map(({ seen }) => seenBy(seen, 5)));
  app.server.closeAllConnections();
  await connected(stream, 0);
  for (let n = 0; n < 5; n++) entries.add();
  stream.wake();
  await Promise.all(clients.map(({ seen }) => seenBy(seen, 10)));
  entries.add();
  stream.wake();
  await Promise.all(clients.map(({ seen }) => seenBy(seen, 11)));
  for (const { seen } of clients) expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
});

test('entries that come together are read once and leave as one write per socket', async () => {
  const { url, entries, stream } = await serve();
  const client = watch(url);
  await connected(stream, 1);
  const before = entries.reads;
  for (let n = 0; n < 50; n++) {
    entries.add();
    stream.wake();
  }
  await seenBy(client.seen, 50);
  expect(entries.reads - before).toBeLessThanOrEqual(2);
});

test('an entry for the team or for one user reaches nobody else', async () => {
  const { url, entries, stream } = await serve();
  const [viewer, team, own] = [watch(url), watch(`${url}?team`), watch(`${url}?user=${USER}`)];
  await connected(stream, 3);
  entries.add({ audience: 'TEAM' });
  entries.add({ audience: 'USER', userId: USER });
  entries.add();
  stream.wake();
  await Promise.all([seenBy(viewer.seen, 1), seenBy(team.seen, 2), seenBy(own.seen, 2)]);
  expect([viewer.seen, team.seen, own.seen]).toEqual([[3], [1, 3], [2, 3]]);
});

test('the fourth connection of a user replaces the oldest', async () => {
  const { url, stream } = await serve();
  const clients: ReturnType<typeof watch>[] = [];
  for (let n = 1; n <= 3; n++) {
    clients.push(watch(`${url}?user=${USER}`));
    await connected(stream, n);
  }
  clients.push(watch(`${url}?user=${USER}`));
  await seenBy(clients[0]!.seen, 1);
  expect(clients.map(({ seen }) => seen)).toEqual([['replaced'], [], [], []]);
  clients[0]!.source.close();
});

test('a reader that takes nothing is dropped, and the others get everything', async () => {
  const { url, entries, stream } = await serve();
  const { port } = new URL(url);
  const slow = connect(Number(port), '127.0.0.1');
  slow.write('GET /stream HTTP/1.1\r\nhost: x\r\n\r\n');
  slow.pause();
  await connected(stream, 1);
  const quick = watch(url);
  await connected(stream, 2);
  const text = JSON.stringify({ n: 0, text: 'x'.repeat(MAX_UNSENT_BYTES) });
  const [first] = [...stream.connections];
  for (let n = 1; first!.isOpen && n <= 100; n++) {
    entries.add({ data: text });
    stream.wake();
    await seenBy(quick.seen, n);
  }
  expect(first!.isOpen).toBe(false);
  expect(quick.seen.length).toBe(entries.all.length);
  slow.on('error', () => undefined).destroy();
});

test('a process that leaves says bye to its streams and ends, although they would go on', async () => {
  const { app, url, stream } = await serve();
  const clients = Array.from({ length: 50 }, () => watch(url));
  await connected(stream, 50);
  const closed = once(app.server, 'close');
  await closeGracefully(app, 0);
  await closed;
  await Promise.all(clients.map(({ seen }) => seenBy(seen, 1)));
  for (const { seen } of clients) expect(seen).toEqual(['shutdown']);
});

test('a ticket opens its own stream for its caller, and neither another stream nor a changed or a revoked one', () => {
  const revoked = new Set<string>();
  const host = {
    sealer: createSealer(`t:${Buffer.alloc(32, 1).toString('base64')}`),
    revocations: { isRevoked: ({ gid }: { gid: string | null }) => revoked.has(gid!) },
  } as never;
  const caller = { ...ANONYMOUS, kind: 'user' as const, userId: USER, gid: 'g1', clientId: 'app', scopes: new Set(['read:live']) };
  const { ticket } = issueTicket(host, 'live:1', { ...caller, expiresAt: Math.floor(Date.now() / 1000) + 60 });
  expect(callerOfTicket(host, 'live:1', ticket)).toMatchObject({ kind: 'user', userId: USER, gid: 'g1', permissions: [] });
  expect(Buffer.from(ticket, 'base64url').toString('latin1')).not.toContain(USER);
  const refused = (stream: string, one: string) => expect(() => callerOfTicket(host, stream, one)).toThrow('The ticket is not valid');
  refused('live:2', ticket);
  refused('live:1', `${ticket.slice(0, -2)}AA`);
  refused('live:1', issueTicket(host, 'live:1', { ...caller, expiresAt: Math.floor(Date.now() / 1000) - 1 }).ticket);
  revoked.add('g1');
  refused('live:1', ticket);
});
