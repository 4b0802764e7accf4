import { Check, Entity, Enum, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, Money } from '../../../runtime/schema/scalars.js';
import { PUBLIC } from './access.js';
import { MembershipPlanStatus } from './enums.js';

@ObjectType({ description: 'What a tier gives, for people.' })
export class MembershipBenefit {
  @Field(() => String)
  key: string;

  @Field(() => String)
  label: string;

  @Field(() => String, { nullable: true })
  value: string | null;
}

@ObjectType({ description: 'How often a price is charged.' })
export class MembershipPriceRecurrence {
  @Field(() => String, { description: 'day, week, month or year.' })
  interval: string;

  @Field(() => Int)
  intervalCount: number;
}

@ObjectType({ description: 'A price of a plan, of payments, shown with the plan.' })
export class MembershipPlanPrice {
  @Field(() => ID)
  id: string;

  @Field(() => String)
  key: string;

  @Field(() => String, { nullable: true, description: 'Key of the tier that it buys.' })
  tier: string | null;

  @Field(() => Money)
  unitAmount: Money;

  @Field(() => MembershipPriceRecurrence, { nullable: true })
  recurring: MembershipPriceRecurrence | null;

  @Field(() => Int)
  trialDays: number;
}

/** What can be bought; drafts are seen by staff and services only. Source: membership 2. */
@Access(PUBLIC)
@Directive('@key(fields: "id")')
@Directive('@key(fields: "key brandId")')
@ObjectType({ description: 'What a member can be a member of.' })
@Entity({ tableName: 'membership_plan' })
@Check({ name: 'membership_plan_key_check', expression: `key ~ '^[a-z0-9][a-z0-9_-]{1,63}$'` })
@Check({ name: 'membership_plan_grace_days_check', expression: 'grace_days between 0 and 90' })
@Unique({ name: 'membership_plan_brand_id_key_unique', properties: ['brandId', 'key'] })
export class MembershipPlan {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String, { description: 'Unique in its brand.' })
  @Property({ type: 'text' })
  key: string;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  brandId: string;

  @Field(() => String)
  @Property({ type: 'text' })
  name: string;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  description: string | null = null;

  @Field(() => MembershipPlanStatus)
  @Enum({ items: () => MembershipPlanStatus })
  status: MembershipPlanStatus = MembershipPlanStatus.DRAFT;

  @Field(() => Int, { description: 'Days for which an unpaid renewal leaves access as it is.' })
  @Property({ type: 'integer' })
  graceDays: number = 7;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Int)
  @Property({ type: 'integer' })
  version: number = 1;

  @Field(() => [MembershipPlanPrice], {
    nullable: true,
    description: 'Where the list was asked to include them; `prices` has them in GraphQL. Null: not asked for.',
  })
  includedPrices?: MembershipPlanPrice[] | null;
}

export const MembershipPlanConnection = connectionOf<MembershipPlan>(MembershipPlan, 'MembershipPlan');

/** Unique in its plan by key and by rank. */
@Access(PUBLIC)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A level of a plan; a higher rank gives more.' })
@Entity({ tableName: 'membership_tier' })
@Check({ name: 'membership_tier_key_check', expression: `key ~ '^[a-z0-9][a-z0-9_-]{0,63}$'` })
@Unique({ name: 'membership_tier_plan_id_key_unique', properties: ['planId', 'key'] })
export class MembershipTier {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  planId: string;

  @Field(() => String, { description: 'Unique in its plan; never changes once the plan is published.' })
  @Property({ type: 'text' })
  key: string;

  @Field(() => String)
  @Property({ type: 'text' })
  name: string;

  @Field(() => Int)
  @Property({ type: 'integer' })
  rank: number;

  @Field(() => [MembershipBenefit])
  @Property({ type: 'json' })
  benefits: MembershipBenefit[] = [];

  @Field(() => [String], { description: 'Features that it is advertised with; entitlements decides what it gives.' })
  @Property({ type: 'array' })
  featureKeys: string[] = [];
}
