import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ruleOf, type AccessRule } from '../access/rules.js';
import { enforce } from '../access/guard.js';
import { detach } from '../http/server.js';
import { loggedError } from '../observe/log.js';
import type { Context, ServiceHost } from '../request/context.js';
import { fail } from '../request/errors.js';
import type { RequestInfo } from '../request/request.js';
import type { Authenticate } from '../service.js';
import { Connection, frame, type Viewer } from './connection.js';
import { NEW_STREAM, type Entry, type EntryReader, type Feed, type Head } from './feed.js';
import { Served } from './served.js';
import { callerOfTicket } from './tickets.js';

const TICK_MS = 1_000;
const POLL_MS = 2_000;
const HEARTBEAT_MS = 15_000;
const RECHECK_MS = 60_000;
/** Time in which sockets take their last words when the process leaves, ms. */
const LAST_WORDS_MS = 1_000;

/** One kind of stream of a service. Source: live 4.8. */
export interface StreamSetting {
  feed: Feed;
  /** With `:id`, or without where {@link streamOf} says whose it is. */
  path: string;
  access: Parameters<typeof ruleOf>[0];
  /** Which stream a request means; default: the `:id` of its path. */
  streamOf?: (request: FastifyRequest, caller: RequestInfo['caller']) => string;
  /** Whether the caller has a part in it. Its rule is that of the resource's GET. @throws Problem not_found, forbidden. */
  open(ctx: Context, id: string): Promise<{ team: boolean }>;
  /** Those of the viewers who may not watch any longer; asked every minute, for all viewers of a stream at once. */
  gone(ctx: Context, id: string, viewers: readonly Viewer[]): Promise<ReadonlySet<Viewer>>;
  /** The whole state that all viewers see, or all with a part in it; REST form. It is kept until the next entry. */
  state(ctx: Context, id: string, team: boolean): Promise<object>;
  /** What only this viewer sees; REST form, `viewer` of the snapshot. */
  own?(ctx: Context, id: string, viewer: Viewer): Promise<object>;
  /** How an entry for the team or one user looks to a caller, where not all see the same of it. */
  shown?(entry: Entry, caller: RequestInfo['caller']): Entry;
  /** Users who watch, told every 15 s. */
  seen?(ctx: Context, id: string, userIds: readonly string[]): Promise<void>;
}

/** How a client resumes: from nothing, from an entry, or from a number that cannot be. */
type Position = 'none' | 'unknown' | number;

/** Header, or `?last_event_id=`; a browser sends the header by itself. */
function positionOf({ headers, query }: FastifyRequest, { seq, floor }: Head): Position {
  const given = headers['last-event-id'] ?? (query as { last_event_id?: unknown }).last_event_id;
  if (given === undefined || given === '') return 'none';
  const number = typeof given === 'string' && /^\d{1,9}$/.test(given) ? Number(given) : Number.POSITIVE_INFINITY;
  return number <= seq && number >= floor ? number : 'unknown';
}

/** All streams of one kind that this process serves. */
export class Streams {
  readonly #served = new Map<string, { stream: Served; unhear: () => void }>();
  readonly #states = new Map<string, { seq: number; text: Promise<string> }>();
  readonly #reader: EntryReader;
  readonly #rule: AccessRule;
  #timer: NodeJS.Timeout;
  #polledAt = 0;
  #leaving = false;

  constructor(
    private readonly host: ServiceHost,
    private readonly setting: StreamSetting,
  ) {
    const { feed } = setting;
    this.#rule = ruleOf(setting.access);
    this.#reader = {
      heads: ids => host.read(ctx => feed.heads(ctx.sql, ids)),
      after: (id, seq, limit) => host.read(ctx => feed.after(ctx, id, seq, limit)),
    };
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
  }

  /** Open connections. */
  get size(): number {
    return [...this.#served.values()].reduce((sum, { stream }) => sum + stream.connections.size, 0);
  }

  async #identify(request: FastifyRequest, authenticate: Authenticate): Promise<RequestInfo> {
    const info = await authenticate(request);
    const { ticket } = request.query as { ticket?: unknown };
    if (info.token !== null || typeof ticket !== 'string') return info;
    const id = this.#idOf(request, info);
    return { ...info, caller: callerOfTicket(this.host, this.setting.feed.keyOf(id), ticket) };
  }

  #idOf(request: FastifyRequest, { caller }: RequestInfo): string {
    const { streamOf } = this.setting;
    return (streamOf ? streamOf(request, caller) : (request.params as { id: string }).id).toLowerCase();
  }

  /** Answers one request: the handshake under the request's rules and deadline, the rest apart from them. */
  async open(request: FastifyRequest, reply: FastifyReply, authenticate: Authenticate): Promise<void> {
    if (this.#leaving) fail('unavailable', 'This process is leaving', { retryAfter: 1 });
    const info = await this.#identify(request, authenticate);
    const id = this.#idOf(request, info);
    const ctx = await this.host.context(info);
    enforce(this.#rule, this.setting.path, ctx);
    const { team } = await this.setting.open(ctx, id);
    const head = (await this.setting.feed.heads(ctx.sql, [id])).get(id) ?? NEW_STREAM;
    const position = positionOf(request, head);
    if (head.over && (position === 'none' || position === head.seq)) return void reply.status(204).send();
    const viewer = this.#viewerOf(info, team);
    const [first, seq] =
      typeof position === 'number' ? ['', position] : [await this.#beginning(ctx, id, { viewer, head, position }), head.seq];
    await this.#begin(id, head, this.#connect(reply, viewer, seq, first));
    info.contexts.clear(); // a stream lives long, what answered its request does not
  }

  #viewerOf({ caller }: RequestInfo, team: boolean): Viewer {
    const { shown } = this.setting;
    return { caller, userId: caller.userId, team, ...(shown && { shown: entry => shown(entry, caller) }) };
  }

  async #beginning(
    ctx: Context,
    id: string,
    { viewer, head, position }: { viewer: Viewer; head: Head; position: Position },
  ): Promise<string> {
    const reset = position === 'unknown' ? frame('reset', '{}') : '';
    const [shared, own] = await Promise.all([this.#stateOf(ctx, id, viewer.team, head.seq), this.setting.own?.(ctx, id, viewer) ?? null]);
    const snapshot = own === null ? shared : `${shared.slice(0, -1)},"viewer":${JSON.stringify(own)}}`;
    return reset + frame('snapshot', snapshot, head.seq);
  }

  /** The shared part of a snapshot, made once for each last entry: a whole audience that comes at once costs one. */
  #stateOf(ctx: Context, id: string, team: boolean, seq: number): Promise<string> {
    const key = `${id} ${team}`;
    const known = this.#states.get(key);
    if (known && known.seq >= seq) return known.text;
    const text = this.setting.state(ctx, id, team).then(state => JSON.stringify({ seq, ...state }));
    text.catch(() => this.#states.delete(key));
    this.#states.set(key, { seq, text });
    return text;
  }

  #connect(reply: FastifyReply, viewer: Viewer, seq: number, first: string): Connection {
    detach(reply);
    const headers = {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    };
    reply.hijack();
    reply.raw.writeHead(200, headers);
    reply.raw.write(`retry: ${1_000 + Math.floor(Math.random() * 3_001)}\n\n${first}`);
    return new Connection(viewer, reply.raw, seq);
  }

  async #begin(id: string, head: Head, connection: Connection): Promise<void> {
    const stream = this.#serve(id, head);
    connection.onEnd(() => this.#ended(id, stream, connection));
    try {
      await stream.attach(connection);
    } catch (error) {
      this.host.log.warn({ err: loggedError(error) }, 'a stream could not begin');
      connection.drop();
    }
    if (head.seq > stream.seq || head.over) stream.noticed(head);
    if (this.#leaving) stream.end(connection, 'shutdown');
  }

  #serve(id: string, head: Head): Served {
    const known = this.#served.get(id);
    if (known) return known.stream;
    const stream = new Served(id, this.#reader, head, error =>
      this.host.log.warn({ err: loggedError(error) }, 'the entries of a stream could not be read'),
    );
    const hearing = this.host.transport.onHint('realtime', this.setting.feed.keyOf(id), () => stream.wake());
    this.#served.set(id, { stream, unhear: () => hearing.stop() });
    return stream;
  }

  #ended(id: string, stream: Served, connection: Connection): void {
    stream.connections.delete(connection);
    if (stream.connections.size > 0 || this.#served.get(id)?.stream !== stream) return;
    this.#served.get(id)!.unhear();
    stream.stop();
    this.#served.delete(id);
  }

  #tick(): void {
    const now = Date.now();
    for (const { stream } of this.#served.values()) this.#endDead(stream, now);
    for (const { stream } of this.#served.values()) this.#beat(stream, now);
    if (now - this.#polledAt < POLL_MS) return;
    for (const key of this.#states.keys()) if (!this.#served.has(key.split(' ')[0]!)) this.#states.delete(key);
    if (this.#served.size === 0) return;
    this.#polledAt = now;
    void this.#quietly(this.#poll());
  }

  /** Tokens end by the system clock, and by revocation. */
  #endDead(stream: Served, now: number): void {
    for (const connection of stream.connections) {
      const { caller } = connection.viewer;
      if (this.host.revocations.isRevoked(caller)) stream.end(connection, 'revoked');
      else if (caller.expiresAt !== null && caller.expiresAt * 1000 <= now) stream.end(connection, 'token_expired');
    }
  }

  #beat(stream: Served, now: number): void {
    if (now - stream.heartbeatAt >= HEARTBEAT_MS) {
      if (stream.heartbeatAt > 0) stream.heartbeat(new Date(now));
      stream.heartbeatAt = now;
      void this.#quietly(this.#seen(stream));
    }
    if (now - stream.checkedAt < RECHECK_MS) return;
    stream.checkedAt = now;
    void this.#quietly(this.recheck(stream));
  }

  async #seen({ id, connections }: Served): Promise<void> {
    const users = new Set([...connections].flatMap(({ viewer }) => viewer.userId ?? []));
    if (users.size > 0) await this.host.transaction(async ctx => this.setting.seen?.(ctx, id, [...users]));
  }

  /** Ends the streams of those who may not watch any longer. */
  async recheck(stream: Served): Promise<void> {
    const viewers = [...stream.connections].map(({ viewer }) => viewer);
    const gone = await this.host.read(ctx => this.setting.gone(ctx, stream.id, viewers));
    for (const connection of stream.connections) if (gone.has(connection.viewer)) stream.end(connection, 'forbidden');
  }

  /** Hints may be lost: one query for the heads of all streams that are served here. */
  async #poll(): Promise<void> {
    const heads = await this.#reader.heads([...this.#served.keys()]);
    for (const [id, head] of heads) this.#served.get(id)?.stream.noticed(head);
  }

  #quietly(work: Promise<void>): Promise<void> {
    return work.catch(error => this.host.log.warn({ err: loggedError(error) }, 'streams could not be kept up'));
  }

  /** Refuses new streams, says bye to all and ends them. */
  async leave(): Promise<void> {
    this.#leaving = true;
    clearInterval(this.#timer);
    const connections = [...this.#served.values()].flatMap(({ stream }) => [...stream.connections].map(one => [stream, one] as const));
    const closed = connections.map(([, one]) => new Promise<void>(resolve => one.onEnd(resolve)));
    for (const [stream, one] of connections) stream.end(one, 'shutdown');
    await Promise.race([Promise.all(closed), new Promise(resolve => setTimeout(resolve, LAST_WORDS_MS).unref())]);
    for (const [, one] of connections) one.drop();
  }
}

/** Serves a kind of stream at its path until the process leaves. */
export function serveStreams(app: FastifyInstance, host: ServiceHost, setting: StreamSetting, authenticate: Authenticate): Streams {
  const streams = new Streams(host, setting);
  app.leaving.push(() => streams.leave());
  app.get(setting.path, (request, reply) => streams.open(request, reply, authenticate));
  return streams;
}
