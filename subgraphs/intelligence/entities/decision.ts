import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, Float, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { HEALTH, PERSONAL } from '../../../runtime/data/safe-views.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { READERS } from './access.js';
import { DecisionArm, DecisionStatus, GuardrailKind, GuardrailPhase, IntelligenceStage, Ranker } from './enums.js';

@ObjectType({ description: 'A candidate that a guardrail took out.' })
export class GuardrailViolation {
  @Field(() => String)
  candidateId: string;

  @Field(() => GuardrailKind)
  rule: GuardrailKind;

  @Field(() => GuardrailPhase)
  phase: GuardrailPhase;
}

@ObjectType({ description: 'A candidate in the answer, with its rank.' })
export class RankedCandidate {
  @Field(() => String)
  candidateId: string;

  @Field(() => Int)
  rank: number;

  @Field(() => Float, { nullable: true, description: 'By the ranker that served; null for PASSTHROUGH.' })
  score: number | null;

  @Field(() => Float, { description: 'Probability that this candidate is on top.' })
  propensity: number;
}

/**
 * What was served to whom, by which version and with what probability. Append-only except status, outcome and deadline columns: a
 * trigger protects what a rollback must not rewrite. Source: spec 1, Decision record; intelligence 2.
 */
@Access(READERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A decision of the ledger: what was served, by which version, with what probability.' })
@Entity({ tableName: 'decision' })
export class LoopDecision {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String)
  @Property({ type: 'text' })
  decisionKey: string;

  @Property({ type: 'uuid' })
  policyId: string;

  @Field(() => String)
  @Property({ type: 'text' })
  policyKind: string;

  @Field(() => String)
  @Property({ type: 'text' })
  policyKey: string;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  brandId: string | null = null;

  @Field(() => Int, { description: 'As served; never rewritten.' })
  @Property({ type: 'int' })
  policyVersion: number;

  @Field(() => ID, { description: 'As served; never rewritten.' })
  @Property({ type: 'uuid' })
  registryId: string;

  @Field(() => IntelligenceStage)
  @Enum({ items: () => IntelligenceStage, type: 'string' })
  stage: IntelligenceStage;

  @Field(() => Ranker, { description: 'The ranker that really served.' })
  @Enum({ items: () => Ranker, type: 'string' })
  ranker: Ranker;

  @Field(() => DecisionArm)
  @Enum({ items: () => DecisionArm, type: 'string' })
  arm: DecisionArm;

  @Field(() => String)
  @Property({ type: 'text' })
  entityType: string;

  @Property({ type: 'uuid', fieldName: 'entity_id', comment: PERSONAL })
  entity: string;

  /** Context, candidates, features and the whole answer, sealed. */
  @Property({ type: 'blob', comment: HEALTH })
  record: Buffer;

  @Property({ type: 'blob' })
  requestHash: Buffer;

  @Field(() => String, { nullable: true, description: 'Null when everything was blocked.' })
  @Property({ type: 'text', nullable: true })
  servedCandidateId: string | null = null;

  /** What S1 would have served; lift without enough control outcomes is measured against it. */
  @Property({ type: 'text', nullable: true })
  baselineCandidateId: string | null = null;

  @Field(() => Float, { description: 'Probability of the served candidate under the policy as served, over the safe set.' })
  @Property({ type: 'double' })
  propensity: number;

  @Field(() => Float, { nullable: true, description: 'Expected reward of the served candidate; null for PASSTHROUGH and RULES.' })
  @Property({ type: 'double', nullable: true })
  predictedOutcome: number | null = null;

  @Field(() => JSONObject, { description: 'The same by every model part of the champion that did not serve.' })
  @Property({ type: 'json' })
  shadowPredictions: Record<string, number>;

  @Field(() => String)
  @Property({ type: 'text' })
  outcomeMetric: string;

  @Field(() => [String])
  @Property({ type: 'array' })
  outcomeCodes: string[];

  @Field(() => [GuardrailViolation])
  @Property({ type: 'json' })
  violations: GuardrailViolation[];

  @Field(() => Boolean, { description: 'Guard data was unavailable, or everything was blocked.' })
  @Property({ type: 'boolean' })
  fallback: boolean;

  @Field(() => DecisionStatus)
  @Enum({ items: () => DecisionStatus, type: 'string' })
  status: DecisionStatus;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  decidedAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  activatedAt: Date | null = null;

  @Field(() => DateTime, { description: 'Maturation deadline.' })
  @Property({ type: 'datetime', length: 3 })
  maturesAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  closedAt: Date | null = null;

  @Field(() => String, { description: 'Drove the sampling; makes an explanation exact.' })
  @Property({ type: 'text' })
  seed: string;

  /** The caller's own answer: it is shown whole, also to an internal client. */
  answered = false;
}

/** The outcome that closed a decision; gone with it. Source: spec 1, Personal health data; intelligence 2. */
@Access(READERS)
@ObjectType({ description: 'The outcome that closed a decision.' })
@Entity({ tableName: 'decision_outcome' })
export class DecisionOutcome {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  decisionId: string;

  @Field(() => String)
  @Property({ type: 'text' })
  metric: string;

  @Property({ type: 'text', fieldName: 'label', comment: HEALTH })
  labelText: string;

  @Field(() => Float)
  @Property({ type: 'double', comment: HEALTH })
  reward: number;

  @Field(() => String)
  @Property({ type: 'text' })
  sourceType: string;

  @Property({ type: 'text', fieldName: 'source_event_id' })
  sourceId: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  occurredAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  joinedAt: Date;
}

export const LoopDecisionConnection = connectionOf<LoopDecision>(LoopDecision, 'LoopDecision');

@Access(READERS)
@ObjectType({ description: 'A decision worked out again from its version, seed and record.' })
export class DecisionExplanation {
  @Field(() => ID)
  decisionId: string;

  @Field(() => String)
  ranker: string;

  @Field(() => String)
  seed: string;

  @Field(() => Float, { description: 'The uniform number that drew the served candidate.' })
  draw: number;

  @Field(() => [RankedCandidate], { description: 'The whole safe set.' })
  ranked: RankedCandidate[];

  @Field(() => String, { nullable: true })
  servedCandidateId: string | null;

  @Field(() => JSONObject)
  context: object;

  @Field(() => Boolean, { description: 'Everything is equal bit for bit.' })
  reproduced: boolean;
}
