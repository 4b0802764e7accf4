import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { LiveQuestionSort, LiveQuestionStatus } from '../entities/enums.js';

@InputType()
export class AskLiveQuestionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  sessionId: string;

  @Rule({ minLength: 1, maxLength: 500 })
  @Field(() => String, { description: 'Plain text.' })
  body: string;

  @Field(() => Boolean, { defaultValue: false, description: 'Nobody but the author, services and staff learns who asked.' })
  anonymous: boolean = false;
}

@InputType()
export class ModerateLiveQuestionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Field(() => LiveQuestionStatus, { nullable: true, description: 'APPROVED, REJECTED, ANSWERED or HIDDEN; default: as it is.' })
  status?: LiveQuestionStatus | null;

  @Rule({ minLength: 1, maxLength: 2_000 })
  @Field(() => String, { nullable: true, description: 'With ANSWERED only.' })
  answer?: string | null;

  @Rule({ pattern: '^(spam|off_topic|duplicate|personal_data|other)$' })
  @Field(() => String, { nullable: true })
  reasonCode?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Rejects it as a duplicate, and moves its voters there.' })
  duplicateOf?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'At most three in a session.' })
  pinned?: boolean | null;

  @Rule({ min: 1 })
  @Field(() => Int, { nullable: true, description: 'The version that was read; another is a conflict.' })
  version?: number | null;
}

@InputType()
export class VoteLiveQuestionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Field(() => Boolean, { defaultValue: true })
  voted: boolean = true;
}

@ArgsType()
export class LiveQuestionsArgs extends PageArgs {
  @Rule({ maxItems: 5 })
  @Field(() => [LiveQuestionStatus], { nullable: true })
  status?: LiveQuestionStatus[] | null;

  @Field(() => LiveQuestionSort, { nullable: true, description: 'Default: TOP while the session is live, else NEW.' })
  sort?: LiveQuestionSort | null;
}
