import { BigIntType } from '@mikro-orm/core';
import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, Money } from '../../../runtime/schema/scalars.js';
import { BACK_OFFICE } from './access.js';
import { ReconciliationDiscrepancyKind, ReconciliationStatus } from './enums-operations.js';

@Access(BACK_OFFICE)
@ObjectType({ description: 'Charged less refunded, by each of the books; null: not compared.' })
export class ReconciliationTotals {
  @Field(() => Money)
  processor: Money;

  @Field(() => Money)
  payments: Money;

  @Field(() => Money, { nullable: true })
  storefront: Money | null;

  @Field(() => Money, { nullable: true })
  ledger: Money | null;
}

/** A comparison of processor, payments, storefront and ledger; it changes nothing. Source: payments 4.4. */
@Access(BACK_OFFICE)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A comparison of processor, payments, storefront and ledger.' })
@Entity({ tableName: 'reconciliation_run' })
export class ReconciliationRun {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid', nullable: true })
  brandId: string | null = null;

  @Field(() => ReconciliationStatus)
  @Enum({ items: () => ReconciliationStatus })
  status: ReconciliationStatus = ReconciliationStatus.RUNNING;

  @Property({ type: 'datetime', length: 3 })
  fromAt: Date;

  @Property({ type: 'datetime', length: 3 })
  toAt: Date;

  @Property({ type: 'string', columnType: 'char(3)', nullable: true })
  currency: string | null = null;

  @Property({ type: 'boolean' })
  includeLedger: boolean = true;

  @Field(() => Int)
  @Property({ type: 'integer' })
  compared: number = 0;

  @Field(() => Int)
  @Property({ type: 'integer' })
  matched: number = 0;

  @Property({ type: new BigIntType('number') })
  processorTotal: number = 0;

  @Property({ type: new BigIntType('number') })
  paymentsTotal: number = 0;

  @Property({ type: new BigIntType('number'), nullable: true })
  storefrontTotal: number | null = null;

  @Property({ type: new BigIntType('number'), nullable: true })
  ledgerTotal: number | null = null;

  /** When another process goes on with it. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  workAt: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  startedAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  finishedAt: Date | null = null;

  @Field(() => ReconciliationTotals)
  get totals(): ReconciliationTotals {
    const money = (amount: number): Money => ({ amount, currency: this.currency ?? 'USD' });
    return {
      processor: money(this.processorTotal),
      payments: money(this.paymentsTotal),
      storefront: this.storefrontTotal === null ? null : money(this.storefrontTotal),
      ledger: this.ledgerTotal === null ? null : money(this.ledgerTotal),
    };
  }

  @Field(() => DateTime)
  get from(): Date {
    return this.fromAt;
  }

  @Field(() => DateTime)
  get to(): Date {
    return this.toAt;
  }
}

/** What does not agree. */
@Access(BACK_OFFICE)
@ObjectType({ description: 'What does not agree.' })
@Entity({ tableName: 'reconciliation_discrepancy' })
export class ReconciliationDiscrepancy {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  runId: string;

  @Field(() => ReconciliationDiscrepancyKind)
  @Enum({ items: () => ReconciliationDiscrepancyKind })
  kind: ReconciliationDiscrepancyKind;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  processorRef: string | null = null;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  paymentId: string | null = null;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  orderId: string | null = null;

  @Property({ type: new BigIntType('number'), fieldName: 'expected', nullable: true })
  expectedMinor: number | null = null;

  @Property({ type: new BigIntType('number'), fieldName: 'actual', nullable: true })
  actualMinor: number | null = null;

  @Property({ type: 'string', columnType: 'char(3)', nullable: true })
  currency: string | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  detectedAt: Date;

  @Field(() => Money, { nullable: true })
  get expected(): Money | null {
    return this.expectedMinor === null ? null : { amount: this.expectedMinor, currency: this.currency! };
  }

  @Field(() => Money, { nullable: true })
  get actual(): Money | null {
    return this.actualMinor === null ? null : { amount: this.actualMinor, currency: this.currency! };
  }
}

export const ReconciliationDiscrepancyConnection = connectionOf<ReconciliationDiscrepancy>(
  ReconciliationDiscrepancy,
  'ReconciliationDiscrepancy',
);
