import { BigIntType } from '@mikro-orm/core';
import { Check, Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { FREE_TEXT, PERSONAL } from '../../../runtime/data/safe-views.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { MEMBERSHIPS, READERS } from './access.js';
import { LapseReason, MembershipSource, MembershipStatus, SuspensionReason, TierDirection } from './enums.js';

/** What the facts of a member come to; written by the fold alone. Source: membership 2, 7.1. */
@Access(MEMBERSHIPS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'Who is a member of what, since when, on which tier.' })
@Entity({ tableName: 'membership' })
@Unique({ name: 'membership_subscription_id', properties: ['subscriptionId'] })
@Index({ name: 'membership_user_id_started_at', properties: ['userId', 'startedAt'] })
export class Membership {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid', comment: PERSONAL })
  userId: string;

  @Property({ type: 'uuid' })
  brandId: string;

  /** What began it: `subscription:<id>` or `granted:<fact id>`. */
  @Property({ type: 'text', comment: PERSONAL })
  origin: string;

  @Property({ type: 'uuid' })
  planId: string;

  @Property({ type: 'uuid' })
  tierId: string;

  /** The tier that others know: a change while suspended is told when it is active again. Source: membership 7.4. */
  @Property({ type: 'uuid' })
  announcedTierId: string;

  @Field(() => MembershipStatus)
  @Enum({ items: () => MembershipStatus })
  status: MembershipStatus;

  @Field(() => MembershipSource)
  @Enum({ items: () => MembershipSource })
  source: MembershipSource;

  @Field(() => ID, { nullable: true, description: 'Of payments.' })
  @Property({ type: 'uuid', nullable: true, comment: PERSONAL })
  subscriptionId: string | null = null;

  @Field(() => [SuspensionReason], { description: 'In the order in which they came; empty: access is not held.' })
  @Property({ type: 'array' })
  suspensionReasons: SuspensionReason[] = [];

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  startedAt: Date;

  @Field(() => DateTime, { nullable: true, description: 'Since when it has been active without a break; null: it is not.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  activeSince: Date | null = null;

  @Field(() => DateTime, { nullable: true, description: 'Beginning of the time that is paid for; a comp has none.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  currentPeriodStart: Date | null = null;

  @Field(() => DateTime, { nullable: true, description: 'End of the time that is paid for, or of the comp. Access ends by status alone.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  currentPeriodEnd: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  suspendedAt: Date | null = null;

  @Field(() => DateTime, { nullable: true, description: 'Until when an unpaid renewal leaves access as it is.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  graceUntil: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  lapsedAt: Date | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true, comment: FREE_TEXT })
  lapseReason: LapseReason | null = null;

  @Property({ type: 'boolean' })
  involuntary: boolean = false;

  /** Time as an active member over all memberships of the brand, without the stretch since `activeSince`, ms. */
  @Property({ type: new BigIntType('number') })
  tenureMs: number = 0;

  /** When time alone changes something; null: never. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  dueAt: Date | null = null;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Int)
  @Property({ type: 'integer' })
  version: number = 1;
}

export const MembershipConnection = connectionOf<Membership>(Membership, 'Membership');

/** The periods of a user in a brand leave no gap and do not overlap. Source: membership 7.7. */
@Access(READERS)
@ObjectType({ description: 'A time in which a membership had one tier and one status.' })
@Entity({ tableName: 'membership_period' })
@Check({ name: 'membership_period_valid_to_check', expression: 'valid_to > valid_from' })
export class MembershipPeriod {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  membershipId: string;

  @Property({ type: 'uuid' })
  userId: string;

  @Property({ type: 'uuid' })
  brandId: string;

  @Property({ type: 'uuid' })
  tierId: string;

  @Field(() => MembershipStatus)
  @Enum({ items: () => MembershipStatus })
  status: MembershipStatus;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3, fieldName: 'valid_from' })
  from: Date;

  @Field(() => DateTime, { nullable: true, description: 'The first instant at which it no longer held; null: it holds.' })
  @Property({ type: 'datetime', length: 3, fieldName: 'valid_to', nullable: true })
  to: Date | null = null;
}

export const MembershipPeriodConnection = connectionOf<MembershipPeriod>(MembershipPeriod, 'MembershipPeriod');

@Entity({ tableName: 'tier_change' })
export class TierChange {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  membershipId: string;

  @Property({ type: 'uuid' })
  fromTierId: string;

  @Property({ type: 'uuid' })
  toTierId: string;

  @Enum({ items: () => TierDirection })
  direction: TierDirection;

  @Property({ type: 'datetime', length: 3 })
  effectiveAt: Date;
}
