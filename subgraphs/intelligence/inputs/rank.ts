import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { Rule, UUID, NOT_BLANK } from '../../../runtime/schema/constraints.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { DecisionStatus, IntelligenceStage } from '../entities/enums.js';
import { PolicyListArgs, PolicyNameInput, NAME } from './parts.js';

@InputType()
export class RankEntityInput {
  @Rule({ pattern: '^user$' })
  @Field(() => String)
  type: string;

  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;
}

@InputType()
export class RankCandidateInput {
  @Rule({ minLength: 1, maxLength: 128 })
  @Field(() => String)
  id: string;

  @Rule({ object: true })
  @Field(() => JSONObject, { nullable: true, description: "Fits the policy's candidateSchema." })
  features?: Record<string, unknown> | null;

  @Rule({ maxItems: 50, maxLength: 64 })
  @Field(() => [String], { nullable: true })
  tags?: string[] | null;

  @Rule({ maxItems: 20, maxLength: 64 })
  @Field(() => [String], { nullable: true, description: 'Outcome codes that close the decision when it is served.' })
  codes?: string[] | null;

  @Rule({ maxItems: 50, maxLength: 64 })
  @Field(() => [String], { nullable: true })
  contraindications?: string[] | null;

  @Rule({ min: 0, max: 150 })
  @Field(() => Int, { nullable: true, description: 'Youngest age, by `age` or `age_band` of the context.' })
  ageMin?: number | null;

  @Rule({ min: 0, max: 150 })
  @Field(() => Int, { nullable: true })
  ageMax?: number | null;

  @Rule({ maxItems: 300, maxLength: 16 })
  @Field(() => [String], { nullable: true, description: 'Where it may be shown, by `region` of the context; left out: everywhere.' })
  regions?: string[] | null;
}

@InputType()
export class RankOutcomeInput {
  @Rule({ pattern: NAME })
  @Field(() => String, { nullable: true, description: "The policy's metric." })
  metric?: string | null;

  @Rule({ maxItems: 20, maxLength: 64 })
  @Field(() => [String], { nullable: true })
  codes?: string[] | null;
}

@InputType()
export class RankInput extends PolicyNameInput {
  @Rule({ minLength: 1, maxLength: 128, pattern: NOT_BLANK })
  @Field(() => String, { description: 'Replay key, given by the caller.' })
  decisionKey: string;

  @Field(() => RankEntityInput)
  entity: RankEntityInput;

  @Rule({ object: true })
  @Field(() => JSONObject, { nullable: true, description: "Fits the policy's contextSchema." })
  context?: Record<string, unknown> | null;

  @Rule({ minItems: 1, maxItems: 100 })
  @Field(() => [RankCandidateInput])
  candidates: RankCandidateInput[];

  @Rule({ min: 1, max: 20 })
  @Field(() => Int, { defaultValue: 1, description: 'Places in the answer.' })
  slots: number = 1;

  @Field(() => RankOutcomeInput, { nullable: true })
  outcome?: RankOutcomeInput | null;

  @Field(() => Boolean, { defaultValue: false, description: 'The decision waits, up to 24 hours, until it is really shown.' })
  deferActivation: boolean = false;
}

@InputType()
export class ActivateDecisionInput {
  @Field(() => ID)
  id: string;
}

@InputType()
export class RecordDecisionOutcomeInput {
  @Field(() => ID)
  id: string;

  @Rule({ pattern: NAME })
  @Field(() => String, { description: "A label of the policy's reward map." })
  label: string;

  @Rule({ minLength: 1, maxLength: 128, pattern: NOT_BLANK })
  @Field(() => String, { description: 'The same again changes nothing.' })
  sourceEventId: string;

  @Rule({ minLength: 1, maxLength: 64 })
  @Field(() => String, { nullable: true, description: 'Default: manual.' })
  sourceType?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Default: now.' })
  occurredAt?: Date | null;
}

@ArgsType()
export class LoopDecisionsArgs extends PolicyListArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  entityId?: string | null;

  @Field(() => DecisionStatus, { nullable: true })
  status?: DecisionStatus | null;

  @Field(() => IntelligenceStage, { nullable: true })
  stage?: IntelligenceStage | null;

  @Field(() => DateTime, { nullable: true })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true })
  to?: Date | null;
}
