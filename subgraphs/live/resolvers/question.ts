import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, FieldResolver, ID, Info, Mutation, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { OwnTransactions, Prepare } from '../../../runtime/request/operation.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { requireVisible } from '../commands/participant.js';
import { ask, deleteQuestion, moderate, requireQuestion } from '../commands/question.js';
import { vote } from '../commands/vote.js';
import { MEMBERS, MODERATORS, QUESTION_READERS } from '../entities/access.js';
import { LiveQuestion } from '../entities/question.js';
import { LiveSession } from '../entities/session.js';
import { AskLiveQuestionInput, ModerateLiveQuestionInput, VoteLiveQuestionInput } from '../inputs/question.js';
import { isOffice } from '../queries/people.js';
import { foundQuestions, hasVoted } from '../queries/question.js';
import { answerText, bodyText } from '../queries/texts.js';
import { User } from '../stubs.js';

@Resolver(() => LiveQuestion)
export class QuestionResolver {
  @Prepare(requireVisible)
  @Access(MEMBERS)
  @Mutation(() => LiveQuestion, { description: 'Asks a question; at most 5 in 5 minutes, and 3 that wait for approval.' })
  askLiveQuestion(@Arg('input', () => AskLiveQuestionInput) input: AskLiveQuestionInput, @Ctx() ctx: Context): Promise<LiveQuestion> {
    return ask(ctx, input);
  }

  @Prepare(requireQuestion)
  @Access(MODERATORS)
  @Mutation(() => LiveQuestion, {
    description: 'Approves, rejects, answers, hides, pins a question, or merges a duplicate with its voters.',
  })
  moderateLiveQuestion(
    @Arg('input', () => ModerateLiveQuestionInput) input: ModerateLiveQuestionInput,
    @Ctx() ctx: Context,
  ): Promise<LiveQuestion> {
    return moderate(ctx, input);
  }

  @OwnTransactions('the transaction claims the key itself')
  @Access(MEMBERS)
  @Mutation(() => LiveQuestion, { description: 'Votes for an approved question, or takes the vote back.' })
  voteLiveQuestion(
    @Arg('input', () => VoteLiveQuestionInput) input: VoteLiveQuestionInput,
    @Ctx() ctx: Context,
    @Info() { path }: GraphQLResolveInfo,
  ): Promise<LiveQuestion> {
    return vote(ctx, input, String(path.key));
  }

  @Prepare(requireQuestion)
  @Access(MODERATORS)
  @Mutation(() => LiveQuestion, { description: 'Withdraws an own question, or removes one of the session.' })
  deleteLiveQuestion(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<LiveQuestion> {
    return deleteQuestion(ctx, id);
  }

  @Access(QUESTION_READERS)
  @FieldResolver(() => String, { nullable: true, description: 'Null once its author is erased.' })
  body(@Root() question: LiveQuestion, @Ctx() ctx: Context): string | null {
    return bodyText(ctx, question);
  }

  @Access(QUESTION_READERS)
  @FieldResolver(() => String, { nullable: true })
  answer(@Root() question: LiveQuestion, @Ctx() ctx: Context): string | null {
    return answerText(ctx, question);
  }

  @Access(QUESTION_READERS)
  @FieldResolver(() => User, { nullable: true, description: 'Of an anonymous question for its author, services and staff only.' })
  author(@Root() { userId, anonymous }: LiveQuestion, @Ctx() ctx: Context): User | null {
    const shown = !anonymous || userId === ctx.caller.userId || isOffice(ctx, 'read');
    return shown && userId !== null ? { id: userId } : null;
  }

  @Access(QUESTION_READERS)
  @FieldResolver(() => User, { nullable: true })
  answeredBy(@Root() { answererId }: LiveQuestion): User | null {
    return answererId === null ? null : { id: answererId };
  }

  @Access(QUESTION_READERS)
  @FieldResolver(() => Boolean)
  viewerHasVoted(@Root() { id }: LiveQuestion, @Ctx() ctx: Context): Promise<boolean> {
    return hasVoted(ctx, id);
  }

  @Access(QUESTION_READERS)
  @FieldResolver(() => Boolean)
  viewerIsAuthor(@Root() { userId }: LiveQuestion, @Ctx() ctx: Context): boolean {
    return userId !== null && userId === ctx.caller.userId;
  }

  @Access(QUESTION_READERS)
  @FieldResolver(() => LiveQuestion, {
    nullable: true,
    description: 'The question that it was merged into.',
  })
  duplicateOf(@Root() { duplicateOfId }: LiveQuestion, @Ctx() ctx: Context): Promise<LiveQuestion | null> | null {
    return duplicateOfId === null ? null : ctx.load('live.duplicate_of', duplicateOfId, ids => foundQuestions(ctx, ids));
  }

  @Access(QUESTION_READERS)
  @FieldResolver(() => LiveSession)
  session(@Root() { sessionId }: LiveQuestion, @Ctx() ctx: Context): Promise<LiveSession | null> {
    return loadRow(ctx, LiveSession, 'id', sessionId);
  }
}
