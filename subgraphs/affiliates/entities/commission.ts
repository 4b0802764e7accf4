import { BigIntType } from '@mikro-orm/core';
import { Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, Money } from '../../../runtime/schema/scalars.js';
import { PAYERS, READERS, SEEN } from './access.js';
import { AffiliateFraudSignalKind, AffiliatePayoutStatus, AffiliateRunKind, CommissionKind, CommissionReversalCause } from './enums.js';

/** What one settled obligation is worth to one affiliate; never changed. Its status follows from other rows. Source: affiliates 2. */
@Access(SEEN)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'What one purchase is worth to an affiliate, with its arithmetic.' })
@Entity({ tableName: 'commission' })
@Unique({ name: 'commission_obligation', properties: ['programId', 'obligationType', 'obligationId'] })
@Index({ name: 'commission_affiliate_id_created_at', properties: ['affiliateId', 'createdAt', 'id'] })
@Index({ name: 'commission_order_id', properties: ['orderId'] })
@Index({ name: 'commission_created_at_id', properties: ['createdAt', 'id'] })
export class Commission {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  programId: string;

  @Property({ type: 'uuid' })
  affiliateId: string;

  @Property({ type: 'uuid' })
  attributionId: string;

  @Property({ type: new BigIntType('number'), fieldName: 'base' })
  baseUnits: number;

  @Property({ type: new BigIntType('number'), fieldName: 'amount' })
  units: number;

  @Property({ type: 'character', length: 3 })
  currency: string;

  @Field(() => CommissionKind)
  @Enum({ items: () => CommissionKind })
  kind: CommissionKind;

  @Field(() => Int, { nullable: true, description: 'Of the tier when it was earned, basis points; null for a flat one.' })
  @Property({ type: 'integer', nullable: true })
  rateBps: number | null = null;

  @Field(() => String)
  @Property({ type: 'text' })
  tierKey: string;

  @Access(READERS)
  @Field(() => String)
  @Property({ type: 'text' })
  obligationType: string;

  @Access(READERS)
  @Field(() => ID)
  @Property({ type: 'uuid' })
  obligationId: string;

  @Property({ type: 'uuid', nullable: true })
  orderId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  subscriptionId: string | null = null;

  @Field(() => String, { nullable: true, description: 'Why it was held when it was earned.' })
  @Property({ type: 'text', nullable: true })
  heldReason: string | null = null;

  @Field(() => DateTime, { description: 'When it is owed, unless it is taken back before.' })
  @Property({ type: 'datetime', length: 3 })
  payableAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Money)
  get base(): Money {
    return { amount: this.baseUnits, currency: this.currency };
  }

  @Field(() => Money)
  get amount(): Money {
    return { amount: this.units, currency: this.currency };
  }
}

export const CommissionConnection = connectionOf<Commission>(Commission, 'Commission');

@Access(SEEN)
@ObjectType({ description: 'What was taken back of a commission, or given back.' })
@Entity({ tableName: 'commission_reversal' })
@Unique({ name: 'commission_reversal_cause', properties: ['commissionId', 'cause', 'causeId'] })
export class CommissionReversal {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  commissionId: string;

  @Property({ type: new BigIntType('number'), fieldName: 'amount' })
  units: number;

  @Field(() => CommissionReversalCause)
  @Enum({ items: () => CommissionReversalCause })
  cause: CommissionReversalCause;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  causeId: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}

/** That a commission was released from being held, or posted; a row is only ever added. */
@Entity({ tableName: 'commission_mark' })
export class CommissionMark {
  @PrimaryKey({ type: 'uuid' })
  commissionId: string;

  @PrimaryKey({ type: 'text' })
  kind: 'released' | 'posted';

  @Property({ type: 'uuid', nullable: true })
  runId: string | null = null;

  @Property({ type: 'datetime', length: 3 })
  at: Date;
}

@Access(PAYERS)
@ObjectType({ description: 'A run that posts what is due, or pays what is owed.' })
@Entity({ tableName: 'posting_run' })
@Index({ name: 'posting_run_open', properties: ['createdAt'], where: 'finished_at is null' })
export class PostingRun {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Enum({ items: () => AffiliateRunKind })
  kind: AffiliateRunKind;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  asOf: Date;

  @Field(() => Int, { description: 'Commissions that were posted, or payouts that were asked for.' })
  @Property({ type: 'integer' })
  posted: number = 0;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  finishedAt: Date | null = null;
}

@ObjectType({ description: 'What a posting run posts.' })
export class CommissionPosting {
  @Field(() => Int)
  posted: number;

  @Field(() => [Money], { description: 'One for each currency.' })
  amount: Money[];
}

/** What was asked of payments for one affiliate in one run. */
@Access(SEEN)
@ObjectType({ description: 'A payout to an affiliate.' })
@Entity({ tableName: 'affiliate_payout' })
@Unique({ name: 'affiliate_payout_run_id_affiliate_id', properties: ['runId', 'affiliateId', 'currency'] })
@Index({ name: 'affiliate_payout_affiliate_id', properties: ['affiliateId', 'createdAt', 'id'] })
@Index({ name: 'affiliate_payout_open', properties: ['createdAt'], where: "status in ('requested', 'in_flight')" })
export class AffiliatePayout {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  runId: string;

  @Property({ type: 'uuid' })
  affiliateId: string;

  @Property({ type: new BigIntType('number'), fieldName: 'amount' })
  units: number;

  @Property({ type: 'character', length: 3 })
  currency: string;

  @Field(() => AffiliatePayoutStatus)
  @Enum({ items: () => AffiliatePayoutStatus })
  status: AffiliatePayoutStatus = AffiliatePayoutStatus.REQUESTED;

  /** Of payments. */
  @Property({ type: 'uuid', nullable: true })
  payoutId: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  failure: string | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  settledAt: Date | null = null;

  @Field(() => Money)
  get amount(): Money {
    return { amount: this.units, currency: this.currency };
  }
}

export const AffiliatePayoutConnection = connectionOf<AffiliatePayout>(AffiliatePayout, 'AffiliatePayout');

@Access(READERS)
@ObjectType({ description: 'A reason to look at a commission.' })
@Entity({ tableName: 'fraud_signal' })
@Index({ name: 'fraud_signal_created_at_id', properties: ['createdAt', 'id'] })
export class AffiliateFraudSignal {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  affiliateId: string;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  commissionId: string | null = null;

  @Field(() => AffiliateFraudSignalKind)
  @Enum({ items: () => AffiliateFraudSignalKind })
  kind: AffiliateFraudSignalKind;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}

export const AffiliateFraudSignalConnection = connectionOf<AffiliateFraudSignal>(AffiliateFraudSignal, 'AffiliateFraudSignal');
