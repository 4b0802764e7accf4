import { Field, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { FlagEvaluation } from './evaluation.js';
import { FeatureFlag, FlagConditionAttribute, FlagConditionOperator, FlagRollout } from './flag.js';
import { registerEnums } from '../../../runtime/schema/enums.js';

@ObjectType({ description: 'A condition, and whether it held.' })
export class ExplainedCondition {
  @Field(() => FlagConditionAttribute)
  attribute: FlagConditionAttribute;

  @Field(() => FlagConditionOperator)
  operator: FlagConditionOperator;

  @Field(() => Boolean)
  holds: boolean;

  @Field(() => Boolean, { description: 'The attribute was absent; then no condition on it holds.' })
  absent: boolean;
}

@ObjectType({ description: 'A rule, and whether it matched. The first that matches decides.' })
export class ExplainedRule {
  @Field(() => Int)
  position: number;

  @Field(() => Boolean)
  matched: boolean;

  @Field(() => Boolean)
  decided: boolean;

  @Field(() => [ExplainedCondition])
  conditions: ExplainedCondition[];

  @Field(() => String, { nullable: true })
  variant: string | null;

  @Field(() => [FlagRollout], { nullable: true })
  rollout: FlagRollout[] | null;
}

@ObjectType({ description: 'Another flag that is needed, and what it is for the same target.' })
export class ExplainedPrerequisite {
  @Field(() => String)
  key: string;

  @Field(() => String)
  needed: string;

  @Field(() => String, { nullable: true })
  actual: string | null;

  @Field(() => Boolean)
  met: boolean;
}

@Access({ staff: 'admin:platform:read' })
@ObjectType({ description: 'Why a flag has its value for somebody.' })
export class FlagExplanation {
  @Field(() => FlagEvaluation)
  evaluation: FlagEvaluation;

  @Field(() => Int, { nullable: true, description: 'Place on the line of 10,000 buckets; null without user or brand.' })
  bucket: number | null;

  @Field(() => Boolean)
  enabled: boolean;

  @Field(() => Boolean)
  killed: boolean;

  @Field(() => [ExplainedPrerequisite])
  prerequisites: ExplainedPrerequisite[];

  @Field(() => [ExplainedRule])
  rules: ExplainedRule[];

  @Field(() => Boolean, { description: 'No rule matched, so the default rule decided.' })
  defaultDecided: boolean;
}

export enum FlagStaleness {
  EXPIRED = 'expired',
  ONE_RESULT = 'one_result',
}
registerEnums({ FlagStaleness }, { FlagStaleness: 'Past its end; or one result for everybody for 30 days.' });

@Access({ staff: 'admin:platform:read' })
@ObjectType({ description: 'A flag that has done its work.' })
export class StaleFlag {
  @Field(() => FeatureFlag)
  flag: FeatureFlag;

  @Field(() => [FlagStaleness])
  reasons: FlagStaleness[];
}

@Access({ service: '*' })
@ObjectType({ description: 'What was taken of a report.' })
export class FlagUsageReceipt {
  @Field(() => Int, { description: 'Counters of flags that exist.' })
  accepted: number;
}
