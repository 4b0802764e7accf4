import { BigIntType } from '@mikro-orm/core';
import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Ctx, Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, LocalDate, Money } from '../../../runtime/schema/scalars.js';
import { User } from '../stubs.js';
import type { Context } from '../../../runtime/request/context.js';
import { forBackOffice } from './back-office.js';
import { VIEWERS } from './access.js';
import { PayoutKind, PayoutStatus } from './enums-operations.js';
import { PaymentProcessor } from './enums-payment.js';

/** Money that is paid out. Source: payments 2, 3.7. */
@Access(VIEWERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'Money that is paid out.' })
@Entity({ tableName: 'payout' })
export class Payout {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => PayoutKind)
  @Enum({ items: () => PayoutKind })
  kind: PayoutKind;

  @Property({ type: 'uuid', nullable: true })
  userId: string | null = null;

  @Property({ type: new BigIntType('number'), fieldName: 'amount' })
  amountMinor: number;

  @Property({ type: 'string', columnType: 'char(3)' })
  currency: string;

  @Field(() => PayoutStatus)
  @Enum({ items: () => PayoutStatus })
  status: PayoutStatus;

  @Property({ type: 'uuid', nullable: true })
  destinationId: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  destinationSummary: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  reference: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  failureCode: string | null = null;

  @Enum({ items: () => PaymentProcessor })
  processor: PaymentProcessor;

  @Property({ type: 'text', fieldName: 'processor_payout_id', nullable: true })
  processorRef: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  ledgerTransactionId: string | null = null;

  /** The pending debit has been posted. */
  @Property({ type: 'boolean' })
  ledgerPosted: boolean = false;

  /** The ledger has nothing left to do. */
  @Property({ type: 'boolean' })
  ledgerSettled: boolean = false;

  @Field(() => LocalDate, { nullable: true })
  @Property({ type: 'date', nullable: true })
  arrivalDate: string | null = null;

  @Property({ type: 'text', fieldName: 'requested_by' })
  requester: string;

  @Property({ type: 'text', fieldName: 'approved_by', nullable: true })
  approver: string | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  approveBefore: Date | null = null;

  @Property({ type: 'integer' })
  looks: number = 0;

  @Property({ type: 'datetime', length: 3, nullable: true })
  nextLookAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  paidAt: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Int)
  @Property({ type: 'integer' })
  version: number = 1;

  @Field(() => Money)
  get amount(): Money {
    return { amount: this.amountMinor, currency: this.currency };
  }

  @Field(() => User, { nullable: true })
  get user(): User | null {
    return this.userId === null ? null : { id: this.userId };
  }

  @Field(() => ID, { nullable: true, description: 'For services and staff.' })
  requestedBy(@Ctx() ctx: Context): string | null {
    return forBackOffice(ctx, this.requester);
  }

  @Field(() => ID, { nullable: true, description: 'For services and staff.' })
  approvedBy(@Ctx() ctx: Context): string | null {
    return forBackOffice(ctx, this.approver);
  }
}

export const PayoutConnection = connectionOf<Payout>(Payout, 'Payout');

/** Where a user's money is paid out to, as a token of the processor. */
@Access(VIEWERS)
@ObjectType({ description: 'Where money is paid out to.' })
@Entity({ tableName: 'payout_destination' })
export class PayoutDestination {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  userId: string;

  @Enum({ items: () => PaymentProcessor })
  processor: PaymentProcessor;

  @Field(() => String)
  @Property({ type: 'text' })
  summary: string;

  @Property({ type: 'blob' })
  tokenSealed: Buffer;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}
