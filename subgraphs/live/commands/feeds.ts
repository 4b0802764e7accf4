import type { Context } from '../../../runtime/request/context.js';
import { Feed, type NewEntry } from '../../../runtime/streams/feed.js';
import type { LiveQuestion } from '../entities/question.js';
import type { LiveRegistration } from '../entities/registration.js';
import type { LiveSession } from '../entities/session.js';
import { isPublic } from '../rules/question.js';
import { answerText, bodyText } from '../queries/texts.js';

/** What the viewers of a session are told. */
export const sessionFeed = new Feed('live', 'live_feed');
/** What is said in its chat. */
export const chatFeed = new Feed('live', 'live_chat_feed');

/** A session as its stream shows it. */
export const shownSession = ({
  id,
  status,
  title,
  startsAt,
  endsAt,
  startedAt,
  endedAt,
  questionsEnabled,
  chatEnabled,
  version,
}: LiveSession) => ({
  id,
  status,
  title,
  starts_at: startsAt,
  ends_at: endsAt,
  started_at: startedAt,
  ended_at: endedAt,
  questions_enabled: questionsEnabled,
  chat_enabled: chatEnabled,
  version,
});

/** Seats and viewers as the stream shows them. */
export function shownCounts({ counts }: Pick<LiveSession, 'counts'>) {
  const { confirmed, offered, waitlisted, remaining, viewersNow } = counts;
  return { confirmed, offered, waitlisted, remaining, viewers_now: viewersNow };
}

/** A question without its author, who is shown by no stream. */
export const shownQuestion = (ctx: Context, question: LiveQuestion) => ({
  id: question.id,
  body: bodyText(ctx, question),
  status: question.status,
  vote_count: question.voteCount,
  pinned: question.pinned,
  anonymous: question.anonymous,
  answer: answerText(ctx, question),
  duplicate_of: question.duplicateOfId,
  created_at: question.createdAt,
  version: question.version,
});

export const shownRegistration = ({ id, status, confirmBy, version }: LiveRegistration) => ({ id, status, confirm_by: confirmBy, version });

/** Tells the stream how a session stands. */
export const tellSession = (ctx: Context, session: LiveSession): Promise<number> =>
  sessionFeed.append(ctx, session.id, [{ type: 'session', payload: shownSession(session) }]);

/** Tells whoever is concerned: all viewers of a public question, the team always, its author by an entry of their own. */
export function questionEntries(ctx: Context, question: LiveQuestion, wasPublic: boolean): NewEntry[] {
  const shown = shownQuestion(ctx, question);
  const toTeam: NewEntry = { audience: 'TEAM', type: 'question', payload: shown };
  const toAll: NewEntry = { type: 'question', payload: shown };
  const removed: NewEntry = { type: 'question_removed', payload: { id: question.id } };
  const own: NewEntry[] = question.userId === null ? [] : [{ audience: 'USER', userId: question.userId, type: 'question', payload: shown }];
  if (isPublic(question.status)) return [toAll];
  return wasPublic ? [removed, toTeam, ...own] : [toTeam, ...own];
}

export const tellQuestion = (ctx: Context, question: LiveQuestion, wasPublic: boolean): Promise<number> =>
  sessionFeed.append(ctx, question.sessionId, questionEntries(ctx, question, wasPublic));

/** Tells people what has become of their own registrations. */
export async function tellRegistrations(ctx: Context, sessionId: string, changed: readonly LiveRegistration[]): Promise<void> {
  if (changed.length === 0) return;
  const entries = changed.map(one => ({
    audience: 'USER' as const,
    userId: one.userId,
    type: 'registration',
    payload: shownRegistration(one),
  }));
  await sessionFeed.append(ctx, sessionId, entries);
}
