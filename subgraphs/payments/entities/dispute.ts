import { BigIntType } from '@mikro-orm/core';
import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Ctx, Directive, Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { PERSONAL, SECRET } from '../../../runtime/data/safe-views.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, JSONObject, Money } from '../../../runtime/schema/scalars.js';
import type { Context } from '../../../runtime/request/context.js';
import { forBackOffice } from './back-office.js';
import { opened } from './sealed.js';
import { VIEWERS } from './access.js';
import { DisputeReason, DisputeStatus } from './enums-operations.js';
import { PaymentProcessor } from './enums-payment.js';

/** A charge that the customer's bank takes back, or asks about. Source: payments 2, 3.6. */
@Access(VIEWERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: "A charge that the customer's bank takes back, or asks about." })
@Entity({ tableName: 'dispute' })
export class Dispute {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  paymentId: string;

  @Property({ type: 'uuid' })
  userId: string;

  @Enum({ items: () => PaymentProcessor })
  processor: PaymentProcessor;

  @Property({ type: 'text', fieldName: 'processor_dispute_id', comment: SECRET })
  processorRef: string;

  @Property({ type: new BigIntType('number'), fieldName: 'amount' })
  amountMinor: number;

  /** What of it counts against the payment: no more than had not gone back before. */
  @Property({ type: new BigIntType('number'), fieldName: 'amount_counted' })
  countedMinor: number = 0;

  @Property({ type: new BigIntType('number'), fieldName: 'fee', nullable: true })
  feeMinor: number | null = null;

  @Property({ type: 'string', columnType: 'char(3)' })
  currency: string;

  @Field(() => DisputeStatus)
  @Enum({ items: () => DisputeStatus })
  status: DisputeStatus;

  @Field(() => DisputeReason)
  @Enum({ items: () => DisputeReason })
  reason: DisputeReason;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  evidenceDueAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  evidenceSubmittedAt: Date | null = null;

  @Property({ type: 'blob', nullable: true, comment: PERSONAL })
  evidenceSealed: Buffer | null = null;

  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  fundsWithdrawn: boolean = false;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  openedAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  closedAt: Date | null = null;

  /** Orders the list: when evidence is due, far away where it is never. */
  @Property({ type: 'datetime', length: 3 })
  listedAt: Date;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Property({ type: 'integer' })
  version: number = 1;

  @Field(() => Money)
  get amount(): Money {
    return { amount: this.amountMinor, currency: this.currency };
  }

  @Field(() => Money, { nullable: true })
  get fee(): Money | null {
    return this.feeMinor === null ? null : { amount: this.feeMinor, currency: this.currency };
  }

  @Field(() => JSONObject, { nullable: true, description: 'For services and staff.' })
  evidence(@Ctx() ctx: Context): unknown {
    return forBackOffice(ctx, opened<unknown>(ctx, this.evidenceSealed, 'dispute', this.id));
  }
}

export const DisputeConnection = connectionOf<Dispute>(Dispute, 'Dispute');
