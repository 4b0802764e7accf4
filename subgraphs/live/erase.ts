import type { Context } from '../../runtime/request/context.js';
import type { ErasureOutcome, ErasureRequest } from '../../runtime/erasure/erasure.js';
import { chatFeed, sessionFeed } from './commands/feeds.js';
import { cancelRegistration, lockSession } from './commands/registration.js';
import { tickAfter } from './commands/ticker.js';
import { requestMessage } from '../../runtime/request/messages.js';
import { LiveCancelledBy } from './entities/enums.js';
import { registrationOf } from './queries/people.js';

const OPEN = `
select distinct session_id as id from live.live_registration r join live.live_session s on s.id = r.session_id
where r.user_id = $1 and r.status in ('confirmed', 'offered', 'waitlisted') and s.status in ('scheduled', 'live') order by 1`;
const QUESTIONS = `update live.live_question set body = null, answer = null, user_id = null, anonymous = true, status = case when status = 'pending' then 'removed' else status end,
  version = version + 1 where user_id = $1 returning id, session_id as "sessionId"`;
/** Entries that held the question: what comes back later is told of what it is now. */
const BLANK = `update live.live_feed_entry set type = 'erased', payload = decode('', 'hex') where stream_id = any($1::uuid[]) and type = 'question'`;
/** A tombstone in place of the user, so that counts stay what they are. */
const VOTES = 'update live.live_question_vote set user_id = gen_random_uuid() where user_id = $1 returning 1';
const SEATS = 'update live.live_registration set user_id = gen_random_uuid() where user_id = $1 returning 1';
const PEOPLE = 'update live.live_participant set user_id = gen_random_uuid() where user_id = $1 returning id';
const KICKS = 'delete from live.live_kick where participant_id = any($1::text[]) returning 1';
const PRESENCE = 'delete from live.live_presence where user_id = $1 returning 1';
const HOSTS = 'delete from live.live_session_host where user_id = $1 returning session_id as id';
const CREATED =
  "update live.live_session set created_by = 'user:' || gen_random_uuid() where created_by = 'user:' || $1::text returning id";
const RECORDINGS = `update live.live_recording set status = 'deleted' where session_id = any($1::uuid[]) and status <> 'deleted' returning 1`;
const KEPT = `select r.id from live.live_recording r join live.live_session_host h on h.session_id = r.session_id
  where h.user_id = $1 and r.status in ('processing', 'ready')`;
const HOSTLESS = `select s.id, s.starts_at as "startsAt" from live.live_session s join live.live_session_host h on h.session_id = s.id and h.role = 'host'
  where h.user_id = $1 and s.status = 'scheduled' order by s.starts_at`;
const CALLS = 'update live.live_call_participant set user_id = gen_random_uuid() where user_id = $1 returning 1';
const ANSWERED = 'update live.live_question set answered_by = null where answered_by = $1';

const BASIS = 'contract: recordings of the sessions of a brand';

/** Seats that are still open go to the next; before anything else, because it needs the sessions' locks. */
async function leaveSessions(ctx: Context, userId: string): Promise<void> {
  for (const { id } of await ctx.sql<{ id: string }>(OPEN, [userId])) {
    const session = await lockSession(ctx, id).catch(() => null);
    const row = session && (await registrationOf(ctx, id, userId));
    // nobody is asked who of the queue may still take part: this is one transaction from its begin
    if (session && row) await cancelRegistration(ctx, session, row, { by: LiveCancelledBy.SYSTEM, denied: new Set() });
    await ctx.em.flush();
  }
}

async function eraseQuestions(ctx: Context, userId: string): Promise<number> {
  const questions = await ctx.sql<{ id: string; sessionId: string }>(QUESTIONS, [userId]);
  const sessions = [...new Set(questions.map(({ sessionId }) => sessionId))].sort();
  if (sessions.length > 0) await ctx.sql(BLANK, [sessions]);
  for (const id of sessions)
    await sessionFeed.append(
      ctx,
      id,
      questions.filter(one => one.sessionId === id).map(one => ({ type: 'question_removed', payload: { id: one.id } })),
    );
  return questions.length;
}

/**
 * Texts and author of questions go, votes stay as counts, past seats keep a tombstone. Recordings of the user's own sessions are deleted,
 * those of other sessions that they gave are kept. Source: live 7.15.
 */
export async function erase(ctx: Context, { userId, scope }: ErasureRequest): Promise<ErasureOutcome> {
  if (scope === 'marketing') return { outcome: 'nothing_held', records: {} };
  if (scope === 'full') await leaveSessions(ctx, userId);
  const count = async (text: string): Promise<number> => (await ctx.sql(text, [userId])).length;
  const questions = await eraseQuestions(ctx, userId);
  const calls = await count(CALLS);
  const records: Record<string, number> = { live_question: questions, live_call_participant: calls };
  if (scope !== 'full') return outcomeOf(records);
  Object.assign(records, await eraseOwnRecordings(ctx, userId));
  const kept = (await ctx.sql(KEPT, [userId])).length;
  await alertHostless(ctx, userId);
  Object.assign(records, await eraseRest(ctx, userId, count));
  return kept > 0 ? { outcome: 'retained', records, basis: BASIS } : outcomeOf(records);
}

const outcomeOf = (records: Record<string, number>): ErasureOutcome => ({
  outcome: Object.values(records).some(n => n > 0) ? 'anonymised' : 'nothing_held',
  records,
});

/** Recordings of sessions that the user gave as a member; those of the brand's sessions stay. */
async function eraseOwnRecordings(ctx: Context, userId: string): Promise<Record<string, number>> {
  const own = await ctx.sql<{ id: string }>(CREATED, [userId]);
  return { live_recording: (await ctx.sql(RECORDINGS, [own.map(({ id }) => id)])).length };
}

/** A session that is to come has no host any more: somebody must find one, or cancel it. */
async function alertHostless(ctx: Context, userId: string): Promise<void> {
  for (const { id, startsAt } of await ctx.sql<{ id: string; startsAt: string }>(HOSTLESS, [userId])) {
    const params = { session_id: id, starts_at: new Date(startsAt).toISOString() };
    const message = { template: 'live_host_erased', params, dedupeKey: `live:host_erased:${id}`, subject: `live_session:${id}` };
    requestMessage(ctx, { staffRole: 'support' }, message);
  }
}

async function eraseRest(ctx: Context, userId: string, count: (text: string) => Promise<number>): Promise<Record<string, number>> {
  const people = await ctx.sql<{ id: string }>(PEOPLE, [userId]);
  await ctx.sql(KICKS, [people.map(({ id }) => id)]);
  await ctx.sql(ANSWERED, [userId]);
  const hosted = await ctx.sql<{ id: string }>(HOSTS, [userId]);
  for (const { id } of hosted) tickAfter(ctx, id);
  const entries = (await sessionFeed.forget(ctx, userId)) + (await chatFeed.forget(ctx, userId));
  return {
    live_question_vote: await count(VOTES),
    live_registration: await count(SEATS),
    live_participant: people.length,
    live_presence: await count(PRESENCE),
    live_session_host: hosted.length,
    live_feed_entry: entries,
  };
}
