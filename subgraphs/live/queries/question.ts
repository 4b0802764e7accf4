import type { FilterQuery } from '@mikro-orm/postgresql';
import { findRow, rowsBy } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { decodeCursor, page, toConnection, type Connection } from '../../../runtime/request/paging.js';
import { LiveQuestionSort, LiveQuestionStatus, LiveSessionStatus } from '../entities/enums.js';
import { LiveQuestion } from '../entities/question.js';
import type { LiveSession } from '../entities/session.js';
import type { LiveQuestionsArgs } from '../inputs/question.js';
import { isShown } from '../rules/question.js';
import { mayModerate } from '../rules/session.js';
import { foundSession, isOffice, ownRole, roleOf, visibleSessions } from './people.js';

const { APPROVED, ANSWERED, WITHDRAWN, REMOVED } = LiveQuestionStatus;

/** Whether the caller sees all questions of a session. */
export const seesAll = async (ctx: Context, sessionId: string): Promise<boolean> =>
  isOffice(ctx, 'moderate') || mayModerate(await roleOf(ctx, sessionId));

/** What viewers see: what is approved, and their own. */
async function visible(ctx: Context, sessionId: string): Promise<FilterQuery<LiveQuestion>> {
  const there = { sessionId, status: { $nin: [WITHDRAWN, REMOVED] } };
  if (await seesAll(ctx, sessionId)) return there;
  const own = ctx.caller.userId === null ? [] : [{ userId: ctx.caller.userId }];
  return { $and: [there, { $or: [{ status: { $in: [APPROVED, ANSWERED] } }, ...own] }] };
}

/** By votes: a question whose votes move between two pages may appear on both or neither; the stream is exact. Source: live 7.13. */
function behindTop(after: string): FilterQuery<LiveQuestion> {
  const [votes, id] = decodeCursor(after, 2);
  if (typeof votes !== 'number' || !/^[0-9a-f-]{36}$/i.test(String(id))) decodeCursor('', 2);
  return { $or: [{ voteCount: { $lt: Number(votes) } }, { voteCount: Number(votes), id: { $gt: String(id) } }] };
}

export async function questionsPage(ctx: Context, session: LiveSession, args: LiveQuestionsArgs): Promise<Connection<LiveQuestion>> {
  const { status, first, after } = args;
  const where = { $and: [await visible(ctx, session.id), status?.length ? { status: { $in: status } } : {}] };
  const sort = args.sort ?? (session.status === LiveSessionStatus.LIVE ? LiveQuestionSort.TOP : LiveQuestionSort.NEW);
  if (sort === LiveQuestionSort.NEW) return page(ctx.em, LiveQuestion, where, { first, after }, { time: 'createdAt' });
  const filter = after ? { $and: [where, behindTop(after)] } : where;
  const rows = await ctx.em.find(LiveQuestion, filter as never, { orderBy: { voteCount: 'desc', id: 'asc' }, limit: first + 1 });
  return toConnection(rows as LiveQuestion[], first, row => [row.voteCount, row.id]);
}

const isOwn = (ctx: Context, { userId }: LiveQuestion): boolean => userId !== null && userId === ctx.caller.userId;

/** A question as the caller may know of it; null: it is not there for them. */
export async function foundQuestion(ctx: Context, id: string): Promise<LiveQuestion | null> {
  const question = await findRow(ctx, LiveQuestion, { id });
  if (!question || !(await foundSession(ctx, question.sessionId))) return null;
  const shown = (moderates: boolean): boolean => isShown(question.status, { isOwn: isOwn(ctx, question), moderates });
  return shown(false) || shown(await seesAll(ctx, question.sessionId)) ? question : null;
}

/** Questions by their ids, each as {@link foundQuestion}, blocks considered, in one statement a table. */
export async function foundQuestions(ctx: Context, ids: readonly string[]): Promise<(LiveQuestion | null)[]> {
  const rows = await rowsBy(ctx, LiveQuestion, 'id', ids);
  const sessions = await visibleSessions(ctx, [...new Set(rows.flatMap(row => row?.sessionId ?? []))]);
  const visible = new Set(sessions.flatMap(session => session?.id ?? []));
  const shows = async (row: LiveQuestion): Promise<boolean> => {
    const moderates = isOffice(ctx, 'moderate') || mayModerate(await ownRole(ctx, row.sessionId));
    return visible.has(row.sessionId) && isShown(row.status, { isOwn: isOwn(ctx, row), moderates });
  };
  return Promise.all(rows.map(async row => (row && (await shows(row)) ? row : null)));
}

const VOTED = 'select question_id as id from live.live_question_vote where user_id = $1 and question_id = any($2::uuid[])';

const votedBy =
  (ctx: Context) =>
  async (ids: readonly string[]): Promise<{ voted: boolean }[]> => {
    const rows = new Set((await ctx.sql<{ id: string }>(VOTED, [ctx.caller.userId, ids])).map(({ id }) => id));
    return ids.map(id => ({ voted: rows.has(id) }));
  };

/** Whether the caller has voted for a question, in one statement for all of a list. */
export const hasVoted = async (ctx: Context, questionId: string): Promise<boolean> =>
  ctx.caller.userId !== null && (await ctx.load('live.voted', questionId, votedBy(ctx)))!.voted;

/** What the caller has just done. */
export const knowVoted = (ctx: Context, questionId: string, voted: boolean): void =>
  ctx.loaders.know('live.voted', questionId, votedBy(ctx), { voted });
