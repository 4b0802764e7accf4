import { BigIntType } from '@mikro-orm/core';
import { Check, Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { FREE_TEXT, PERSONAL } from '../../../runtime/data/safe-views.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, Money } from '../../../runtime/schema/scalars.js';
import { REASON_READERS, SEEN_BY_GIVERS } from './access.js';
import { CashGrantStatus, CashSource, PriceSubjectKind } from './enums.js';
import { CashReference } from './reference.js';

@ObjectType({ description: 'What cash may be used for.' })
export class CashRestrictions {
  @Field(() => Money, { nullable: true, description: 'Smallest purchase for which it may be used.' })
  minSubtotal: Money | null;

  @Field(() => [PriceSubjectKind], { description: 'Purchases of these kinds only; empty: of any.' })
  subjectKinds: PriceSubjectKind[];

  @Field(() => Int, { description: 'Part of a purchase that it may cover, basis points.' })
  maxShareBps: number;
}

/** A lot of cash: given once, spent in parts, expiring by itself. Source: cash 2 and 3. */
@Access(SEEN_BY_GIVERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'Cash that was given to a user, and what is left of it.' })
@Entity({ tableName: 'cash_grant' })
@Check({ name: 'cash_grant_left_check', expression: 'remaining >= 0 and reserved >= 0 and remaining + reserved <= amount' })
@Check({ name: 'cash_grant_amount_check', expression: 'amount between 1 and 10000000' })
@Unique({
  name: 'cash_grant_reference',
  properties: ['userId', 'currency', 'source', 'referenceType', 'referenceId', 'referenceKey'],
})
@Index({ name: 'cash_grant_by_reference', properties: ['referenceType', 'referenceId'] })
@Index({ name: 'cash_grant_user_id_expires_at', properties: ['userId', 'expiresAt', 'createdAt', 'id'] })
export class CashGrant {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid', comment: PERSONAL })
  userId: string;

  @Property({ type: 'character', length: 3 })
  currency: string;

  @Field(() => CashSource)
  @Enum({ items: () => CashSource })
  source: CashSource;

  @Property({ type: new BigIntType('number'), fieldName: 'amount' })
  units: number;

  /** What can be spent while it is active, minor units; without what is reserved. */
  @Property({ type: new BigIntType('number'), fieldName: 'remaining' })
  left: number;

  @Property({ type: new BigIntType('number'), fieldName: 'reserved' })
  held: number = 0;

  /** As the last write left it; time moves it on before the sweep does. */
  @Enum({ items: () => CashGrantStatus, fieldName: 'status' })
  state: CashGrantStatus;

  @Property({ type: 'text' })
  referenceType: string;

  @Property({ type: 'uuid' })
  referenceId: string;

  @Property({ type: 'text' })
  referenceKey: string = '';

  @Access(REASON_READERS)
  @Field(() => String, { nullable: true, description: 'For staff and services.' })
  @Property({ type: 'text', nullable: true, comment: FREE_TEXT })
  reason: string | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  activatesAt: Date;

  @Field(() => DateTime, { nullable: true, description: 'The first instant at which it is gone; null: never.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  expiresAt: Date | null = null;

  @Property({ type: new BigIntType('number'), nullable: true })
  minSubtotal: number | null = null;

  @Property({ type: 'array' })
  subjectKinds: PriceSubjectKind[] = [];

  @Property({ type: 'integer' })
  maxShareBps: number = 10_000;

  /** Its rule takes it back when the membership lapses. */
  @Property({ type: 'boolean' })
  revokeOnLapse: boolean = false;

  @Property({ type: 'text', nullable: true })
  revokedByType: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  revokedById: string | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Money)
  get amount(): Money {
    return { amount: this.units, currency: this.currency };
  }

  @Field(() => Money, { description: 'Held by checkouts that are under way.' })
  get reserved(): Money {
    return { amount: this.held, currency: this.currency };
  }

  @Field(() => CashReference)
  get reference(): CashReference {
    return { type: this.referenceType, id: this.referenceId, key: this.referenceKey };
  }

  @Field(() => CashRestrictions)
  get restrictions(): CashRestrictions {
    const { minSubtotal, subjectKinds, maxShareBps, currency } = this;
    return { minSubtotal: minSubtotal === null ? null : { amount: minSubtotal, currency }, subjectKinds, maxShareBps };
  }
}

export const CashGrantConnection = connectionOf<CashGrant>(CashGrant, 'CashGrant');
