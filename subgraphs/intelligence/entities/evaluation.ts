import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, Float, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { READERS } from './access.js';
import { OffPolicyEstimatorName, OffPolicyState, Ranker, TrainingRunStatus } from './enums.js';

@ObjectType({ description: 'An estimate with its standard error and 95 % confidence interval.' })
export class OffPolicyEstimate {
  @Field(() => OffPolicyEstimatorName)
  name: OffPolicyEstimatorName;

  @Field(() => Float)
  value: number;

  @Field(() => Float, { nullable: true, description: 'Null for DM.' })
  se: number | null;

  @Field(() => Float, { nullable: true })
  ciLow: number | null;

  @Field(() => Float, { nullable: true })
  ciHigh: number | null;
}

@ObjectType({ description: 'The candidate minus the target, by DR.' })
export class OffPolicyLift {
  @Field(() => Float)
  value: number;

  @Field(() => Float)
  ciLow: number;

  @Field(() => Float)
  ciHigh: number;
}

/** What a version would have earned on logged decisions. Source: intelligence 2, 7.2. */
@Access(READERS)
@ObjectType({ description: 'What a version would have earned on logged decisions.' })
@Entity({ tableName: 'ope_evaluation' })
export class OffPolicyEvaluation {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @Property({ type: 'uuid' })
  policyId: string;

  @Field(() => Int)
  @Property({ type: 'int' })
  candidateVersion: number;

  @Field(() => Int)
  @Property({ type: 'int' })
  targetVersion: number;

  @Field(() => [OffPolicyEstimate])
  @Property({ type: 'json' })
  estimators: OffPolicyEstimate[];

  @Field(() => OffPolicyLift, { nullable: true })
  @Property({ type: 'json', nullable: true })
  liftOverTarget: OffPolicyLift | null = null;

  @Field(() => Float)
  @Property({ type: 'double' })
  ess: number;

  @Field(() => Float)
  @Property({ type: 'double' })
  maxWeight: number;

  @Field(() => Int)
  @Property({ type: 'int' })
  n: number;

  @Field(() => Int, { description: 'Decisions of the window without an outcome; reported, never imputed.' })
  @Property({ type: 'int' })
  unjoined: number;

  @Field(() => Int)
  @Property({ type: 'int' })
  supportViolations: number;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  windowFrom: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  windowTo: Date;

  @Field(() => OffPolicyState)
  @Enum({ items: () => OffPolicyState, type: 'string' })
  state: OffPolicyState;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}

/** A training; its result is a candidate, never more. Source: intelligence 4, 7.3.22-23. */
@Access(READERS)
@ObjectType({ description: 'A training; its result is a candidate, never more.' })
@Entity({ tableName: 'training_run' })
export class TrainingRun {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @Property({ type: 'uuid' })
  policyId: string;

  @Field(() => [Ranker])
  @Property({ type: 'array' })
  rankers: Ranker[];

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  dataFrom: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  dataTo: Date;

  @Field(() => Int)
  @Property({ type: 'int' })
  seed: number;

  @Field(() => TrainingRunStatus)
  @Enum({ items: () => TrainingRunStatus, type: 'string' })
  status: TrainingRunStatus = TrainingRunStatus.RUNNING;

  @Field(() => String, { nullable: true, description: 'Why it failed, for example not_enough_data.' })
  @Property({ type: 'text', nullable: true })
  reason: string | null = null;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  registryId: string | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  finishedAt: Date | null = null;
}

@ObjectType({ description: 'The result of a computation over given rows; nothing is stored.' })
export class ComputedEvaluation {
  @Field(() => JSONObject, { description: 'Estimators by name with se and confidence interval, or ece, brier and realized_vs_predicted.' })
  result: Record<string, unknown>;
}
