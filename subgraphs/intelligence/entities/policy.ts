import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, Float, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { READERS } from './access.js';
import { GuardrailKind, RankingPolicyAttribution, RankingPolicyStatus } from './enums.js';

@ObjectType({ description: 'A guardrail of a policy and its settings.' })
export class GuardrailRule {
  @Field(() => GuardrailKind)
  rule: GuardrailKind;

  @Field(() => JSONObject, { description: 'Of frequency_cap: `max` times in `days`.' })
  params: Record<string, unknown>;
}

/** What is ranked, what closes a decision and how it is explored. Source: intelligence 2, RankingPolicy. */
@Access(READERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A kind of decision: what is ranked, what outcome it waits for, how it explores.' })
@Entity({ tableName: 'ranking_policy' })
export class RankingPolicy {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String)
  @Property({ type: 'text' })
  policyKind: string;

  @Field(() => String)
  @Property({ type: 'text' })
  policyKey: string;

  @Field(() => ID, { nullable: true, description: 'Null: every brand without a policy of its own.' })
  @Property({ type: 'uuid', nullable: true })
  brandId: string | null = null;

  @Field(() => String, { description: '`retest`, or a metric of analytics.' })
  @Property({ type: 'text' })
  outcomeMetric: string;

  @Field(() => JSONObject, { description: 'Label to reward in [0,1]; immutable once a decision exists.' })
  @Property({ type: 'json' })
  rewardMap: Record<string, number>;

  @Field(() => Int)
  @Property({ type: 'int' })
  maturationDays: number = 127;

  @Field(() => RankingPolicyAttribution)
  @Enum({ items: () => RankingPolicyAttribution, type: 'string' })
  attribution: RankingPolicyAttribution = RankingPolicyAttribution.ALL;

  @Field(() => Float, { description: 'Exploration floor, 0.01 to 0.5.' })
  @Property({ type: 'double' })
  epsilon: number = 0.05;

  @Field(() => Float, { description: 'Share of entities, from S2 on, that the ranker of S1 serves for comparison.' })
  @Property({ type: 'double' })
  controlShare: number = 0.05;

  @Field(() => [String], { description: 'Context keys that form the segment of S2 and S4.' })
  @Property({ type: 'array' })
  segmentKeys: string[] = [];

  @Field(() => JSONObject)
  @Property({ type: 'json' })
  contextSchema: Record<string, unknown>;

  @Field(() => JSONObject)
  @Property({ type: 'json' })
  candidateSchema: Record<string, unknown>;

  @Field(() => [GuardrailRule])
  @Property({ type: 'json' })
  guardrails: GuardrailRule[] = [];

  @Field(() => String, { description: 'Candidates with this tag may be served when guard data is unavailable.' })
  @Property({ type: 'text' })
  safeTag: string = 'informational';

  @Field(() => RankingPolicyStatus)
  @Enum({ items: () => RankingPolicyStatus, type: 'string' })
  status: RankingPolicyStatus = RankingPolicyStatus.ACTIVE;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Int)
  @Property({ type: 'int', version: true })
  version: number;
}

export const RankingPolicyConnection = connectionOf<RankingPolicy>(RankingPolicy, 'RankingPolicy');
