import { beforeAll, expect, test } from 'vitest';
import { platform, type Answer, type TestPlatform } from '../support/platform.js';
import { askedDuring, Client } from '../support/statements.js';
import { until } from '../support/until.js';
import { ask, eventsOf, people, person, register, session, vote, type Person } from './fixture.js';
import { gathered } from './gathered.js';

let p: TestPlatform;
beforeAll(async () => {
  p = await platform({ services: ['live', 'entitlements'] });
}, 300_000);

/** An approved question of somebody. */
async function question(): Promise<{ session: string; id: string; author: Person }> {
  const { id } = await session(p, { question_moderation: 'post' });
  const author = await person(p);
  await register(p, id, author);
  const answer = await ask(p, id, author);
  if (answer.status !== 201) throw new Error(`no question: ${JSON.stringify(answer.body)}`);
  return { session: id, id: answer.body.id, author };
}

/** Votes that all wait for their question. */
const waiting = (id: string, calls: (() => Promise<Answer>)[]): Promise<Answer[]> => gathered(p, 'live_question', id, calls);

const VOTES = 'select user_id, xmin::text as tx from live.live_question_vote where question_id = $1';
const votesOf = (id: string): Promise<{ user_id: string; tx: string }[]> => p.sql(VOTES, [id]);
const countOf = async (id: string): Promise<number> =>
  (await p.sql<{ count: number }>('select vote_count as count from live.live_question where id = $1', [id]))[0]!.count;

test('votes that wait for one question are taken together: each has its own answer, audit row and event, with the count after it', async () => {
  const { session: where, id, author } = await question();
  const [before, ...all] = (await people(p, 31)) as [Person, ...Person[]];
  expect((await vote(p, id, before)).body.vote_count).toBe(1);
  const answers = await waiting(id, [
    () => vote(p, id, before, false),
    ...all.map(who => () => vote(p, id, who)),
    () => vote(p, id, all[0]!), // a repeat
    () => vote(p, id, author),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([...Array(32).fill(200), 409]);
  expect(answers[32]!.body.reason).toBe('own_question');
  expect(answers.map(({ body }) => body.viewer_has_voted)).toEqual([false, ...Array(31).fill(true), undefined]);
  const rows = await votesOf(id);
  expect(rows.map(row => row.user_id).toSorted()).toEqual(all.map(who => who.id).toSorted());
  expect(new Set(rows.map(({ tx }) => tx)).size).toBeLessThan(10);
  expect([await countOf(id), Math.max(...answers.slice(0, 32).map(({ body }) => body.vote_count))]).toEqual([30, 30]);
  const told = (await eventsOf(p, where, 'live.question.voted.v1')).map(({ user_id, data }) => [user_id, data.voted, data.vote_count]);
  expect(told).toHaveLength(32);
  expect(told.reduce((count, [, voted, then]) => (count + (voted ? 1 : -1) === then ? (then as number) : NaN), 0)).toBe(30);
  const audits = await p.sql<{ action: string; who: string; request: string }>(
    `select action, actor->>'sub' as who, request_id as request from live.audit_log where target = $1 and action like 'live_question.vote%'`,
    [id],
  );
  expect(audits.filter(({ action }) => action === 'live_question.voted')).toHaveLength(32);
  expect(audits.filter(({ action }) => action === 'live_question.vote_repeated').map(({ who }) => who)).toEqual([all[0]!.id]);
  expect(new Set(audits.map(({ request }) => request)).size).toBe(33);
}, 120_000);

test('a vote that the database refuses fails alone, and the others are counted', async () => {
  const { session: where, id } = await question();
  const all = await people(p, 12);
  const wrong = all[4]!;
  await p.sql(`create function public.refuse_vote() returns trigger language plpgsql as $$ begin raise exception 'not this one'; end $$;
    create trigger refuse_vote before insert on live.live_question_vote for each row when (new.user_id = '${wrong.id}') execute function public.refuse_vote()`);
  try {
    const answers = await waiting(
      id,
      all.map(who => () => vote(p, id, who)),
    );
    expect(answers.map(({ status }) => status)).toEqual(all.map(who => (who === wrong ? 500 : 200)));
  } finally {
    await p.sql('drop trigger refuse_vote on live.live_question_vote; drop function public.refuse_vote()');
  }
  expect([await countOf(id), (await votesOf(id)).length]).toEqual([11, 11]);
  expect(await eventsOf(p, where, 'live.question.voted.v1')).toHaveLength(11);
}, 120_000);

test('a key is claimed for each vote: repeated it changes nothing, with another body it is refused', async () => {
  const { session: where, id } = await question();
  const all = await people(p, 10);
  const keyed = (who: Person, voted = true): Promise<Answer> =>
    p.rest('POST', `/live/v1/questions/${id}/vote`, {
      token: who.token,
      body: { voted },
      headers: { 'idempotency-key': `vote-${who.id}` },
    });
  const votes = (): (() => Promise<Answer>)[] => all.map(who => () => keyed(who));
  expect((await waiting(id, votes())).map(({ status }) => status)).toEqual(all.map(() => 200));
  expect((await vote(p, id, all[0]!, false)).body.vote_count).toBe(9);
  const again = await waiting(id, votes());
  expect(again.map(({ status, headers }) => [status, headers['idempotent-replayed']])).toEqual(all.map(() => [200, 'true']));
  expect((await keyed(all[1]!, false)).status).toBe(422);
  expect([await countOf(id), (await votesOf(id)).length]).toEqual([9, 9]); // the vote that was taken back stays so
  expect(await eventsOf(p, where, 'live.question.voted.v1')).toHaveLength(11);
}, 120_000);

test('a vote that is taken back while its voter is being erased stays counted: what is counted is the rows', async () => {
  const [{ id }, who] = [await question(), await person(p)];
  await vote(p, id, who);
  const erasing = new Client({ connectionString: p.env.DATABASE_URL });
  await erasing.connect();
  try {
    await erasing.query('begin');
    await erasing.query('update live.live_question_vote set user_id = gen_random_uuid() where user_id = $1', [who.id]);
    const taken = vote(p, id, who, false);
    await until(
      'the vote to wait',
      () => p.sql(`select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%live_question_vote%'`),
      rows => rows.length > 0,
    );
    await erasing.query('commit');
    expect((await taken).status).toBe(200);
  } finally {
    await erasing.end();
  }
  expect([await countOf(id), (await votesOf(id)).length]).toEqual([1, 1]);
}, 120_000);

test('a vote holds its question, for which others wait, for seven statements', async () => {
  const [{ id }, who] = [await question(), await person(p)];
  const asked = await askedDuring(p, () => vote(p, id, who));
  const at = asked.findIndex(({ text }) => text.endsWith('for no key update'));
  const held = asked
    .slice(at + 1)
    .filter(({ on }) => on === asked[at]!.on) // timers and feeds go on meanwhile
    .map(({ text }) => text.replaceAll('"', ''));
  const words = /live_session |live_question_vote|audit_log|pg_current_xact_id|update live\.live_question |events\.append/;
  const first = ['live_session ', 'live_question_vote', 'live_question_vote', 'audit_log', 'pg_current_xact_id'];
  const seen = held.slice(0, 7).map(text => words.exec(text)?.[0] ?? text);
  expect(seen).toEqual([...first, 'update live.live_question ', 'events.append']);
}, 120_000);
