import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, Float, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { FREE_TEXT } from '../../../runtime/data/safe-views.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { GATE_READERS, LOOP_RUNNERS, METRIC_READERS, READERS } from './access.js';
import { IntelligenceStage, LoopPhase, LoopProposalKind, LoopProposalStatus, LoopTickStatus, LoopTickTrigger } from './enums.js';

@ObjectType({ description: 'A phase of a tick.' })
export class LoopTickPhase {
  @Field(() => LoopPhase)
  phase: LoopPhase;

  @Field(() => LoopTickStatus)
  status: LoopTickStatus;

  @Field(() => JSONObject)
  counts: Record<string, number>;

  @Field(() => Int)
  durationMs: number;
}

/** A run of Monitor, Analyze and Propose. Source: spec 1, Intelligence loop 1; intelligence 2. */
@Access(LOOP_RUNNERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A run of the loop: Monitor, Analyze, Propose.' })
@Entity({ tableName: 'loop_tick' })
export class LoopTick {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => LoopTickTrigger)
  @Enum({ items: () => LoopTickTrigger, type: 'string' })
  trigger: LoopTickTrigger;

  @Field(() => LoopTickStatus)
  @Enum({ items: () => LoopTickStatus, type: 'string' })
  status: LoopTickStatus = LoopTickStatus.RUNNING;

  @Field(() => [LoopTickPhase])
  @Property({ type: 'json' })
  phases: LoopTickPhase[] = [];

  @Field(() => String)
  @Property({ type: 'text' })
  clientId: string;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  idempotencyKey: string | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  startedAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  finishedAt: Date | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  errorClass: string | null = null;
}

/** A persisted metric of the loop's honesty; exactly four fields are shown. Source: spec 1, Meta-metric record. */
@Access(METRIC_READERS)
@ObjectType({ description: 'A metric of the loop itself. `details` always holds scope, state, n and window_days.' })
@Entity({ tableName: 'meta_metric' })
export class MetaMetric {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  tickId: string;

  @Field(() => String)
  @Property({ type: 'text' })
  metric: string;

  @Field(() => Float)
  @Property({ type: 'double' })
  value: number;

  @Field(() => JSONObject)
  @Property({ type: 'json' })
  details: Record<string, unknown>;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  computedAt: Date;
}

/** What the loop advises; a human decides. Source: spec 1, Loop proposal; intelligence 2. */
@Access(READERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'What the loop advises. It changes what is served only when a human applies it.' })
@Entity({ tableName: 'loop_proposal' })
export class LoopProposal {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => LoopProposalStatus)
  @Enum({ items: () => LoopProposalStatus, type: 'string' })
  status: LoopProposalStatus = LoopProposalStatus.RAISED;

  @Field(() => LoopProposalKind)
  @Enum({ items: () => LoopProposalKind, type: 'string' })
  kind: LoopProposalKind;

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

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  registryId: string | null = null;

  @Field(() => String)
  @Property({ type: 'text' })
  metric: string;

  @Field(() => Float)
  @Property({ type: 'double' })
  threshold: number;

  @Field(() => Float)
  @Property({ type: 'double' })
  observed: number;

  @Field(() => JSONObject)
  @Property({ type: 'json' })
  evidence: Record<string, unknown>;

  @Field(() => Int, { nullable: true, description: 'Null when there is nothing to suggest.' })
  @Property({ type: 'int', nullable: true })
  suggestedVersion: number | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  reviewerId: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true, comment: FREE_TEXT })
  notes: string | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  raisedAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  reviewedAt: Date | null = null;

  @Field(() => Int, { nullable: true })
  @Property({ type: 'int', nullable: true })
  appliedVersion: number | null = null;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  appliedRegistryId: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  appliedBy: string | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  appliedAt: Date | null = null;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  tickId: string;

  @Field(() => Int)
  @Property({ type: 'int', version: true })
  version: number;
}

@Access(GATE_READERS)
@ObjectType({ description: 'Whether a stage may be advanced to.' })
export class StageGate {
  @Field(() => IntelligenceStage)
  to: IntelligenceStage;

  @Field(() => Boolean)
  met: boolean;

  @Field(() => [String], { description: 'What stands against it.' })
  reasons: string[];
}

@Access(READERS)
@ObjectType({ description: 'The stage in force.' })
export class StageInfo {
  @Field(() => IntelligenceStage)
  stage: IntelligenceStage;

  @Field(() => String, { nullable: true, description: 'Value of feature.intelligence.stage; null when it cannot be read.' })
  flagValue: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When this process first saw the stage in force.' })
  since: Date | null;

  @Field(() => StageGate, { nullable: true, description: 'Gate of the next stage; null at S5.' })
  next: StageGate | null;
}

export const LoopTickConnection = connectionOf<LoopTick>(LoopTick, 'LoopTick');
export const MetaMetricConnection = connectionOf<MetaMetric>(MetaMetric, 'MetaMetric');
export const LoopProposalConnection = connectionOf<LoopProposal>(LoopProposal, 'LoopProposal');
