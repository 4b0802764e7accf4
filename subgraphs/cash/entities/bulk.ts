import { BigIntType } from '@mikro-orm/core';
import { Entity, Enum, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, Money } from '../../../runtime/schema/scalars.js';
import { BULK_GIVERS } from './access.js';
import { CashBulkGrantOutcome, CashSource, PriceSubjectKind } from './enums.js';

/** A campaign: the same grant for many users; its id is the reference of each. Source: cash 4. */
@Access(BULK_GIVERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'The same grant for many users.' })
@Entity({ tableName: 'bulk_grant' })
export class CashBulkGrant {
  @Field(() => ID, { description: 'The campaign.' })
  @PrimaryKey({ type: 'uuid' })
  id: string;

  @Field(() => CashSource)
  @Enum({ items: () => CashSource })
  source: CashSource;

  @Property({ type: new BigIntType('number'), fieldName: 'amount' })
  units: number;

  @Property({ type: 'character', length: 3 })
  currency: string;

  @Field(() => String)
  @Property({ type: 'text' })
  reason: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  activatesAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  expiresAt: Date | null = null;

  @Property({ type: new BigIntType('number'), nullable: true })
  minSubtotal: number | null = null;

  @Property({ type: 'array' })
  subjectKinds: PriceSubjectKind[] = [];

  @Property({ type: 'integer' })
  maxShareBps: number = 10_000;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Money, { description: 'For each user.' })
  get amount(): Money {
    return { amount: this.units, currency: this.currency };
  }
}

/** What a campaign gives to one user. */
@Access(BULK_GIVERS)
@ObjectType({ description: 'What became of one user in a campaign.' })
@Entity({ tableName: 'bulk_grant_user' })
@Unique({ name: 'bulk_grant_user_once', properties: ['bulkGrantId', 'userId'] })
export class CashBulkGrantResult {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  bulkGrantId: string;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  userId: string;

  @Field(() => CashBulkGrantOutcome)
  @Enum({ items: () => CashBulkGrantOutcome, fieldName: 'status' })
  outcome: CashBulkGrantOutcome = CashBulkGrantOutcome.PENDING;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  grantId: string | null = null;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}

export const CashBulkGrantResultConnection = connectionOf<CashBulkGrantResult>(CashBulkGrantResult, 'CashBulkGrantResult');
