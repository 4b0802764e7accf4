import { ArgsType, Field, Float, ID, InputType, Int } from 'type-graphql';
import { Rule, UUID, NOT_BLANK } from '../../../runtime/schema/constraints.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { EvaluationKind, GuardrailKind, Ranker, RankingPolicyAttribution, RankingPolicyStatus, RegistryStatus } from '../entities/enums.js';
import { AboutEntityInput, BrandPolicyListArgs, PolicyListArgs, NAME } from './parts.js';

@ArgsType()
export class RankingPoliciesArgs extends PolicyListArgs {}

@InputType()
export class GuardrailRuleInput {
  @Field(() => GuardrailKind)
  rule: GuardrailKind;

  @Rule({ object: true })
  @Field(() => JSONObject, { nullable: true })
  params?: Record<string, unknown> | null;
}

/** What can be changed of a policy; the same bounds when it is made. */
@InputType()
abstract class RankingPolicySettings {
  @Field(() => JSONObject, { nullable: true, description: 'Label to reward in [0,1].' })
  rewardMap?: Record<string, unknown> | null;

  @Rule({ min: 1, max: 400 })
  @Field(() => Int, { nullable: true })
  maturationDays?: number | null;

  @Field(() => RankingPolicyAttribution, { nullable: true })
  attribution?: RankingPolicyAttribution | null;

  @Rule({ min: 0.01, max: 0.5 })
  @Field(() => Float, { nullable: true })
  epsilon?: number | null;

  @Rule({ min: 0, max: 0.5 })
  @Field(() => Float, { nullable: true })
  controlShare?: number | null;

  @Rule({ maxItems: 4, pattern: NAME })
  @Field(() => [String], { nullable: true })
  segmentKeys?: string[] | null;

  @Rule({ maxItems: 20 })
  @Field(() => [GuardrailRuleInput], { nullable: true })
  guardrails?: GuardrailRuleInput[] | null;

  @Rule({ pattern: NAME })
  @Field(() => String, { nullable: true })
  safeTag?: string | null;

  @Rule({ object: true })
  @Field(() => JSONObject, { nullable: true })
  contextSchema?: Record<string, unknown> | null;

  @Rule({ object: true })
  @Field(() => JSONObject, { nullable: true })
  candidateSchema?: Record<string, unknown> | null;
}

@InputType()
export class CreateRankingPolicyInput extends RankingPolicySettings {
  @Rule({ pattern: NAME })
  @Field(() => String)
  policyKind: string;

  @Rule({ pattern: NAME })
  @Field(() => String)
  policyKey: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  brandId?: string | null;

  @Rule({ pattern: NAME })
  @Field(() => String)
  outcomeMetric: string;
}

@InputType()
export class UpdateRankingPolicyInput extends RankingPolicySettings {
  @Field(() => ID)
  id: string;

  @Field(() => Int, { description: 'The version that the change was made on.' })
  version: number;

  @Field(() => RankingPolicyStatus, { nullable: true })
  status?: RankingPolicyStatus | null;
}

@ArgsType()
export class RegistryVersionsArgs extends BrandPolicyListArgs {
  @Field(() => RegistryStatus, { nullable: true })
  status?: RegistryStatus | null;
}

@InputType()
export class RegisterRegistryVersionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  policyId: string;

  @Rule({ object: true })
  @Field(() => JSONObject, { description: 'A part per ranker, any subset.' })
  parameters: Record<string, unknown>;

  @Rule({ min: 1 })
  @Field(() => Int, { nullable: true })
  parentVersion?: number | null;

  @Rule({ maxLength: 2000 })
  @Field(() => String, { nullable: true })
  notes?: string | null;
}

@InputType()
export class EvaluateRegistryVersionInput {
  @Field(() => ID)
  id: string;

  @Rule({ min: 1 })
  @Field(() => Int, { nullable: true, description: 'Compared with; default the champion.' })
  targetVersion?: number | null;

  @Field(() => DateTime, { nullable: true })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true })
  to?: Date | null;
}

@InputType()
export class ComputeEvaluationInput {
  @Field(() => EvaluationKind)
  kind: EvaluationKind;

  @Rule({ minItems: 1, maxItems: 10_000 })
  @Field(() => [JSONObject], { description: 'Of ope: action, reward, propensity, pi, q; of calibration: predicted, reward.' })
  rows: Record<string, unknown>[];
}

@InputType()
export class StartTrainingInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  policyId: string;

  @Rule({ minItems: 1, maxItems: 4 })
  @Field(() => [Ranker], { description: 'POPULARITY, LOGISTIC, THOMPSON, LINUCB.' })
  rankers: Ranker[];

  @Field(() => DateTime, { nullable: true, description: 'Default: a year before dataTo.' })
  dataFrom?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Default: now.' })
  dataTo?: Date | null;

  @Rule({ min: 0, max: 2147483647 })
  @Field(() => Int, { defaultValue: 1 })
  seed: number = 1;
}

@InputType()
export class PutFeatureVectorInput extends AboutEntityInput {
  @Rule({ pattern: NAME })
  @Field(() => String)
  featureSet: string;

  @Rule({ object: true })
  @Field(() => JSONObject, { description: 'Flat bands, counts and codes, as the set allows; never measured values.' })
  values: Record<string, unknown>;

  @Field(() => DateTime)
  asOf: Date;

  @Rule({ minLength: 1, maxLength: 128, pattern: NOT_BLANK })
  @Field(() => String, { nullable: true })
  sourceEventId?: string | null;
}

@InputType()
export class EraseEntityInput extends AboutEntityInput {}
