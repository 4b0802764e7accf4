import { EventSource } from 'eventsource';
import type { DataOf, EventDefinition } from '../../events/define.js';
import { prepareEvent } from '../../events/outbox.js';
import { newId } from '../../runtime/data/ids.js';
import type { Answer, RemotePlatform, TestPlatform } from '../support/platform.js';
import { ADMIN } from '../support/platform.js';
import { askedDuring } from '../support/statements.js';
import { until } from '../support/until.js';

/** What tests need of a platform, in this process or in others. */
export type Suite = Pick<RemotePlatform, 'rest' | 'sql' | 'url' | 'serviceToken' | 'internalToken'> & {
  userToken(userId: string, scopes: string[]): Promise<string>;
};

export const START = '2049-06-02T18:00:00.000Z';
export const END = '2049-06-02T19:00:00.000Z';

/** Somebody with an account and a token. */
export interface Person {
  id: string;
  token: string;
}

const SCOPES = ['read:live', 'write:live'];

const ACCOUNT = `insert into identity."user" (id, status, created_at, updated_at) values ($1, 'active', now(), now()) on conflict do nothing`;

export async function person(p: Suite, id: string = newId()): Promise<Person> {
  await p.sql(ACCOUNT, [id]);
  return { id, token: await p.userToken(id, SCOPES) };
}

export const people = (p: Suite, count: number): Promise<Person[]> => Promise.all(Array.from({ length: count }, () => person(p)));

/** A scheduled session of the admin, who hosts it; in 2049, where no test's clock comes. */
export async function session(p: Suite, fields: object = {}): Promise<{ id: string; body: any }> {
  const body = { kind: 'broadcast', title: 'Ask the lab', starts_at: START, ends_at: END, host_user_id: ADMIN, ...fields };
  const answer = await p.rest('POST', '/live/v1/admin/sessions', { token: await p.serviceToken(), body });
  if (answer.status !== 201) throw new Error(`no session: ${JSON.stringify(answer.body)}`);
  return { id: answer.body.id, body: answer.body };
}

const BASE = '/live/v1/sessions';

export const register = (p: Suite, id: string, who: Person): Promise<Answer> =>
  p.rest('POST', `${BASE}/${id}/registrations`, { token: who.token, body: {} });
export const cancel = (p: Suite, id: string, who: Person): Promise<Answer> =>
  p.rest('DELETE', `${BASE}/${id}/registrations/me`, { token: who.token });
export const own = (p: Suite, id: string, who: Person): Promise<Answer> =>
  p.rest('GET', `${BASE}/${id}/registrations/me`, { token: who.token });
export const join = (p: Suite, id: string, who: Person): Promise<Answer> => p.rest('POST', `${BASE}/${id}/join`, { token: who.token });
export const count = async (p: Suite, id: string): Promise<any> =>
  (await p.rest('GET', `${BASE}/${id}/registrations/count`, { token: await p.serviceToken() })).body;
export const change = async (p: Suite, id: string, body: object): Promise<Answer> =>
  p.rest('PATCH', `/live/v1/admin/sessions/${id}`, { token: await p.serviceToken(), body });
export const ask = (p: Suite, id: string, who: Person, body = 'Is 30 low?', more: object = {}): Promise<Answer> =>
  p.rest('POST', `${BASE}/${id}/questions`, { token: who.token, body: { body, ...more } });
export const vote = (p: Suite, question: string, who: Person, voted = true): Promise<Answer> =>
  p.rest('POST', `/live/v1/questions/${question}/vote`, { token: who.token, body: { voted } });
export const moderate = (p: Suite, question: string, who: Person, body: object): Promise<Answer> =>
  p.rest('PATCH', `/live/v1/questions/${question}/status`, { token: who.token, body });

export const chatToken = (p: Suite, id: string, who: Person): Promise<Answer> =>
  p.rest('GET', `${BASE}/${id}/chat-token`, { token: who.token });
export const invite = (p: Suite, id: string, host: Person, guest: Person): Promise<Answer> =>
  p.rest('POST', `${BASE}/${id}/registrations`, { token: host.token, body: { user_id: guest.id } });
export const assign = (p: Suite, id: string, host: Person, who: Person, body: object): Promise<Answer> =>
  p.rest('POST', `${BASE}/${id}/host`, { token: host.token, body: { user_id: who.id, ...body } });

/** Gives somebody a feature. @returns the id by which {@link revoke} takes it away. */
export async function grant(p: Suite, who: Person, feature: string): Promise<string> {
  const body = { user_id: who.id, feature_key: feature, allow: true, reason: 'A test' };
  const answer = await p.rest('POST', '/entitlements/v1/admin/overrides', { token: await p.serviceToken(), body });
  if (answer.status !== 201) throw new Error(`no override: ${JSON.stringify(answer.body)}`);
  return answer.body.id;
}

export async function revoke(p: Suite, override: string): Promise<void> {
  const answer = await p.rest('DELETE', `/entitlements/v1/admin/overrides/${override}`, { token: await p.serviceToken() });
  if (answer.status >= 300) throw new Error(`the override stays: ${JSON.stringify(answer.body)}`);
}

/** A session on air in real time, of the admin, with people who have seats. */
export async function onAirNow(p: Suite, seats: number, fields: object = {}): Promise<{ id: string; viewers: Person[] }> {
  const now = Date.now();
  const times = { starts_at: new Date(now + 600_000).toISOString(), ends_at: new Date(now + 4_200_000).toISOString() };
  const { id } = await session(p, { ...times, question_moderation: 'post', ...fields });
  const viewers = await people(p, seats);
  for (const who of viewers) await register(p, id, who);
  const { status } = await change(p, id, { status: 'live' });
  if (status !== 200) throw new Error(`not on air: ${status}`);
  return { id, viewers };
}

/** Events of a session by type, in the order in which they were emitted. */
export async function eventsOf(p: Suite, sessionId: string, type?: string): Promise<{ type: string; user_id: string | null; data: any }[]> {
  const text = `select type, user_id, data from events.outbox where data->>'session_id' = $1 and ($2::text is null or type = $2) order by seq`;
  return p.sql(text, [sessionId, type ?? null]);
}

/** As its owner emits it; resolves when the consumer has handled it. */
export async function tell<E extends EventDefinition>(
  p: Pick<TestPlatform, 'sql'>,
  consumer: string,
  event: E,
  about: { userId: string; data: DataOf<E> },
): Promise<void> {
  const meta = { source: event.owner, requestId: null, causationId: null, actor: `service:${event.owner}`, traceparent: null } as const;
  const pending = prepareEvent(event, about.data, { userId: about.userId }, meta);
  await p.sql(`set role platform_events; select events.append('${JSON.stringify([pending]).replaceAll("'", "''")}', null); reset role`);
  await until(
    `${event.name} is handled`,
    () => p.sql('select 1 from live.inbox where consumer = $1 and event_id = $2', [consumer, pending.id]),
    rows => rows.length === 1,
  );
}

type Asked = (variables: any) => object | Promise<object>;

/** Answers in the place of services that are absent, by the name of the operation that live asks. */
export function neighbours(p: Pick<TestPlatform, 'host'>, answers: Record<string, Asked>): { asked: string[]; stop(): void } {
  const { federation } = p.host('live');
  const real = federation.run.bind(federation);
  const asked: string[] = [];
  federation.run = async (document, variables, ...rest) => {
    const name = /^\s*(?:query|mutation)\s+(\w+)/.exec(document.source)?.[1] ?? '';
    asked.push(name);
    return (Object.hasOwn(answers, name) ? await answers[name]!(variables) : await real(document, variables, ...rest)) as never;
  };
  return { asked, stop: () => void (federation.run = real) };
}

/** What looks for changed counts and for what is due. */
const BESIDE = /^(?!select "l0"\."id")[^]*(?:_dirty|min\(at\))/; // a row read by its key has the column, too
const TABLES = /"?live"?\."?live_(session|registration|question|call|recording|series|attendance|participant|kick)/;

/** Statements on tables of sessions, seats, questions, calls and recordings, or others, while something is asked. */
export async function statementsOf(p: TestPlatform, work: () => Promise<unknown>, tables: RegExp = TABLES): Promise<string[]> {
  const texts = (await askedDuring(p, work)).map(({ text }) => text);
  return texts.filter(text => tables.test(text) && !BESIDE.test(text));
}

export interface Seen {
  type: string;
  id: string;
  data: any;
}

const TYPES = [
  'snapshot',
  'reset',
  'session',
  'question',
  'question_removed',
  'votes',
  'counts',
  'participant_removed',
  'recording',
  'registration',
  'bye',
  'heartbeat',
];

/** A client of a stream: what it has seen, in order, over all of its connections. */
export class Watcher {
  readonly seen: Seen[] = [];
  /** Requests for the stream: more than one means that a connection has ended. */
  connections = 0;
  readonly source: EventSource;

  constructor(url: string, token: string, lastEventId?: string) {
    const headers = { authorization: `Bearer ${token}`, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) };
    this.source = new EventSource(url, {
      fetch: (input, init) => {
        this.connections++;
        return fetch(input, { ...init, headers: { ...headers, ...init?.headers } });
      },
    });
    for (const type of TYPES)
      this.source.addEventListener(type, event => this.seen.push({ type, id: event.lastEventId, data: JSON.parse(event.data as string) }));
  }

  /** Without heartbeats and counts, which come when they come. */
  get told(): Seen[] {
    return this.seen.filter(({ type }) => type !== 'heartbeat' && type !== 'counts');
  }

  async until(what: string, holds: (told: Seen[]) => boolean): Promise<Seen[]> {
    return until(what, async () => this.told, holds);
  }

  close(): void {
    this.source.close();
  }
}

export const streamOf = (p: Suite, id: string): string => `${p.url}/live/v1/sessions/${id}/stream`;
