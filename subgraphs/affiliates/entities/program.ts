import { BigIntType } from '@mikro-orm/core';
import { Entity, Enum, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { Money } from '../../../runtime/schema/scalars.js';
import { ANYBODY } from './access.js';
import { AffiliateAttributionModel, CommissionKind, PriceSubjectKind } from './enums.js';

@ObjectType({ description: 'Of what a commission is a part.' })
export class CommissionBase {
  @Field(() => Boolean)
  includeTax: boolean;

  @Field(() => Boolean)
  includeShipping: boolean;

  @Field(() => Boolean, { description: 'What was settled with cash counts, too.' })
  includeCash: boolean;

  @Field(() => [PriceSubjectKind], { description: 'Purchases of these kinds only; empty: of any.' })
  subjectKinds: PriceSubjectKind[];

  @Field(() => Int, { description: 'Renewals count for so long after the first purchase.' })
  renewalMonths: number;
}

/** Terms under which affiliates bring customers to a brand. Source: affiliates 2. */
@Access(ANYBODY)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'Terms under which affiliates bring customers to a brand.' })
@Entity({ tableName: 'affiliate_program' })
@Unique({ name: 'affiliate_program_key', properties: ['key'] })
export class AffiliateProgram {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String)
  @Property({ type: 'text' })
  key: string;

  @Field(() => String)
  @Property({ type: 'text' })
  name: string;

  @Property({ type: 'uuid' })
  brandId: string;

  @Field(() => AffiliateAttributionModel)
  @Enum({ items: () => AffiliateAttributionModel })
  model: AffiliateAttributionModel = AffiliateAttributionModel.LAST_CLICK;

  @Field(() => Int, { description: 'Days between a click and the sign-up that it is paid for.' })
  @Property({ type: 'integer' })
  windowDays: number = 30;

  @Field(() => Int, { description: 'Months for which a customer stays bound after the first purchase.' })
  @Property({ type: 'integer' })
  bindingMonths: number = 12;

  @Field(() => Int, { description: 'Days before a commission is owed.' })
  @Property({ type: 'integer' })
  holdDays: number = 30;

  @Property({ type: new BigIntType('number'), fieldName: 'minimum_payout' })
  leastPayout: number = 0;

  @Property({ type: 'character', length: 3 })
  currency: string;

  @Field(() => Boolean, { description: 'Who applies is approved at once.' })
  @Property({ type: 'boolean' })
  selfApproval: boolean = false;

  @Property({ type: 'boolean' })
  includeTax: boolean = false;

  @Property({ type: 'boolean' })
  includeShipping: boolean = false;

  @Property({ type: 'boolean' })
  includeCash: boolean = true;

  @Property({ type: 'array' })
  subjectKinds: PriceSubjectKind[] = [];

  @Property({ type: 'integer' })
  renewalMonths: number = 12;

  @Field(() => Boolean, { description: 'A click sets a cookie only with consent=1 in its address.' })
  @Property({ type: 'boolean' })
  consentRequired: boolean = false;

  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  active: boolean = true;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Int)
  @Property({ type: 'integer' })
  version: number = 1;

  @Field(() => Money)
  get minimumPayout(): Money {
    return { amount: this.leastPayout, currency: this.currency };
  }

  @Field(() => CommissionBase)
  get base(): CommissionBase {
    const { includeTax, includeShipping, includeCash, subjectKinds, renewalMonths } = this;
    return { includeTax, includeShipping, includeCash, subjectKinds, renewalMonths };
  }
}

@ObjectType({ description: 'What an affiliate earns, by what was confirmed in the last 90 days.' })
@Entity({ tableName: 'commission_tier' })
@Unique({ name: 'commission_tier_program_id_key', properties: ['programId', 'key'] })
@Unique({ name: 'commission_tier_program_id_rank', properties: ['programId', 'rank'] })
export class CommissionTier {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  programId: string;

  @Field(() => String)
  @Property({ type: 'text' })
  key: string;

  @Field(() => Int)
  @Property({ type: 'integer' })
  rank: number;

  @Field(() => CommissionKind)
  @Enum({ items: () => CommissionKind })
  kind: CommissionKind;

  @Field(() => Int, { nullable: true, description: 'Of a PERCENT tier, basis points.' })
  @Property({ type: 'integer', nullable: true })
  rateBps: number | null = null;

  @Property({ type: new BigIntType('number'), fieldName: 'flat', nullable: true })
  flatUnits: number | null = null;

  @Property({ type: new BigIntType('number'), fieldName: 'threshold' })
  thresholdUnits: number = 0;
}

export const AffiliateProgramConnection = connectionOf<AffiliateProgram>(AffiliateProgram, 'AffiliateProgram');
