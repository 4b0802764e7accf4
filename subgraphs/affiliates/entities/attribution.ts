import { Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { PERSONAL } from '../../../runtime/data/safe-views.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, Money } from '../../../runtime/schema/scalars.js';
import { ATTRIBUTORS, CUSTOMERS_SEEN } from './access.js';
import { AffiliateAttributionBasis, ReferralStage } from './enums.js';

/** Who brought whom. Affiliates know a customer by the alias only. Source: affiliates 2. */
@Access(ATTRIBUTORS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'Who brought a customer.' })
@Entity({ tableName: 'attribution' })
@Unique({ name: 'attribution_live', properties: ['programId', 'customerId'], where: 'ended_at is null' })
@Index({ name: 'attribution_customer_id', properties: ['customerId'] })
@Index({ name: 'attribution_affiliate_id', properties: ['affiliateId', 'attributedAt', 'id'] })
export class AffiliateAttribution {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  programId: string;

  @Property({ type: 'uuid' })
  affiliateId: string;

  @Property({ type: 'uuid', comment: PERSONAL })
  customerId: string;

  @Field(() => String, { description: 'Pseudonym of the customer.' })
  @Property({ type: 'text' })
  customerAlias: string;

  @Field(() => ReferralStage)
  @Enum({ items: () => ReferralStage })
  stage: ReferralStage;

  @Field(() => AffiliateAttributionBasis)
  @Enum({ items: () => AffiliateAttributionBasis })
  basis: AffiliateAttributionBasis;

  @Property({ type: 'uuid', nullable: true })
  clickId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  linkId: string | null = null;

  @Property({ type: 'datetime', length: 3 })
  clickedAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  attributedAt: Date;

  @Property({ type: 'datetime', length: 3, nullable: true })
  customerSince: Date | null = null;

  @Field(() => DateTime, { nullable: true, description: 'Of a customer: until when purchases count.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  boundUntil: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  endedAt: Date | null = null;
}

@Access(CUSTOMERS_SEEN)
@ObjectType({ description: 'A customer as the affiliate may see it.' })
export class ReferredCustomer {
  id: string;
  attributedAt: Date;

  @Field(() => String, { description: 'Pseudonym.' })
  customerAlias: string;

  @Field(() => ReferralStage)
  stage: ReferralStage;

  @Field(() => String, { description: 'Of the attribution, YYYY-MM.' })
  month: string;

  @Field(() => Money, { nullable: true, description: 'Earned with this customer; null where the month has fewer than three customers.' })
  amount: Money | null;

  @Field(() => Money, { description: 'Earned with all customers of months that have fewer than three: one sum, the same on each.' })
  smallMonths: Money;
}

export const ReferredCustomerConnection = connectionOf<ReferredCustomer>(ReferredCustomer, 'ReferredCustomer');

@ObjectType({ description: 'A claim was taken; whether it had an effect is not told.' })
export class AttributionClaimReceipt {
  @Field(() => Boolean)
  accepted: boolean;
}

/** When a user signed up: claims are taken for 24 hours. */
@Entity({ tableName: 'claim_window' })
@Index({ name: 'claim_window_opened_at', properties: ['openedAt'] })
export class ClaimWindow {
  @PrimaryKey({ type: 'uuid' })
  userId: string;

  @Property({ type: 'datetime', length: 3 })
  openedAt: Date;
}

/** What a user has claimed; kept for the two days in which the sign-up may be heard of. */
@Entity({ tableName: 'attribution_claim' })
@Index({ name: 'attribution_claim_user_id', properties: ['userId'] })
@Index({ name: 'attribution_claim_claimed_at', properties: ['claimedAt'] })
export class AttributionClaim {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  userId: string;

  @Property({ type: 'uuid' })
  affiliateId: string;

  @Enum({ items: () => AffiliateAttributionBasis })
  basis: AffiliateAttributionBasis;

  @Property({ type: 'uuid', nullable: true })
  clickId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  linkId: string | null = null;

  @Property({ type: 'datetime', length: 3 })
  clickedAt: Date;

  @Property({ type: 'datetime', length: 3 })
  claimedAt: Date;
}
