import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { ADMIN, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { ask, assign, invite, moderate, neighbours, people, person, session, statementsOf, vote, type Person } from './fixture.js';
import { gathered } from './gathered.js';

let p: TestPlatform;
let host: Person;

beforeAll(async () => {
  p = await platform({ services: ['live', 'entitlements'] });
  host = await person(p, ADMIN);
}, 300_000);

/** Removes somebody from the room of a session, as a moderator does. */
async function kick(id: string, who: Person): Promise<void> {
  const [{ id: participant }] = (await p.sql(
    `insert into live.live_participant (id, subject_id, user_id, role) values ('p_' || left(md5(random()::text), 22), $1, $2, 'viewer') returning id`,
    [id, who.id],
  )) as [{ id: string }];
  const answer = await p.rest('POST', `/live/v1/sessions/${id}/participants/${participant}/remove`, {
    token: host.token,
    body: { reason_code: 'disturbing' },
  });
  if (answer.status !== 200) throw new Error(`not removed: ${JSON.stringify(answer.body)}`);
}

test('who may not vote is refused beside others whose votes are taken: whoever is not invited, blocked, removed, or the author', async () => {
  const { id } = await session(p, { question_moderation: 'pre', visibility: 'invite', registration_required: false });
  const [guest, blocked, gone, author, moderator, stranger] = (await people(p, 6)) as [Person, Person, Person, Person, Person, Person];
  for (const who of [guest, blocked, gone, author]) await invite(p, id, host, who);
  await assign(p, id, host, moderator, { role: 'moderator' });
  const { body: question } = await ask(p, id, author);
  const { body: pending } = await ask(p, id, author, 'Is 300 high?');
  expect((await moderate(p, question.id, host, { status: 'approved' })).status).toBe(200);
  await kick(id, gone);
  await p.sql(`update live.live_session set created_by = 'user:' || $2 where id = $1`, [id, host.id]); // of a member, whom one may block
  const follows = neighbours(p, { LiveBlocked: ({ others }) => ({ blockedEither: others.filter((one: string) => one === blocked.id) }) });
  const all = [guest, stranger, blocked, gone, author, moderator];
  try {
    const votes = all.map(who => () => vote(p, question.id, who));
    const answers = await gathered(p, 'live_question', question.id, votes);
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 404, 403, 409, 200]);
    expect(answers.slice(3, 5).map(({ body }) => body.reason)).toEqual(['removed', 'own_question']);
    expect(answers[5]!.body).toMatchObject({ vote_count: 2, viewer_has_voted: true });
    expect(follows.asked.filter(name => name === 'LiveBlocked').length).toBeLessThan(all.length);
    for (const who of all) expect((await vote(p, pending.id, who)).status).toBe(404);
  } finally {
    follows.stop();
  }
}, 120_000);

test('a vote costs one statement before its transaction, and none after it', async () => {
  const { id } = await session(p, { question_moderation: 'post', registration_required: false });
  const [author, who] = (await people(p, 2)) as [Person, Person];
  const { body: question } = await ask(p, id, author);
  const texts = await statementsOf(p, () => vote(p, question.id, who));
  const words = texts.map(text => /for (?:no key )?update|insert into \S+|"l0".*"live_session"|live_session_host/.exec(text)?.[0] ?? text);
  expect(words).toEqual([
    'live_session_host', // all that a voter is to the question
    'for no key update',
    expect.stringContaining('live_session'),
    'for update',
    'insert into live.live_question_vote',
  ]);
}, 120_000);

test('votes are told while another question of the session is being changed', async () => {
  const { id } = await session(p, { question_moderation: 'post', registration_required: false });
  const [author, who] = (await people(p, 2)) as [Person, Person];
  const [held, free] = [(await ask(p, id, author)).body.id, (await ask(p, id, author, 'Is 300 high?')).body.id];
  const other = new pg.Client({ connectionString: p.env.DATABASE_URL });
  await other.connect();
  try {
    await other.query('begin');
    await other.query('update live.live_question set votes_dirty = true where id = $1', [held]);
    await other.query('commit; begin');
    await other.query('select from live.live_question where id = $1 for update', [held]);
    await vote(p, free, who);
    const told = () => p.sql('select 1 from live.live_question where id = $1 and vote_count = 1 and not votes_dirty', [free]);
    await until('the votes to be told', told, rows => rows.length > 0);
    await other.query('commit');
  } finally {
    await other.end();
  }
}, 120_000);
