import { Check, Entity, Enum, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { QUESTION_READERS } from './access.js';
import { LiveQuestionStatus } from './enums.js';

/** A question to the hosts; its texts are sealed, because people ask about their health. Source: live 2. */
@Access(QUESTION_READERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A question asked in a session.' })
@Entity({ tableName: 'live_question' })
@Check({ name: 'live_question_vote_count_check', expression: 'vote_count >= 0' })
@Index({ name: 'live_question_session_id_votes', properties: ['sessionId', 'voteCount', 'id'] })
@Index({ name: 'live_question_user_id', properties: ['userId', 'createdAt'] })
@Index({ name: 'live_question_dirty', properties: ['sessionId'], where: 'votes_dirty' })
export class LiveQuestion {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @Property({ type: 'uuid' })
  sessionId: string;

  /** Null: erased. */
  @Property({ type: 'uuid', nullable: true })
  userId: string | null = null;

  @Property({ type: 'blob', nullable: true, fieldName: 'body' })
  bodySealed: Buffer | null = null;

  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  anonymous: boolean;

  @Field(() => LiveQuestionStatus)
  @Enum({ items: () => LiveQuestionStatus })
  status: LiveQuestionStatus;

  @Field(() => Int)
  @Property({ type: 'integer', default: 0 })
  voteCount: number = 0;

  /** Votes have changed since the stream was told. */
  @Property({ type: 'boolean', default: false })
  votesDirty: boolean = false;

  @Field(() => Boolean)
  @Property({ type: 'boolean', default: false })
  pinned: boolean = false;

  @Property({ type: 'blob', nullable: true, fieldName: 'answer' })
  answerSealed: Buffer | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  answeredAt: Date | null = null;

  @Property({ type: 'uuid', nullable: true, fieldName: 'answered_by' })
  answererId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  duplicateOfId: string | null = null;

  @Field(() => String, { nullable: true, description: 'Why it was rejected or hidden: a code.' })
  @Property({ type: 'text', nullable: true })
  reasonCode: string | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  moderatedAt: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Int)
  @Property({ type: 'integer', default: 1 })
  version: number = 1;
}

export const LiveQuestionConnection = connectionOf(LiveQuestion, 'LiveQuestion');

@Entity({ tableName: 'live_question_vote' })
@Index({ name: 'live_question_vote_user_id', properties: ['userId'] })
export class LiveQuestionVote {
  @PrimaryKey({ type: 'uuid' })
  questionId: string;

  @PrimaryKey({ type: 'uuid' })
  userId: string;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}
