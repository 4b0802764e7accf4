import { liveQuestionModerated, liveQuestionSubmitted } from '../../../events/catalogue/live.js';
import { lockRow, requireRow, requireVersion } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { move } from '../../../runtime/request/states.js';
import { LiveQuestionStatus, LiveRegistrationStatus, LiveSessionStatus } from '../entities/enums.js';
import { LiveQuestion } from '../entities/question.js';
import { LiveSession } from '../entities/session.js';
import type { AskLiveQuestionInput, ModerateLiveQuestionInput } from '../inputs/question.js';
import { foundSession, isBlocked, isOffice, isSelfRemoved, registrationOf, removal, roleOf } from '../queries/people.js';
import { foundQuestion, seesAll } from '../queries/question.js';
import { sealText } from '../queries/texts.js';
import {
  ASK_WINDOW_MS,
  asksTooMuch,
  firstStatus,
  isGone,
  isPublic,
  MAX_PINNED,
  mergedVoters,
  QUESTION_STATES,
  QUESTION_TRIGGER,
} from '../rules/question.js';
import { isPlainQuestion, mayModerate } from '../rules/session.js';
import { sessionFeed, tellQuestion } from './feeds.js';
import { tickAfter } from './ticker.js';

const { SCHEDULED, LIVE } = LiveSessionStatus;
const { APPROVED, REJECTED, ANSWERED, WITHDRAWN, REMOVED } = LiveQuestionStatus;

/** That the session of a question is there for the caller, blocks considered; asked before. */
export const requireQuestion = async (ctx: Context, { id, input }: { id?: string; input?: { id: string } }): Promise<LiveQuestion> => {
  const question = (await foundQuestion(ctx, input?.id ?? id!)) ?? fail('not_found', 'Not found');
  if (await isBlocked(ctx, await requireRow(ctx, LiveSession, { id: question.sessionId }))) fail('not_found', 'Not found');
  return question;
};

/** @throws Problem conflict `questions_closed` */
export function requireOpen(ctx: Context, session: LiveSession): void {
  const { status, questionsEnabled, questionsOpenAt } = session;
  const isOpen =
    questionsEnabled && (status === SCHEDULED || status === LIVE) && (questionsOpenAt === null || questionsOpenAt <= ctx.now());
  if (!isOpen) fail('conflict', 'Questions are closed', { reason: 'questions_closed' });
}

const ASKED = `
select count(*) filter (where created_at > $3)::int as recent, count(*) filter (where status = 'pending')::int as pending
from live.live_question where session_id = $1 and user_id = $2`;

async function requireModesty(ctx: Context, sessionId: string, userId: string): Promise<void> {
  const key = `live.ask:${sessionId}:${userId}`;
  await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 19))', [key]); // parallel questions of one user count each other
  const since = new Date(ctx.now().getTime() - ASK_WINDOW_MS).toISOString();
  const [asked] = await ctx.sql<{ recent: number; pending: number }>(ASKED, [sessionId, userId, since]);
  if (asksTooMuch(asked!)) fail('rate_limited', 'Too many questions', { retryAfter: ASK_WINDOW_MS / 1000 });
}

/** Asks a question. @throws Problem forbidden `registration_required`, `removed`; conflict `questions_closed`; rate_limited */
export async function ask(ctx: Context, input: AskLiveQuestionInput): Promise<LiveQuestion> {
  const [userId, session] = [ctx.caller.userId!, (await foundSession(ctx, input.sessionId)) ?? fail('not_found', 'Not found')];
  if (!isPlainQuestion(input.body)) invalid('/input/body', 'must be plain text');
  if (input.anonymous && !session.anonymousQuestions) invalid('/input/anonymous', 'is not possible in this session');
  const isTeam = (await roleOf(ctx, session.id)) !== null;
  if (!isTeam && (await isSelfRemoved(ctx, session.id))) throw removal();
  const seat = isTeam ? null : await registrationOf(ctx, session.id, userId);
  if (!isTeam && session.registrationRequired && seat?.status !== LiveRegistrationStatus.CONFIRMED)
    fail('forbidden', 'A confirmed registration is required', { reason: 'registration_required' });
  requireOpen(ctx, session);
  if (!isTeam) await requireModesty(ctx, session.id, userId);
  return submit(ctx, session, { userId, ...input, status: firstStatus(session.questionModeration, isTeam) });
}

interface Asked {
  userId: string;
  body: string;
  anonymous: boolean;
  status: LiveQuestionStatus;
}

async function submit(ctx: Context, session: LiveSession, { userId, body, anonymous, status }: Asked): Promise<LiveQuestion> {
  const question = Object.assign(new LiveQuestion(), { sessionId: session.id, userId, anonymous, status, createdAt: ctx.now() });
  question.bodySealed = sealText(ctx, question.id, 'body', body);
  await ctx.em.persist(question).flush();
  ctx.audit('live_question.asked', question.id, { session_id: session.id, anonymous });
  ctx.emit(liveQuestionSubmitted, { question_id: question.id, session_id: session.id, anonymous }, { userId, brandId: session.brandId });
  await tellQuestion(ctx, question, false);
  return question;
}

async function locked(ctx: Context, id: string): Promise<LiveQuestion> {
  const question = await lockRow(ctx, LiveQuestion, { id });
  return isGone(question.status) ? fail('not_found', 'Not found') : question;
}

async function requireModerator(ctx: Context, sessionId: string): Promise<void> {
  if (!isOffice(ctx, 'moderate') && !mayModerate(await roleOf(ctx, sessionId))) fail('forbidden', 'Only the host team may do this');
}

/** Sets a question's status, answer, pin, or makes it a duplicate. The same status again has no effect. @throws Problem conflict */
export async function moderate(ctx: Context, input: ModerateLiveQuestionInput): Promise<LiveQuestion> {
  if (input.duplicateOf) await lockBoth(ctx, input.id, input.duplicateOf);
  const question = await locked(ctx, input.id);
  await requireModerator(ctx, question.sessionId);
  requireVersion(question, input.version);
  const before = { status: question.status, version: question.version };
  const status = input.duplicateOf ? REJECTED : (input.status ?? question.status);
  if (input.answer != null && status !== ANSWERED) invalid('/input/answer', 'is for answered questions only');
  const isChanged = status !== question.status;
  if (isChanged) await changeStatus(ctx, question, status, input);
  if (input.duplicateOf && question.duplicateOfId === null) await merge(ctx, question, input.duplicateOf);
  const isAmended = amend(ctx, question, input, status);
  const isPinned = await pin(ctx, question, input.pinned);
  if (!isChanged && !isAmended && !isPinned && before.version === question.version) return question;
  question.version++;
  await ctx.em.flush();
  await tellQuestion(ctx, question, isPublic(before.status));
  return question;
}

/** In the order of ids, so that two moderators who merge crosswise do not wait for each other. */
async function lockBoth(ctx: Context, ...ids: string[]): Promise<void> {
  for (const id of [...new Set(ids.map(one => one.toLowerCase()))].sort()) await lockRow(ctx, LiveQuestion, { id });
}

async function changeStatus(
  ctx: Context,
  question: LiveQuestion,
  status: LiveQuestionStatus,
  { reasonCode }: ModerateLiveQuestionInput,
): Promise<void> {
  const trigger = QUESTION_TRIGGER[status] ?? invalid('/input/status', 'must be approved, rejected, answered or hidden');
  question.status = move(QUESTION_STATES, 'question', question.status, trigger);
  const isShown = status === APPROVED || status === ANSWERED;
  Object.assign(question, { moderatedAt: ctx.now(), reasonCode: isShown ? null : (reasonCode ?? null) });
  if (status === APPROVED) question.duplicateOfId = null;
  ctx.audit('live_question.moderated', question.id, { session_id: question.sessionId, status, reason: reasonCode ?? null });
  if (question.userId === null) return; // its author is erased
  const session = await ctx.em.findOneOrFail(LiveSession, { id: question.sessionId });
  const data = { question_id: question.id, session_id: session.id, status: status as 'approved', moderator_user_id: ctx.caller.userId };
  ctx.emit(liveQuestionModerated, data, { userId: question.userId, brandId: session.brandId });
}

function amend(ctx: Context, question: LiveQuestion, { answer }: ModerateLiveQuestionInput, status: LiveQuestionStatus): boolean {
  if (status !== ANSWERED) return false;
  if (answer != null) question.answerSealed = sealText(ctx, question.id, 'answer', answer);
  if (answer == null && question.answeredAt !== null) return false;
  Object.assign(question, { answeredAt: question.answeredAt ?? ctx.now(), answererId: ctx.caller.userId });
  return true;
}

async function pin(ctx: Context, question: LiveQuestion, pinned: boolean | null | undefined): Promise<boolean> {
  if (pinned == null || pinned === question.pinned) return false;
  if (pinned) await lockRow(ctx, LiveSession, { id: question.sessionId });
  const count = pinned ? await ctx.em.count(LiveQuestion, { sessionId: question.sessionId, pinned: true }) : 0;
  if (count >= MAX_PINNED) fail('conflict', `At most ${MAX_PINNED} questions are pinned`, { reason: 'too_many_pinned' });
  question.pinned = pinned;
  return true;
}

const VOTERS = 'select user_id as id from live.live_question_vote where question_id = $1';
const VOTE = `insert into live.live_question_vote (question_id, user_id, created_at) select $1, unnest($2::uuid[]), $3 on conflict do nothing`;

/** Moves the voters of a duplicate: the target has the union of both, each once. Source: live 4.5. */
async function merge(ctx: Context, question: LiveQuestion, targetId: string): Promise<void> {
  const target = await locked(ctx, targetId);
  const isFit = target.sessionId === question.sessionId && target.id !== question.id && target.duplicateOfId === null;
  if (!isFit) invalid('/input/duplicateOf', 'must be another question of this session that is no duplicate');
  const votersOf = async (id: string): Promise<string[]> => (await ctx.sql<{ id: string }>(VOTERS, [id])).map(row => row.id);
  const [voters, others] = [await votersOf(target.id), await votersOf(question.id)];
  const union = mergedVoters({ author: target.userId, voters }, { author: question.userId, voters: others });
  await ctx.sql(VOTE, [target.id, union, ctx.now().toISOString()]);
  const [counted] = await ctx.sql<{ count: number }>('select count(*)::int as count from live.live_question_vote where question_id = $1', [
    target.id,
  ]);
  Object.assign(target, { voteCount: counted!.count, votesDirty: true });
  Object.assign(question, { duplicateOfId: target.id, reasonCode: 'duplicate' });
  tickAfter(ctx, question.sessionId);
}

/** Its author withdraws a question, the host team removes it; then it is there for nobody. @throws Problem not_found, forbidden, conflict */
export async function deleteQuestion(ctx: Context, id: string): Promise<LiveQuestion> {
  const question = await locked(ctx, id);
  const isAuthor = question.userId !== null && question.userId === ctx.caller.userId;
  const all = await seesAll(ctx, question.sessionId);
  if (!all && !isAuthor)
    fail(isPublic(question.status) ? 'forbidden' : 'not_found', 'Only its author and the host team may delete a question');
  const wasPublic = isPublic(question.status);
  question.status = move(QUESTION_STATES, 'question', question.status, all ? 'remove' : 'withdraw');
  question.version++;
  question.pinned = false;
  await ctx.em.flush();
  ctx.audit('live_question.deleted', question.id, { session_id: question.sessionId, status: all ? REMOVED : WITHDRAWN });
  await tellGone(ctx, question, wasPublic);
  return question;
}

async function tellGone(ctx: Context, question: LiveQuestion, wasPublic: boolean): Promise<void> {
  const payload = { id: question.id };
  const audience = wasPublic ? 'PUBLIC' : 'TEAM';
  const own =
    !wasPublic && question.userId !== null
      ? [{ audience: 'USER' as const, userId: question.userId, type: 'question_removed', payload }]
      : [];
  await sessionFeed.append(ctx, question.sessionId, [{ audience, type: 'question_removed', payload }, ...own]);
}
