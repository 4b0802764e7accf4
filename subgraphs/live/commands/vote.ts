import { liveQuestionVoted } from '../../../events/catalogue/live.js';
import { lockRow } from '../../../runtime/data/rows.js';
import { Together, type Batch, type Call } from '../../../runtime/data/together.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { LiveQuestionStatus } from '../entities/enums.js';
import { LiveQuestion } from '../entities/question.js';
import { LiveSession } from '../entities/session.js';
import type { VoteLiveQuestionInput } from '../inputs/question.js';
import { knowVoted } from '../queries/question.js';
import { votersRefusals } from '../queries/voters.js';
import { requireOpen } from './question.js';
import { tickAfter } from './ticker.js';

const VOTERS = 'select user_id as id from live.live_question_vote where question_id = $1 and user_id = any($2::uuid[]) for update'; // an erasure may be at them
const ADD = `insert into live.live_question_vote (question_id, user_id, created_at) select $1, unnest($2::uuid[]), $3`;
const TAKE = 'delete from live.live_question_vote where question_id = $1 and user_id = any($2::uuid[])';

/** The votes of those who call, as a transaction finds, changes and leaves them. Who adds or takes votes holds the lock of their question; an erasure renames voters. */
class Ballot implements Batch<VoteLiveQuestionInput, LiveQuestion> {
  readonly #voters: Set<string>;

  constructor(
    private readonly ctx: Context,
    private readonly question: LiveQuestion,
    private readonly session: LiveSession,
    private readonly before: ReadonlySet<string>,
  ) {
    this.#voters = new Set(before);
  }

  /** A repeat changes nothing. @throws Problem conflict `own_question`, `questions_closed`; not_found unless approved */
  async one(own: Context, { input: { voted } }: Call<VoteLiveQuestionInput>): Promise<LiveQuestion> {
    const { question, session } = this;
    const userId = own.caller.userId!;
    if (question.status !== LiveQuestionStatus.APPROVED) fail('not_found', 'Not found');
    if (question.userId === userId) fail('conflict', 'Nobody votes for an own question', { reason: 'own_question' });
    requireOpen(own, session);
    if (this.#voters.has(userId) === voted) own.audit('live_question.vote_repeated', question.id);
    else this.#change(own, userId, voted);
    return question;
  }

  #change(own: Context, userId: string, voted: boolean): void {
    const { question, session } = this;
    if (voted) this.#voters.add(userId);
    else this.#voters.delete(userId);
    question.voteCount += voted ? 1 : -1;
    question.votesDirty = true;
    const data = { question_id: question.id, session_id: session.id, voted, vote_count: question.voteCount };
    own.emit(liveQuestionVoted, data, { userId, brandId: session.brandId });
    own.audit('live_question.voted', question.id, { voted });
  }

  async end(): Promise<void> {
    const { ctx, question, before } = this;
    const [added, taken] = [[...this.#voters].filter(id => !before.has(id)), [...before].filter(id => !this.#voters.has(id))];
    if (added.length > 0) await ctx.sql(ADD, [question.id, added, ctx.now().toISOString()]);
    if (taken.length > 0) await ctx.sql(TAKE, [question.id, taken]);
    if (question.votesDirty) tickAfter(ctx, question.sessionId);
  }
}

async function begin(ctx: Context, question: LiveQuestion, calls: readonly Call<VoteLiveQuestionInput>[]): Promise<Ballot> {
  const session = await ctx.em.findOneOrFail(LiveSession, { id: question.sessionId });
  const voters = await ctx.sql<{ id: string }>(VOTERS, [question.id, calls.map(one => one.ctx.caller.userId)]);
  return new Ballot(ctx, question, session, new Set(voters.map(({ id }) => id)));
}

/**
 * All voters of a question wait for its row: behind a crowd's 180 votes a second for one question they waited longer and longer while each had
 * a transaction of its own.
 */
const votes = new Together({
  field: 'voteLiveQuestion',
  type: LiveQuestion.name,
  keyOf: (input: VoteLiveQuestionInput) => input.id.toLowerCase(),
  refusals: votersRefusals,
  lock: (ctx, input) => lockRow(ctx, LiveQuestion, { id: input.id }),
  begin,
});

/** Votes for a question, or takes the vote back. @throws Problem as {@link Ballot.one}; forbidden `removed`; not_found */
export async function vote(ctx: Context, input: VoteLiveQuestionInput, path: string): Promise<LiveQuestion> {
  const question = await votes.run({ ctx, input, path });
  if (!ctx.request.isReplayed) knowVoted(ctx, question.id, input.voted);
  return question;
}
