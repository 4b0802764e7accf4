import { BigIntType } from '@mikro-orm/core';
import { Check, Entity, Enum, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { JSONObject, SafeInt } from '../../../runtime/schema/scalars.js';
import { MembershipTier } from '../stubs.js';
import { ANYBODY } from './access.js';
import { Entitlement } from './entitlement.js';
import { EntitlementUsageReset } from './enums.js';

@Access(ANYBODY)
@ObjectType({ description: 'What a tier gives of a feature.' })
@Entity({ tableName: 'tier_feature' })
@Check({ name: 'tier_feature_usage_limit_check', expression: 'usage_limit >= 0' })
@Index({ name: 'tier_feature_feature_key', properties: ['featureKey'] })
export class TierFeature {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  tierId: string;

  @PrimaryKey({ type: 'text' })
  featureKey: string;

  @Field(() => JSONObject, { nullable: true, description: 'Of a config feature; of a boolean one false: not given.' })
  @Property({ type: 'json', nullable: true })
  value: unknown = null;

  @Field(() => SafeInt, { nullable: true, description: 'Of a metered feature; null: none.' })
  @Property({ type: new BigIntType('number'), fieldName: 'usage_limit', nullable: true })
  limit: number | null = null;

  @Field(() => Boolean, { description: 'Used beyond its limit it is counted and allowed.' })
  @Property({ type: 'boolean' })
  softLimit: boolean = false;

  @Field(() => EntitlementUsageReset)
  @Enum({ items: () => EntitlementUsageReset })
  reset: EntitlementUsageReset = EntitlementUsageReset.NEVER;

  @Field(() => Boolean, { description: 'Given to suspended members, too.' })
  @Property({ type: 'boolean' })
  keepWhileSuspended: boolean = false;

  @Field(() => MembershipTier)
  get tier(): MembershipTier {
    return { id: this.tierId };
  }
}

@ObjectType({ description: 'What one has of a feature before and after.' })
export class EntitlementChange {
  @Field(() => String)
  key: string;

  @Field(() => Entitlement)
  from: Entitlement;

  @Field(() => Entitlement)
  to: Entitlement;
}

@ObjectType({ description: 'What another tier would change.' })
export class EntitlementSimulation {
  @Field(() => [Entitlement])
  gained: Entitlement[];

  @Field(() => [Entitlement], { description: 'As they are now.' })
  lost: Entitlement[];

  @Field(() => [EntitlementChange])
  changed: EntitlementChange[];
}

@ObjectType({ description: 'What this process keeps of its answers.' })
export class EntitlementCacheStats {
  @Field(() => SafeInt)
  entries: number;

  @Field(() => SafeInt)
  hits: number;

  @Field(() => SafeInt)
  misses: number;

  @Field(() => SafeInt, { description: 'Answers while membership was not there.' })
  staleServed: number;

  @Field(() => SafeInt)
  evictions: number;

  @Field(() => SafeInt, { description: 'Grows whenever everything is forgotten.' })
  epoch: number;

  @Field(() => SafeInt, { description: 'Age of the oldest entry.' })
  oldestSeconds: number;
}
