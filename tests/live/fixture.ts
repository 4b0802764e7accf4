import { EventSource } from 'eventsource';
import { newId } from '../../runtime/data/ids.js';
import type { Answer, RemotePlatform } from '../support/platform.js';
import { ADMIN } from '../support/platform.js';
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

/** Events of a session by type, in the order in which they were emitted. */
export async function eventsOf(p: Suite, sessionId: string, type?: string): Promise<{ type: string; user_id: string | null; data: any }[]> {
  const text = `select type, user_id, data from events.outbox where data->>'session_id' = $1 and ($2::text is null or type = $2) order by seq`;
  return p.sql(text, [sessionId, type ?? null]);
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
  readonly source: EventSource;

  constructor(url: string, token: string, lastEventId?: string) {
    const headers = { authorization: `Bearer ${token}`, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) };
    this.source = new EventSource(url, {
      fetch: (input, init) => fetch(input, { ...init, headers: { ...headers, ...init?.headers } }),
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
