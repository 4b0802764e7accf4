import type pg from 'pg';
import { beforeAll, expect, test, vi } from 'vitest';
import { isLastOfTransaction } from '../../events/prepared.js';
import { platform, type Answer, type TestPlatform } from '../support/platform.js';
import { Client } from '../support/statements.js';
import { count, eventsOf, people, register, session, type Person } from './fixture.js';
import { gathered } from './gathered.js';

let p: TestPlatform;
beforeAll(async () => {
  p = await platform({ services: ['live', 'entitlements'] });
}, 300_000);

/** Registrations of one session that all wait for its lock. */
const waiting = (id: string, calls: (() => Promise<Answer>)[]): Promise<Answer[]> => gathered(p, 'live_session', id, calls);

const ROWS = 'select user_id, status, queue_no, xmin::text as tx from live.live_registration where session_id = $1 order by queue_no';
const transactionsOf = (rows: { tx: string }[]): number => new Set(rows.map(({ tx }) => tx)).size;

test('registrations that wait for one session are admitted together: each has its own answer, audit row and events, in the order of the queue', async () => {
  const { id } = await session(p, { capacity: 5, waitlist_limit: 20 });
  const all = await people(p, 30);
  const answers = await waiting(
    id,
    [...all, all[0]!].map(who => () => register(p, id, who)),
  );
  const many = (code: number): number => answers.filter(({ status }) => status === code).length;
  expect([200, 201, 409].map(many)).toEqual([1, 25, 5]);
  expect(answers.filter(({ body }) => body.reason === 'session_full')).toHaveLength(5);
  const rows = await p.sql<{ user_id: string; status: string; queue_no: number; tx: string }>(ROWS, [id]);
  expect(rows.map(row => row.queue_no)).toEqual(Array.from({ length: 25 }, (_, n) => n + 1)); // who is refused has no number
  expect(rows.map(row => row.status)).toEqual([...Array(5).fill('confirmed'), ...Array(20).fill('waitlisted')]);
  expect(transactionsOf(rows)).toBeLessThan(10);
  expect(answers[30]!.body.id).toBe(answers[0]!.body.id);
  const made = await eventsOf(p, id, 'live.registration.created.v1');
  expect(made.map(({ user_id }) => user_id)).toEqual(rows.map(row => row.user_id));
  expect(made.map(({ data }) => data.position)).toEqual([...Array(5).fill(null), ...Array.from({ length: 20 }, (_, n) => n + 1)]);
  const audits = await p.sql(
    `select actor->>'sub' as who, count(distinct request_id)::int as requests from live.audit_log where action = 'live_registration.made'
     and details->>'session_id' = $1 group by 1`,
    [id],
  );
  expect(new Set(audits.map(({ who }) => who))).toEqual(new Set(rows.map(row => row.user_id)));
  expect(new Set(audits.map(({ requests }) => requests))).toEqual(new Set([1]));
  expect(await count(p, id)).toMatchObject({ confirmed: 5, waitlisted: 20 });
}, 120_000);

test('one whose row the database refuses fails alone, and the others keep their order', async () => {
  const { id } = await session(p, { capacity: 3 });
  const all = await people(p, 12);
  const wrong = all[4]!;
  await p.sql(`create function public.refuse_one() returns trigger language plpgsql as $$ begin raise exception 'not this one'; end $$;
    create trigger refuse_one before insert on live.live_registration for each row when (new.user_id = '${wrong.id}') execute function public.refuse_one()`);
  try {
    const answers = await waiting(
      id,
      all.map(who => () => register(p, id, who)),
    );
    expect(answers.map(({ status }) => status)).toEqual(all.map(who => (who === wrong ? 500 : 201)));
  } finally {
    await p.sql('drop trigger refuse_one on live.live_registration; drop function public.refuse_one()');
  }
  const rows = await p.sql(ROWS, [id]);
  expect(rows.map(row => row.queue_no)).toEqual(Array.from({ length: 11 }, (_, n) => n + 1));
  expect(rows.map(row => row.user_id)).not.toContain(wrong.id);
  expect(await count(p, id)).toMatchObject({ confirmed: 3, waitlisted: 8 });
  expect(await eventsOf(p, id, 'live.registration.created.v1')).toHaveLength(11);
}, 120_000);

test('a key is claimed for each registration: repeated it is answered as before, with another body it is refused', async () => {
  const [{ id }, { id: elsewhere }] = [await session(p, { capacity: 1 }), await session(p)];
  const all = await people(p, 10);
  const keyed = (one: string, who: Person): Promise<Answer> =>
    p.rest('POST', `/live/v1/sessions/${one}/registrations`, {
      token: who.token,
      body: {},
      headers: { 'idempotency-key': `key-${who.id}` },
    });
  const first = await waiting(
    id,
    all.map(who => () => keyed(id, who)),
  );
  expect(first.map(({ status }) => status)).toEqual(all.map(() => 201));
  const again = await waiting(
    id,
    all.map(who => () => keyed(id, who)),
  );
  expect(again.map(({ status, body }) => [status, body.id])).toEqual(first.map(({ body }) => [201, body.id]));
  expect(new Set(again.map(({ headers }) => headers['idempotent-replayed']))).toEqual(new Set(['true']));
  expect((await keyed(elsewhere, all[0]!)).status).toBe(422);
  expect(transactionsOf(await p.sql(ROWS, [id]))).toBeLessThan(5);
  expect(await eventsOf(p, id, 'live.registration.created.v1')).toHaveLength(10);
}, 120_000);

/** A statement that carries the commit; it tells what came of it by its callback. */
interface Last {
  text?: string;
  /** Rows that go in its message. */
  beside?: { before: readonly string[] };
  callback?: (error: Error | null) => void;
}

/** The commit that follows a registration reaches the database, and its answer is lost on the way back: once. */
function loseAnswerOfCommit(): { lost(): number; stop(): void } {
  const [real, registering] = [Client.prototype.query, new WeakSet<object>()];
  let lost = 0;
  const spy = vi.spyOn(Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const query = args[0] as Last;
    const text = String(query.text ?? query);
    const sent = [...(query.beside?.before ?? []), text];
    if (sent.some(one => /insert into "?live"?\."?live_registration"? /.test(one))) registering.add(this);
    if (lost === 0 && isLastOfTransaction(text) && registering.has(this)) {
      const { callback } = query;
      query.callback = () => callback!(new Error('Connection terminated unexpectedly'));
      lost++;
    }
    return Reflect.apply(real, this, args) as unknown;
  } as never);
  return { lost: () => lost, stop: () => spy.mockRestore() };
}

test('whoever a commit registered whose answer was lost is told so: 201 for who came, 200 for who was there, 409 for who is refused', async () => {
  const { id } = await session(p, { capacity: 2, waitlist_limit: 4 });
  const all = await people(p, 8);
  expect((await register(p, id, all[0]!)).status).toBe(201);
  const connection = loseAnswerOfCommit();
  try {
    const answers = await waiting(
      id,
      all.map(who => () => register(p, id, who)),
    );
    expect(connection.lost()).toBe(1);
    expect(answers[0]!.status).toBe(200);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 201, 201, 201, 201, 201, 409, 409]); // whoever comes first
  } finally {
    connection.stop();
  }
  expect(await count(p, id)).toMatchObject({ confirmed: 2, waitlisted: 4 });
  expect(await eventsOf(p, id, 'live.registration.created.v1')).toHaveLength(6);
}, 120_000);
