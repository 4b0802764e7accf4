import { BigIntType } from '@mikro-orm/core';
import { Check, Entity, Enum, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, Money } from '../../../runtime/schema/scalars.js';
import { MEMBERSHIPS, READERS, REWARD_WRITERS } from './access.js';
import { BonusTrigger, MilestoneTrigger, WinBackStatus } from './enums.js';

@Access(REWARD_WRITERS)
@ObjectType({ description: 'What earns credit, and how much; cash grants it.' })
@Entity({ tableName: 'bonus_rule' })
@Check({ name: 'bonus_rule_cash_amount_check', expression: 'cash_amount > 0' })
@Unique({ name: 'bonus_rule_brand_id_key_unique', properties: ['brandId', 'key'] })
export class BonusRule {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String, { description: 'Unique in its brand.' })
  @Property({ type: 'text' })
  key: string;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  brandId: string;

  @Field(() => BonusTrigger)
  @Enum({ items: () => BonusTrigger })
  trigger: BonusTrigger;

  @Field(() => Int, { nullable: true, description: 'Days as an active member, of TENURE_DAYS.' })
  @Property({ type: 'integer', nullable: true })
  threshold: number | null = null;

  @Field(() => [String], { description: 'Tiers that earn it; empty: all.' })
  @Property({ type: 'array' })
  tierKeys: string[] = [];

  @Property({ type: new BigIntType('number'), fieldName: 'cash_amount' })
  amount: number;

  @Property({ type: 'character', length: 3 })
  currency: string;

  @Field(() => Int, { nullable: true, description: 'Days after which the credit is gone; null: never.' })
  @Property({ type: 'integer', nullable: true })
  expiresDays: number | null = null;

  @Field(() => Boolean, { description: 'What is left of the credit goes with the membership.' })
  @Property({ type: 'boolean' })
  revokeOnLapse: boolean;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Money)
  get cashAmount(): Money {
    return { amount: this.amount, currency: this.currency };
  }
}

export const BonusRuleConnection = connectionOf<BonusRule>(BonusRule, 'BonusRule');

/** Once for each membership, rule and period. Source: membership 7.6. */
@Entity({ tableName: 'bonus_grant' })
@Unique({ name: 'bonus_grant_once', properties: ['membershipId', 'bonusKey', 'periodKey'] })
export class BonusGrant {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  membershipId: string;

  @Property({ type: 'uuid' })
  userId: string;

  @Property({ type: 'uuid' })
  brandId: string;

  @Property({ type: 'text' })
  bonusKey: string;

  @Property({ type: 'text' })
  periodKey: string;

  @Property({ type: 'datetime', length: 3 })
  grantedAt: Date;
}

@Access(REWARD_WRITERS)
@Directive('@key(fields: "key brandId")')
@ObjectType({ description: 'What unlocks a milestone. Its key never tells a health fact.' })
@Entity({ tableName: 'milestone_rule' })
@Check({ name: 'milestone_rule_threshold_check', expression: 'threshold > 0' })
@Unique({ name: 'milestone_rule_brand_id_key_unique', properties: ['brandId', 'key'] })
export class MilestoneRule {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String, { description: 'Unique in its brand.' })
  @Property({ type: 'text' })
  key: string;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  brandId: string;

  @Field(() => MilestoneTrigger)
  @Enum({ items: () => MilestoneTrigger })
  trigger: MilestoneTrigger;

  @Field(() => Int)
  @Property({ type: 'integer' })
  threshold: number;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  rewardKey: string | null = null;

  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  active: boolean = true;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}

export const MilestoneRuleConnection = connectionOf<MilestoneRule>(MilestoneRule, 'MilestoneRule');

/** Once for each user, brand and key. Source: membership 7.7. */
@Access(READERS)
@ObjectType('MemberMilestone', { description: 'A milestone that a member has reached.' })
@Entity({ tableName: 'milestone_unlock' })
@Unique({ name: 'milestone_unlock_once', properties: ['userId', 'brandId', 'milestone'] })
export class MilestoneUnlock {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  userId: string;

  @Property({ type: 'uuid' })
  brandId: string;

  @Field(() => String)
  @Property({ type: 'text' })
  milestone: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  unlockedAt: Date;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  rewardKey: string | null = null;
}

@Access(MEMBERSHIPS)
@ObjectType({ description: 'A campaign for a member who has left.' })
@Entity({ tableName: 'win_back' })
@Unique({ name: 'win_back_membership_id_unique', properties: ['membershipId'] })
export class WinBack {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  membershipId: string;

  @Property({ type: 'uuid' })
  userId: string;

  @Property({ type: 'uuid' })
  brandId: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  startedAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  endsAt: Date;

  @Field(() => String)
  @Property({ type: 'text' })
  offerKey: string;

  @Field(() => WinBackStatus)
  @Enum({ items: () => WinBackStatus })
  status: WinBackStatus = WinBackStatus.OPEN;
}
