import { Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { PERSONAL } from '../../../runtime/data/safe-views.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { CurrencyCode, DateTime, Money, Url } from '../../../runtime/schema/scalars.js';
import { SEEN } from './access.js';
import { AffiliateStatus } from './enums.js';

/** Somebody who brings customers to a program. Source: affiliates 2. */
@Access(SEEN)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'Somebody who brings customers to a program.' })
@Entity({ tableName: 'affiliate' })
@Unique({ name: 'affiliate_program_id_user_id', properties: ['programId', 'userId'] })
@Unique({ name: 'affiliate_code', properties: ['code'] })
@Index({ name: 'affiliate_user_id', properties: ['userId'] })
@Index({ name: 'affiliate_created_at_id', properties: ['createdAt', 'id'] })
@Index({ name: 'affiliate_unchecked', properties: ['changedAt'], where: 'checked_at is null or checked_at < changed_at' })
export class Affiliate {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  programId: string;

  @Property({ type: 'uuid' })
  userId: string;

  @Field(() => AffiliateStatus)
  @Enum({ items: () => AffiliateStatus })
  status: AffiliateStatus = AffiliateStatus.APPLIED;

  @Property({ type: 'text' })
  tierKey: string;

  @Field(() => String, { description: 'To be entered at a checkout; in capitals.' })
  @Property({ type: 'text' })
  code: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  /** When what is owed changed last. */
  @Property({ type: 'datetime', length: 3 })
  changedAt: Date;

  /** When it was compared with the books last. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  checkedAt: Date | null = null;

  @Field(() => Int)
  @Property({ type: 'integer' })
  version: number = 1;
}

export const AffiliateConnection = connectionOf<Affiliate>(Affiliate, 'Affiliate');

@Access(SEEN)
@ObjectType({ description: 'A link that counts who follows it.' })
@Entity({ tableName: 'affiliate_link' })
@Unique({ name: 'affiliate_link_slug', properties: ['slug'] })
@Index({ name: 'affiliate_link_affiliate_id', properties: ['affiliateId'] })
export class AffiliateLink {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  affiliateId: string;

  @Field(() => String)
  @Property({ type: 'text' })
  slug: string;

  @Field(() => Url, { description: 'Where it leads.' })
  @Property({ type: 'text' })
  target: string;

  @Field(() => Int)
  @Property({ type: 'integer' })
  clicks: number = 0;

  @Field(() => Int)
  @Property({ type: 'integer' })
  leads: number = 0;

  @Field(() => Int)
  @Property({ type: 'integer' })
  customers: number = 0;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Property({ type: 'datetime', length: 3, nullable: true })
  deletedAt: Date | null = null;
}

/** One visit by a link or a code; kept for 90 days, without an address. */
@Entity({ tableName: 'click' })
@Index({ name: 'click_at', properties: ['at'] })
export class AffiliateClick {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  affiliateId: string;

  @Property({ type: 'uuid', nullable: true })
  linkId: string | null = null;

  @Property({ type: 'text', nullable: true, comment: PERSONAL })
  visitorHash: string | null = null;

  @Property({ type: 'datetime', length: 3 })
  at: Date;
}

@ObjectType({ description: 'Proof of a click, to be sent after the sign-up.' })
export class AffiliateClickToken {
  @Field(() => String)
  token: string;

  @Field(() => DateTime)
  expiresAt: Date;
}

@ObjectType({ description: 'What an affiliate has earned, in the currency of the program.' })
export class AffiliateEarnings {
  @Field(() => CurrencyCode)
  currency: string;

  @Field(() => Money, { description: 'Earned, not owed yet.' })
  accrued: Money;

  @Field(() => Money, { description: 'Owed, paid or not; without what was taken back.' })
  posted: Money;

  @Field(() => Money)
  paid: Money;

  @Field(() => Money, { description: 'Taken back by refunds and disputes.' })
  reversed: Money;

  @Field(() => Money, { description: 'Owed and not paid; below 0 is set against what comes.' })
  balance: Money;

  @Field(() => DateTime, { nullable: true, description: 'When the next part of what is accrued is owed.' })
  nextPayoutAt: Date | null;
}
